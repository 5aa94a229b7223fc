//! The execution of one instruction by one warp: its inputs and its outcome.

use isaforge_core::semantics::evaluate::Scratch;

use crate::memory::MemoryFault;

use super::host::HostError;
use super::space::Space;
use super::warp::{LANES, Warp, lanes};

/// What stays the same while a warp runs.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub uniforms: &'a [u32],
    /// The number of words of the program.
    pub words: usize,
    /// The warp's number in its workgroup.
    pub warp: u32,
    /// The number of warps in the workgroup.
    pub warps: u32,
}

impl Context<'_> {
    /// The special value `warp_id`: the warp's number in the low word, the highest number in the high word.
    pub fn warp_id(&self) -> u64 {
        u64::from(self.warps.saturating_sub(1)) << 32 | u64::from(self.warp)
    }
}

/// A warp about to execute an instruction.
#[derive(Debug)]
pub(super) struct Step<'a> {
    pub warp: &'a mut Warp,
    pub context: &'a Context<'a>,
    pub space: Space<'a>,
    /// Scratch space for the evaluation of operations.
    pub scratch: Scratch<LANES>,
}

/// How the warp continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// At the next word.
    Next,
    /// At the lanes' program counters, which have been set.
    Jumped,
    /// After this barrier, once all warps of the workgroup are there.
    Barrier,
}

/// The reason why an instruction cannot be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Unsupported(&'static str),
    Memory { lane: usize, fault: MemoryFault },
    Host { lane: usize, error: HostError },
    PixelIndex { lane: usize, index: u32 },
    OutOfProgram { lane: usize, target: i64 },
    Misaligned { lane: usize, address: u64 },
}

impl Step<'_> {
    /// Jumps in the lanes `taken`, to the word given by `target`.
    pub fn jump(&mut self, taken: u16, target: impl Fn(usize) -> Result<i64, Fault>) -> Result<Control, Fault> {
        let taken = taken & self.warp.active;
        for lane in lanes(self.warp.active) {
            self.warp.pcs[lane] = self.warp.pc + 1;
        }
        for lane in lanes(taken) {
            let target = target(lane)?;
            let words = self.context.words;
            let valid = u32::try_from(target).ok().filter(|&pc| (pc as usize) < words);
            self.warp.pcs[lane] = valid.ok_or(Fault::OutOfProgram { lane, target })?;
        }
        Ok(Control::Jumped)
    }
}
