//! A launch as dispatches.

use std::ops::Range;

use crate::level::Level;
use crate::memory::Memory;
use crate::valhall::launch::{Launch, Outcome, RunError, check};

use super::dispatch::Dispatch;
use super::program_cache::Loaded;
use super::runner::Runner;
use crate::valhall::fast::bundle::WARPS;
use crate::valhall::fast::memory_view::Outside;
use crate::valhall::group::Group;
use crate::valhall::host::{Host, Nothing};
use crate::valhall::program::Program;
use crate::valhall::warp::LANES;

/// Runs a compute program on all threads of a launch, with the handlers of a level.
///
/// # Errors
/// When the launch asks for too much or an instruction cannot be executed; memory then contains what was written
/// before.
pub fn run(launch: &Launch, memory: &mut Memory, level: Level) -> Result<Outcome, RunError> {
    run_hosted(launch, memory, &mut Nothing, level)
}

/// Like [`run`], with a host.
///
/// # Errors
/// As [`run`].
pub fn run_hosted(
    launch: &Launch,
    memory: &mut Memory,
    host: &mut dyn Host,
    level: Level,
) -> Result<Outcome, RunError> {
    check(launch)?;
    let program = Program::new(&launch.program);
    let loaded = Loaded::hosted(&program, &launch.uniforms, warps(launch) as u32, host, level);
    let mut runner = runner(&loaded, launch);
    run_groups(&loaded, &mut runner, launch, &mut Outside::new(memory, host), 0..count(launch))?;
    Ok(runner.outcome())
}

/// Like [`run`]. Also returns the machine code as [`listing`] does.
///
/// # Errors
/// As [`run`].
pub fn run_listed(
    launch: &Launch,
    memory: &mut Memory,
    host: &mut dyn Host,
    level: Level,
) -> Result<(Outcome, String), RunError> {
    let outcome = run_hosted(launch, memory, host, level)?;
    Ok((outcome, listing(launch, host, level)))
}

/// Returns the machine code that runs of a launch have left, as text: the code of each function after the instructions
/// that it was compiled from. The text is empty if the level does not compile, or if the program is too long to be
/// cached.
pub fn listing(launch: &Launch, host: &dyn Host, level: Level) -> String {
    let program = Program::new(&launch.program);
    Loaded::hosted(&program, &launch.uniforms, warps(launch) as u32, host, level).listing()
}

/// Returns the number of warps of a workgroup.
pub fn warps(launch: &Launch) -> usize {
    launch.local_size.iter().map(|&n| n as usize).product::<usize>().div_ceil(LANES)
}

/// Returns the number of workgroups.
pub fn count(launch: &Launch) -> u128 {
    launch.groups.iter().map(|&n| u128::from(n)).product()
}

/// Creates a runner for a launch.
pub fn runner<'a>(loaded: &'a Loaded<'a>, launch: &'a Launch) -> Runner<'a> {
    let runner = loaded.runner(&launch.uniforms, warps(launch) as u32, launch.budget);
    Runner { deadline: launch.deadline, ..runner }
}

/// Runs some of the workgroups, in order.
pub fn run_groups(
    loaded: &Loaded<'_>,
    runner: &mut Runner<'_>,
    launch: &Launch,
    outside: &mut Outside<'_>,
    range: Range<u128>,
) -> Result<(), RunError> {
    let warps = warps(launch);
    let together = if loaded.code.ordered { 1 } else { (WARPS / warps).max(1) };
    let mut dispatch = Dispatch::take(runner, loaded.exchange(None), launch, warps, together);
    let [x, y, _] = launch.groups.map(|n| u128::from(n).max(1));
    let mut next = range.start;
    while next < range.end {
        let mut id = [next % x, next / x % y, next / x / y].map(|n| n as u32);
        // The dispatches of this row.
        let end = range.end.min(next - next % x + x);
        while next < end {
            if outside.is_done() {
                return Ok(());
            }
            dispatch.groups.push(Group { id, size: launch.local_size });
            (id[0], next) = (id[0] + 1, next + 1);
            if dispatch.groups.len() == together {
                let is_of_row = id[0] as usize >= together;
                let following = if is_of_row { (end - next) as u32 / together as u32 } else { 0 };
                let groups = dispatch.run(runner, outside, following)? * together as u32;
                (id[0], next) = (id[0] + groups, next + u128::from(groups));
            }
        }
    }
    dispatch.run(runner, outside, 0)?;
    if dispatch.is_small() {
        loaded.exchange(Some(dispatch));
    }
    Ok(())
}
