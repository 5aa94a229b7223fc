//! Launches: workgroups in dispatches, and the bundles of a dispatch in turns.
//!
//! Here a launch becomes dispatches, and bundles take turns.
//!
//! - `dispatch`: workgroups that run together: their start, turns, barriers and end
//! - `planned`: dispatches by a plan
//! - `advance`: executes the chosen lanes up to the next jump
//! - `fault`: which error ends a run, and where it happened
//! - `tally`: the counts of executed instructions
//!
//! The other ways to run a program:
//!
//! - `parallel`: on several host threads
//! - `logged`: with an observer of accesses to memory
//! - `probe`: with an observer of registers
//! - `single`: one word on a given state

use std::ops::Range;

use crate::deadline::Deadline;
use crate::memory::Memory;
use crate::valhall::launch::{Launch, Outcome, RunError, check};

use super::bundle::{Bundle, WARPS};
use super::code::Code;
use super::jit::code_cache::CodeCache;
use super::memory_view::{MemoryView, Outside};
use super::row;
use crate::level::Level;
use crate::valhall::group::{Group, Origin, TURN};
use crate::valhall::host::{Host, Nothing};
use crate::valhall::program::Program;
use crate::valhall::warp::{LANES, Warp};

mod advance;
mod dispatch;
mod fault;
mod logged;
mod parallel;
mod planned;
mod probe;
mod single;
mod tally;

pub use dispatch::Dispatch;
pub use logged::run_logged;
pub use parallel::{run_parallel, run_parallel_with, run_vertices_parallel};
use probe::Probe;
pub use probe::{Held, run_probed};
pub use single::single;
pub use tally::Tally;

/// The most instructions that all warps of a bundle together may execute after they were chosen: less than a turn up
/// to a barrier that they pass at once, and another turn after it.
const BUNDLE_TURN: u64 = 2 * (WARPS * LANES) as u64 * TURN as u64;

/// Runs a compute program on all threads of a launch, with the handlers of a level.
///
/// # Errors
/// When the launch asks for too much or an instruction cannot be executed; memory then contains what was written
/// before.
pub fn run(launch: &Launch, memory: &mut Memory, level: Level) -> Result<Outcome, RunError> {
    run_hosted(launch, memory, &mut Nothing, level)
}

/// Like [`run`], with a host.
///
/// # Errors
/// As [`run`].
pub fn run_hosted(
    launch: &Launch,
    memory: &mut Memory,
    host: &mut dyn Host,
    level: Level,
) -> Result<Outcome, RunError> {
    run_then(launch, memory, host, level, |_, outcome| outcome)
}

/// Runs a compute program, and passes its code to `then`.
fn run_then<T>(
    launch: &Launch,
    memory: &mut Memory,
    host: &mut dyn Host,
    level: Level,
    then: impl FnOnce(&Code<'_>, Outcome) -> T,
) -> Result<T, RunError> {
    check(launch)?;
    let program = Program::new(&launch.program);
    let code = Code::hosted(&program, &launch.uniforms, warps(launch) as u32, host, level);
    let mut runner = Runner::new(&code, launch);
    runner.groups(launch, &mut Outside::new(memory, host), 0..count(launch))?;
    let outcome = runner.outcome();
    Ok(then(&code, outcome))
}

/// Like [`run`]. Also returns the machine code as text: the code of each function after the instructions that it was
/// compiled from. The text is empty if the level does not compile.
///
/// # Errors
/// As [`run`].
pub fn run_listed(
    launch: &Launch,
    memory: &mut Memory,
    host: &mut dyn Host,
    level: Level,
) -> Result<(Outcome, String), RunError> {
    let text = |pc: u64| {
        let word = launch.program.get(pc as usize).copied().unwrap_or_default();
        let instruction = isaforge_valhall::decode(word);
        instruction.map_or_else(|_| format!("{pc}:"), |instruction| format!("{pc}: {instruction}"))
    };
    run_then(launch, memory, host, level, |code, outcome| (outcome, code.functions().listing(text)))
}

/// Returns the registers of a mask.
pub fn registers(mask: u64) -> impl Iterator<Item = usize> {
    (0..row::REGISTERS as usize).filter(move |register| mask >> register & 1 != 0)
}

/// Returns the number of warps of a workgroup.
fn warps(launch: &Launch) -> usize {
    launch.local_size.iter().map(|&n| n as usize).product::<usize>().div_ceil(LANES)
}

/// Returns the number of workgroups.
fn count(launch: &Launch) -> u128 {
    launch.groups.iter().map(|&n| u128::from(n)).product()
}

/// Runs bundles, and counts what they execute.
pub struct Runner<'a> {
    code: &'a Code<'a>,
    uniforms: &'a [u32],
    warps: u32,
    /// The warp for instructions without handlers, created when first needed.
    scratch: Option<Warp>,
    budget: u64,
    /// The deadline of the run.
    pub deadline: Deadline,
    tally: Tally,
    functions: CodeCache,
    /// The observer, if there is one.
    probe: Option<Probe<'a>>,
    /// Whether the budget may run out in this turn.
    exact: bool,
    /// The first error in the order of the reference, with its workgroup in the dispatch.
    failed: Option<(usize, RunError)>,
}

