//! Bundles of tasks that advance together.

use std::ops::ControlFlow;

use crate::exec::jit::lanes::emit::FlowState;
use crate::exec::vector::effect::Effect;
use crate::level::Level;
use crate::usc::common::Common;
use crate::usc::exec::Cpu;
use crate::usc::host::Host;
use crate::usc::lanes::Mask;
use crate::usc::names::function;
use crate::usc::program::Program;
use crate::usc::task::Task;

use crate::usc::together::code::{Kind, Operations, active};
use crate::usc::together::flow::Executed;
use crate::usc::together::member::{Ahead, Member};

/// Tasks of a program that advance together, each as if it were alone.
#[derive(Debug)]
pub(super) struct Bundle<'a, 't, H> {
    pub level: Level,
    pub program: &'a Program,
    pub host: &'a mut H,
    pub common: &'a mut Common,
    pub members: Vec<Member<'t>>,
    /// The state that machine code works on.
    pub state: Box<FlowState>,
}

impl<'t, H: Host> Bundle<'_, 't, H> {
    /// Adds a task and the number of groups that it may execute.
    pub fn add(&mut self, task: &'t mut Task, number: usize, left: u64) {
        self.members.push(Member { task, active: 0, number, left, stands: false, done: Ahead::default() });
    }

    /// Executes groups that concern no other task, for each member as many as it may. Returns what each task has done,
    /// by its number.
    pub fn advance(mut self) -> impl Iterator<Item = (usize, Ahead)> {
        while let Some(pc) = self.members.iter().filter(|m| m.goes()).map(|m| m.task.pc).min() {
            let (mut here, mut others, mut room) = (0, usize::MAX, u64::MAX);
            for i in 0..self.members.len() {
                let member = &self.members[i];
                if member.goes() && member.task.pc == pc {
                    room = room.min(member.left);
                    self.members.swap(i, here);
                    here += 1;
                } else if member.goes() {
                    others = others.min(member.task.pc);
                }
            }
            if !self.flow(pc, here) {
                self.walk(pc, here, others, room);
            }
        }
        self.members.into_iter().map(|member| (member.number, member.done))
    }

    /// Executes the region that begins at `pc` for the first `here` members, one at a time. Returns whether any of them
    /// has executed a group of it.
    fn flow(&mut self, pc: usize, here: usize) -> bool {
        let (program, level) = (self.program, self.level);
        let Some(region) = program.regions.at(&program.steps, &program.code, pc, level) else { return false };
        let mut any = false;
        for member in &mut self.members[..here] {
            let done = region.run(&program.steps, &program.code, level, member.task, &mut self.state, member.left);
            let Some(Executed { groups, instance_groups }) = done else { continue };
            member.task.groups += groups;
            member.done.groups += groups;
            member.done.instance_groups += instance_groups;
            member.left -= groups;
            any = true;
        }
        any
    }

    /// Executes groups from `pc` for the first `here` members, until others can join, one of them may execute no more,
    /// or they diverge.
    fn walk(&mut self, mut pc: usize, here: usize, others: usize, room: u64) {
        let code = &self.program.code;
        let mut since = 0;
        while since < room && pc < others {
            let (kind, condition) = code.at(pc);
            let members = &mut self.members[..here];
            match kind {
                Kind::Plain(count) => {
                    let most = (others - pc).min(usize::try_from(room - since).unwrap_or(usize::MAX));
                    let count = most.min(count as usize);
                    let (mut any, mut all) = (0, Mask::MAX);
                    for member in members.iter_mut() {
                        member.active = active(member.task, condition);
                        member.done.instance_groups += count as u64 * u64::from(member.active.count_ones());
                        any |= member.active;
                        all &= member.active;
                    }
                    if any != 0 {
                        let whole = all == Mask::MAX;
                        if !whole {
                            members.iter_mut().for_each(|member| member.set_lanes(member.active));
                        }
                        code.operations(pc, count).for_each(|one| run(one, self.level, whole, members));
                    }
                    pc += count;
                    since += count as u64;
                }
                Kind::ForAll => {
                    since += 1;
                    let mut whole = true;
                    for member in members.iter_mut() {
                        member.active = active(member.task, condition);
                        member.done.instance_groups += u64::from(member.active.count_ones());
                        member.set_lanes(member.task.valid);
                        whole &= member.task.valid == Mask::MAX;
                    }
                    code.operations(pc, 1).for_each(|one| run(one, self.level, whole, members));
                    pc += 1;
                }
                Kind::Branch { target, unless, link } => {
                    since += 1;
                    let mut jump = 0;
                    for member in members.iter_mut() {
                        member.active = active(member.task, condition);
                        member.done.instance_groups += u64::from(member.active.count_ones());
                        let taken = (member.active == 0) == unless;
                        jump += usize::from(taken);
                        if let Some(link) = link.filter(|_| taken) {
                            member.task.link = link;
                        }
                    }
                    if jump != 0 && jump != here {
                        self.settle(here, since, |member| if (member.active == 0) == unless { target } else { pc + 1 });
                        return;
                    }
                    let back = jump != 0 && target <= pc;
                    pc = if jump == 0 { pc + 1 } else { target };
                    if back {
                        // A loop may have become hot.
                        break;
                    }
                }
                Kind::Own => {
                    self.settle(here, since, |_| pc);
                    self.alone(pc, here);
                    return;
                }
                Kind::Outside => {
                    self.settle(here, since, |_| pc);
                    self.members[..here].iter_mut().for_each(|member| member.stands = true);
                    return;
                }
            }
        }
        self.settle(here, since, |_| pc);
    }

    /// Records that the first `here` members have executed `since` groups, and where each continues.
    fn settle(&mut self, here: usize, since: u64, pc: impl Fn(&Member<'_>) -> usize) {
        for member in &mut self.members[..here] {
            member.task.pc = pc(member);
            member.task.groups += since;
            member.done.groups += since;
            member.left -= since;
        }
    }

    /// Executes a group for the first `here` members by the data path, one at a time.
    fn alone(&mut self, pc: usize, here: usize) {
        let step = &self.program.steps[pc];
        for member in &mut self.members[..here] {
            let active = active(member.task, step.condition);
            let mut cpu = Cpu::new(self.program, (self.host, self.common), member.task, member.number, false);
            let outcome = cpu.execute(step, active);
            let next = cpu.next.unwrap_or(pc + 1);
            if let Err(trap) = outcome {
                (member.done.trap, member.stands) = (Some(trap), true);
                continue;
            }
            member.task.pc = next;
            member.task.groups += 1;
            member.done.groups += 1;
            member.done.instance_groups += u64::from(active.count_ones());
            member.left -= 1;
        }
    }
}

/// Executes a group's operations.
fn run(operations: &Operations, level: Level, whole: bool, members: &mut [Member<'_>]) {
    let _ = operations.run(level, whole, members, |effect, members| {
        members.iter_mut().for_each(|member| apply(effect, member));
        ControlFlow::<()>::Continue(())
    });
}

/// Applies a function to a column.
fn apply(effect: &Effect, member: &mut Member<'_>) {
    if let (Some(function), Some(from), Some(to)) = (function(effect.numbers[0]), effect.values.first(), effect.to) {
        let result = member.task.columns.at(from.row).map(function);
        *member.task.columns.at_mut(to.row) = result;
    }
}
