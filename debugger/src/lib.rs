//! A debugger for the programs of any instruction set: it knows a [`Machine`](isaforge_runtime::machine::Machine), and
//! nothing by name.
//!
//! ```text
//! machine ──observed──▶ session: stops, breakpoints, replay ──▶ door: script | terminal | dap
//! ```
//!
//! A [`Session`] runs a machine's program until there is a reason to stop, and asks a [`Door`] what next. Going back is
//! running again from the start, for every run of a machine is like the first.
//!
//! - [`listing`]: the program with its labels and the lines of its source
//! - [`value`]: how bits are written
//! - [`condition`]: `r2 > 1.0 in any lane`
//! - [`session`]: from stop to stop
//! - [`command`]: what can be asked and said at a stop, in words
//! - [`trace`]: an instruction after another
//! - [`counts`]: how often each instruction is executed, and what memory is written
//! - [`races`]: accesses to memory that nothing puts in order
//! - [`stops`], [`script`], [`terminal`], [`dap`]: the doors
#![forbid(unsafe_code)]

pub mod command;
pub mod condition;
pub mod counts;
pub mod dap;
pub mod listing;
pub mod races;
pub mod script;
pub mod session;
pub mod stops;
pub mod terminal;
pub mod trace;
pub mod value;

pub use listing::{Listing, Source};
pub use session::{Door, Resume, Session, Stop};
