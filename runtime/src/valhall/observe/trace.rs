//! Traces of the changes that instructions make.

use std::fmt;
use std::ops::ControlFlow;

use isaforge_valhall::Register;

use super::{Lanes, Moment, Observer, Registers};
use crate::observe::write_values;
use crate::valhall::launch::Stage;
use crate::valhall::warp::{LANES, lanes};

/// An instruction that a warp has executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    /// The kind of program.
    pub stage: Stage,
    /// The workgroup; for other programs, x and y of the first pixel, or the index of the first vertex.
    pub group: [u32; 3],
    /// The number of the warp in its workgroup.
    pub warp: u32,
    /// The word of the program, counted from 0.
    pub pc: usize,
    /// The text of the instruction.
    pub text: String,
    /// The lanes.
    pub lanes: Lanes,
    /// The registers whose values have changed, in ascending order.
    pub changes: Vec<Change>,
}

/// A register that an instruction has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The number of the register.
    pub register: usize,
    /// The lanes in which the value has changed.
    pub lanes: u16,
    /// The values in all lanes.
    pub values: [u32; LANES],
}

impl fmt::Display for Executed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let warp = self.stage.warp(self.group, self.warp);
        write!(f, "{warp} {:>4} {} {}", self.pc, self.lanes, self.text)?;
        for (i, change) in self.changes.iter().enumerate() {
            write!(f, "{} r{}=", if i == 0 { "  |" } else { ";" }, change.register)?;
            write_values(f, &change.values, change.lanes.into())?;
        }
        Ok(())
    }
}

/// Calls a function for each executed instruction; the run ends when the function breaks.
pub struct Trace<F> {
    tell: F,
    before: Box<Registers>,
}

impl<F: FnMut(&Executed) -> ControlFlow<()>> Trace<F> {
    /// Creates a trace that calls `tell`.
    pub fn new(tell: F) -> Self {
        Trace { tell, before: Box::new([[0; LANES]; Register::COUNT]) }
    }
}

impl<F> fmt::Debug for Trace<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace").finish_non_exhaustive()
    }
}

impl<F: FnMut(&Executed) -> ControlFlow<()>> Observer for Trace<F> {
    fn before(&mut self, moment: &Moment<'_>) -> ControlFlow<()> {
        self.before.clone_from_slice(moment.registers);
        ControlFlow::Continue(())
    }

    fn after(&mut self, moment: &Moment<'_>) -> ControlFlow<()> {
        let columns = self.before.iter().zip(moment.registers).enumerate();
        let changes = columns.filter(|(_, (old, new))| old != new).map(|(register, (old, new))| Change {
            register,
            lanes: lanes(u16::MAX).filter(|&lane| old[lane] != new[lane]).fold(0, |mask, lane| mask | 1 << lane),
            values: *new,
        });
        (self.tell)(&Executed {
            stage: moment.stage,
            group: moment.group,
            warp: moment.warp,
            pc: moment.pc,
            text: moment.instruction.map_or_else(String::new, |instruction| instruction.to_string()),
            lanes: moment.lanes,
            changes: changes.collect(),
        })
    }
}
