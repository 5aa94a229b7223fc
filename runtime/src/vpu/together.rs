//! Groups of a core side by side.
//!
//! Groups that meet nobody leave the same in any order. So those that stand at the same instruction execute it together,
//! each as often as it would have issued in its turn, and everything is as if they ran one after another.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::exec::vector::effect::perform;
use crate::level::Level;
use crate::vpu::environment::Threads;
use crate::vpu::error::Misuse;
use crate::vpu::exec::{Outcome, Outside, World, execute, finish};
use crate::vpu::group::Group;
use crate::vpu::op::{Meets, Op};
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
    burst: u64,
    /// What was there before: of those that are new, the first group in the order of turns is named.
    warnings: BTreeMap<(Misuse, u16), (u64, u64)>,
}

impl<'a> Bundle<'a> {
    /// Groups that may each issue so many instructions. `None` where they could meet.
    pub(crate) fn new(
        level: Level,
        program: &'a Program,
        world: &'a mut World,
        out: Outside<'a>,
        groups: &'a mut [Box<Group>],
        burst: u64,
    ) -> Option<Self> {
        let place = |group: &Group| world.tile_size.element(group.x, group.y);
        let apart = match program.meets {
            Meets::Nobody => true,
            Meets::SamePlace => {
                let others = |i: usize| groups.iter().skip(i + 1);
                !groups.iter().enumerate().any(|(i, group)| others(i).any(|other| place(group) == place(other)))
            }
            Meets::Anyone => false,
        };
        if !apart {
            return None;
        }
        let left = vec![burst; groups.len()];
        let warnings = std::mem::take(&mut world.warnings);
        Some(Bundle { level, program, world, out, groups, left, burst, warnings })
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
        let before = std::mem::take(&mut self.warnings);
        let new = std::mem::replace(&mut self.world.warnings, before);
        for (what, (group, times)) in new {
            self.world.warnings.entry(what).or_insert((group, 0)).1 += times;
        }
        let issued: u64 = self.left.iter().map(|left| self.burst - left).sum();
        issued
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
        let mut whole = groups.iter().all(|group| group.active == 15);
        let mut parted = false;
        while since < room && !parted && Some(pc) != others {
            let Some(op) = program.op(pc) else { break };
            since += 1;
            if op.acts {
                parted = act(op, *level, groups, world, *out, pc);
                whole = groups.iter().all(|group| group.active == 15);
            } else if let Some(code) = &op.code {
                if op.globals != 0 {
                    groups.iter_mut().for_each(|group| world.fill_globals(op.globals, group));
                }
                if !whole {
                    groups.iter_mut().for_each(|group| group.set_active_row(group.active));
                }
                code.run_pure(*level, whole, groups);
                groups.iter_mut().for_each(|group| group.pc = (pc + 1) & 1023);
            }
            pc = groups[0].pc;
        }
        for (group, left) in groups.iter_mut().zip(left) {
            group.steps += since;
            *left -= since;
        }
    }
}

/// Executes an instruction with effects for groups that stand there. Returns whether they part, or one ends.
fn act(op: &Op, level: Level, groups: &mut [Box<Group>], world: &mut World, out: Outside<'_>, pc: u16) -> bool {
    match &op.code {
        Some(code) => {
            let whole = groups.iter().all(|group| op.active(group) == 15);
            for group in groups.iter_mut() {
                group.pc = pc;
                world.fill_globals(op.globals, group);
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
                if let Outcome::Next = execute(Some(op), group, world, out, &mut Quiet) {
                    group.pc = (pc + 1) & 1023;
                }
            }
        }
    }
    let at = groups.first().map_or(0, |group| group.pc);
    groups.iter().any(|group| group.pc != at || group.living == 0)
}
