//! Effects of instructions on groups side by side, other than operations on rows: memory, control flow, and shared
//! registers.

use std::ops::Range;

use isaforge_core::semantics::{Op as Node, Type};

use crate::bits::members;
use crate::exec::vector::bits_of;
use crate::exec::vector::effect::Effect;
use crate::level::Level;
use crate::vpu::environment::{components, set_component, threads};
use crate::vpu::error::Misuse;
use crate::vpu::group::{self, ACTIVE, Group, SLOTS, THREADS, row, word};
use crate::vpu::name;
use crate::vpu::op::Op;
use crate::vpu::operand::Location;
use crate::vpu::side::lanes::Lanes;
use crate::vpu::world::{Outside, World};

/// A word for each thread of all groups.
type Slots = [u64; ACTIVE * THREADS];

const EVERYTHING: Slots = [u64::MAX; ACTIVE * THREADS];

/// Where groups continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// All at the next instruction.
    Next,
    /// All at another instruction.
    At(u16),
    /// Each at its own program counter.
    Own,
}

/// The groups that execute an instruction, with everything that they access.
pub(super) struct Acting<'a> {
    pub level: Level,
    pub world: &'a mut World,
    pub out: Outside<'a>,
    pub groups: &'a mut [Box<Group>],
    /// The groups that execute it, as bits.
    pub set: u32,
    /// Whether all of their threads do.
    pub whole: bool,
    /// For each row, whether it is known to have the same word for all of them; may be empty.
    pub uniform: &'a [bool],
    pub op: &'a Op,
    pub pc: u16,
    pub flow: Flow,
}

/// Returns one bit for each thread whose slot is all ones.
#[inline]
fn holds(slots: &group::Row) -> u64 {
    slots.iter().enumerate().fold(0, |all, (t, slot)| all | (slot & 1) << t)
}

