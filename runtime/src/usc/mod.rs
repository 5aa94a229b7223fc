//! PowerVR Rogue's USC: tasks of up to 32 instances that execute groups of operations.

mod backend;
pub mod conform;
mod error;
mod exec;
mod float;
mod flow;
mod graph;
pub mod host;
mod lanes;
mod machine;
mod program;
mod read;
pub mod register;
mod sample;
pub mod single;
pub mod texture;
mod together;
pub mod watch;
pub mod watched;

pub use error::{RunError, SetupError, Trap};
pub use host::{Host, Instance, Software};
pub use lanes::{Column, LANES, Mask};
pub use machine::{Machine, Report, Task};
pub use program::{LoadError, MAX_PROGRAM, Program};
pub use register::Register;