impl<'a> Runner<'a> {
    fn new(code: &'a Code<'a>, launch: &'a Launch) -> Self {
        let runner = Runner::over(code, &launch.uniforms, warps(launch) as u32, launch.budget);
        Runner { deadline: launch.deadline, ..runner }
    }

    /// Creates a runner for workgroups of `warps` warps.
    pub fn over(code: &'a Code<'a>, uniforms: &'a [u32], warps: u32, budget: u64) -> Self {
        Runner {
            code,
            uniforms,
            warps,
            scratch: None,
            budget,
            deadline: Deadline::NONE,
            tally: Tally { profile: vec![0; code.words() + 1], ..Tally::default() },
            functions: CodeCache::default(),
            probe: None,
            exact: false,
            failed: None,
        }
    }

    /// Returns the code that it runs.
    pub fn code(&self) -> &'a Code<'a> {
        self.code
    }

    /// Runs some of the workgroups, in order.
    fn groups(&mut self, launch: &Launch, outside: &mut Outside<'_>, range: Range<u128>) -> Result<(), RunError> {
        let warps = warps(launch);
        let together = if self.code.ordered { 1 } else { (WARPS / warps).max(1) };
        let mut dispatch = Dispatch::take(self.code, launch, warps, together);
        let [x, y, _] = launch.groups.map(|n| u128::from(n).max(1));
        let mut next = range.start;
        while next < range.end {
            let mut id = [next % x, next / x % y, next / x / y].map(|n| n as u32);
            // The dispatches of this row.
            let end = range.end.min(next - next % x + x);
            while next < end {
                dispatch.groups.push(Group { id, size: launch.local_size });
                (id[0], next) = (id[0] + 1, next + 1);
                if dispatch.groups.len() == together {
                    let is_of_row = id[0] as usize >= together;
                    let following = if is_of_row { (end - next) as u32 / together as u32 } else { 0 };
                    let groups = dispatch.run(self, outside, following)? * together as u32;
                    (id[0], next) = (id[0] + groups, next + u128::from(groups));
                }
            }
        }
        dispatch.run(self, outside, 0)?;
        dispatch.leave(self.code);
        Ok(())
    }

    /// Adds the counts of compiled code.
    fn gather(&mut self) {
        self.functions.keep(self.code);
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
        Outcome {
            thread_instructions: self.tally.spent,
            warp_instructions: self.tally.warp_instructions,
            mnemonics: self.code.mnemonics.count(threads),
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
    fn check_time(&self, bundle: &Bundle, groups: &[impl Origin]) -> Result<(), RunError> {
        let Some(limit) = self.deadline.passed() else { return Ok(()) };
        let warp = (0..WARPS).find(|&warp| bundle.live[warp] != 0).unwrap_or(0);
        Err(RunError::Time { place: self.describe(bundle, groups, bundle.place(warp) as usize, warp, None), limit })
    }

    /// Runs the chosen warps until each has ended, waits at a barrier, or has used up its turn.
    fn turn(&mut self, bundle: &mut Bundle, view: &mut MemoryView<'_>, groups: &[impl Origin], chosen: u8) {
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
}
