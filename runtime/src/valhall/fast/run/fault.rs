//! Faults and refusals: which error ends a run, and where it happened.

use super::runner::Runner;
use crate::valhall::fast::bundle::Bundle;
use crate::valhall::fast::exit::Exit;
use crate::valhall::launch::Origin;
use crate::valhall::launch::{Place, RunError};
use crate::valhall::program::Slot;
use crate::valhall::warp::LANES;

impl Runner<'_> {
    /// Ends a run at the handler that failed; `end` is the end of the counted words.
    pub(super) fn stop(&mut self, bundle: &mut Bundle, groups: &[impl Origin], failed: u32, end: usize) -> bool {
        let next = failed + 1;
        self.tally.uncount(bundle, next as usize, end);
        bundle.go(next);
        if let Some(Exit::End) = self.code.exit(failed as usize) {
            bundle.end();
        }
        self.fail(bundle, groups, failed as usize);
        false
    }

    /// Handles the fault of a handler: ends the warp, and those that the reference would not have reached.
    pub(super) fn fail(&mut self, bundle: &mut Bundle, groups: &[impl Origin], pc: usize) {
        let Some((warp, fault)) = bundle.fault.take() else { return };
        let home = bundle.homes[warp];
        let error = self.code.program.error(fault, pc, &groups[home.group], home.number * LANES);
        self.drop_warps(bundle, warp, error);
    }

    pub(super) fn drop_warps(&mut self, bundle: &mut Bundle, warp: usize, error: RunError) {
        self.failed = Some((bundle.homes[warp].group, error));
        bundle.drop_from(warp);
    }

    pub(super) fn describe(
        &self,
        bundle: &Bundle,
        groups: &[impl Origin],
        pc: usize,
        warp: usize,
        lane: Option<usize>,
    ) -> Box<Place> {
        let home = bundle.homes[warp];
        self.code.program.place(pc, &groups[home.group], lane.map(|lane| home.number * LANES + lane))
    }

    pub(super) fn refusal(
        &self,
        bundle: &Bundle,
        groups: &[impl Origin],
        pc: usize,
        warp: usize,
        refusal: Refusal,
    ) -> RunError {
        let first = Some(bundle.active[warp].trailing_zeros() as usize);
        match (refusal, self.code.program.slot(pc)) {
            (Refusal::Budget, _) => {
                RunError::Budget { place: self.describe(bundle, groups, pc, warp, first), budget: self.budget }
            }
            (_, Some(Slot::Undecodable(error))) => {
                RunError::Undecodable { place: self.describe(bundle, groups, pc, warp, None), error: *error }
            }
            (_, Some(Slot::Register(register))) => {
                RunError::Register { place: self.describe(bundle, groups, pc, warp, None), register }
            }
            _ => {
                let words = self.code.words();
                let place = self.describe(bundle, groups, words.saturating_sub(1), warp, first);
                RunError::OutOfProgram { place, target: pc as i64, words }
            }
        }
    }
}

/// Why a word is not executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is after the end of the program.
    Behind,
    /// It is not an executable instruction.
    Slot,
    /// The budget is used up.
    Budget,
}
