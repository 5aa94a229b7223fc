//! Binds the operands and states of a machine's instructions to columns.

use std::ops::Range;

use isaforge_core::machine::{Hardware, Location as Operand, Machine, Register, part_of};
use isaforge_core::semantics::{Class, Special, Type};

use super::rows::Columns;
use crate::exec::vector::select::{self, Location};

/// The operands of an instruction at an address.
pub(super) struct Binder<'a, const L: usize> {
    pub machine: &'a Machine<L>,
    pub operands: &'a [Operand],
    pub columns: &'a mut Columns,
    /// The address, and the one of the next instruction.
    pub place: [u64; 2],
    /// Whether lanes read from one another.
    pub crosses: bool,
}

impl<const L: usize> Binder<'_, L> {
    fn hardware(&self) -> &'static Hardware {
        self.machine.hardware()
    }

    /// Returns the column of a register, and the width of the register.
    fn register(&self, register: Register) -> Option<(u16, u32)> {
        let width = self.hardware().banks.get(usize::from(register.bank))?.width;
        let slot = u16::try_from(self.machine.slot(register)?).ok()?;
        matches!(width, 1..=64).then_some((slot, width.into()))
    }

    /// Returns where an element is that is a part of registers from this one: the column, and the first bit.
    fn part(&self, first: Register, operand: u16, element: u16, ty: Type) -> Option<(Register, u32)> {
        let width = self.hardware().banks.get(usize::from(first.bank))?.width;
        part_of(first, operand, width, element, ty.size())
    }

    /// Returns the register that an element has for itself, with its column and its width.
    fn whole(&self, first: Register, element: u16, ty: Type) -> Option<(Register, u16, u32)> {
        let bank = self.hardware().banks.get(usize::from(first.bank))?;
        let element = if bank.stays { 0 } else { u32::from(element) };
        let register = Register { index: first.index.checked_add(element)?, ..first };
        let (slot, width) = self.register(register)?;
        (ty.size() <= width).then_some((register, slot, width))
    }

    /// Whether programs may write a register, each lane its own.
    fn is_writable(&self, register: Register) -> bool {
        self.hardware().banks.get(usize::from(register.bank)).is_some_and(|bank| !bank.fixed && !bank.uniform)
    }

    /// Returns where a register is written as a whole.
    fn written(&self, register: Register, slot: u16, ty: Type) -> Location {
        match ty.class {
            _ if !self.is_writable(register) => Location::Nowhere,
            _ if self.machine.is_zero(slot.into()) => Location::Whole(self.columns.discarded()),
            // Registers hold a bit where rows have masks.
            Class::Bool => Location::Asked,
            _ => Location::Whole(slot),
        }
    }

    fn aliased(&self, state: u16) -> Option<Register> {
        self.hardware().aliases.iter().find(|(alias, _)| *alias == state).map(|(_, register)| *register)
    }

    fn is_bits(&self, state: u16) -> bool {
        self.hardware().bits.iter().any(|(bits, _)| *bits == state)
    }
}

impl<const L: usize> select::Binder for Binder<'_, L> {
    fn operand(&mut self, operand: u16, element: u16, ty: Type) -> Location {
        match self.operands.get(usize::from(operand)) {
            Some(Operand::Number(number)) if element == 0 => Location::Number(*number),
            Some(Operand::Register(first, width)) if self.part(*first, *width, element, ty).is_none() => {
                match self.whole(*first, element, ty) {
                    Some((_, slot, width)) if width == ty.size() && ty.class != Class::Bool => Location::Row(slot, 0),
                    // The machine masks what is narrower, and joins what is wider.
                    _ => Location::Asked,
                }
            }
            _ => Location::Asked,
        }
    }

    fn target(&mut self, operand: u16, element: u16, ty: Type) -> Location {
        match self.operands.get(usize::from(operand)) {
            Some(Operand::Register(first, width)) => match self.part(*first, *width, element, ty) {
                None => match self.whole(*first, element, ty) {
                    Some((register, slot, _)) => self.written(register, slot, ty),
                    None => Location::Nowhere,
                },
                Some((register, bit)) => match self.register(register) {
                    Some((slot, _)) if self.is_writable(register) && !self.machine.is_zero(slot.into()) => {
                        if ty.class == Class::Bool { Location::Asked } else { Location::Row(slot, bit) }
                    }
                    _ => Location::Nowhere,
                },
            },
            Some(Operand::Discarded(_)) => Location::Whole(self.columns.discarded()),
            _ => Location::Nowhere,
        }
    }

    fn state(&mut self, state: u16) -> Location {
        let Some(known) = self.machine.semantics().states.get(usize::from(state)) else { return Location::Nowhere };
        // In inactive lanes, states are zero for the other lanes.
        if known.ty.class == Class::Bool || self.is_bits(state) || self.crosses && self.aliased(state).is_none() {
            return Location::Asked;
        }
        let slot = match self.aliased(state) {
            Some(register) => {
                self.register(register).filter(|(_, width)| *width == known.ty.size()).map(|(slot, _)| slot)
            }
            None => self.machine.state_slot(state, 0).and_then(|slot| u16::try_from(slot).ok()),
        };
        slot.map_or(Location::Asked, |slot| Location::Row(slot, 0))
    }

    fn state_target(&mut self, state: u16) -> Location {
        let Some(known) = self.machine.semantics().states.get(usize::from(state)) else { return Location::Nowhere };
        if self.is_bits(state) || self.hardware().uniform.contains(&state) {
            return Location::Nowhere;
        }
        if let Some(register) = self.aliased(state) {
            let found = self.register(register).filter(|(_, width)| *width >= known.ty.size());
            return found.map_or(Location::Nowhere, |(slot, _)| self.written(register, slot, known.ty));
        }
        match self.machine.state_slot(state, 0).and_then(|slot| u16::try_from(slot).ok()) {
            Some(_) if known.ty.class == Class::Bool => Location::Asked,
            Some(slot) => Location::Whole(slot),
            None => Location::Nowhere,
        }
    }

    fn special(&mut self, special: Special) -> Location {
        let unit = u64::from(self.hardware().unit.max(1));
        match special {
            Special::Pc => Location::Number(self.place[0] / unit),
            Special::Next => Location::Number(self.place[1] / unit),
            Special::Lane => Location::Row(self.columns.lane(), 0),
            Special::Active => Location::Asked,
        }
    }

    fn constant(&mut self, slot: u64) -> Option<u16> {
        self.columns.constant(slot)
    }

    fn temporaries(&self) -> Range<u16> {
        self.columns.temporaries()
    }

    fn active(&self) -> u16 {
        self.columns.active()
    }

    fn lanes(&self) -> u64 {
        self.hardware().lanes.into()
    }
}
