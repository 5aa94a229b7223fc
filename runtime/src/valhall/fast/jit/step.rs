//! The steps of a [plan](super::plan).

use std::sync::Arc;

use super::terms::Sum;
use crate::exec::jit::lanes::window::WINDOWS;
use crate::machine::Pattern;
use crate::valhall::fast::bundle::WARPS;
use crate::valhall::fast::compiled::{Form, Function};
use crate::valhall::fast::fields::Fields;
use crate::valhall::fast::handler;

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
    Call { function: Arc<Function>, form: Form, active: [u16; WARPS], busy: u32, times: u32, windows: [u16; WINDOWS] },
    /// A store of a row, lane by lane: each has the warp, the lane, and the number of the window.
    Store { row: u32, lanes: Vec<(u8, u8, u16)> },
    /// An atomic on words at any addresses, for some lanes.
    Update { op: handler::Op, active: [u16; WARPS] },
    /// Tells the observer of accesses what some lanes have accessed.
    Log { observed: Vec<Observed>, active: [u16; WARPS], times: u32 },
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
