//! PowerVR Rogue's USC: tasks of up to 32 instances that execute groups of operations.
//!
//! - `error`, [`register`], `lanes`, `request`, [`texture`], [`host`]: registers and their columns, and the units
//!   around the ALUs
//! - `step`, `read`, `names`: the groups of a program, and what their graphs name
//! - `task`, `common`: the state of tasks, and what they share
//! - `together`: tasks that advance side by side
//! - `program`, `exec`, `graph`, `intrinsics`, `flow`, `backend`, `sample`: programs, and the execution of a group
//! - `seen`, [`watch`], [`watched`]: observers
//! - `machine`, [`single`], [`conform`]: runs

mod backend;
mod common;
pub mod conform;
mod error;
mod exec;
mod float;
mod flow;
mod graph;
pub mod host;
mod intrinsics;
mod lanes;
mod machine;
mod names;
mod program;
mod read;
pub mod register;
mod request;
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
