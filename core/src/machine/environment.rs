//! The environment of an instruction in execution.

use alloc::vec::Vec;
use core::fmt;

use super::code::{Execution, Instruction};
use super::encoding::Encoding;
#[cfg(feature = "std")]
use super::functions;
use super::host::{Host, Intrinsic, Touched};
use super::location::{Location, cut};
use super::memory::{Access, Memory};
use super::registers::{Registers, set_lanes, wrapped};
use super::table::Hardware;
use super::trap::Reason;
use crate::semantics::evaluate::{Column, Environment, Scratch, evaluate};
use crate::semantics::{AtomicOp, Semantics, Special, Type, instantiate};

/// Where lanes continue.
#[derive(Debug)]
pub(super) struct Flow<const L: usize> {
    /// The address of the next instruction.
    pub next: u64,
    /// Where each lane continues, once some of them branch.
    pub targets: Option<Column<L>>,
    /// The lanes that branch.
    pub branched: u64,
    pub ended: u64,
    pub waits: u64,
    pub exit: Option<u64>,
}

/// An instruction in execution: the environment of its operation.
pub struct Running<'a, const L: usize, H> {
    pub(super) tables: (Encoding, &'static Semantics, &'static Hardware),
    pub(super) instruction: &'a Instruction,
    pub(super) registers: &'a mut Registers<L>,
    pub(super) memory: &'a mut Memory,
    pub(super) spaces: &'a mut [Memory],
    pub(super) host: &'a mut H,
    pub(super) inner: &'a mut Scratch<L>,
    pub(super) active: u64,
    /// The lanes that execute it. More lanes may be active if a group decides for all of them.
    pub(super) executing: u64,
    /// The lanes that have not ended.
    pub(super) live: u64,
    pub(super) pc: u64,
    /// Whether the text of an intrinsic is executing. Such texts cannot call intrinsics that have one.
    pub(super) inside: bool,
    pub(super) flow: Flow<L>,
    /// The accesses so far; `None` when the host does not observe them.
    pub(super) touched: Option<&'a mut Vec<Touched<L>>>,
}

impl<const L: usize, H> fmt::Debug for Running<'_, L, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("pc", &self.pc).field("active", &self.active).finish_non_exhaustive()
    }
}

impl<const L: usize, H> Running<'_, L, H> {
    /// The columns of the machine, as in [`Parts::values`](super::Parts::values).
    pub fn columns(&self) -> &[Column<L>] {
        &self.registers.values
    }

    /// The same, to write, to extend, or to take while the instruction accesses none of them.
    pub fn columns_mut(&mut self) -> &mut Vec<Column<L>> {
        &mut self.registers.values
    }
}

impl<const L: usize, H: Host<L>> Running<'_, L, H> {
    /// Executes the operation that precedes a group. Returns the lanes that execute the group.
    pub(super) fn executing(&mut self, execution: &Execution, scratch: &mut Scratch<L>) -> Result<u64, Reason> {
        if let Some(before) = &execution.before {
            // This operation belongs to the machine; observers see only the group.
            let touched = self.touched.take();
            let done = evaluate(self.tables.1, before, scratch, self);
            self.touched = touched;
            done?;
        }
        let Some(mask) = execution.mask else { return Ok(self.active) };
        let executes = self.state(mask, None)?;
        Ok((0..L).filter(|lane| executes[*lane] & 1 != 0).fold(0, |lanes, lane| lanes | 1 << lane) & self.active)
    }

    /// The per-lane state whose bits make up `state`.
    fn bits(&mut self, state: u16) -> Option<&mut Column<L>> {
        let (_, of) = self.tables.2.bits.iter().find(|(bits, _)| *bits == state)?;
        let slot = self.registers.state_slot(*of, 0)?;
        self.registers.values.get_mut(slot)
    }

    pub(super) fn touch(&mut self, touched: impl FnOnce() -> Touched<L>) {
        if let Some(list) = &mut self.touched {
            list.push(touched());
        }
    }

    pub(super) fn operand_trap(&self, operand: u16, access: Access) -> Reason {
        let (encoding, instruction) = (self.tables.0, self.instruction);
        let operand = encoding.operand_name(&instruction.found, operand);
        Reason::Operand { form: encoding.name(instruction.opcode), operand, access }
    }
}

