//! Lakes of the shipped corpora, asked in SQL and from the command line. One binary: linking DataFusion takes long.

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
