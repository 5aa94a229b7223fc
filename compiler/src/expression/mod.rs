//! The expression language: what a specification computes.
//!
//! ```text
//! text ──lexer, parse──▶ syntax ──build (names, types, functions expanded)──▶ nodes of `isaforge_core::semantics`
//! ```
//!
//! One language serves the meaning of instructions, conditions and computed fields. [`parse`](mod@parse) knows the grammar and no names;
//! [`scope`] says what names there are; [`build`](mod@build) gives every expression its type and writes the graph; [`builtins`] are
//! the functions that the language has.
//!
//! Values are integers, floats, truth values and short vectors of at most 64 bits. Functions are expanded where they are
//! called, `for` counts to a constant, `match` is on modifiers and numbers: every text is a finite graph.
//!
//! | code  | meaning |
//! |-------|---------|
//! | E0120 | a text that the grammar does not allow |
//! | E0121 | a name that nothing has |
//! | E0122 | types that do not go together |
//! | E0123 | arguments that a function does not take |
//! | E0124 | arms that do not fit the values that `match` chooses by |
//! | E0125 | a number that its type cannot hold |
//! | E0126 | an assignment to what cannot be written, or an effect where a value is needed |
//! | E0127 | a text that grows beyond what an instruction may be |

#![allow(
    clippy::result_large_err,
    reason = "a text is read until its first mistake, which is as rare as it is detailed"
)]

pub mod build;
pub mod builtins;
mod choose;
mod expr;
mod graph;
pub mod lexer;
pub mod parse;
pub mod scope;
pub mod syntax;
pub mod types;
mod value;

pub use build::{Built, build};
pub use parse::{parse_expression, parse_raw, parse_signature, parse_text};
pub use scope::{Choices, Function, ModifierInfo, OperandInfo, Scope};