impl<const L: usize, H: Host<L>> Environment<L> for Running<'_, L, H> {
    type Fault = Reason;

    fn lane_count(&self) -> usize {
        self.tables.2.lanes.into()
    }

    fn active(&self) -> u64 {
        self.active
    }

    fn operand(&mut self, operand: u16, element: u16, ty: Type) -> Result<Column<L>, Reason> {
        let instruction = self.instruction;
        let value = match instruction.operands.get(usize::from(operand)) {
            Some(location) => self.read_location(location, element, ty)?,
            None => None,
        };
        value.ok_or_else(|| self.operand_trap(operand, Access::Read))
    }

    fn write(&mut self, operand: u16, element: u16, ty: Type, value: &Column<L>, mask: u64) -> Result<(), Reason> {
        let written = match self.instruction.operands.get(usize::from(operand)) {
            Some(Location::Register(first, _) | Location::Indexed(first, _))
                if self.bank(*first).is_some_and(|b| b.fixed) =>
            {
                None
            }
            Some(Location::Indexed(first, index)) => self.write_indexed((*first, *index), element, value, mask),
            Some(Location::Register(first, operand)) => match self.part(*first, *operand, element, ty) {
                Some((register, shift)) => self.write_part(register, shift, ty, value, mask),
                None => self.write_registers(*first, element, ty, value, mask),
            },
            Some(Location::Discarded(_)) => Some(()),
            Some(Location::List(first, count)) if self.ends_before(*first, *count, element, ty) => Some(()),
            Some(Location::List(first, _)) => self.write_registers(*first, element, ty, value, mask),
            _ => None,
        };
        written.ok_or_else(|| self.operand_trap(operand, Access::Write))
    }

    fn state(&mut self, state: u16, index: Option<&Column<L>>) -> Result<Column<L>, Reason> {
        if let Some((_, register)) = self.tables.2.aliases.iter().find(|(alias, _)| *alias == state) {
            let value = self.registers.get(*register).copied().unwrap_or([0; L]);
            self.touch(|| Touched::Read(*register, value));
            return Ok(value);
        }
        let live = self.live;
        if let Some(flags) = self.bits(state) {
            let bit = |lane: &usize| live >> lane & flags[*lane] & 1 != 0;
            return Ok([(0..L).filter(bit).fold(0, |bits, lane| bits | 1 << lane); L]);
        }
        let (active, name) = (self.active, self.tables.1.states.get(usize::from(state)).map_or("", |s| s.name));
        let mut value = [0; L];
        for (lane, value) in value.iter_mut().enumerate().filter(|(lane, _)| active >> lane & 1 != 0) {
            let at = index.map_or(0, |index| index[lane]);
            let element = self.registers.state_slot(state, at).and_then(|slot| self.registers.values.get(slot));
            *value = element.ok_or(Reason::State(name, at))?[lane];
        }
        Ok(value)
    }

    fn set_state(&mut self, state: u16, index: Option<&Column<L>>, value: &Column<L>, mask: u64) -> Result<(), Reason> {
        if let Some((_, register)) = self.tables.2.aliases.iter().find(|(alias, _)| *alias == state) {
            self.registers.set(*register, value, mask);
            self.touch(|| Touched::Written(*register, *value, mask));
            return Ok(());
        }
        let first = (mask.trailing_zeros() as usize).min(L - 1);
        if let Some(flags) = self.bits(state) {
            *flags = core::array::from_fn(|lane| value[first] >> lane & 1);
            self.touch(|| Touched::State(state, *value, mask));
            return Ok(());
        }
        let name = self.tables.1.states.get(usize::from(state)).map_or("", |s| s.name);
        if mask != 0 && self.tables.2.uniform.contains(&state) {
            let at = index.map_or(0, |index| index[first]);
            let element = self.registers.state_slot(state, at).and_then(|slot| self.registers.values.get_mut(slot));
            let value = [value[first]; L];
            *element.ok_or(Reason::State(name, at))? = value;
            self.touch(|| Touched::State(state, value, u64::MAX));
            return Ok(());
        }
        for lane in (0..L).filter(|lane| mask >> lane & 1 != 0) {
            let at = index.map_or(0, |index| index[lane]);
            let slot = self.registers.state_slot(state, at);
            let element = slot.and_then(|slot| self.registers.values.get_mut(slot));
            set_lanes(element.ok_or(Reason::State(name, at))?, value, 1 << lane);
        }
        self.touch(|| Touched::State(state, *value, mask));
        Ok(())
    }

    fn special(&mut self, special: Special) -> Column<L> {
        let unit = u64::from(self.tables.2.unit.max(1));
        match special {
            Special::Next => {
                let next = wrapped(self.pc.wrapping_add(self.instruction.length), self.tables.2) / unit;
                [cut(next, self.tables.1.pc_bits.into()); L]
            }
            _ => [self.pc / unit; L],
        }
    }

    fn load(&mut self, space: u16, ty: Type, address: &Column<L>, mask: u64) -> Result<Column<L>, Reason> {
        self.load_lanes(space, u64::from(ty.size().div_ceil(8)), address, mask)
    }

    fn store(&mut self, space: u16, ty: Type, address: &Column<L>, value: &Column<L>, mask: u64) -> Result<(), Reason> {
        self.store_lanes(space, u64::from(ty.size().div_ceil(8)), address, value, mask)
    }

    fn atomic(
        &mut self,
        op: AtomicOp,
        space: u16,
        ty: Type,
        address: &Column<L>,
        value: &Column<L>,
        expected: Option<&Column<L>>,
        mask: u64,
    ) -> Result<Column<L>, Reason> {
        let size = u64::from(ty.size().div_ceil(8));
        let (own, mut old) = (self.own(space), [0; L]);
        for (lane, address) in self.lanes(address, mask) {
            self.touch(|| Touched::By(lane as u8, true, own));
            old[lane] = self.load_one(space, address, size)?;
            old[lane] = cut(old[lane], ty.size());
            if expected.is_none_or(|expected| expected[lane] == old[lane]) {
                self.store_one(space, address, size, op.apply(ty, old[lane], value[lane]))?;
            }
        }
        Ok(old)
    }

    fn branch(&mut self, target: &Column<L>, mask: u64) -> Result<(), Reason> {
        let unit = u64::from(self.tables.2.unit.max(1));
        let address = |target: u64| wrapped(target.wrapping_mul(unit), self.tables.2);
        let targets = self.flow.targets.get_or_insert([self.flow.next; L]);
        set_lanes(targets, &target.map(address), mask);
        self.flow.branched |= mask;
        Ok(())
    }

    fn barrier(&mut self, mask: u64) -> Result<(), Reason> {
        self.flow.waits |= mask;
        Ok(())
    }

    fn end(&mut self, mask: u64) -> Result<(), Reason> {
        self.flow.ended |= mask;
        Ok(())
    }

    fn fault(&mut self, fault: u16, datum: &Column<L>, mask: u64) -> Result<(), Reason> {
        let name = self.tables.1.faults.get(usize::from(fault)).copied().unwrap_or("");
        let lane = (mask.trailing_zeros() as usize).min(L - 1);
        Err(Reason::Fault(name, datum[lane]))
    }

    fn intrinsic(&mut self, intrinsic: u16, arguments: &[Column<L>], mask: u64) -> Result<Column<L>, Reason> {
        if let Some(call) = self.tables.2.calls.iter().find(|call| call.intrinsic == intrinsic) {
            return self.serve(call.number, call.services, mask).map(|()| [0; L]);
        }
        if self.tables.2.unmasks == Some(intrinsic) {
            return Ok([0; L]);
        }
        if let Some(burst) = self.tables.2.bursts.iter().find(|burst| burst.intrinsic == intrinsic) {
            return self.burst(*burst, arguments, mask).map(|()| [0; L]);
        }
        let mut texts = self.tables.2.intrinsics.iter();
        if let Some(performed) = texts.find(|known| known.intrinsic == intrinsic).filter(|_| !self.inside) {
            self.inside = true;
            let shape = instantiate(self.tables.1, &performed.operation, |_| 0);
            let mut scratch = core::mem::take(self.inner);
            let mut inside = Inside { running: self, arguments, mask, value: [0; L] };
            let ended = evaluate(inside.running.tables.1, &shape, &mut scratch, &mut inside);
            let value = inside.value;
            *self.inner = scratch;
            self.inside = false;
            return ended.map(|()| value);
        }
        let Some(known) = self.tables.1.intrinsics.get(usize::from(intrinsic)) else { return Ok([0; L]) };
        let name = known.name;
        #[cfg(feature = "std")]
        if let (Some(function), [argument]) = (functions::function(known), arguments) {
            return Ok(argument.map(|value| function(value as u32).into()));
        }
        let call = Intrinsic { name, arguments, mask, memory: self.memory };
        self.host.intrinsic(call).map_err(|reason| Reason::Intrinsic(name, reason))
    }
}

