//! Bundles in turns.

use super::probe::Probe;
use crate::deadline::Deadline;
use crate::valhall::fast::bundle::{Bundle, WARPS};
use crate::valhall::fast::code::Code;
use crate::valhall::fast::jit::code_cache::{CodeCache, Functions};
use crate::valhall::fast::memory_view::MemoryView;
use crate::valhall::fast::tally::Tally;
use crate::valhall::group::TURN;
use crate::valhall::launch::{Origin, Outcome, RunError};
use crate::valhall::program::{Decoder, Profile};
use crate::valhall::warp::LANES;

/// The most instructions that all warps of a bundle together may execute after they were chosen: less than a turn up
/// to a barrier that they pass at once, and another turn after it.
pub const BUNDLE_TURN: u64 = 2 * (WARPS * LANES) as u64 * TURN as u64;

/// Runs bundles, and counts what they execute.
pub struct Runner<'a> {
    pub(super) code: &'a Code<'a>,
    pub(super) uniforms: &'a [u32],
    pub(super) warps: u32,
    pub(super) budget: u64,
    /// The deadline of the run.
    pub deadline: Deadline,
    pub(super) tally: Tally,
    pub(super) functions: CodeCache<'a>,
    /// The observer, if there is one.
    pub(super) probe: Option<Probe<'a>>,
    /// Whether the budget may run out in this turn.
    pub(super) exact: bool,
    /// The first error in the order of the reference, with its workgroup in the dispatch.
    pub(super) failed: Option<(usize, RunError)>,
}

impl<'a> Runner<'a> {
    /// Creates a runner for workgroups of `warps` warps; `shared` are the functions of the program.
    pub(super) fn new(code: &'a Code<'a>, shared: &'a Functions, uniforms: &'a [u32], warps: u32, budget: u64) -> Self {
        Runner {
            code,
            uniforms,
            warps,
            budget,
            deadline: Deadline::NONE,
            tally: Tally { profile: vec![0; code.words() + 1], ..Tally::default() },
            functions: CodeCache::new(shared),
            probe: None,
            exact: false,
            failed: None,
        }
    }

    /// Returns the code that it runs.
    pub fn code(&self) -> &'a Code<'a> {
        self.code
    }

    /// Adds the counts of compiled code.
    pub(super) fn gather(&mut self) {
        self.functions.keep();
        for (words, threads) in self.functions.executed() {
            self.tally.add_threads(threads, words.start, words.end);
        }
    }

    /// Returns the counts.
    pub fn outcome(&mut self) -> Outcome {
        self.gather();
        // The counts are changes from one word to the next.
        let threads = self.tally.profile.iter().scan(0u64, |threads, change| {
            *threads = threads.wrapping_add(*change);
            Some(*threads)
        });
        let mut profile = Profile::new();
        for (word, threads) in self.code.program.words.iter().zip(threads).filter(|(_, threads)| *threads > 0) {
            if let Some((instruction, _)) = Decoder::get().decode(*word) {
                profile.count(instruction, threads);
            }
        }
        Outcome {
            thread_instructions: self.tally.spent,
            warp_instructions: self.tally.warp_instructions,
            mnemonics: profile.sorted(),
        }
    }

    /// Runs warps that are workgroups of their own to their end.
    pub fn alone(
        &mut self,
        bundle: &mut Bundle,
        view: &mut MemoryView<'_>,
        origins: &[impl Origin],
    ) -> Result<(), RunError> {
        while bundle.live != [0; WARPS] {
            self.check_time(bundle, origins)?;
            let ready = bundle.ready();
            self.exact = self.budget - self.tally.spent < BUNDLE_TURN;
            let in_turn = self.exact || self.code.ordered;
            self.turn(bundle, view, origins, if in_turn { ready & ready.wrapping_neg() } else { ready });
            let waiting = bundle.at_barrier;
            for warp in (0..WARPS).filter(|warp| waiting >> warp & 1 != 0) {
                let place = bundle.place(warp);
                bundle.pass_barrier(warp, place, self.code.ends_at_barrier(place));
            }
        }
        self.failed.take().map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Fails if the deadline has passed.
    pub(super) fn check_time(&self, bundle: &Bundle, groups: &[impl Origin]) -> Result<(), RunError> {
        let Some(limit) = self.deadline.passed() else { return Ok(()) };
        let warp = (0..WARPS).find(|&warp| bundle.live[warp] != 0).unwrap_or(0);
        Err(RunError::Time { place: self.describe(bundle, groups, bundle.place(warp) as usize, warp, None), limit })
    }

    /// Runs the chosen warps until each has ended, waits at a barrier, or has used up its turn.
    pub(super) fn turn(&mut self, bundle: &mut Bundle, view: &mut MemoryView<'_>, groups: &[impl Origin], chosen: u8) {
        if self.probe.is_some() {
            return self.turn_probed(bundle, view, groups, chosen);
        }
        bundle.choose(chosen);
        if !bundle.goes_on() {
            bundle.schedule(&self.code.schedule, view);
        }
        while bundle.is_busy() {
            while self.advance(bundle, view, groups) {}
            // All have ended, or wait.
            if bundle.live == [0; WARPS] || bundle.waits_at().is_some() {
                return;
            }
            bundle.schedule(&self.code.schedule, view);
        }
    }

    /// Like [`Runner::turn`].
    fn turn_probed(&mut self, bundle: &mut Bundle, view: &mut MemoryView<'_>, groups: &[impl Origin], chosen: u8) {
        bundle.choose(chosen);
        if !bundle.goes_on() {
            bundle.schedule(&self.code.schedule, view);
        }
        while bundle.is_busy() {
            loop {
                let goes_on = self.advance(bundle, view, groups);
                if let Some(probe) = &mut self.probe {
                    probe.look(bundle, groups, chosen);
                }
                if !goes_on {
                    break;
                }
            }
            if bundle.live == [0; WARPS] {
                break;
            }
            bundle.schedule(&self.code.schedule, view);
        }
        if let Some(probe) = &mut self.probe {
            probe.end_turn(bundle, groups, chosen);
        }
    }
}
