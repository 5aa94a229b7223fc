//! Instruction sets whose instructions are groups of byte records.
//!
//! The stages are the same as for words, in files of the same names: [`spec`] is the vocabulary, [`resolve`] binds
//! names and builds a [`model`], [`check`] checks it, and [`lower`] makes the tables of [`isaforge_core::group`]. Both
//! ask `header` which slots a header announces.

pub mod check;
mod header;
pub mod lower;
pub mod model;
mod operations;
pub mod resolve;
pub mod semantics;
pub mod spec;
