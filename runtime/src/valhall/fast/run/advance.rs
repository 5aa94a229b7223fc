//! Executes the chosen lanes up to the next jump: by handlers, by machine code, or by the reference.

use isaforge_core::semantics::evaluate::Scratch;

use super::fault::Refusal;
use super::runner::{BUNDLE_TURN, Runner};
use crate::valhall::fast::bundle::{Bundle, PARKED};
use crate::valhall::fast::code::Foreign;
use crate::valhall::fast::exit::Exit;
use crate::valhall::fast::jit::code_cache::Function;
use crate::valhall::fast::memory_view::MemoryView;
use crate::valhall::launch::Origin;
use crate::valhall::launch::RunError;
use crate::valhall::operation;
use crate::valhall::program::After;
use crate::valhall::step::{Context, Control, Fault, Step};

impl Runner<'_> {
    /// Executes up to and including the next jump. Returns false if the lanes to execute next must be chosen again.
    pub(super) fn advance(&mut self, bundle: &mut Bundle, view: &mut MemoryView<'_>, groups: &[impl Origin]) -> bool {
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
            // An observer of registers looks at them after each run.
            if exhausted || pc >= bundle.others || ran && self.probe.is_some() {
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
                    (&**block, threads)
                }
                Some(Function::Loop(region, running)) => match region.counted(bundle, room) {
                    // Such a loop has one block.
                    Some(block) => (block, &mut running.threads[0]),
                    None if ran => break,
                    None => {
                        bundle.trace = None;
                        let ran = region.run(running, bundle, room as u32, self.exact)?;
                        self.tally.spent += ran.threads;
                        self.tally.warp_instructions += ran.warps;
                        let exhausted = bundle.reckon();
                        return Some(ran.next.is_some_and(|next| go_on(bundle, next, exhausted)));
                    }
                },
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
                let waits = bundle.active[warp].trailing_zeros() as usize;
                let place = self.describe(bundle, groups, pc, warp, Some(waits));
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
            let mut scratch = bundle.lend(warp, named, pc as u32, view);
            (scratch.pcs, scratch.others) = (*bundle.pcs(warp), bundle.others);
            let (space, columns) = (view.space(home), Scratch::default());
            let mut step = Step { warp: &mut scratch, context: &context, space, scratch: columns };
            let done = operation::execute(instruction, operation.as_ref(), &mut step);
            if bundle.quads.is_some() {
                bundle.set_quads(warp, scratch.helpers, &scratch.places);
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
            bundle.take_back(scratch, warp, named, view);
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
