//! Observation of running programs.
//!
//! The machine calls an [`Observer`] before and after every instruction of a warp. It is a type parameter, so that runs
//! without an observer are compiled without the calls.

mod profile;
mod trace;

use std::fmt;
use std::ops::ControlFlow;

use isaforge_valhall::{Instruction, Register};

pub use super::space::SpaceView;
pub use profile::{TERMS, profile};
pub use trace::{Change, Executed, Trace};

use super::warp::LANES;
use crate::machine::Access;
use crate::valhall::launch::Stage;

/// The registers of a warp, with one value for each lane.
pub type Registers = [[u32; LANES]; Register::COUNT];

/// A warp at an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The kind of program.
    pub stage: Stage,
    /// The workgroup; for other programs, x and y of the first pixel, or the index of the first vertex.
    pub group: [u32; 3],
    /// The number of the warp in its workgroup.
    pub warp: u32,
    /// The word of the program, counted from 0.
    pub pc: usize,
    /// The instruction. `None` before a word that cannot be executed, with which the run fails.
    pub instruction: Option<Instruction>,
    /// The lanes.
    pub lanes: Lanes,
    /// The registers of the lanes.
    pub registers: &'a Registers,
    /// The fast-access uniforms.
    pub uniforms: &'a [u32],
    /// Memory as seen by the lanes.
    pub space: SpaceView<'a>,
    /// The pixels of the lanes of a fragment program.
    pub pixels: &'a [[u32; 2]; LANES],
    /// The memory accesses of the instruction.
    pub accesses: &'a [Access],
}

/// The states of the lanes of a warp, one bit for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// The lanes that have not ended. After an instruction that ends them, they have.
    pub live: u16,
    /// The lanes that execute the instruction.
    pub active: u16,
    /// The helper lanes of a fragment program.
    pub helpers: u16,
}

impl Lanes {
    /// The number of lanes that execute the instruction.
    pub fn count(self) -> u32 {
        self.active.count_ones()
    }
}

/// Writes a character for each lane, the lowest first: `+` executes, `h` executes as a helper, `.` is elsewhere, `x`
/// has ended or does not exist.
impl fmt::Display for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (0..LANES).try_for_each(|lane| {
            let is = |mask: u16| mask >> lane & 1 != 0;
            f.write_str(match (is(self.active), is(self.live)) {
                (true, _) if is(self.helpers) => "h",
                (true, _) => "+",
                (false, true) => ".",
                (false, false) => "x",
            })
        })
    }
}

/// Observes a running program.
pub trait Observer {
    /// Whether to observe at all; if false, the machine never calls the observer.
    const WATCHES: bool = true;

    /// A warp is about to execute an instruction. [`ControlFlow::Break`] ends the run with
    /// [`RunError::Stopped`](crate::RunError::Stopped) before the instruction is executed.
    fn before(&mut self, _: &Moment<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// A warp has executed an instruction. It is not called for instructions that fail.
    fn after(&mut self, _: &Moment<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// The warps of a workgroup have met at a barrier.
    fn barrier(&mut self, group: [u32; 3]) {
        let _ = group;
    }
}

/// Observes nothing.
impl Observer for () {
    const WATCHES: bool = false;
}

impl<T: Observer> Observer for &mut T {
    const WATCHES: bool = T::WATCHES;

    fn before(&mut self, moment: &Moment<'_>) -> ControlFlow<()> {
        T::before(self, moment)
    }

    fn after(&mut self, moment: &Moment<'_>) -> ControlFlow<()> {
        T::after(self, moment)
    }

    fn barrier(&mut self, group: [u32; 3]) {
        T::barrier(self, group);
    }
}

/// Observes if there is an observer.
impl<T: Observer> Observer for Option<T> {
    const WATCHES: bool = T::WATCHES;

    fn before(&mut self, moment: &Moment<'_>) -> ControlFlow<()> {
        self.as_mut().map_or(ControlFlow::Continue(()), |observer| observer.before(moment))
    }

    fn after(&mut self, moment: &Moment<'_>) -> ControlFlow<()> {
        self.as_mut().map_or(ControlFlow::Continue(()), |observer| observer.after(moment))
    }

    fn barrier(&mut self, group: [u32; 3]) {
        self.iter_mut().for_each(|observer| observer.barrier(group));
    }
}

/// Three observers, called one after another. If one breaks, the rest are not called.
impl<A: Observer, B: Observer, C: Observer> Observer for (A, B, C) {
    const WATCHES: bool = A::WATCHES || B::WATCHES || C::WATCHES;

    fn before(&mut self, moment: &Moment<'_>) -> ControlFlow<()> {
        self.0.before(moment)?;
        self.1.before(moment)?;
        self.2.before(moment)
    }

    fn after(&mut self, moment: &Moment<'_>) -> ControlFlow<()> {
        self.0.after(moment)?;
        self.1.after(moment)?;
        self.2.after(moment)
    }

    fn barrier(&mut self, group: [u32; 3]) {
        self.0.barrier(group);
        self.1.barrier(group);
        self.2.barrier(group);
    }
}
