//! The expression language, in which a specification describes computations.
//!
//! ```text
//! text ──lexer, parse──▶ syntax ──build (names, types, functions expanded)──▶ nodes of `isaforge_core::semantics`
//! ```
//!
//! The same language serves the meaning of instructions, conditions, and computed fields. [`parse`](mod@parse) knows
//! the grammar but no names, [`scope`] defines the names that may be used, [`build`](mod@build) determines the type of
//! every expression and builds the graph, and [`builtins`] are the built-in functions.
//!
//! Values are integers, floats, truth values and short vectors of at most 64 bits. Functions are expanded inline, the
//! bounds of `for` are constants, and `match` takes modifiers and numbers, so that every text becomes a finite graph.
//!
//! | code  | meaning |
//! |-------|---------|
//! | E0120 | a text that the grammar does not allow |
//! | E0121 | an unknown name |
//! | E0122 | types that do not match |
//! | E0123 | arguments that do not match the function |
//! | E0124 | arms that do not match the values of a `match` |
//! | E0125 | a number that does not fit into its type |
//! | E0126 | an assignment to something that cannot be written, or an effect where a value is needed |
//! | E0127 | a text that grows beyond the size limit of an instruction |

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
