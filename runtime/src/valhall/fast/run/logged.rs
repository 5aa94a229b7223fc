//! Runs programs with an observer of their accesses to memory.

use super::{Runner, count, warps};
use crate::level::Level;
use crate::machine::AccessObserver;
use crate::memory::Memory;
use crate::valhall::fast::code::Code;
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
    let code = Code::logged(&program, &launch.uniforms, warps(launch) as u32, host, level);
    let mut runner = Runner::new(&code, launch);
    let mut outside = Outside { accesses: Some(observer), ..Outside::new(memory, host) };
    runner.groups(launch, &mut outside, 0..count(launch))?;
    Ok(runner.outcome())
}
