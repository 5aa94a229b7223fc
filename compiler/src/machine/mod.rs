//! Machines: how programs execute, beyond the texts of instructions.
//!
//! [`spec`] is the vocabulary, `resolve` binds names for the `model`, [`lower()`] makes the tables of
//! [`isaforge_core::machine`].

pub(crate) mod banks;
mod lower;
pub(crate) mod model;
mod resolve;
pub mod spec;

pub use lower::lower;
pub use model::{Call, Facts, Machine};
