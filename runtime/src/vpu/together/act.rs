//! Effects of instructions on groups side by side, other than operations on rows: memory, control flow, and shared
//! registers.

use isaforge_core::semantics::{Op as Node, Type};

use crate::exec::vector::bits_of;
use crate::exec::vector::effect::Effect;
use crate::level::Level;
use crate::vpu::environment::{components, set_component, threads};
use crate::vpu::error::Misuse;
use crate::vpu::group::{self, Group, THREADS, row, word};
use crate::vpu::name;
use crate::vpu::op::Op;
use crate::vpu::operand::Place;
use crate::vpu::side::lanes::Lanes;
use crate::vpu::world::{Outside, World};

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
    pub op: &'a Op,
    pub pc: u16,
    pub flow: Flow,
}

/// Iterates over the numbers of the groups of a set.
pub(super) fn members(set: u32) -> impl Iterator<Item = usize> {
    let mut left = set;
    std::iter::from_fn(move || {
        let next = (left != 0).then(|| left.trailing_zeros() as usize)?;
        left &= left - 1;
        Some(next)
    })
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

    #[cold]
    fn warn(&mut self, misuse: Misuse, group: usize) {
        let group = &mut self.groups[group];
        group.pc = self.pc;
        self.world.warn(misuse, group);
    }

    /// Warns of groups that make a result pending while one is pending already.
    pub(super) fn check_pending(&mut self, lanes: &mut Lanes) {
        if lanes.same(self.level, row::PENDING) == Some(0) {
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
            && let Some(at) = lanes.same(self.level, address.row).filter(|at| is_there(*at))
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
        let all = self.whole && effect.when.is_none();
        for i in members(self.set) {
            let active = if all { 15 } else { self.mask(effect.when, lanes, i) };
            let (addresses, values) = (lanes.group(address.row, i), lanes.group(value.row, i));
            let Some(on) = on.first() else {
                for t in threads(active) {
                    store(self.world, effect.ty, addresses[t], values[t]);
                }
                continue;
            };
            let mask = lanes.group(on.row, i);
            if effect.ty.bits < 16 || !self.store_elements(active, addresses, values, mask) {
                let on = mask.map(|mask| bits_of(mask, on.booleans, 64));
                let one = Type { lanes: 1, ..effect.ty };
                for c in 0..u32::from(effect.ty.lanes) {
                    let bits = one.size() * c;
                    for t in threads(active).filter(|t| on[*t] >> c & 1 != 0) {
                        let (at, value) = (addresses[t] + u64::from(bits / 8), values[t] >> bits);
                        store(self.world, one, at, value);
                    }
                }
            }
        }
    }

    /// Stores to consecutive elements. Returns false if they are not consecutive.
    fn store_elements(&mut self, active: u64, addresses: &group::Row, values: &group::Row, on: &group::Row) -> bool {
        let first = addresses[0];
        let differ = addresses.iter().enumerate().fold(0, |differ, (t, at)| differ | *at ^ (first + 8 * t as u64));
        let (buffer, element, _) = self.world.tile_place(first);
        let Some(elements) = self.world.tiles[buffer].data.get_mut(element..element + THREADS) else { return false };
        if differ != 0 || first & 7 != 0 || first >> 19 != addresses[THREADS - 1] >> 19 {
            return false;
        }
        let slots = &group::SLOTS[active as usize & 15];
        for (t, to) in elements.iter_mut().enumerate() {
            let old = word(*to);
            *to = group::components(old ^ (old ^ values[t]) & on[t] & slots[t]);
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
            let holds = effect.when.map_or(Some(u64::MAX), |row| lanes.same(self.level, row));
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
        if effect.when.is_none() && lanes.same(self.level, row::PENDING) == Some(u64::MAX) {
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
        let (Some(Place::Shared(index)), Some(value)) =
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
