//! Groups of a core side by side.
//!
//! Groups that meet nobody leave the same in any order. So those that stand at the same instruction execute it together,
//! each as often as it would have issued in its turn, and everything is as if they ran one after another.

use std::ops::ControlFlow;

use crate::exec::vector::effect::perform;
use crate::level::Level;
use crate::vpu::environment::Threads;
use crate::vpu::exec::{Outcome, Outside, World, execute, finish};
use crate::vpu::group::Group;
use crate::vpu::op::Op;
use crate::vpu::program::Program;
use crate::vpu::trace::Quiet;

/// Groups that advance together.
pub(crate) struct Bundle<'a> {
    level: Level,
    program: &'a Program,
    world: &'a mut World,
    out: Outside<'a>,
    groups: &'a mut [Box<Group>],
    /// How many instructions each may still issue.
    left: Vec<u64>,
    turn: u64,
}

impl<'a> Bundle<'a> {
    /// Groups that cannot meet and may issue up to `turn` instructions each.
    pub(crate) fn new(
        level: Level,
        program: &'a Program,
        world: &'a mut World,
        out: Outside<'a>,
        groups: &'a mut [Box<Group>],
        turn: u64,
    ) -> Self {
        // While they run nobody writes the banks that they read.
        groups.iter_mut().for_each(|group| world.fill_globals(program.globals, group));
        let left = vec![turn; groups.len()];
        Bundle { level, program, world, out, groups, left, turn }
    }

    /// Lets all groups issue what they may. Returns how many instructions that were.
    pub(crate) fn advance(&mut self) -> u64 {
        while let Some(pc) = self.goes().map(|i| self.groups[i].pc).min() {
            let first = self.goes().find(|i| self.groups[*i].pc == pc).unwrap_or(0);
            let here = |i: usize| self.left[i] > 0 && self.groups[i].pc == pc;
            let count = (first..self.groups.len()).take_while(|i| here(*i)).count();
            let room = self.left[first..first + count].iter().copied().min().unwrap_or(0);
            // Up to where others wait, who then come along.
            let others = self.goes().filter(|i| !(first..first + count).contains(i)).map(|i| self.groups[i].pc).min();
            self.walk(first, count, room, others.filter(|other| *other > pc));
        }
        self.left.iter().map(|left| self.turn - left).sum()
    }

    fn goes(&self) -> impl Iterator<Item = usize> {
        (0..self.groups.len()).filter(|i| self.left[*i] > 0 && self.groups[*i].living != 0)
    }

    /// Lets some groups that stand at the same instruction issue until they part, come to others, or have no room.
    fn walk(&mut self, first: usize, count: usize, room: u64, others: Option<u16>) {
        let Bundle { level, program, world, out, groups, left, .. } = self;
        let (groups, left) = (&mut groups[first..first + count], &mut left[first..first + count]);
        let mut pc = groups[0].pc;
        let mut since = 0;
        let mut whole = choose_threads(groups);
        let mut parted = false;
        while since < room && !parted && Some(pc) != others {
            let Some(op) = program.op(pc) else { break };
            since += 1;
            match &op.code {
                Some(code) if !op.acts => {
                    code.run_pure(*level, whole, groups);
                    pc = (pc + 1) & 1023;
                }
                _ => {
                    parted = act(op, *level, groups, world, *out, pc);
                    whole = choose_threads(groups);
                    pc = groups[0].pc;
                }
            }
        }
        for (group, left) in groups.iter_mut().zip(left) {
            if !parted {
                group.pc = pc;
            }
            group.steps += since;
            *left -= since;
        }
    }
}

/// Says for each group which threads execute what comes. Returns whether that is all of them.
fn choose_threads(groups: &mut [Box<Group>]) -> bool {
    let whole = groups.iter().all(|group| group.active == 15);
    if !whole {
        groups.iter_mut().for_each(|group| group.set_active_row(group.active));
    }
    whole
}

/// Executes an instruction with effects for groups that stand there. Returns whether they part, or one ends.
fn act(op: &Op, level: Level, groups: &mut [Box<Group>], world: &mut World, out: Outside<'_>, pc: u16) -> bool {
    match &op.code {
        Some(code) => {
            let whole = groups.iter().all(|group| op.active(group) == 15);
            for group in groups.iter_mut() {
                group.pc = pc;
                world.check_pending(op, group);
                if !whole {
                    group.set_active_row(op.active(group));
                }
            }
            // Nothing of what may stand here waits while no one counts cycles.
            let _ = code.run(level, whole, groups, |effect, groups| {
                for group in groups {
                    if let Err(wait) = perform(effect, &mut Threads::<Quiet>::new(op, group, world, out)) {
                        return ControlFlow::Break(wait);
                    }
                }
                ControlFlow::Continue(())
            });
            for group in groups.iter_mut() {
                if let Outcome::Next = finish(op, group, world) {
                    group.pc = (pc + 1) & 1023;
                }
            }
        }
        None => {
            for group in groups.iter_mut() {
                group.pc = pc;
                if let Outcome::Next = execute(Some(op), group, world, out, &mut Quiet) {
                    group.pc = (pc + 1) & 1023;
                }
            }
        }
    }
    let at = groups.first().map_or(0, |group| group.pc);
    groups.iter().any(|group| group.pc != at || group.living == 0)
}
