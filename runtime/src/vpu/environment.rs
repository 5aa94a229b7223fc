//! What the semantics of instructions can access of a group and its environment: registers, flags, tiles, memory, and
//! the functions that the specification cannot express.

use isaforge_core::semantics::evaluate::{Column, Environment};
use isaforge_core::semantics::{AtomicOp, Op as Node, Special, Type};
use isaforge_vpu::semantics::{Intrinsics, SEMANTICS, call};

use crate::exec::vector::effect::Rows;
use crate::exec::vector::{bits_of, mask_of};
use crate::machine::{Access, AccessKind};
use crate::vpu::error::{Misuse, Wait};
use crate::vpu::group::{Group, Start, THREADS, row, word};
use crate::vpu::name;
use crate::vpu::op::Op;
use crate::vpu::operand::Location;
use crate::vpu::world::{Outside, QUEUE, World};

/// The latency in cycles of data in the L2 cache.
const HIT: u64 = 6;
/// The latency in cycles of other data.
const MISS: u64 = 30;

/// Whether the text of an instruction raises a fault.
const fn raises_faults() -> bool {
    let mut operation = 0;
    while operation < SEMANTICS.operations.len() {
        let nodes = SEMANTICS.operations[operation].nodes;
        let mut node = 0;
        while node < nodes.len() {
            if matches!(nodes[node].op, Node::Fault) {
                return true;
            }
            node += 1;
        }
        operation += 1;
    }
    false
}

type Result<T> = std::result::Result<T, Wait>;

/// The threads of a group while they execute an instruction.
pub(crate) struct Threads<'a> {
    pub op: &'a Op,
    pub group: &'a mut Group,
    pub world: &'a mut World,
    pub out: Outside<'a>,
    /// The accesses to external memory, if they are recorded.
    pub accesses: Option<&'a mut Vec<Access>>,
}

pub(crate) fn threads(mask: u64) -> impl Iterator<Item = usize> {
    (0..THREADS).filter(move |t| mask >> t & 1 == 1)
}

pub(crate) fn set_component(slot: &mut u64, component: usize, value: u16) {
    *slot = *slot & !(0xffff << (16 * component)) | u64::from(value) << (16 * component);
}

/// Returns the components that a value of some type fills, as number and content; `element` counts values of that
/// type.
pub(crate) fn components(element: u16, ty: Type, value: u64) -> impl Iterator<Item = (usize, u16)> {
    let count = (ty.size() / 16) as usize;
    let first = usize::from(element) * count;
    (0..count).map(move |c| (first + c, (value >> (16 * c)) as u16)).filter(|(c, _)| *c < 4)
}

impl Threads<'_> {
    /// Records what the threads of the mask access in external memory; `stored` returns what a thread leaves there, if
    /// anything.
    fn note(
        &mut self,
        kind: AccessKind,
        address: &Column<THREADS>,
        ty: Type,
        mask: u64,
        stored: impl Fn(usize) -> Option<u64>,
    ) {
        let Some(accesses) = &mut self.accesses else { return };
        accesses.extend(threads(mask).map(|t| {
            let (lane, size, address) = (t as u8, (ty.size() / 8) as u8, address[t] & 0xffff_ffff);
            Access { lane, size, address, kind, space: None, stored: stored(t) }
        }));
    }

    /// Warns if a thread of the mask accesses addresses past the end of external memory.
    fn check_range(&mut self, address: &Column<THREADS>, ty: Type, mask: u64) {
        let width = (ty.size() / 8) as usize;
        if threads(mask).any(|t| !self.out.memory.holds(address[t] as u32, width)) {
            self.world.warn(Misuse::OutsideMemory, self.group);
        }
    }

    /// Delays the result by the longest latency of the threads.
    fn delay(&mut self, mask: u64, mut base: impl FnMut(usize) -> u64) {
        let Some(now) = self.out.clock else { return };
        for t in threads(mask) {
            let latency = self.world.latency(base(t));
            self.group.ready = self.group.ready.max(now + latency);
        }
    }
}

impl Rows<THREADS> for Threads<'_> {
    const SLOT: u32 = 64;

    #[inline]
    fn row(&self, row: u16) -> Column<THREADS> {
        *self.group.row(row)
    }

    #[inline]
    fn set_row(&mut self, row: u16, slots: &Column<THREADS>) {
        *self.group.row_mut(row) = *slots;
    }
}

