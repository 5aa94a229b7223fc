//! The steps of a [plan](super::plan).

use std::sync::Arc;

use super::terms::Sum;
use crate::exec::jit::lanes::window::WINDOWS;
use crate::machine::Pattern;
use crate::memory::Memory;
use crate::valhall::fast::compiled::{Form, Function};
use crate::valhall::fast::fields::Fields;
use crate::valhall::fast::handler;
use crate::valhall::fast::warps::Lanes;

/// A step of a bundle.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub bundle: usize,
    pub what: Done,
}

/// What a step executes.
#[derive(Clone, Debug)]
pub(super) enum Done {
    /// Machine code for some lanes and their warps, with the numbers of its windows.
    Call { function: Arc<Function>, form: Form, active: Lanes, times: u32, windows: [u16; WINDOWS] },
    /// A store of a row, lane by lane: each has the warp, the lane, and the number of the window.
    Store { row: u32, lanes: Vec<(u8, u8, u16)> },
    /// An atomic on words at any addresses, for some lanes.
    Update { op: handler::Op, active: Lanes },
    /// Tells the observer of accesses what some lanes have accessed. If `is_own`, that is memory of their workgroup, at
    /// the same addresses in all of them.
    Log { observed: Vec<Observed>, active: Lanes, times: u32, is_own: bool },
    /// Tells the observer of accesses that all warps of a workgroup have met.
    Barrier(usize),
}

/// Accesses that an observer is told of.
#[derive(Clone, Debug)]
pub(super) struct Observed {
    /// Where they are in a workgroup whose sum is 0.
    pub base: Pattern,
    pub sum: Sum,
}

impl Observed {
    /// Whether these are accesses to the memory of a workgroup, at the same addresses in all of them.
    pub fn is_own(&self) -> bool {
        self.sum.is_empty() && Memory::RESERVED.contains(&self.base.start)
    }

    /// Returns where they are, given the terms of a workgroup.
    pub fn pattern(&self, terms: &[u64]) -> Pattern {
        Pattern { start: self.base.start.wrapping_add(self.sum.value(terms)), ..self.base }
    }
}

/// Returns the rows that an atomic reads.
pub(super) fn updates(op: &handler::Op) -> [u32; 3] {
    let Fields { dest, sources: [low, high], .. } = *op.fields();
    [low, high, dest]
}
