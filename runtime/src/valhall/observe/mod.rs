//! Looking on while a program runs.
//!
//! The machine calls an [`Observer`] before and after every instruction of a warp. It is a type parameter: a run that
//! nobody watches is compiled without the calls.

mod profile;
mod trace;

use std::fmt;
use std::ops::ControlFlow;

use isaforge_valhall::{Instruction, Register};

pub use super::space::SpaceView;
pub use profile::{TERMS, profile, traffic};
pub use trace::{Change, Executed, Trace};

use super::warp::LANES;
use crate::launch::Stage;
use crate::machine::Access;

/// The registers of a warp, a value a lane.
pub type Registers = [[u32; LANES]; Register::COUNT];

/// A warp at an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// What kind of program it runs.
    pub stage: Stage,
    /// The workgroup; x and y of the first pixel, or the number of the first vertex.
    pub group: [u32; 3],
    /// The warp in its workgroup.
    pub warp: u32,
    /// The word of the program, from 0.
    pub pc: usize,
    /// The instruction.
    pub instruction: Instruction,
    /// The lanes.
    pub lanes: Lanes,
    /// Their registers.
    pub registers: &'a Registers,
    /// The fast-access uniforms.
    pub uniforms: &'a [u32],
    /// Memory as they see it.
    pub space: SpaceView<'a>,
    /// The pixels of the lanes of a fragment program.
    pub pixels: &'a [[u32; 2]; LANES],
    /// What the instruction has accessed in memory.
    pub accesses: &'a [Access],
}

/// What the lanes of a warp do, a bit a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Those that have not ended.
    pub live: u16,
    /// Those that execute the instruction.
    pub active: u16,
    /// Those that only help others with a fragment program.
    pub helpers: u16,
}

impl Lanes {
    /// How many execute the instruction.
    pub fn count(self) -> u32 {
        self.active.count_ones()
    }
}

/// A sign for each lane, the lowest first: `+` executes, `h` does so as a helper, `.` is elsewhere, `x` has ended or
/// does not exist.
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

/// Looks on while a program runs.
pub trait Observer {
    /// False where nothing would be done with what is seen; the machine then does not call.
    const WATCHES: bool = true;

    /// A warp is about to execute an instruction. [`ControlFlow::Break`] ends the run with
    /// [`RunError::Stopped`](crate::RunError::Stopped) before it does.
    fn before(&mut self, _: &Moment<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// A warp has executed an instruction. An instruction that fails is not seen here.
    fn after(&mut self, _: &Moment<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// The warps of a workgroup have met at a barrier.
    fn barrier(&mut self, group: [u32; 3]) {
        let _ = group;
    }
}

/// Nobody looks on.
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

/// Looks on if it is there.
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

/// Three that look on, one after another; the first to break is the last to see.
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
