//! The plain interpreter: it executes warp by warp, instruction by instruction and lane by lane.

use crate::memory::Memory;
use crate::valhall::launch::{Launch, Outcome, RunError};

use super::compute::run_observed;
use super::fragment::{Fragments, draw_by_reference};
use super::host::Host;

/// Runs a compute program on all threads of a launch.
///
/// # Errors
/// When the launch exceeds a limit or an instruction cannot be executed; memory then holds what was written before.
pub fn run(launch: &Launch, memory: &mut Memory) -> Result<Outcome, RunError> {
    run_observed(launch, memory, ())
}

/// Runs a fragment program as [`draw`](super::draw) does.
///
/// # Errors
/// As [`draw`](super::draw).
pub fn draw(fragments: &Fragments, memory: &mut Memory, host: &mut dyn Host) -> Result<Outcome, RunError> {
    draw_by_reference(fragments, memory, host, ())
}
