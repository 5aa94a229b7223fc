//! Instruction sets whose instructions are groups of byte records.
//!
//! The same way as for words, in files of the same names: [`spec`] is what may be written, [`resolve`] binds names and gives
//! a [`model`], [`check`] judges it, [`lower`] makes the tables of [`isaforge_core::group`].

pub mod check;
pub mod lower;
pub mod model;
mod operations;
pub mod resolve;
pub mod semantics;
pub mod spec;
