//! Compute programs on the plain interpreter.

use crate::memory::Memory;
use crate::valhall::launch::{Launch, Outcome, RunError, check};

use super::group::Machine;
use super::host::{Host, Nothing};
use super::observe::Observer;
use super::program::Program;

/// Runs like [`reference::run`](super::reference::run), with an observer.
///
/// # Errors
/// As [`run`](super::run), and when the observer stops it.
pub fn run_observed(launch: &Launch, memory: &mut Memory, observer: impl Observer) -> Result<Outcome, RunError> {
    run_with(launch, memory, &mut Nothing, observer)
}

/// Runs a compute program on all threads of a launch, with memory, the resources of a host, and an observer.
///
/// # Errors
/// As [`run_observed`].
pub fn run_with(
    launch: &Launch,
    memory: &mut Memory,
    host: &mut dyn Host,
    observer: impl Observer,
) -> Result<Outcome, RunError> {
    check(launch)?;
    let program = Program::new(&launch.program);
    let mut machine = Machine::new(&program, &launch.uniforms, launch.budget, observer);
    machine.deadline = launch.deadline;
    let [gx, gy, gz] = launch.groups;
    let mut shared = vec![0; launch.shared_bytes as usize];
    for z in 0..gz {
        for y in 0..gy {
            for x in 0..gx {
                shared.fill(0);
                machine.group([x, y, z], launch.local_size, memory, &mut shared, host)?;
            }
        }
    }
    Ok(machine.outcome())
}
