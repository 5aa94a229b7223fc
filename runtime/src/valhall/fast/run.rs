//! Launches: workgroups in dispatches, and the bundles of a dispatch in turns.

use std::ops::Range;

use isaforge_core::semantics::evaluate::Scratch;

use crate::deadline::Deadline;
use crate::launch::{Launch, Outcome, Place, RunError};
use crate::memory::Memory;

use super::bundle::{Bundle, PARKED, WARPS};
use super::code::{Code, Exit, Foreign, row};
use super::jit::code_cache::{CodeCache, Function};
use super::memory_view::{MemoryView, Outside};
use crate::level::Level;
use crate::valhall::group::{Group, Origin, TURN};
use crate::valhall::host::{Host, Nothing};
use crate::valhall::operation;
use crate::valhall::program::{After, Decoder, Profile, Program, Slot};
use crate::valhall::step::{Context, Control, Fault, Step};
use crate::valhall::warp::{LANES, Warp};

mod dispatch;
mod logged;
mod parallel;
mod planned;
mod probe;
mod single;

pub use dispatch::{Begin, Dispatch};
pub use logged::run_logged;
pub use parallel::{run_parallel, run_parallel_with, run_vertices_parallel};
use probe::Probe;
pub use probe::{Held, run_probed};
pub use single::single;

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
    crate::valhall::check(launch)?;
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

/// The counts of executed instructions.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    spent: u64,
    warp_instructions: u64,
    /// For each word, how many more threads executed it than the word before, modulo 2^64.
    profile: Vec<u64>,
}

impl Tally {
    /// Counts words that the active lanes execute. Returns whether a warp has used up its turn.
    #[inline(always)]
    fn count(&mut self, bundle: &mut Bundle, from: usize, to: usize) -> bool {
        let (threads, words) = (bundle.active_threads(), (to - from) as u64);
        self.add_words(words, threads, bundle.busy_count());
        self.add_threads(threads, from, to);
        bundle.tick(words as u32)
    }

    /// Counts words by the threads and warps that execute them, but not which words they are.
    fn add_words(&mut self, words: u64, threads: u64, warps: u64) {
        self.spent += threads * words;
        self.warp_instructions += warps * words;
    }

    /// Counts which words threads execute.
    fn add_threads(&mut self, threads: u64, from: usize, to: usize) {
        for (place, change) in [(from, threads), (to, threads.wrapping_neg())] {
            if let Some(count) = self.profile.get_mut(place) {
                *count = count.wrapping_add(change);
            }
        }
    }

    /// Reverts counts of words that were not executed; `to` is the end of the counted words.
    fn uncount(&mut self, bundle: &mut Bundle, from: usize, to: usize) {
        let (threads, words) = (bundle.active_threads(), (to - from) as u64);
        self.spent -= threads * words;
        self.warp_instructions -= bundle.busy_count() * words;
        self.add_threads(threads, to, from);
        bundle.untick(words as u32);
    }

    /// Returns what was counted since `before`, an earlier copy.
    fn since(mut self, before: &Tally) -> Self {
        self.spent -= before.spent;
        self.warp_instructions -= before.warp_instructions;
        for (count, before) in self.profile.iter_mut().zip(&before.profile) {
            *count = count.wrapping_sub(*before);
        }
        self
    }

    /// Adds the counts of something that is executed `times` times.
    fn add_times(&mut self, each: &Tally, times: u32) {
        self.spent += each.spent * u64::from(times);
        self.warp_instructions += each.warp_instructions * u64::from(times);
        for (count, more) in self.profile.iter_mut().zip(&each.profile) {
            *count = count.wrapping_add(more.wrapping_mul(times.into()));
        }
    }

