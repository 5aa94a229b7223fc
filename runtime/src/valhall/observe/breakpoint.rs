//! Stopping where somebody wants to look.

use std::fmt;
use std::ops::ControlFlow;

use super::{Lanes, Moment, Observer, Registers, write_origin};
use crate::launch::Stage;
use crate::observe::write_values;

/// A warp that was stopped before an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// What kind of program it runs.
    pub stage: Stage,
    /// The workgroup; x and y of the first pixel, or the number of the first vertex.
    pub group: [u32; 3],
    /// The warp in its workgroup.
    pub warp: u32,
    /// The word of the program, from 0.
    pub pc: usize,
    /// The instruction that was next.
    pub text: String,
    /// The lanes.
    pub lanes: Lanes,
    /// All registers.
    pub registers: Box<Registers>,
}

/// The place, then a line for each register that is not 0 in all live lanes.
impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stopped { stage, group, warp, pc, text, lanes, .. } = self;
        write!(f, "stopped before word {pc} `{text}`, ")?;
        write_origin(f, *stage, *group, *warp)?;
        write!(f, ", lanes {lanes}")?;
        for (number, values) in self.registers.iter().enumerate() {
            if super::lanes(lanes.live).any(|lane| values[lane] != 0) {
                write!(f, "\n  {:3} = ", format!("r{number}"))?;
                write_values(f, values, lanes.live.into())?;
            }
        }
        Ok(())
    }
}

/// Stops a run before certain words of the program.
#[derive(Clone, Debug, Default)]
pub struct Breakpoints {
    words: Vec<usize>,
    /// The warp that came to one, if any did.
    pub stopped: Option<Stopped>,
}

impl Breakpoints {
    /// Stops at the first of `words` that any warp comes to.
    pub fn new(words: Vec<usize>) -> Self {
        Breakpoints { words, stopped: None }
    }
}

impl Observer for Breakpoints {
    fn before(&mut self, moment: &Moment<'_>) -> ControlFlow<()> {
        if !self.words.contains(&moment.pc) {
            return ControlFlow::Continue(());
        }
        self.stopped = Some(Stopped {
            stage: moment.stage,
            group: moment.group,
            warp: moment.warp,
            pc: moment.pc,
            text: moment.instruction.to_string(),
            lanes: moment.lanes,
            registers: Box::new(*moment.registers),
        });
        ControlFlow::Break(())
    }
}
