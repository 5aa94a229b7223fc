//! The meaning of instructions: from the texts of a specification to graphs.
//!
//! [`spec`] is the vocabulary, [`resolve`] binds the names in each text to the operands and modifiers of its
//! instruction and builds its graph, for the `model`, with [`crate::expression`], and [`lower()`] makes the tables that
//! `isaforge-core` executes and a [`backend`](crate::backend) prints. `check` reports declarations that are never used,
//! and `branches` those of branch targets that are not true.

pub mod branches;
pub mod check;
pub mod facts;
pub(crate) mod lower;
pub(crate) mod model;
pub mod resolve;
pub mod spec;

pub use lower::lower;
pub use model::{Operation, Semantics};
