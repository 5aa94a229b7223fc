//! The semantics of instructions: a typed graph for each, in one representation for every instruction set.
//!
//! The compiler turns the semantics text of an instruction into an [`Operation`]: a list of [`Node`]s in order of
//! evaluation, each with a [`Type`] and arguments that precede it. Values have at most 64 bits, and there are no loops
//! or calls, so every operation is finite.
//!
//! ```text
//! Operation ──instantiate (modifiers of a word)──▶ Shape ──evaluate (registers, memory)──▶ effects
//! ```
//!
//! - `node` and `immediate` define the nodes of graphs: their operations, and the data in them.
//! - `operation` is the graph of one instruction, with the modifiers that it depends on.
//! - `table` holds the graphs of a set, and the intrinsics and states that they refer to.
//! - [`primitive`](mod@primitive) is the exact definition of every pure operation.
//! - [`instantiate`](fn@instantiate::instantiate) selects the arms for the modifiers of a word and folds constants.
//! - [`evaluate`](fn@evaluate::evaluate) executes a shape for all lanes of a warp. It is the reference with which
//!   faster engines are compared.
//!
//! Where instructions are groups, [`group`] composes the operations of a group to a single shape.
//!
//! # Order of effects
//! Operands and states are read before any of them is written: a write takes effect at the end of the operation or, in
//! a group that repeats, at the end of the repetition. Loads, stores, atomics and intrinsics are performed in the order
//! of the text. A fault ends the operation, and nothing is written then.

#[cfg(feature = "alloc")]
pub mod compose;
#[cfg(feature = "alloc")]
pub mod evaluate;
pub mod facts;
pub mod group;
mod immediate;
#[cfg(feature = "alloc")]
pub(crate) mod inline;
#[cfg(feature = "alloc")]
pub mod instantiate;
mod node;
mod operation;
pub mod primitive;
#[cfg(feature = "alloc")]
pub(crate) mod reading;
#[cfg(feature = "alloc")]
pub mod show;
mod table;
mod types;

#[cfg(feature = "alloc")]
pub use compose::compose;
pub use immediate::{AtomicOp, Comparison, Part, Special};
#[cfg(feature = "alloc")]
pub use instantiate::{Shape, instantiate};
pub use node::{NONE, Node, Op};
pub use operation::{Modifier, Operation};
#[cfg(feature = "alloc")]
pub use show::show;
pub use table::{Effects, Intrinsic, Registers, Semantics, State};
pub use types::{Class, Type};
