//! Programs of any instruction set, read for what their instructions say about themselves.
//!
//! Everything here comes from the tables of an instruction set: operands and their access, targets of branches, and, where
//! the specification has them, the operations. An instruction set that is described tomorrow is analysed the same way.
//!
//! ```text
//! bytes ──Program::read──▶ entries: text, operands, reads, writes, flow
//!                            ├──Graph::new──▶ basic blocks, edges, loops
//!                            └──Liveness::new──▶ live registers, pressure ──lint──▶ findings
//! ```
//!
//! - [`set`]: an instruction set with its operations, and the names of its registers
//! - [`entry`]: one instruction of a program
//! - [`fields`]: what the bits of an instruction mean
//! - [`effects`]: what an operation does once the modifiers of a word are known
//! - [`program`]: all entries and the labels between them
//! - [`graph`]: control flow
//! - [`liveness`]: which registers are read later
//! - [`mod@lint`]: mistakes that need no execution to be found
//! - [`profile`]: how often instructions were executed, where somebody counted
//! - `picture`: control flow drawn, behind a feature of that name
#![forbid(unsafe_code)]

pub mod effects;
pub mod entry;
pub mod fields;
pub mod graph;
pub mod lint;
pub mod liveness;
#[cfg(feature = "picture")]
pub mod picture;
pub mod profile;
pub mod program;
pub mod set;

pub use entry::{Entry, Flow, Instruction, Operand, Register};
pub use graph::Graph;
pub use lint::{Finding, lint};
pub use liveness::Liveness;
pub use profile::Profile;
pub use program::Program;
pub use set::Set;