/// Forwards the rest of the environment from an inner evaluation to the instruction.
macro_rules! as_outside {
    () => {
        fn lane_count(&self) -> usize {
            self.running.lane_count()
        }

        fn state(&mut self, state: u16, index: Option<&Column<L>>) -> Result<Column<L>, Reason> {
            self.running.state(state, index)
        }

        fn set_state(
            &mut self,
            state: u16,
            index: Option<&Column<L>>,
            value: &Column<L>,
            mask: u64,
        ) -> Result<(), Reason> {
            self.running.set_state(state, index, value, mask)
        }

        fn special(&mut self, special: Special) -> Column<L> {
            self.running.special(special)
        }

        fn load(&mut self, space: u16, ty: Type, address: &Column<L>, mask: u64) -> Result<Column<L>, Reason> {
            self.running.load(space, ty, address, mask)
        }

        fn store(
            &mut self,
            space: u16,
            ty: Type,
            address: &Column<L>,
            value: &Column<L>,
            mask: u64,
        ) -> Result<(), Reason> {
            self.running.store(space, ty, address, value, mask)
        }

        fn atomic(
            &mut self,
            op: AtomicOp,
            space: u16,
            ty: Type,
            address: &Column<L>,
            value: &Column<L>,
            expected: Option<&Column<L>>,
            mask: u64,
        ) -> Result<Column<L>, Reason> {
            self.running.atomic(op, space, ty, address, value, expected, mask)
        }

        fn branch(&mut self, target: &Column<L>, mask: u64) -> Result<(), Reason> {
            self.running.branch(target, mask)
        }

        fn barrier(&mut self, mask: u64) -> Result<(), Reason> {
            self.running.barrier(mask)
        }

        fn end(&mut self, mask: u64) -> Result<(), Reason> {
            self.running.end(mask)
        }

        fn fault(&mut self, fault: u16, datum: &Column<L>, mask: u64) -> Result<(), Reason> {
            self.running.fault(fault, datum, mask)
        }

        fn intrinsic(&mut self, intrinsic: u16, arguments: &[Column<L>], mask: u64) -> Result<Column<L>, Reason> {
            self.running.intrinsic(intrinsic, arguments, mask)
        }
    };
}

