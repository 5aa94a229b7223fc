//! The operands of an executing instruction: registers, parts of registers, register lists, indexed registers.

use super::environment::{Reading, Running};
use super::host::{Host, Touched};
use super::location::{Location, cut, part_of, registers_of};
use super::memory::Access;
use super::table::{Bank, Burst, Register};
use super::trap::Reason;
use crate::semantics::Type;
use crate::semantics::evaluate::{Column, evaluate};

/// The maximum number of registers that a burst moves.
const MAX_REGISTERS: u64 = 1 << 12;
/// Not an address space: selects the main memory.
const NO_SPACE: u16 = u16::MAX;

impl<const L: usize, H: Host<L>> Running<'_, L, H> {
    pub(super) fn bank(&self, register: Register) -> Option<&'static Bank> {
        self.tables.2.banks.get(usize::from(register.bank))
    }

    /// The first register of an element of an operand, the number of registers it takes, and their width.
    fn span(&self, first: Register, element: u16, ty: Type) -> (Register, u32, u16) {
        let bank = self.bank(first);
        let width = bank.map_or(32, |bank| bank.width.max(1));
        let count = registers_of(ty.size(), width);
        let element = if bank.is_some_and(|bank| bank.stays) { 0 } else { element };
        let index = first.index.saturating_add(u32::from(element).saturating_mul(count));
        (Register { index, ..first }, count, width)
    }

    /// The part of a register that an element of an operand occupies: the register and the first bit. `None` when it is
    /// not a part.
    pub(super) fn part(&self, first: Register, operand: u16, element: u16, ty: Type) -> Option<(Register, u32)> {
        part_of(first, operand, self.bank(first)?.width, element, ty.size())
    }

    /// Whether a register list ends before the end of an element.
    pub(super) fn ends_before(&self, first: Register, count: u32, element: u16, ty: Type) -> bool {
        let (start, size, _) = self.span(first, element, ty);
        start.index.saturating_add(size) > first.index.saturating_add(count)
    }

    fn read_registers(&mut self, first: Register, element: u16, ty: Type) -> Option<Column<L>> {
        let (first, count, width) = self.span(first, element, ty);
        let mut value = *self.registers.get(first)?;
        self.touch(|| Touched::Read(first, value));
        for k in 1..count {
            let register = Register { index: first.index + k, ..first };
            let part = *self.registers.get(register)?;
            self.touch(|| Touched::Read(register, part));
            let shift = (k * u32::from(width)).min(63);
            value.iter_mut().zip(part).for_each(|(value, part)| *value |= part << shift);
        }
        Some(value.map(|value| cut(value, ty.size())))
    }

    pub(super) fn write_registers(
        &mut self,
        first: Register,
        element: u16,
        ty: Type,
        value: &Column<L>,
        mask: u64,
    ) -> Option<()> {
        let (first, count, width) = self.span(first, element, ty);
        self.registers.get(Register { index: first.index.checked_add(count - 1)?, ..first })?;
        for k in 0..count {
            let register = Register { index: first.index + k, ..first };
            let shift = (k * u32::from(width)).min(63);
            let part = value.map(|value| cut(value >> shift, width.into()));
            self.registers.set(register, &part, mask)?;
            self.touch(|| Touched::Written(register, part, mask));
        }
        Some(())
    }

    pub(super) fn write_part(
        &mut self,
        register: Register,
        shift: u32,
        ty: Type,
        value: &Column<L>,
        mask: u64,
    ) -> Option<()> {
        let bits = cut(u64::MAX, ty.size()) << shift;
        self.registers.set_bits(register, bits, &value.map(|value| value << shift), mask)?;
        let whole = *self.registers.get(register)?;
        self.touch(|| Touched::Written(register, whole, mask));
        Some(())
    }

    /// The registers that an index selects, lane by lane. An entry is `None` where only the state that the bank adds
    /// leads past its end; the whole result is `None` when anything else does.
    fn indexed(
        &self,
        first: Register,
        index: Option<Register>,
        element: u16,
        mask: u64,
    ) -> Option<[Option<Register>; L]> {
        let bank = self.bank(first)?;
        let (first, ..) = self.span(first, element, Type::unsigned(bank.width.min(64) as u8));
        let mut found = [None; L];
        for lane in (0..L).filter(|lane| mask >> lane & 1 != 0) {
            let further = match index {
                Some(index) => self.registers.get(index)?[lane],
                None => 0,
            };
            let number = further.saturating_add(first.index.into());
            let slot = bank.plus.and_then(|state| self.registers.state_slot(state, 0));
            let plus = slot.and_then(|slot| self.registers.values.get(slot)).map_or(0, |state| state[lane]);
            let number = Some(number).filter(|number| *number < bank.count.into())?.saturating_add(plus);
            if number >= bank.count.into() && index.is_some() {
                return None;
            }
            found[lane] = (number < bank.count.into()).then_some(Register { index: number as u32, ..first });
        }
        Some(found)
    }

    fn read_indexed(
        &mut self,
        (first, index): (Register, Option<Register>),
        element: u16,
        mask: u64,
    ) -> Option<Column<L>> {
        let mut value = [0; L];
        for (lane, register) in self.indexed(first, index, element, mask)?.into_iter().enumerate() {
            let Some(register) = register else { continue };
            let found = *self.registers.get(register)?;
            value[lane] = found[lane];
            self.touch(|| Touched::Read(register, found));
        }
        Some(value)
    }

    pub(super) fn write_indexed(
        &mut self,
        (first, index): (Register, Option<Register>),
        element: u16,
        value: &Column<L>,
        mask: u64,
    ) -> Option<()> {
        for (lane, register) in self.indexed(first, index, element, mask)?.into_iter().enumerate() {
            let Some(register) = register else { continue };
            self.registers.set(register, value, 1 << lane)?;
            self.touch(|| Touched::Written(register, *value, 1 << lane));
        }
        Some(())
    }

    pub(super) fn read_location(
        &mut self,
        location: &Location,
        element: u16,
        ty: Type,
    ) -> Result<Option<Column<L>>, Reason> {
        Ok(match location {
            Location::Register(first, operand) => match self.part(*first, *operand, element, ty) {
                Some((register, shift)) => {
                    let found = self.registers.get(register).copied();
                    if let Some(value) = found {
                        self.touch(|| Touched::Read(register, value));
                    }
                    found.map(|value| value.map(|value| cut(value >> shift, ty.size())))
                }
                None => self.read_registers(*first, element, ty),
            },
            Location::List(first, count) if self.ends_before(*first, *count, element, ty) => Some([0; L]),
            Location::List(first, _) => self.read_registers(*first, element, ty),
            // Read all lanes, since lanes may look at the values of others.
            Location::Indexed(first, None) => self.read_indexed((*first, None), element, u64::MAX),
            Location::Indexed(first, index) => self.read_indexed((*first, *index), element, self.executing),
            Location::Discarded(read) => return self.read_location(read, element, ty),
            Location::Number(number) if element == 0 => Some([cut(*number, ty.size()); L]),
            Location::Reading { shape, fields } if element == 0 => {
                let mut scratch = core::mem::take(self.inner);
                let mut reading = Reading { running: self, fields, size: ty.size(), value: [0; L] };
                let ended = evaluate(reading.running.tables.1, shape, &mut scratch, &mut reading);
                let value = reading.value;
                *self.inner = scratch;
                ended?;
                Some(value.map(|value| cut(value, ty.size())))
            }
            _ => None,
        })
    }

    /// Moves registers to or from memory, lane by lane.
    pub(super) fn burst(&mut self, burst: Burst, arguments: &[Column<L>], mask: u64) -> Result<(), Reason> {
        let argument = |number: usize, lane: usize| arguments.get(number).map_or(0, |column| column[lane]);
        for lane in (0..L).filter(|lane| mask >> lane & 1 != 0) {
            // A register argument is the index of its operand, with an offset in the high byte.
            let (passed, count) = (argument(0, lane), argument(2, lane).min(MAX_REGISTERS));
            let (operand, first) = (passed as u16 & 0xff, passed as u16 >> 8);
            let (register, index) = match self.instruction.operands.get(usize::from(operand)) {
                Some(Location::Register(register, _)) => (*register, None),
                Some(Location::Indexed(register, index)) => (*register, *index),
                _ => return Err(self.operand_trap(operand, Access::Read)),
            };
            self.touch(|| Touched::By(lane as u8, false, None));
            let size = if burst.stores { 1 << argument(3, lane).min(3) } else { 4 };
            for number in 0..count {
                let address = argument(1, lane).wrapping_add(number * size);
                let location = (register, index);
                let element = first.saturating_add(number as u16);
                if burst.stores {
                    let value = self.read_indexed(location, element, 1 << lane);
                    let value = value.ok_or_else(|| self.operand_trap(operand, Access::Read))?;
                    self.store_one(NO_SPACE, address, size, value[lane])?;
                } else {
                    let value = [self.load_one(NO_SPACE, address, size)?; L];
                    let fixed = self.bank(register).is_some_and(|bank| bank.fixed);
                    let written = if fixed { None } else { self.write_indexed(location, element, &value, 1 << lane) };
                    written.ok_or_else(|| self.operand_trap(operand, Access::Write))?;
                }
            }
        }
        Ok(())
    }
}
