//! PowerVR Rogue's USC: tasks of up to 32 instances that execute groups of operations.

mod backend;
mod common;
pub mod conform;
mod error;
mod exec;
mod float;
mod flow;
mod graph;
pub mod host;
mod lanes;
mod machine;
mod names;
mod program;
mod read;
pub mod register;
mod sample;
mod seen;
pub mod single;
mod step;
mod task;
pub mod texture;
mod together;
pub mod watch;
pub mod watched;

pub use error::{LoadError, MAX_PROGRAM, RunError, SetupError, Trap};
pub use host::{Host, Instance, Software};
pub use lanes::{Column, LANES, Mask};
pub use machine::{Machine, Report};
pub use program::Program;
pub use register::Register;
pub use task::Task;
