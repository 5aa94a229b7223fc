//! A debugger for programs of any instruction set. It depends only on a
//! [`Machine`](isaforge_runtime::machine::Machine), not on a particular set.
//!
//! ```text
//! machine ──observed──▶ session: stops, breakpoints, replay ──▶ front end: script | terminal | dap
//! ```
//!
//! A [`Session`] runs a machine's program until there is a reason to stop, and then asks a [`FrontEnd`] how to resume.
//! Stepping back reruns the program from the start, since runs of a machine are deterministic.
//!
//! - [`listing`]: the program with its labels and the lines of its source
//! - [`code`]: instructions as they are executed, in code that a program may write
//! - [`value`]: formats of values
//! - [`condition`]: `r2 > 1.0 in any lane`
//! - [`memory`]: memory of which only a part may be mapped
//! - [`names`]: registers, states and address spaces by name
//! - [`pieces`]: text that a program writes piece by piece
//! - [`session`]: runs a program from stop to stop
//! - [`command`]: the commands available at a stop
//! - [`trace`]: every executed instruction
//! - [`counts`]: how often each instruction executes, and the memory written
//! - [`races`]: unordered accesses to memory
//! - [`stops`], [`script`], [`terminal`], [`dap`]: the front ends
#![forbid(unsafe_code)]

pub mod code;
pub mod command;
pub mod condition;
pub mod counts;
pub mod dap;
pub mod listing;
pub mod memory;
pub mod names;
pub mod pieces;
pub mod races;
pub mod script;
pub mod session;
pub mod stops;
pub mod terminal;
pub mod trace;
pub mod value;

pub use listing::{Listing, Source};
pub use session::{FrontEnd, Resume, Session, Stop};
