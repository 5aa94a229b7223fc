//! Runs programs with an engine: on the fast path, or by the reference.

use crate::engine::{Engine, Execution};
use crate::level::Level;
use crate::memory::Memory;
use crate::valhall::launch::{Launch, Outcome, RunError};

use super::compute::run_with;
use super::fast;
use super::fragment::{self, Fragments, Quads, draw_by_reference};
use super::host::Host;
use super::observe::Observer;
use super::program::Program;
use super::reference;
use super::vertex::{self, Vertices};

/// Runs a compute program on all threads of a launch, eight warps at a time. The results are those of
/// [`reference::run`].
///
/// # Errors
/// When the launch exceeds a limit or an instruction cannot be executed; memory then holds what was written before.
pub fn run(launch: &Launch, memory: &mut Memory) -> Result<Outcome, RunError> {
    fast::run(launch, memory, Level::best())
}

/// Runs like [`run`], with the given engine.
///
/// # Errors
/// As [`run`].
pub fn run_on(execution: Execution, launch: &Launch, memory: &mut Memory) -> Result<Outcome, RunError> {
    match execution.engine() {
        Engine::Reference => reference::run(launch, memory),
        Engine::Handlers | Engine::Compiled => fast::run(launch, memory, execution.level()),
    }
}

/// Runs like [`run_on`], with the resources of a host.
///
/// # Errors
/// As [`run`].
pub fn run_hosted(
    execution: Execution,
    launch: &Launch,
    memory: &mut Memory,
    host: &mut dyn Host,
) -> Result<Outcome, RunError> {
    match execution.engine() {
        Engine::Reference => run_with(launch, memory, host, ()),
        Engine::Handlers | Engine::Compiled => fast::run_hosted(launch, memory, host, execution.level()),
    }
}

/// Runs a fragment program for every quad of two by two pixels that has a covered pixel. Lane 0 of a quad is its pixel
/// with even coordinates, lane 1 the next pixel along x, and lanes 2 and 3 are the same columns in the next row. Pixels
/// that are not covered run as helpers. Four quads form a warp.
///
/// At the start all registers are 0 except r58 (1 for the back face), r59 (x in the low half, y in the high half), and
/// r60 and r61 (the covered samples of the pixel). The host is called for one pixel at a time, in an unspecified order.
///
/// # Errors
/// When there are too many pixels or an instruction cannot be executed. What was drawn before remains, but nothing of
/// the fragments after the one that failed.
pub fn draw(fragments: &Fragments, memory: &mut Memory, host: &mut dyn Host) -> Result<Outcome, RunError> {
    draw_on(Execution::best(), fragments, memory, host)
}

/// Draws like [`draw`], with the given engine.
///
/// # Errors
/// As [`draw`].
pub fn draw_on(
    execution: Execution,
    fragments: &Fragments,
    memory: &mut Memory,
    host: &mut dyn Host,
) -> Result<Outcome, RunError> {
    if execution.engine() == Engine::Reference {
        return draw_by_reference(fragments, memory, host, ());
    }
    fragment::check(fragments)?;
    let program = Program::new(&fragments.program);
    let (limits, quads) = ((fragments.budget, fragments.deadline), Quads::new(fragments, host.samples()));
    fast::draw(&program, &fragments.uniforms, limits, execution.level(), quads, memory, host)
}

/// Draws like [`draw`], with an observer.
///
/// # Errors
/// As [`draw`], and when the observer stops it.
pub fn draw_observed<O: Observer>(
    fragments: &Fragments,
    memory: &mut Memory,
    host: &mut dyn Host,
    observer: O,
) -> Result<Outcome, RunError> {
    if O::WATCHES { draw_by_reference(fragments, memory, host, observer) } else { draw(fragments, memory, host) }
}

/// Runs a vertex program with a thread for each vertex. At the start all registers are 0 except r59 and r60 (the index
/// of the vertex) and r61 (the index of the instance).
///
/// # Errors
/// When there are too many vertices or an instruction cannot be executed; memory then holds what was written before.
pub fn run_vertices(vertices: &Vertices, memory: &mut Memory, host: &mut dyn Host) -> Result<Outcome, RunError> {
    run_vertices_on(Execution::best(), vertices, memory, host)
}

/// Runs like [`run_vertices`], with the given engine.
///
/// # Errors
/// As [`run_vertices`].
pub fn run_vertices_on(
    execution: Execution,
    vertices: &Vertices,
    memory: &mut Memory,
    host: &mut dyn Host,
) -> Result<Outcome, RunError> {
    if execution.engine() == Engine::Reference {
        return vertex::run_by_reference(vertices, memory, host, ());
    }
    vertices.check()?;
    fast::run_vertices(vertices, memory, host, execution.level())
}

/// Runs like [`run_vertices`], with an observer.
///
/// # Errors
/// As [`run_vertices`], and when the observer stops it.
pub fn run_vertices_observed<O: Observer>(
    vertices: &Vertices,
    memory: &mut Memory,
    host: &mut dyn Host,
    observer: O,
) -> Result<Outcome, RunError> {
    if O::WATCHES {
        vertex::run_by_reference(vertices, memory, host, observer)
    } else {
        run_vertices(vertices, memory, host)
    }
}
