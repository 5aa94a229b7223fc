//! Executes the groups of a core side by side.
//!
//! Groups that cannot interact leave the same results in any order. So those at the same instruction execute it
//! together, each as often as it would have issued in its turn, and the results are as if they ran one by one.
//!
//! The code of a program for them is in [`side`](super::side).
//!
//! - `act`: memory, control flow, and shared registers

mod act;

use std::convert::Infallible;
use std::ops::ControlFlow;

use crate::bits::members;
use crate::level::Level;
use crate::vpu::exec::{Outcome, execute};
use crate::vpu::group::{Group, SLOTS, row, word};
use crate::vpu::program::Program;
use crate::vpu::side::lanes::Lanes;
use crate::vpu::side::sequence::{Item, Sequence};
use crate::vpu::world::{Outside, World};
use act::{Acting, Flow};

/// Groups that advance together.
pub(crate) struct Bundle<'a> {
    level: Level,
    program: &'a Program,
    world: &'a mut World,
    out: Outside<'a>,
    groups: &'a mut [Box<Group>],
    lanes: Lanes,
    /// The number of instructions that each group may still issue.
    left: Vec<u64>,
    turn: u64,
    /// Groups whose rows are not written back yet, as bits.
    held: u32,
    /// Whether the groups began as fresh ones with one bank, and have executed all instructions together.
    alike: bool,
}

impl<'a> Bundle<'a> {
    /// Takes groups that cannot interact and may issue up to `turn` instructions each.
    pub(crate) fn new(
        level: Level,
        program: &'a Program,
        world: &'a mut World,
        out: Outside<'a>,
        groups: &'a mut [Box<Group>],
        turn: u64,
    ) -> Self {
        let lanes = world.lanes.take().unwrap_or_else(|| Lanes::new(&program.side().constants));
        let left = vec![turn; groups.len()];
        let held = (1 << groups.len()) - 1;
        let mut bundle = Bundle { level, program, world, out, groups, lanes, left, turn, held, alike: false };
        bundle.begin();
        bundle
    }

    /// Lets all groups issue their instructions. Returns the number issued.
    pub(crate) fn advance(mut self) -> u64 {
        loop {
            let goes = self.goes();
            let Some(pc) = members(goes).map(|i| self.groups[i].pc).min() else { break };
            let set = members(goes).filter(|i| self.groups[*i].pc == pc).fold(0, |set, i| set | 1 << i);
            // Up to the address at which other groups wait, which join then.
            let others = members(goes & !set).map(|i| self.groups[i].pc).min();
            self.walk(set, pc, others);
        }
        self.release();
        self.give_back(self.held);
        self.world.lanes = Some(self.lanes);
        self.left.iter().map(|left| self.turn - left).sum()
    }

    /// Returns the groups that may issue, as bits.
    fn goes(&self) -> u32 {
        let goes = |i: usize| self.left[i] > 0 && self.groups[i].living != 0;
        (0..self.groups.len()).fold(0, |set, i| set | u32::from(goes(i)) << i)
    }

    /// Writes back the rows of groups that have ended, if the host wants them.
    fn release(&mut self) {
        for i in members(self.held) {
            if self.groups[i].living != 0 {
                continue;
            }
            if self.groups[i].watched {
                self.give_back(1 << i);
            }
            self.held &= !(1 << i);
        }
    }

    /// Fills the rows. While the groups run, the banks that they read are not written.
    fn begin(&mut self) {
        let mut globals = self.program.globals;
        let first = self.groups.first().map(|group| group.bank);
        let shared = first.filter(|bank| self.groups.iter().all(|group| group.bank == *bank));
        while globals != 0 {
            let index = globals.trailing_zeros() as u16;
            globals &= globals - 1;
            if let Some(bank) = shared {
                self.lanes.fill(row::GLOBAL + index, word(self.world.banks[usize::from(bank)][usize::from(index)]));
                continue;
            }
            for (i, group) in self.groups.iter().enumerate() {
                let value = word(self.world.banks[usize::from(group.bank)][usize::from(index)]);
                self.lanes.group_mut(row::GLOBAL + index, i).fill(value);
            }
        }
        for (i, group) in self.groups.iter().enumerate() {
            *self.lanes.group_mut(row::POSITION, i) = *group.row(row::POSITION);
        }
        let fresh = self.groups.iter().all(|group| group.fresh);
        self.alike = fresh && shared.is_some();
        if !fresh {
            self.take(self.held);
        }
        self.lanes.choose(self.held);
        self.program.side().begin(self.level, &mut self.lanes, fresh);
    }

    /// Copies the state of groups to the rows.
    fn take(&mut self, set: u32) {
        for i in members(set) {
            let group = &mut self.groups[i];
            group.settle();
            for row in &self.program.side().touched {
                *self.lanes.group_mut(*row, i) = *group.row(*row);
            }
            *self.lanes.group_mut(row::PENDING, i) = SLOTS[usize::from(group.pending & 15)];
        }
    }

    /// Writes the rows back to groups.
    fn give_back(&mut self, set: u32) {
        for i in members(set) {
            let group = &mut self.groups[i];
            group.settle();
            for row in &self.program.side().touched {
                *group.row_mut(*row) = *self.lanes.group(*row, i);
            }
            let pending = self.lanes.group(row::PENDING, i).iter().enumerate();
            group.pending = pending.fold(0, |set, (t, slot)| set | (*slot as u8 & 1) << t);
        }
    }

