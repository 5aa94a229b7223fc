//! Runs programs with an observer: of their accesses to memory, or of registers.

use super::launch::{count, run_groups, runner, warps};
use super::probe::{Held, Probe};
use super::program_cache::Loaded;
use crate::level::Level;
use crate::machine::AccessObserver;
use crate::memory::Memory;
use crate::valhall::fast::memory_view::Outside;
use crate::valhall::host::Host;
use crate::valhall::launch::{Launch, Outcome, RunError, check};
use crate::valhall::program::Program;

/// Like [`run_hosted`](super::run_hosted), and tells an observer of all accesses to memory and of barriers.
///
/// # Errors
/// As [`run`](super::run).
pub fn run_logged(
    launch: &Launch,
    memory: &mut Memory,
    host: &mut dyn Host,
    level: Level,
    observer: &mut dyn AccessObserver,
) -> Result<Outcome, RunError> {
    check(launch)?;
    let program = Program::new(&launch.program);
    let loaded = Loaded::logged(&program, &launch.uniforms, warps(launch) as u32, host, level);
    let mut runner = runner(&loaded, launch);
    let mut outside = Outside { accesses: Some(observer), ..Outside::new(memory, host) };
    run_groups(&loaded, &mut runner, launch, &mut outside, 0..count(launch))?;
    Ok(runner.outcome())
}

/// Like [`run`](super::run), but calls `look` for the warps each time that some have executed something: an
/// instruction, or a run of them. All registers have their proper content then, whether or not they are read later.
pub fn run_probed(
    launch: &Launch,
    memory: &mut Memory,
    host: &mut dyn Host,
    level: Level,
    look: &mut (dyn FnMut(&Held<'_>) + Send),
) -> Result<Outcome, RunError> {
    check(launch)?;
    let program = Program::new(&launch.program);
    let mut loaded = Loaded::hosted(&program, &launch.uniforms, warps(launch) as u32, host, level);
    loaded.code.keep_all();
    let mut runner = runner(&loaded, launch);
    runner.probe = Some(Probe::new(look));
    run_groups(&loaded, &mut runner, launch, &mut Outside::new(memory, host), 0..count(launch))?;
    Ok(runner.outcome())
}
