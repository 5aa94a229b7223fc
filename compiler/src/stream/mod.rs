//! Instruction sets that are read from a stream of bytes: of any width, of mixed length, with computed values.
//!
//! The same way as for words, in files of the same names: [`resolve`] binds names and gives a [`model`], [`check`]
//! judges it, [`lower`] makes the tables of [`isaforge_core::stream`]. The keys are those of
//! [`crate::spec`]: a specification becomes a stream when it says something that words cannot hold.

mod ambiguity;
mod answers;
mod blast;
pub mod check;
mod constants;
mod diagram;
pub mod expressions;
mod fields;
mod lifetimes;
mod linear;
pub mod lower;
pub mod model;
mod never;
mod quick;
pub mod resolve;
pub(crate) mod template;
mod texts;
pub(crate) mod tree;
mod validity;
mod ways;