    /// Adds the counts of another.
    fn add(&mut self, other: &Tally) {
        self.spent = self.spent.saturating_add(other.spent);
        self.warp_instructions += other.warp_instructions;
        for (count, more) in self.profile.iter_mut().zip(&other.profile) {
            *count = count.wrapping_add(*more);
        }
    }
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
            functions: CodeCache::new(code),
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
        let mut profile = Profile::new();
        let mut threads = 0u64;
        let decoder = Decoder::get();
        for (&word, change) in self.code.program.words.iter().zip(&self.tally.profile) {
            threads = threads.wrapping_add(*change);
            if threads > 0
                && let Some((instruction, _)) = decoder.decode(word)
            {
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

    /// Executes up to and including the next jump. Returns false if the lanes to execute next must be chosen again.
    fn advance(&mut self, bundle: &mut Bundle, view: &mut MemoryView<'_>, groups: &[impl Origin]) -> bool {
        let pc = bundle.pc as usize;
        let code = self.code;
        let threads = bundle.active_threads();
        let affordable = if self.exact { (self.budget - self.tally.spent) / threads.max(1) } else { u64::MAX };
        let room = u64::from(bundle.room()).min(affordable) as usize;
        let end = code.run(pc).min(bundle.others as usize).min(pc + room);
        if end <= pc {
            return self.exit(bundle, view, groups, pc, affordable);
        }
        if let Some(goes_on) = self.compiled(bundle, view, groups, room) {
            return goes_on;
        }
        let exhausted = self.tally.count(bundle, pc, end);
        if let Some(failed) = code.execute(pc..end, bundle, view) {
            return self.stop(bundle, groups, failed, end);
        }
        code.exit(end - 1).is_some_and(|exit| leave(bundle, exit, end, exhausted))
    }

    /// Executes a compiled loop, or consecutive compiled runs as long as the lanes to execute next are known and the
    /// next run is compiled. `None` if the code here is not compiled. Returns false if the lanes to execute next must
    /// be chosen again.
    fn compiled(
        &mut self,
        bundle: &mut Bundle,
        view: &mut MemoryView<'_>,
        groups: &[impl Origin],
        mut room: usize,
    ) -> Option<bool> {
        let (mut threads, mut busy) = (bundle.active_threads(), bundle.busy_count());
        let (mut pc, mut executed, mut exhausted, mut ran) = (bundle.pc, 0, false, false);
        loop {
            let joins = ran && !exhausted && pc == bundle.others && bundle.rejoin();
            // Other lanes are active now.
            if joins || bundle.active_threads() != threads {
                self.tally.add_words(executed, threads, busy);
                (threads, busy, executed) = (bundle.active_threads(), bundle.busy_count(), 0);
                room = bundle.room() as usize;
                if self.exact {
                    break;
                }
            }
            if exhausted || pc >= bundle.others {
                break;
            }
            if let Some(Exit::Barrier) = self.code.exit(pc as usize)
                && ran
                && room > 0
                && !self.exact
                && bundle.is_converged()
                && self.code.ops(pc as usize..pc as usize + 1).is_empty()
                && !self.code.ends_at_barrier(pc)
            {
                self.tally.add_threads(threads, pc as usize, pc as usize + 1);
                executed += 1;
                bundle.tick(1);
                if bundle.passes_barrier(view) {
                    (pc, room) = (pc + 1, bundle.room() as usize);
                    continue;
                }
                self.tally.add_words(executed, threads, busy);
                bundle.wait(pc);
                return Some(false);
            }
            let (block, counted) = match self.functions.at(self.code, pc as usize) {
                Some(Function::Block(block, threads))
                    if block.words() <= room && block.end <= bundle.others as usize =>
                {
                    (block, threads)
                }
                Some(Function::Loop(region, running)) if !ran => {
                    bundle.trace = None;
                    let ran = region.run(running, bundle, room as u32, self.exact)?;
                    self.tally.spent += ran.threads;
                    self.tally.warp_instructions += ran.warps;
                    let exhausted = bundle.reckon();
                    return Some(ran.next.is_some_and(|next| go_on(bundle, next, exhausted)));
                }
                _ => break,
            };
            ran = true;
            *counted = counted.wrapping_add(threads);
            room -= block.words();
            executed += block.words() as u64;
            bundle.tick(block.words() as u32);
            if bundle.ahead.most > 1 && block.start == 0 {
                // Computes the limit as if each dispatch began with the budget that the one before has left.
                let left = (self.budget - self.tally.spent).saturating_sub(BUNDLE_TURN);
                let affordable = left / (threads * block.words() as u64).max(1);
                bundle.ahead.most = bundle.ahead.most.min(u32::try_from(affordable).unwrap_or(u32::MAX));
            }
            match block.run(self.code, bundle, view, room as u32) {
                Ok(times) => {
                    let more = block.words() * (times as usize - 1);
                    *counted = counted.wrapping_add(threads * u64::from(times - 1));
                    executed += more as u64;
                    if let Exit::End = block.exit {
                        bundle.ahead.done = times;
                        self.tally.add_words(executed, threads, busy);
                        bundle.end();
                        return Some(false);
                    }
                    room -= more;
                    exhausted = bundle.room() == 0;
                }
                Err(failed) => {
                    self.tally.add_words(executed, threads, busy);
                    let end = block.end;
                    return Some(self.stop(bundle, groups, failed, end));
                }
            }
            pc = block.exit.next(block.end, bundle.taken());
        }
        if !ran {
            return None;
        }
        self.tally.add_words(executed, threads, busy);
        Some(go_on(bundle, pc, exhausted))
    }

    /// Ends a run at the handler that failed; `end` is the end of the counted words.
    fn stop(&mut self, bundle: &mut Bundle, groups: &[impl Origin], failed: u32, end: usize) -> bool {
        let next = failed + 1;
        self.tally.uncount(bundle, next as usize, end);
        bundle.go(next);
        if let Some(Exit::End) = self.code.exit(failed as usize) {
            bundle.end();
        }
        self.fail(bundle, groups, failed as usize);
        false
    }

    /// Executes an instruction that is not part of a run, if it may be executed.
    fn exit(
        &mut self,
        bundle: &mut Bundle,
        view: &mut MemoryView<'_>,
        groups: &[impl Origin],
        pc: usize,
        affordable: u64,
    ) -> bool {
        let refused = match self.code.exit(pc) {
            None => Some(Refusal::Behind),
            Some(Exit::Refused) => Some(Refusal::Slot),
            Some(_) if affordable == 0 => Some(Refusal::Budget),
            Some(_) => None,
        };
        let (Some(exit), None) = (self.code.exit(pc), refused) else {
            if let (Some(warp), Some(refusal)) = (bundle.busy().next(), refused) {
                let error = self.refusal(bundle, groups, pc, warp, refusal);
                self.drop_warps(bundle, warp, error);
            }
            return false;
        };
        let exhausted = self.tally.count(bundle, pc, pc + 1);
        let next = pc as u32 + 1;
        if self.code.execute(pc..pc + 1, bundle, view).is_some() {
            bundle.go(next);
            self.fail(bundle, groups, pc);
            return false;
        }
        match exit {
            Exit::Barrier if !self.code.ends_at_barrier(pc as u32) && bundle.passes_barrier(view) => {
                go_on(bundle, next, false)
            }
            Exit::Barrier => {
                self.wait(bundle, groups, pc);
                false
            }
            Exit::Step(number) => {
                let step = &self.code.steps[number as usize];
                self.step(bundle, view, groups, pc, step) && go_on(bundle, next, exhausted)
            }
            _ => leave(bundle, exit, next as usize, exhausted),
        }
    }

    /// Lets the active lanes wait at a barrier.
    fn wait(&mut self, bundle: &mut Bundle, groups: &[impl Origin], pc: usize) {
        if bundle.wait(pc as u32) {
            return;
        }
        bundle.go(pc as u32);
        bundle.write_waiting();
        for warp in bundle.busy() {
            let stragglers = bundle.live[warp] & !bundle.active[warp];
            if stragglers != 0 {
                let lane = stragglers.trailing_zeros() as usize;
                let elsewhere = bundle.pcs(warp)[lane] as usize;
                let place = self.describe(bundle, groups, pc, warp, Some(lane));
                return self.drop_warps(bundle, warp, RunError::DivergentBarrier { place, elsewhere });
            }
            bundle.at_barrier |= 1 << warp;
        }
    }

    /// Executes an instruction by the reference. Returns false if the lanes to execute next must be chosen again.
    fn step(
        &mut self,
        bundle: &mut Bundle,
        view: &mut MemoryView<'_>,
        groups: &[impl Origin],
        pc: usize,
        foreign: &Foreign,
    ) -> bool {
        let &Foreign { instruction, ref operation, after, registers: named } = foreign;
        bundle.patterns.forget();
        bundle.trace = None;
        bundle.write_waiting();
        let mut straight = after == After::Next;
        for warp in bundle.busy() {
            let (home, active) = (bundle.homes[warp], bundle.active[warp]);
            let context = Context {
                uniforms: self.uniforms,
                words: self.code.words(),
                warp: home.number as u32,
                warps: self.warps,
            };
            let scratch = self.scratch.get_or_insert_with(|| Warp::new(0));
            for register in registers(named) {
                scratch.registers[register] = bundle.rows[register].0[warp];
            }
            scratch.pcs = *bundle.pcs(warp);
            (scratch.live, scratch.threads, scratch.active) = (bundle.live[warp], bundle.threads[warp], active);
            (scratch.pc, scratch.others) = (pc as u32, bundle.others);
            if let Some(quads) = &bundle.quads {
                quads[warp].enter(scratch);
            }
            scratch.accesses = view.log.is_some().then(Vec::new);
            let mut step =
                Step { warp: scratch, context: &context, space: view.space(home), scratch: Scratch::default() };
            let done = operation::execute(instruction, operation.as_ref(), &mut step);
            if let Some(quads) = &mut bundle.quads {
                quads[warp].leave(scratch);
            }
            for register in registers(named) {
                bundle.rows[register].0[warp] = scratch.registers[register];
            }
            if let (Some(log), Some(accesses)) = (&mut view.log, &scratch.accesses) {
                log.list(&bundle.ahead.grid, home, pc, accesses);
            }
            match done {
                Ok(Control::Next) => bundle.set_pcs(warp, active, pc as u32 + 1),
                Ok(Control::Jumped) => {
                    straight = false;
                    *bundle.pcs_mut(warp) = scratch.pcs;
                }
                Ok(Control::Barrier) => {
                    bundle.fault = Some((warp, Fault::Unsupported(instruction.opcode().mnemonic())));
                }
                Err(fault) => bundle.fault = Some((warp, fault)),
            }
            if bundle.fault.is_some() {
                self.fail(bundle, groups, pc);
                return false;
            }
            if after == After::End {
                bundle.set_pcs(warp, active, PARKED);
                bundle.live[warp] &= !active;
            }
        }
        straight
    }

    /// Handles the fault of a handler: ends the warp, and those that the reference would not have reached.
    fn fail(&mut self, bundle: &mut Bundle, groups: &[impl Origin], pc: usize) {
        let Some((warp, fault)) = bundle.fault.take() else { return };
        let home = bundle.homes[warp];
        let error = self.code.program.error(fault, pc, &groups[home.group], home.number * LANES);
        self.drop_warps(bundle, warp, error);
    }

    fn drop_warps(&mut self, bundle: &mut Bundle, warp: usize, error: RunError) {
        self.failed = Some((bundle.homes[warp].group, error));
        bundle.drop_from(warp);
    }

    fn describe(
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

    fn refusal(&self, bundle: &Bundle, groups: &[impl Origin], pc: usize, warp: usize, refusal: Refusal) -> RunError {
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
enum Refusal {
    /// It is after the end of the program.
    Behind,
    /// It is not an executable instruction.
    Slot,
    /// The budget is used up.
    Budget,
}

/// Leaves a run that ends before `end`. Returns false if the lanes to execute next must be chosen again.
fn leave(bundle: &mut Bundle, exit: Exit, end: usize, exhausted: bool) -> bool {
    if let Exit::End = exit {
        bundle.end();
        return false;
    }
    let next = exit.next(end, bundle.taken());
    go_on(bundle, next, exhausted)
}

/// Continues the active lanes at `next`. Returns false if the lanes to execute next must be chosen again.
fn go_on(bundle: &mut Bundle, next: u32, exhausted: bool) -> bool {
    if !exhausted && next == bundle.others && bundle.rejoin() {
        bundle.pc = next;
        return true;
    }
    if exhausted || next >= bundle.others {
        bundle.go(next);
        return false;
    }
    bundle.pc = next;
    true
}
