//! Vertex programs: eight warps of them in lockstep.

use std::ops::Range;

use super::draw::Alone;
use super::program_cache::Loaded;
use super::runner::Runner;
use crate::level::Level;
use crate::memory::Memory;
use crate::valhall::fast::memory_view::Outside;
use crate::valhall::host::Host;
use crate::valhall::launch::{Outcome, RunError};
use crate::valhall::program::Program;
use crate::valhall::vertex::Vertices;
use crate::valhall::warp::LANES;

/// Runs a vertex program whose vertices were checked.
///
/// # Errors
/// When an instruction cannot be executed; memory then contains what was written before.
pub fn run(vertices: &Vertices, memory: &mut Memory, host: &mut dyn Host, level: Level) -> Result<Outcome, RunError> {
    let program = Program::new(&vertices.program);
    let loaded = load(&program, vertices, host, level);
    let mut runner = loaded.runner(&vertices.uniforms, 1, vertices.budget);
    runner.deadline = vertices.deadline;
    let warps = vertices.count.div_ceil(LANES as u32);
    run_range(&mut runner, vertices, 0..warps, &mut Outside::new(memory, host))?;
    Ok(runner.outcome())
}

/// Lowers a vertex program.
pub fn load<'a>(program: &'a Program<'a>, vertices: &'a Vertices, host: &dyn Host, level: Level) -> Loaded<'a> {
    let mut loaded = Loaded::hosted(program, &vertices.uniforms, 1, host, level);
    if vertices.start > 0 {
        // Words before the first executed one may seem to write a register, but they do not run here.
        loaded.code.keep_all();
    }
    loaded
}

/// Runs some of the warps of a vertex program.
///
/// # Errors
/// As [`run`].
pub fn run_range(
    runner: &mut Runner<'_>,
    vertices: &Vertices,
    range: Range<u32>,
    outside: &mut Outside<'_>,
) -> Result<(), RunError> {
    let (mut alone, mut warps) = (Alone::new(runner.code()), vertices.warps(range));
    while let Some(done) = alone.run(runner, &mut warps, outside) {
        done?;
    }
    Ok(())
}