    /// Sets the threads of some groups that execute the next instructions. Returns whether these are all threads.
    fn choose(&mut self, set: u32, unmasks: bool) -> bool {
        self.lanes.choose(set);
        let active = |group: &Group| if unmasks { group.living } else { group.active };
        let beside = (set | set >> 1) & 0x5555_5555;
        let whole = (beside | beside << 1) & self.held & !set == 0;
        if whole && members(set).all(|i| active(&self.groups[i]) == 15) {
            self.alike &= set == self.held;
            return true;
        }
        self.alike = false;
        self.lanes.splat(row::ACTIVE, 0);
        for i in members(set) {
            *self.lanes.group_mut(row::ACTIVE, i) = SLOTS[usize::from(active(&self.groups[i]) & 15)];
        }
        false
    }

    /// Lets some groups at the same instruction issue until they diverge, reach others, or have used up their turn.
    fn walk(&mut self, set: u32, pc: u16, others: Option<u16>) {
        let room = members(set).map(|i| self.left[i]).min().unwrap_or(0);
        self.release();
        let mut pc = pc;
        let mut since = 0;
        let mut begins = true;
        let mut whole = self.choose(set, false);
        let mut flow = Flow::Next;
        while since < room && flow != Flow::Own && others.is_none_or(|others| pc < others || since == 0) {
            if begins && whole && set == self.held {
                begins = false;
                let sequence = self.program.sequence(pc, self.level);
                let fits = |length: u64| length > 0 && since + length <= room;
                let is_apart = |length: u16| others.is_none_or(|others| pc + length <= others);
                if let Some(sequence) = sequence.filter(|s| fits(s.length.into()) && is_apart(s.length)) {
                    since += u64::from(sequence.length);
                    begins = true;
                    match self.execute(sequence, set, pc) {
                        Flow::Next => pc = (pc + sequence.length) & 1023,
                        Flow::At(to) => pc = to,
                        Flow::Own => {
                            whole = self.choose(set, false);
                            (pc, flow) = self.stand(set);
                        }
                    }
                    continue;
                }
            }
            let Some(op) = self.program.op(pc) else { break };
            since += 1;
            let next = (pc + 1) & 1023;
            let Some(code) = self.program.code(pc) else {
                self.one_by_one(set, pc);
                whole = self.choose(set, false);
                (pc, flow) = self.stand(set);
                continue;
            };
            if !op.acts && !op.pends {
                code.run_pure(self.level, whole, std::slice::from_mut(&mut self.lanes));
                pc = next;
                continue;
            }
            if op.unmasks {
                whole = self.choose(set, true);
            }
            let (level, out) = (self.level, self.out);
            let uniform = if self.alike { self.program.uniform(pc) } else { &[] };
            let Bundle { world, groups, lanes, .. } = self;
            let mut acting = Acting { level, world, out, groups, set, whole, uniform, op, pc, flow: Flow::Next };
            if op.pends {
                acting.check_pending(lanes);
            }
            let _ = code.run(level, whole, std::slice::from_mut(lanes), |effect, lanes| {
                lanes.iter_mut().for_each(|lanes| acting.perform(effect, lanes));
                ControlFlow::<Infallible>::Continue(())
            });
            match acting.flow {
                Flow::Next => pc = next,
                Flow::At(to) => (pc, begins) = (to, true),
                Flow::Own => {
                    whole = self.choose(set, false);
                    (pc, flow) = self.stand(set);
                    begins = true;
                }
            }
        }
        for i in members(set) {
            if flow != Flow::Own {
                self.groups[i].pc = pc;
            }
            self.groups[i].steps += since;
            self.left[i] -= since;
        }
    }

    /// Executes a sequence for all groups and threads. Returns where they continue after it.
    fn execute(&mut self, sequence: &Sequence, set: u32, first: u16) -> Flow {
        let (level, program, out, alike) = (self.level, self.program, self.out, self.alike);
        let Bundle { world, groups, lanes, .. } = self;
        let (mut flow, mut last) = (Flow::Next, first);
        for item in &sequence.items {
            let (pc, steps) = match item {
                Item::Machine(machine) => {
                    lanes.execute(machine);
                    continue;
                }
                Item::Steps(pc, steps) => (*pc, steps.clone()),
                Item::Pends(pc) => (*pc, 0..0),
            };
            let (Some(op), Some(code)) = (program.op(pc), program.code(pc)) else { continue };
            if pc != last {
                (flow, last) = (Flow::Next, pc);
            }
            let uniform = if alike { program.uniform(pc) } else { &[] };
            let mut acting = Acting { level, world, out, groups, set, whole: true, uniform, op, pc, flow };
            if steps.is_empty() {
                acting.check_pending(lanes);
            }
            let _ = code.run_steps(level, steps, std::slice::from_mut(lanes), |effect, lanes| {
                lanes.iter_mut().for_each(|lanes| acting.perform(effect, lanes));
                ControlFlow::<Infallible>::Continue(())
            });
            flow = acting.flow;
        }
        flow
    }

    /// Returns where groups are after each may have continued elsewhere: all at one address, or each at its own.
    fn stand(&self, set: u32) -> (u16, Flow) {
        let at = members(set).next().map_or(0, |i| self.groups[i].pc);
        let together = members(set).all(|i| self.groups[i].pc == at && self.groups[i].living != 0);
        (at, if together { Flow::Next } else { Flow::Own })
    }

    /// Executes an instruction that has no operations on rows.
    fn one_by_one(&mut self, set: u32, pc: u16) {
        self.give_back(set);
        for i in members(set) {
            let group = &mut self.groups[i];
            group.pc = pc;
            // None of these instructions waits while cycles are not counted.
            if let Outcome::Next = execute(self.program.op(pc), group, self.world, self.out, None) {
                group.pc = (pc + 1) & 1023;
            }
        }
        self.take(set);
    }
}
