//! Launches: workgroups in dispatches, and the bundles of a dispatch in turns.
//!
//! - `probe`: the observer of registers, if there is one
//! - `runner`: bundles in turns
//! - `advance`: executes the chosen lanes up to the next jump
//! - `fault`: which error ends a run, and where it happened
//! - `planning`: what is known of the dispatches of a launch
//! - `dispatch`: workgroups that run together: their start, turns, barriers and end
//! - `planned`: dispatches by a plan
//! - `program_cache`: lowered programs, with what launches leave for later ones
//! - `launch`: a launch as dispatches
//!
//! The other ways to run a program:
//!
//! - `draw`, `vertex`: fragment and vertex programs
//! - `observed`: with an observer of accesses to memory, or of registers
//! - `parallel`: on several host threads
//! - `bands`: drawings on several host threads
//! - `single`: one word on a given state

mod advance;
mod bands;
mod dispatch;
mod draw;
mod fault;
mod launch;
mod observed;
mod parallel;
mod planned;
mod planning;
mod probe;
mod program_cache;
mod runner;
mod single;
mod vertex;

pub use bands::draw_parallel;
pub use draw::{listing as draw_listing, run as draw};
pub use launch::{listing, run, run_hosted, run_listed};
pub use observed::{run_logged, run_probed};
pub use parallel::{run_parallel, run_parallel_with, run_vertices_parallel};
pub use probe::Held;
pub use single::single;
pub use vertex::run as run_vertices;