impl Acting<'_> {
    /// Returns the threads of a group that execute an effect.
    #[inline]
    fn mask(&self, when: Option<u16>, lanes: &Lanes, group: usize) -> u64 {
        let active = self.op.active(&self.groups[group]);
        when.map_or(active.into(), |row| u64::from(active) & holds(lanes.group(row, group)))
    }

    /// Returns the word that a row has for all groups that execute; `None` if they differ, or may differ.
    #[inline]
    fn same(&self, row: u16, lanes: &mut Lanes) -> Option<u64> {
        match self.uniform.get(usize::from(row)) {
            Some(true) => members(self.set).next().map(|first| lanes.group(row, first)[0]),
            _ => lanes.same(self.level, row),
        }
    }

    #[cold]
    fn warn(&mut self, misuse: Misuse, group: usize) {
        let group = &mut self.groups[group];
        group.pc = self.pc;
        self.world.warn(misuse, group);
    }

    /// Warns of groups that make a result pending while one is pending already.
    pub(super) fn check_pending(&mut self, lanes: &mut Lanes) {
        if self.same(row::PENDING, lanes) == Some(0) {
            return;
        }
        for i in members(self.set) {
            if self.mask(Some(row::PENDING), lanes, i) != 0 {
                self.warn(Misuse::PendingLost, i);
            }
        }
    }

    /// Performs an effect, for each group as [`perform`](crate::exec::vector::effect::perform) would.
    pub(super) fn perform(&mut self, effect: &Effect, lanes: &mut Lanes) {
        match effect.op {
            Node::Load => self.load(effect, lanes),
            Node::Store => self.store(effect, lanes),
            Node::Branch => self.branch(effect, lanes),
            Node::End => self.end(effect, lanes),
            Node::Write => self.write(effect, lanes),
            Node::Intrinsic if effect.numbers[0] == name::UNMASK => self.unmask(effect, lanes),
            Node::Intrinsic => self.wait(effect, lanes),
            // The threads of a group always run in lockstep.
            _ => {}
        }
    }

    fn load(&mut self, effect: &Effect, lanes: &mut Lanes) {
        let (Some(address), Some(to)) = (effect.values.first(), effect.to) else { return };
        let (space, ty) = (effect.imm & 0xff, effect.ty);
        let width = (ty.size() / 8) as usize;
        let (out, is_external) = (self.out, space == name::EXTERNAL);
        let is_there = |at: u64| !is_external || out.memory.holds(at as u32, width);
        if self.whole
            && effect.when.is_none()
            && let Some(at) = self.same(address.row, lanes).filter(|at| is_there(*at))
        {
            return lanes.splat(to.row, self.world.load(out, space, ty, at));
        }
        for i in members(self.set) {
            let mask = self.mask(effect.when, lanes, i);
            let addresses = *lanes.group(address.row, i);
            let mut found = [0; THREADS];
            if mask != 0 {
                if threads(mask).any(|t| !is_there(addresses[t])) {
                    self.warn(Misuse::OutsideMemory, i);
                }
                found = addresses.map(|at| self.world.load(out, space, ty, at));
            }
            *lanes.group_mut(to.row, i) = found;
        }
    }

    /// Stores to tiles. The third value selects the components of the second that are stored; without it all are.
    fn store(&mut self, effect: &Effect, lanes: &Lanes) {
        let [address, value, on @ ..] = &effect.values[..] else { return };
        let on = on.first();
        let (addresses, values) = (lanes.all(address.row), lanes.all(value.row));
        let has_elements = effect.ty.bits == 16 && effect.ty.lanes == 4;
        let stored = if has_elements { self.stored(on.map(|on| on.row), effect.when, lanes) } else { EVERYTHING };
        let parts = |slots: Range<usize>| [&addresses[slots.clone()], &values[slots.clone()], &stored[slots]];
        // Groups next to each other on the screen store to consecutive elements.
        let is_first = self.set & (self.set + 1) == 0;
        let all = 0..THREADS * self.set.count_ones() as usize;
        if has_elements && is_first && self.store_elements(parts(all)) {
            return;
        }
        for i in members(self.set) {
            let slots = THREADS * i..THREADS * (i + 1);
            if has_elements && self.store_elements(parts(slots.clone())) {
                continue;
            }
            let active = self.mask(effect.when, lanes, i);
            let (addresses, values) = (&addresses[slots.clone()], &values[slots.clone()]);
            let Some(on) = on else {
                for t in threads(active) {
                    store(self.world, effect.ty, addresses[t], values[t]);
                }
                continue;
            };
            let mask = &lanes.all(on.row)[slots];
            let one = Type { lanes: 1, ..effect.ty };
            for c in 0..u32::from(effect.ty.lanes) {
                let bits = one.size() * c;
                for t in threads(active).filter(|t| bits_of(mask[*t], on.booleans, 64) >> c & 1 != 0) {
                    let (at, value) = (addresses[t] + u64::from(bits / 8), values[t] >> bits);
                    store(self.world, one, at, value);
                }
            }
        }
    }

    /// Returns the bits of each thread's element that a store changes.
    fn stored(&self, on: Option<u16>, when: Option<u16>, lanes: &Lanes) -> Slots {
        let mut stored = on.and_then(|on| lanes.all(on).try_into().ok()).unwrap_or(EVERYTHING);
        if let Some(when) = when {
            stored.iter_mut().zip(lanes.all(when)).for_each(|(stored, when)| *stored &= (when & 1).wrapping_neg());
        }
        if !self.whole {
            for i in members(self.set) {
                let active = &SLOTS[usize::from(self.op.active(&self.groups[i]) & 15)];
                stored[THREADS * i..].iter_mut().zip(active).for_each(|(stored, active)| *stored &= active);
            }
        }
        stored
    }

    /// Stores to consecutive elements. Returns false if they are not consecutive.
    fn store_elements(&mut self, [addresses, values, stored]: [&[u64]; 3]) -> bool {
        let (Some(first), Some(last)) = (addresses.first().copied(), addresses.last()) else { return true };
        let differ = addresses.iter().zip(0..).fold(0, |differ, (at, i)| differ | *at ^ (first + 8 * i));
        let (buffer, element, _) = self.world.tile_place(first);
        let elements = self.world.tiles[buffer].data.get_mut(element..element + addresses.len());
        let Some(elements) = elements.filter(|_| differ == 0 && first & 7 == 0 && first >> 19 == last >> 19) else {
            return false;
        };
        for ((to, value), stored) in elements.iter_mut().zip(values).zip(stored) {
            let old = word(*to);
            *to = group::components(old ^ (old ^ value) & stored);
        }
        true
    }

    /// Gives each group its own program counter.
    fn part(&mut self) {
        let to = match self.flow {
            Flow::Next => (self.pc + 1) & 1023,
            Flow::At(to) => to,
            Flow::Own => return,
        };
        members(self.set).for_each(|i| self.groups[i].pc = to);
        self.flow = Flow::Own;
    }

    fn branch(&mut self, effect: &Effect, lanes: &mut Lanes) {
        let Some(target) = effect.values.first() else { return };
        if self.whole && !self.op.unmasks && self.flow != Flow::Own {
            let holds = effect.when.map_or(Some(u64::MAX), |row| self.same(row, lanes));
            let known = row::CONSTANTS.contains(&target.row).then(|| lanes.group(target.row, 0)[0]);
            match (holds, known) {
                (Some(0), _) => return,
                (Some(u64::MAX), Some(to)) => return self.flow = Flow::At(to as u16 & 1023),
                _ => {}
            }
        }
        self.part();
        for i in members(self.set) {
            let mask = self.mask(effect.when, lanes, i);
            if let Some(first) = threads(mask).next() {
                let group = &mut self.groups[i];
                (group.active, group.pc) = (mask as u8, lanes.group(target.row, i)[first] as u16 & 1023);
            }
        }
    }

    fn end(&mut self, effect: &Effect, lanes: &Lanes) {
        self.part();
        for i in members(self.set) {
            let mask = self.mask(effect.when, lanes, i) as u8;
            let group = &mut self.groups[i];
            (group.living, group.active) = (group.living & !mask, group.active & !mask);
        }
    }

    fn unmask(&mut self, effect: &Effect, lanes: &Lanes) {
        self.part();
        for i in members(self.set) {
            if self.mask(effect.when, lanes, i) != 0 {
                self.groups[i].active = self.groups[i].living;
            }
        }
    }

    /// Completes pending results, which are available at once since cycles are not counted.
    fn wait(&mut self, effect: &Effect, lanes: &mut Lanes) {
        if effect.when.is_none() && self.same(row::PENDING, lanes) == Some(u64::MAX) {
            return;
        }
        for i in members(self.set) {
            let mask = self.mask(effect.when, lanes, i);
            if mask & !holds(lanes.group(row::PENDING, i)) != 0 {
                self.warn(Misuse::FinishWithoutIssue, i);
            }
        }
    }

    /// Writes shared registers; among the threads of a group, the highest wins.
    fn write(&mut self, effect: &Effect, lanes: &mut Lanes) {
        let [operand, element] = effect.numbers;
        let (Some(Location::Shared(index)), Some(value)) =
            (self.op.places.get(usize::from(operand)), effect.values.first())
        else {
            return;
        };
        let to = row::SHARED + u16::from(*index);
        for i in members(self.set) {
            if let Some(last) = threads(self.mask(effect.when, lanes, i)).last() {
                let value = lanes.group(value.row, i)[last];
                for (c, value) in components(element, effect.ty, value) {
                    lanes.group_mut(to, i).iter_mut().for_each(|slot| set_component(slot, c, value));
                }
            }
        }
    }
}

/// Stores to a tile.
fn store(world: &mut World, ty: Type, at: u64, value: u64) {
    let (buffer, element, first) = world.tile_place(at);
    for (c, value) in components(0, ty, value) {
        world.tiles[buffer].data[element][(first + c) & 3] = value;
    }
}
