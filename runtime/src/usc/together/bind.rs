//! Binds the registers, states and constants in the graphs of a program's groups to columns of a task.

use std::ops::Range;

use isaforge_core::semantics::Type;

use crate::exec::vector::select::{Binder, Location};
use crate::usc::lanes::ROWS;
use crate::usc::names::{operand, set_of};
use crate::usc::register::{COLUMNS, Register};
use crate::usc::step::Step;

/// The column with all bits set for the instances that execute.
pub(in crate::usc) const ACTIVE: u16 = COLUMNS as u16;
/// The columns for values within a group.
const TEMPORARIES: Range<u16> = ACTIVE + 1..SPREAD;
/// The first of the columns that hold values shared by all instances.
const SPREAD: u16 = ACTIVE + 40;
const _: () = assert!(COLUMNS + 40 < ROWS);

/// A value shared by all instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::usc) enum Shared {
    /// The value of a register.
    Register(Register),
    /// A value that belongs to a group.
    Word(u32),
}

/// The shared values of a program, each with a row of its own.
#[derive(Clone, Debug, Default)]
pub(in crate::usc) struct Spreads {
    values: Vec<Shared>,
    /// Banks whose registers do not change while the program runs.
    pub constant: Banks,
}

/// Banks of registers that instances share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::usc) struct Banks {
    pub shared: bool,
    pub coefficients: bool,
    pub globals: bool,
}

impl Spreads {
    /// Returns the values with their rows.
    pub fn rows(&self) -> impl Iterator<Item = (u16, Shared)> {
        (SPREAD..).zip(self.values.iter().copied())
    }

    fn row(&mut self, value: Shared) -> Option<u16> {
        let at = match self.values.iter().position(|other| *other == value) {
            Some(at) => at,
            None if usize::from(SPREAD) + self.values.len() < ROWS => {
                self.values.push(value);
                self.values.len() - 1
            }
            None => return None,
        };
        Some(SPREAD + at as u16)
    }

    /// Returns the row that holds a register's value. `None` when no row was assigned to it.
    pub fn known(&self, register: Register) -> Option<u16> {
        match register {
            Register::Column(column) => Some(column),
            _ => self.rows().find(|(_, value)| *value == Shared::Register(register)).map(|(row, _)| row),
        }
    }

    /// Returns the row that holds a register's value, assigning one if necessary. `None` when it cannot have one.
    fn register(&mut self, register: Register) -> Option<u16> {
        let Banks { shared, coefficients, globals } = self.constant;
        match register {
            Register::Column(column) => Some(column),
            Register::Shared(_) if shared => self.row(Shared::Register(register)),
            Register::Coefficient(_) | Register::Alternate(_) if coefficients => self.row(Shared::Register(register)),
            Register::Dynamic(_) => self.row(Shared::Register(register)),
            Register::Global(_) if globals => self.row(Shared::Register(register)),
            _ => None,
        }
    }
}

/// The columns to which a group's graph is bound.
pub(in crate::usc) struct Columns<'a> {
    pub step: &'a Step,
    pub spreads: &'a mut Spreads,
}

impl Binder for Columns<'_> {
    fn operand(&mut self, number: u16, element: u16, ty: Type) -> Location {
        let register = operand(self.step, number, element).ok().filter(|_| ty.size() == 32);
        let row = register.and_then(|register| self.spreads.register(register));
        row.map_or(Location::Nowhere, |row| Location::Row(row, 0))
    }

    fn target(&mut self, number: u16, element: u16, ty: Type) -> Location {
        match operand(self.step, number, element) {
            Ok(register @ Register::Column(column)) if register.is_writable() && ty.size() == 32 => {
                Location::Row(column, 0)
            }
            _ => Location::Nowhere,
        }
    }

    fn state(&mut self, state: u16) -> Location {
        set_of(state).map_or(Location::Nowhere, |set| Location::Set(set as u16))
    }

    fn state_target(&mut self, state: u16) -> Location {
        set_of(state).filter(|set| set.is_writable()).map_or(Location::Nowhere, |set| Location::Set(set as u16))
    }

    fn constant(&mut self, slot: u64) -> Option<u16> {
        self.spreads.row(Shared::Word(slot as u32))
    }

    fn temporaries(&self) -> Range<u16> {
        TEMPORARIES
    }

    fn active(&self) -> u16 {
        ACTIVE
    }
}
