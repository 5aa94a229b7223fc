//! Vertex programs.

use std::ops::Range;

use crate::deadline::Deadline;
use crate::memory::Memory;
use crate::valhall::launch::{Launch, Origin, Outcome, RunError, Stage, check_limit, check_program};

use super::group::Machine;
use super::host::Host;
use super::observe::Observer;
use super::preload::{VERTEX, Value};
use super::program::Program;
use super::warp::{LANES, Warp, Warps};

/// A vertex program and the vertices to run it for.
#[derive(Clone, Debug)]
pub struct Vertices {
    /// The words of the program.
    pub program: Vec<u64>,
    /// The word at which threads start.
    pub start: u32,
    /// The fast-access uniforms, at most [`Launch::MAX_UNIFORMS`].
    pub uniforms: Vec<u32>,
    /// The index of the first vertex.
    pub first: u32,
    /// The number of vertices, at most [`Vertices::MAX`].
    pub count: u32,
    /// The index of the instance.
    pub instance: u32,
    /// The number of instructions that all threads together may execute.
    pub budget: u64,
    /// The time at which the run must end.
    pub deadline: Deadline,
}

impl Vertices {
    /// The maximum number of vertices of a run.
    pub const MAX: u32 = 1 << 20;

    /// Creates a run of `count` vertices from 0 of instance 0, from the first word, with no uniforms and the default
    /// budget.
    pub fn new(program: Vec<u64>, count: u32) -> Self {
        Vertices {
            program,
            start: 0,
            uniforms: Vec::new(),
            first: 0,
            count,
            instance: 0,
            budget: Launch::DEFAULT_BUDGET,
            deadline: Deadline::NONE,
        }
    }

    /// Checks the limits.
    pub(super) fn check(&self) -> Result<(), RunError> {
        check_program(&self.program, &self.uniforms)?;
        check_limit("the number of vertices", self.count.into(), 0, Vertices::MAX.into())?;
        let last = self.program.len() as u64 - 1;
        check_limit("the first word", self.start.into(), 0, last)
    }

    /// Returns the warps with these numbers.
    pub(super) fn warps(&self, range: Range<u32>) -> VertexWarps<'_> {
        VertexWarps { vertices: self, range }
    }
}

/// Some of the warps of a vertex program.
#[derive(Debug)]
pub(super) struct VertexWarps<'a> {
    vertices: &'a Vertices,
    range: Range<u32>,
}

impl Warps for VertexWarps<'_> {
    type Origin = First;

    fn next(&mut self, warp: &mut Warp) -> Option<First> {
        let done = self.range.next()? * LANES as u32;
        let count = self.vertices.count.saturating_sub(done).min(LANES as u32);
        // Vertex indices wrap around, as registers do.
        let first = self.vertices.first.wrapping_add(done);
        warp.restart(((1u32 << count) - 1) as u16, self.vertices.start);
        for &(register, value) in VERTEX.iter() {
            for (lane, word) in warp.registers[register].iter_mut().enumerate() {
                *word = match value {
                    Value::Vertex => first.wrapping_add(lane as u32),
                    Value::Instance => self.vertices.instance,
                    _ => 0,
                };
            }
        }
        Some(First(first))
    }
}

/// The first vertex of a warp.
#[derive(Debug)]
pub(super) struct First(u32);

impl Origin for First {
    fn stage(&self) -> Stage {
        Stage::Vertex
    }

    fn group(&self) -> [u32; 3] {
        self.thread(0)
    }

    fn thread(&self, index: usize) -> [u32; 3] {
        [self.0.wrapping_add((index % LANES) as u32), 0, 0]
    }
}

/// Runs like [`run_vertices_observed`](super::run_vertices_observed), warp by warp and instruction by instruction.
pub(super) fn run_by_reference(
    vertices: &Vertices,
    memory: &mut Memory,
    host: &mut dyn Host,
    observer: impl Observer,
) -> Result<Outcome, RunError> {
    vertices.check()?;
    let program = Program::new(&vertices.program);
    let mut machine = Machine::new(&program, &vertices.uniforms, vertices.budget, observer);
    machine.deadline = vertices.deadline;
    let mut warps = vertices.warps(0..vertices.count.div_ceil(LANES as u32));
    loop {
        let mut warp = Warp::new(0);
        let Some(origin) = warps.next(&mut warp) else { return Ok(machine.outcome()) };
        machine.alone(&mut warp, &origin, memory, host)?;
    }
}