/// Evaluates the reading of an operand: the fields are its operands, and the result is written to the operand after
/// them.
pub(super) struct Reading<'r, 'a, const L: usize, H> {
    pub running: &'r mut Running<'a, L, H>,
    pub fields: &'r [Location],
    /// The width to read, in bits.
    pub size: u32,
    pub value: Column<L>,
}

impl<const L: usize, H: Host<L>> Environment<L> for Reading<'_, '_, L, H> {
    type Fault = Reason;

    fn active(&self) -> u64 {
        self.running.active
    }

    fn operand(&mut self, operand: u16, element: u16, ty: Type) -> Result<Column<L>, Reason> {
        let value = match self.fields.get(usize::from(operand)) {
            Some(location) => {
                let ty = location.type_in_reading(self.running.tables.2, ty);
                self.running.read_location(location, element, ty)?
            }
            None if usize::from(operand) == self.fields.len() => Some([self.size.into(); L]),
            None => None,
        };
        value.ok_or_else(|| self.running.operand_trap(operand, Access::Read))
    }

    fn write(&mut self, _: u16, _: u16, _: Type, value: &Column<L>, _: u64) -> Result<(), Reason> {
        self.value = *value;
        Ok(())
    }

    as_outside!();
}

/// Evaluates the text of an intrinsic: the arguments are its operands, and the result is written to the operand after
/// them.
struct Inside<'r, 'a, 'c, const L: usize, H> {
    running: &'r mut Running<'a, L, H>,
    arguments: &'c [Column<L>],
    /// The lanes that call it.
    mask: u64,
    value: Column<L>,
}

impl<const L: usize, H: Host<L>> Environment<L> for Inside<'_, '_, '_, L, H> {
    type Fault = Reason;

    fn active(&self) -> u64 {
        self.mask
    }

    fn operand(&mut self, operand: u16, _: u16, ty: Type) -> Result<Column<L>, Reason> {
        let value = self.arguments.get(usize::from(operand)).copied();
        value.map(|value| value.map(|value| cut(value, ty.size()))).ok_or(Reason::NoMeaning(""))
    }

    fn write(&mut self, _: u16, _: u16, _: Type, value: &Column<L>, _: u64) -> Result<(), Reason> {
        self.value = *value;
        Ok(())
    }

    as_outside!();
}
