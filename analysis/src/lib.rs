//! Static analysis of programs of any instruction set.
//!
//! Everything is derived from the tables of an instruction set: the access of operands, branch targets and, if the
//! specification has them, the operations. No code here is specific to an instruction set.
//!
//! ```text
//! bytes ──Program::read──▶ entries: text, operands, reads, writes, flow
//!                            ├──Graph::new──▶ basic blocks, edges, loops
//!                            └──Liveness::new──▶ live registers, pressure ──lint──▶ findings
//! ```
//!
//! - [`set`]: an instruction set with its semantics and the names of its registers
//! - [`entry`]: one instruction of a program
//! - [`fields`]: the meaning of an instruction's bits
//! - [`effects`]: the effects of an operation once the modifiers of a word are known
//! - [`program`]: all instructions of a program and its labels
//! - [`graph`]: control flow
//! - [`access`]: the registers and states that instructions access
//! - [`mod@list`]: all instructions of a set
//! - [`liveness`]: which registers are read later
//! - [`mod@lint`]: mistakes that can be found without running the program
//! - [`profile`]: execution counts of instructions
//! - `picture`: drawings of the control flow, behind the feature `picture`
#![forbid(unsafe_code)]

pub mod access;
mod dataflow;
mod dominators;
pub mod effects;
mod effort;
pub mod entry;
pub mod fields;
pub mod graph;
pub mod lint;
pub mod list;
pub mod liveness;
mod masked;
#[cfg(feature = "picture")]
pub mod picture;
pub mod profile;
pub mod program;
mod registers;
pub mod set;

pub use access::Access;
pub use entry::{Entry, Flow, Instruction, Operand};
pub use graph::Graph;
pub use lint::{Finding, lint};
pub use list::{Listed, list};
pub use liveness::Liveness;
pub use profile::Profile;
pub use program::Program;
pub use registers::Register;
pub use set::Set;
