//! Tasks take turns until all have ended, the budget is exhausted or the time is over.

use std::ops::ControlFlow;

use super::bundle::Bundle;
use super::{Machine, Report};
use crate::usc::common::MUTEXES;
use crate::usc::error::{RunError, Trap};
use crate::usc::exec::Cpu;
use crate::usc::host::{Host, Instance};
use crate::usc::lanes::each;
use crate::usc::program::Program;
use crate::usc::task::{State, Task};
use crate::usc::together::code::active;
use crate::usc::together::member::Ahead;
use crate::usc::watch::{Done, Watch};

/// The number of groups that a task executes in a turn.
const TURN: u64 = 4096;
/// The maximum number of tasks that advance together.
const TASKS: usize = 8;

/// The state of a run.
struct Run<'a> {
    program: &'a Program,
    /// What each task has executed before its turn.
    ahead: Vec<Ahead>,
    /// Whether tasks may execute groups before their turn.
    early: bool,
    report: Report,
}

impl<H: Host> Machine<H> {
    pub(super) fn go(
        &mut self,
        program: &Program,
        tasks: &mut [Task],
        budget: u64,
        mut watch: Option<&mut Watch<'_>>,
    ) -> Result<Report, RunError> {
        let early = self.plainly && watch.is_none();
        if early {
            tasks.iter_mut().for_each(|task| program.code.spread(task, &self.common));
        }
        let mut run = Run { program, ahead: vec![Ahead::default(); tasks.len()], early, report: Report::default() };
        loop {
            let mut waits = None;
            let mut progress = false;
            for number in 0..tasks.len() {
                let before = run.report.groups;
                match tasks[number].state {
                    State::Ended => continue,
                    State::Wants(id) if self.common.mutexes[id as usize % MUTEXES].is_some() => {}
                    State::Sleeps(_) => {}
                    State::Wants(_) | State::Ready => {
                        if let Some(limit) = self.deadline.passed() {
                            return Err(error(program, number, tasks[number].pc, Trap::Time(limit)));
                        }
                        let woken = self.turn(&mut run, tasks, number, budget - before, watch.as_deref_mut());
                        let woken = woken.map_err(|(step, trap)| error(program, number, step, trap))?;
                        for task in tasks.iter_mut().filter(|t| woken.is_some_and(|id| t.state == State::Sleeps(id))) {
                            task.state = State::Ready;
                        }
                        progress |= run.report.groups > before || tasks[number].state == State::Ended;
                        let following = (0..tasks.len()).map(|after| (number + after) % tasks.len());
                        if run.report.groups >= budget
                            && let Some(number) = following.into_iter().find(|n| tasks[*n].state != State::Ended)
                        {
                            return Err(self.exhausted(program, tasks, number, budget, watch));
                        }
                    }
                }
                if let State::Wants(id) | State::Sleeps(id) = tasks[number].state {
                    waits = Some((number, id));
                }
            }
            match (tasks.iter().all(|t| t.state == State::Ended), progress, waits) {
                (true, ..) => return Ok(run.report),
                (false, false, Some((number, id))) => {
                    return Err(error(program, number, tasks[number].pc, Trap::Deadlock(id)));
                }
                _ => {}
            }
        }
    }

    /// The error that the budget is used up, once the observer has seen where the program is, as before a group that
    /// fails.
    fn exhausted(
        &self,
        program: &Program,
        tasks: &[Task],
        number: usize,
        budget: u64,
        watch: Option<&mut Watch<'_>>,
    ) -> RunError {
        let task = &tasks[number];
        let trap = match (watch, program.steps.get(task.pc)) {
            (Some(watch), Some(step)) => {
                let active = active(task, step.condition);
                match watch.before(step, (task, &self.common, &self.host), number, active) {
                    ControlFlow::Break(()) => Trap::Stopped,
                    ControlFlow::Continue(()) => Trap::Budget(budget),
                }
            }
            _ => Trap::Budget(budget),
        };
        error(program, number, task.pc, trap)
    }