impl Environment<THREADS> for Threads<'_> {
    type Fault = Wait;

    fn active(&self) -> u64 {
        self.op.active(self.group).into()
    }

    fn operand(&mut self, operand: u16, _: u16, _: Type) -> Result<Column<THREADS>> {
        Ok(match self.op.places[usize::from(operand)] {
            Location::Local(index) => *self.group.row(row::LOCAL + u16::from(index)),
            Location::Shared(index) => *self.group.row(row::SHARED + u16::from(index)),
            Location::Global(index) => {
                [word(self.world.banks[usize::from(self.group.bank)][usize::from(index)]); THREADS]
            }
            Location::Number(number) => [number; THREADS],
            Location::Nowhere => [0; THREADS],
        })
    }

    fn write(&mut self, operand: u16, element: u16, ty: Type, value: &Column<THREADS>, mask: u64) -> Result<()> {
        let place = self.op.places[usize::from(operand)];
        // Threads write one register in order, so the highest thread wins.
        for t in threads(mask) {
            for (c, value) in components(element, ty, value[t]) {
                match (place, self.group.reserved) {
                    (Location::Local(index), _) => {
                        set_component(&mut self.group.row_mut(row::LOCAL + u16::from(index))[t], c, value);
                    }
                    (Location::Shared(index), _) => {
                        let slots = self.group.row_mut(row::SHARED + u16::from(index));
                        slots.iter_mut().for_each(|slot| set_component(slot, c, value));
                    }
                    (Location::Global(index), Some(bank)) => {
                        self.world.banks[usize::from(bank)][usize::from(index)][c] = value;
                    }
                    // Without a reserved bank the result is dropped.
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn state(&mut self, state: u16, _: Option<&Column<THREADS>>) -> Result<Column<THREADS>> {
        let (group, size) = (&*self.group, self.world.tile_size);
        Ok(match state {
            name::FLAG => group.row(row::FLAG).map(|mask| bits_of(mask, 4, 64)),
            name::POSITION => *group.row(row::POSITION),
            name::TILE_SIZE => [word([size.width() as u16, size.height() as u16, 0, 0]); THREADS],
            name::PENDING => std::array::from_fn(|t| (group.pending >> t & 1).into()),
            name::RESULT => *group.row(row::RESULT),
            _ => [0; THREADS],
        })
    }

    fn set_state(&mut self, state: u16, _: Option<&Column<THREADS>>, value: &Column<THREADS>, mask: u64) -> Result<()> {
        let pending = self.group.pending;
        for t in threads(mask) {
            let group = &mut *self.group;
            match state {
                name::FLAG => group.row_mut(row::FLAG)[t] = mask_of(value[t] & 15, 4, 64),
                name::PENDING => group.pending = group.pending & !(1 << t) | (value[t] as u8 & 1) << t,
                name::RESULT => group.row_mut(row::RESULT)[t] = value[t],
                // The position of a thread cannot change.
                _ => {}
            }
        }
        if state == name::PENDING && threads(mask).any(|t| value[t] & u64::from(pending) >> t & 1 == 1) {
            self.world.warn(Misuse::PendingLost, self.group);
        }
        Ok(())
    }

    fn special(&mut self, special: Special) -> Column<THREADS> {
        let pc = self.group.pc;
        [u64::from(if special == Special::Next { (pc + 1) & 1023 } else { pc }); THREADS]
    }

    fn load(&mut self, space: u16, ty: Type, address: &Column<THREADS>, mask: u64) -> Result<Column<THREADS>> {
        if space == name::EXTERNAL {
            self.check_range(address, ty, mask);
            let memory = self.out.memory;
            self.delay(mask, |t| if memory.cached(address[t] as u32) { HIT } else { MISS });
            self.note(AccessKind::Load, address, ty, mask, |_| None);
        }
        Ok(address.map(|at| self.world.load(self.out, space, ty, at)))
    }

    fn store(
        &mut self,
        space: u16,
        ty: Type,
        address: &Column<THREADS>,
        value: &Column<THREADS>,
        mask: u64,
    ) -> Result<()> {
        if space == name::EXTERNAL {
            self.check_range(address, ty, mask);
            self.note(AccessKind::Store, address, ty, mask, |t| Some(value[t]));
        }
        for t in threads(mask) {
            match space {
                name::EXTERNAL if ty.size() == 64 => self.out.memory.store(address[t] as u32, value[t]),
                name::TILE => {
                    let (buffer, element, first) = self.world.tile_place(address[t]);
                    for (c, value) in components(0, ty, value[t]) {
                        self.world.tiles[buffer].data[element][(first + c) & 3] = value;
                    }
                }
                // Palettes are written by the host only.
                _ => {}
            }
        }
        Ok(())
    }

    fn atomic(
        &mut self,
        op: AtomicOp,
        _: u16,
        ty: Type,
        address: &Column<THREADS>,
        value: &Column<THREADS>,
        expected: Option<&Column<THREADS>>,
        mask: u64,
    ) -> Result<Column<THREADS>> {
        self.check_range(address, ty, mask);
        self.delay(mask, |_| MISS);
        let holds = |t: usize, old: u64| expected.is_none_or(|expected| expected[t] == old);
        let update = |t: usize, old: u64| if holds(t, old) { op.apply(ty, old, value[t]) } else { old };
        let mut found = [0; THREADS];
        for t in threads(mask) {
            let at = address[t] as u32;
            if self.out.clock.is_some() {
                self.out.memory.uncache(at);
            }
            found[t] = self.out.memory.update(at, |old| update(t, old));
        }
        self.note(AccessKind::Atomic, address, ty, mask, |t| Some(update(t, found[t])));
        Ok(found)
    }

    fn branch(&mut self, target: &Column<THREADS>, mask: u64) -> Result<()> {
        if let Some(first) = threads(mask).next() {
            self.group.active = mask as u8;
            self.group.pc = target[first] as u16 & 1023;
            self.group.jumped = true;
        }
        Ok(())
    }

    fn barrier(&mut self, _: u64) -> Result<()> {
        // The threads of a group always run in lockstep.
        Ok(())
    }

    fn end(&mut self, mask: u64) -> Result<()> {
        self.group.living &= !(mask as u8);
        self.group.active &= !(mask as u8);
        Ok(())
    }

    fn fault(&mut self, _: u16, _: &Column<THREADS>, _: u64) -> Result<()> {
        // Only the text of `lock` for a machine of the specification faults; this one waits.
        const { assert!(!raises_faults(), "an instruction faults, which this machine cannot do") };
        Ok(())
    }

    fn intrinsic(&mut self, intrinsic: u16, arguments: &[Column<THREADS>], mask: u64) -> Result<Column<THREADS>> {
        call(self, intrinsic, arguments, mask)
    }
}

/// Generated from the specification, so that an intrinsic without an implementation does not compile.
impl Intrinsics<THREADS> for Threads<'_> {
    type Fault = Wait;

    fn unmask(&mut self, _: u64) -> Result<()> {
        self.group.active = self.group.living;
        Ok(())
    }

    fn lock(&mut self, at: [u32; THREADS], mask: u64) -> Result<()> {
        let places = at.map(|at| self.world.tile_place(at.into()));
        if threads(mask).any(|t| self.world.tiles[places[t].0].locked[places[t].1]) {
            return Err(Wait::Lock);
        }
        threads(mask).for_each(|t| self.world.tiles[places[t].0].locked[places[t].1] = true);
        Ok(())
    }

    fn unlock(&mut self, at: [u32; THREADS], mask: u64) -> Result<()> {
        let mut not_held = false;
        for t in threads(mask) {
            let (buffer, element, _) = self.world.tile_place(at[t].into());
            not_held |= !std::mem::replace(&mut self.world.tiles[buffer].locked[element], false);
        }
        if not_held {
            self.world.warn(Misuse::UnlockNotHeld, self.group);
        }
        Ok(())
    }

    fn wait_for_result(&mut self, mask: u64) -> Result<()> {
        let pending = u64::from(self.group.pending);
        if pending & mask != 0 && self.out.clock.is_some_and(|now| now < self.group.ready) {
            return Err(Wait::Memory);
        }
        if mask & !pending != 0 {
            self.world.warn(Misuse::FinishWithoutIssue, self.group);
        }
        Ok(())
    }

    fn allocate(&mut self, _: u64) -> Result<()> {
        if self.group.reserved.is_some() {
            self.world.warn(Misuse::SecondAllocate, self.group);
            return Ok(());
        }
        let Some(bank) = self.world.holders.iter().position(|n| *n == 0) else { return Err(Wait::Bank) };
        self.world.holders[bank] = 1;
        self.group.reserved = Some(bank as u8);
        Ok(())
    }

    fn launch(&mut self, living: [u8; THREADS], start: Column<THREADS>, mask: u64) -> Result<()> {
        let Some(bank) = self.group.reserved else {
            self.world.warn(Misuse::LaunchWithoutBank, self.group);
            return Ok(());
        };
        // Executed once for the group, with the arguments of its lowest active thread.
        let first = threads(mask).next().unwrap_or(0);
        let living = living[first];
        if living == 0 {
            self.world.warn(Misuse::EmptyLaunch, self.group);
            self.world.release(bank);
        } else if self.world.queue.len() >= QUEUE {
            return Err(Wait::Queue);
        } else {
            let [entry, x, y] = [0, 16, 32].map(|shift| (start[first] >> shift) as u16);
            self.world.queue.push_back(Start { entry, x, y, living: living & 15, bank, registers: None });
        }
        self.group.reserved = None;
        Ok(())
    }
}
