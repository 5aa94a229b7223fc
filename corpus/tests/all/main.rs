//! Tests lakes of the shipped corpora with SQL and on the command line. They are a single binary because linking
//! DataFusion is slow.

mod alike;
mod command;
mod compare;
mod hostile;
mod import;
mod plans;
mod queries;
mod runs;
mod sets;
mod support;
mod tables;

#[cfg(feature = "cluster")]
mod cluster;
#[cfg(feature = "cluster")]
mod store;