    /// Lets a task execute groups until its turn is over, it ends or it waits. Returns the mutex whose sleepers it
    /// wakes.
    ///
    /// # Errors
    /// The step that cannot be executed, with the reason.
    fn turn(
        &mut self,
        run: &mut Run<'_>,
        tasks: &mut [Task],
        number: usize,
        budget: u64,
        mut watch: Option<&mut Watch<'_>>,
    ) -> Result<Option<u32>, (usize, Trap)> {
        let program = run.program;
        let mut woken = None;
        let mut left = TURN.min(budget);
        tasks[number].state = State::Ready;
        while left > 0 {
            let done = std::mem::take(&mut run.ahead[number].groups);
            if done > 0 {
                left = left.saturating_sub(done);
                run.report.groups += done;
                self.common.time += done;
                continue;
            }
            let pc = tasks[number].pc;
            if let Some(trap) = run.ahead[number].trap.take() {
                return Err((pc, trap));
            }
            if run.early && program.code.is_own(pc) {
                self.look_ahead(run, tasks, number, left, budget);
                continue;
            }
            let Some(step) = program.steps.get(pc) else { return Err((pc, Trap::RanOff)) };
            let task = &mut tasks[number];
            let active = active(task, step.condition);
            let stopped = (pc, Trap::Stopped);
            if let Some(watch) = &mut watch
                && watch.before(step, (task, &self.common, &self.host), number, active).is_break()
            {
                return Err(stopped);
            }
            let mut cpu = Cpu::new(program, (&mut self.host, &mut self.common), task, number, watch.is_some());
            cpu.execute(step, active).map_err(|trap| (pc, trap))?;
            let next = cpu.next.unwrap_or(pc + 1);
            woken = cpu.woken;
            let done = Done { active, accesses: cpu.accesses.take().unwrap_or_default(), traffic: cpu.traffic };
            if let Some(watch) = watch.as_deref_mut()
                && watch.after(program, step, (task, &self.common, &self.host), number, done).is_break()
            {
                return Err(stopped);
            }
            left -= 1;
            run.report.groups += 1;
            run.report.instance_groups += u64::from(active.count_ones());
            task.groups += 1;
            self.common.time += 1;
            if step.last || task.state == State::Ended {
                self.end(program, task, number).map_err(|trap| (pc, trap))?;
                break;
            }
            if !matches!(task.state, State::Wants(_)) {
                task.pc = next;
            }
            if task.state != State::Ready || woken.is_some() {
                break;
            }
        }
        Ok(woken)
    }

    /// Lets a task, and tasks after it, advance by at most `left` groups that concern no other task.
    fn look_ahead(&mut self, run: &mut Run<'_>, tasks: &mut [Task], number: usize, left: u64, budget: u64) {
        let program = run.program;
        // If the budget may be exhausted in one of their next turns, it must be exhausted at the right group.
        let all = budget / TURN > tasks.len() as u64;
        let count = tasks.len();
        let (before, rest) = tasks.split_at_mut(number);
        let mut bundle = Bundle {
            level: self.level,
            program,
            host: &mut self.host,
            common: &mut self.common,
            members: Vec::new(),
            state: Box::default(),
        };
        for (task, at) in rest.iter_mut().chain(before).zip((number..count).chain(0..number)).take(TASKS) {
            let joins = || task.state == State::Ready && run.ahead[at].is_nothing() && program.code.is_own(task.pc);
            if at == number {
                bundle.add(task, at, left);
            } else if all && joins() {
                bundle.add(task, at, TURN);
            }
        }
        for (at, ahead) in bundle.advance() {
            run.report.instance_groups += ahead.instance_groups;
            run.ahead[at] = ahead;
        }
    }

    /// Ends a task: fragments that were not kept are discarded, and outputs are passed to the host.
    fn end(&mut self, program: &Program, task: &mut Task, number: usize) -> Result<(), Trap> {
        task.state = State::Ended;
        if program.feeds_back {
            let lost = task.valid & !(task.kept & !task.failed);
            each(lost).for_each(|instance| self.host.discard(Instance { task: number, instance }));
        }
        task.pixels(&mut self.host, number, task.valid)
    }
}

#[cold]
fn error(program: &Program, task: usize, step: usize, trap: Trap) -> RunError {
    let at = program.steps.get(step).map_or(program.as_bytes().len() as u32, |s| s.at);
    RunError { task, at, text: program.text(at), trap }
}
