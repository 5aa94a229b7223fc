//! Binds the operands and states of a machine's instructions to columns.

use std::ops::Range;

use isaforge_core::semantics::{Class, Special, Type};

use super::names::{Element, Names};
use super::rows::Columns;
use crate::exec::vector::select::{self, Location};

/// Binds what an instruction names.
pub(super) struct Binder<'a, const L: usize> {
    pub names: Names<'a, L>,
    pub columns: &'a mut Columns,
    /// Whether lanes read from one another.
    pub crosses: bool,
}

/// The row of a column. [`Columns::new`] refuses machines with too many columns.
fn row(column: usize) -> u16 {
    column as u16
}

impl<const L: usize> Binder<'_, L> {
    /// Returns where an element is written.
    fn written(&self, element: &Element, ty: Type) -> Location {
        match (ty.class, element.part) {
            _ if !self.names.is_writable(element) => Location::Nowhere,
            _ if self.names.machine.is_zero(element.column) => Location::Whole(self.columns.discarded()),
            // Registers hold a bit where rows have masks.
            (Class::Bool, _) => Location::Asked,
            (_, Some(bit)) => Location::Row(row(element.column), bit),
            (_, None) => Location::Whole(row(element.column)),
        }
    }

    fn ty(&self, state: u16) -> Option<Type> {
        Some(self.names.machine.semantics().states.get(usize::from(state))?.ty)
    }

    fn is_bits(&self, state: u16) -> bool {
        self.names.hardware().bits.iter().any(|(bits, _)| *bits == state)
    }
}

impl<const L: usize> select::Binder for Binder<'_, L> {
    fn operand(&mut self, operand: u16, element: u16, ty: Type) -> Location {
        if let Some(number) = self.names.number(operand, element) {
            return Location::Number(number);
        }
        match self.names.element(operand, element, Some(ty.size())) {
            Some(Element { column, width, part: None, .. }) if width == ty.size() && ty.class != Class::Bool => {
                Location::Row(row(column), 0)
            }
            // The machine masks what is narrower, and joins what is wider.
            _ => Location::Asked,
        }
    }

    fn target(&mut self, operand: u16, element: u16, ty: Type) -> Location {
        if self.names.is_discarded(operand) {
            return Location::Whole(self.columns.discarded());
        }
        let element = self.names.element(operand, element, Some(ty.size()));
        element.map_or(Location::Nowhere, |element| self.written(&element, ty))
    }

    fn state(&mut self, state: u16) -> Location {
        let (Some(ty), register) = (self.ty(state), self.names.aliased(state)) else { return Location::Nowhere };
        // In inactive lanes, states are zero for the other lanes.
        if ty.class == Class::Bool || self.is_bits(state) || self.crosses && register.is_none() {
            return Location::Asked;
        }
        let column = match register {
            Some(register) => {
                self.names.register(register).filter(|found| found.width == ty.size()).map(|found| found.column)
            }
            None => self.names.machine.state_slot(state, 0),
        };
        column.map_or(Location::Asked, |column| Location::Row(row(column), 0))
    }

    fn state_target(&mut self, state: u16) -> Location {
        let Some(ty) = self.ty(state) else { return Location::Nowhere };
        if self.is_bits(state) || self.names.hardware().uniform.contains(&state) {
            return Location::Nowhere;
        }
        if let Some(register) = self.names.aliased(state) {
            let found = self.names.register(register).filter(|found| found.width >= ty.size());
            return found.map_or(Location::Nowhere, |found| self.written(&found, ty));
        }
        match self.names.machine.state_slot(state, 0) {
            Some(_) if ty.class == Class::Bool => Location::Asked,
            Some(column) => Location::Whole(row(column)),
            None => Location::Nowhere,
        }
    }

    fn special(&mut self, special: Special) -> Location {
        match self.names.program_counter(special) {
            Some(number) => Location::Number(number),
            None if special == Special::Lane => Location::Row(self.columns.lane(), 0),
            None => Location::Asked,
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
        self.names.hardware().lanes.into()
    }
}
