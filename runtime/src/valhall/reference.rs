//! The plain interpreter: one warp after another, one instruction after another, one lane after another.

use crate::launch::{Launch, Outcome, RunError};
use crate::memory::Memory;

/// Runs a compute program on all threads of a launch.
///
/// # Errors
/// When the launch asks for too much or an instruction cannot be executed; memory then holds what was written before.
pub fn run(launch: &Launch, memory: &mut Memory) -> Result<Outcome, RunError> {
    super::run_observed(launch, memory, ())
}
