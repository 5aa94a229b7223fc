//! Instruction sets that are decoded from a byte stream: of any width, of mixed length, with computed values.
//!
//! The stages are the same as for words, in files of the same names: [`resolve`] binds names and builds a [`model`],
//! [`check`] checks it, with what its rules share in `rules`, and [`lower`] makes the tables of
//! [`isaforge_core::stream`]. The vocabulary is that of [`crate::spec`]: a specification becomes a stream when it uses
//! something that sets of words cannot represent.

mod ambiguity;
mod answers;
mod blast;
pub mod check;
mod constants;
mod diagram;
pub mod expressions;
mod fields;
mod invertibility;
mod lengths;
mod lifetimes;
mod linear;
pub mod lower;
pub mod model;
mod modifiers;
mod never;
mod quick;
pub mod resolve;
mod rules;
pub(crate) mod template;
mod texts;
pub(crate) mod tree;
mod validity;

pub(crate) use isaforge_core::stream::STORED;
