//! Binds the operands and states of instructions to rows of words, for machine code.

use isaforge_core::semantics::{Class, Special, Type};

use super::names::Names;
use crate::exec::jit::lanes::graph::Graph;
use crate::exec::jit::lanes::reach::Reached;
use crate::exec::jit::lanes::select::{Access, Binding, Location, Target, Truth};

/// The set of active lanes.
pub(super) const ACTIVE: u16 = 0;
/// The set of lanes that jump.
pub(super) const JUMPS: u16 = 1;
/// The first set for a state that is a condition, and the number of all sets.
pub(super) const FLAGS: u16 = 2;
const SETS: u16 = 8;

/// The columns that a loop uses, as rows of words and as sets.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    /// Each column with its first row, and whether it has two.
    columns: Vec<(usize, usize, bool)>,
    rows: usize,
    /// The first of two rows for addresses.
    addresses: Option<usize>,
    /// The columns of states that are conditions, by set.
    pub flags: Vec<usize>,
}

impl Words {
    /// The maximum number of rows.
    pub const MAX: usize = 256;

    /// Iterates over the columns: each with its first row, and whether it has two.
    pub fn columns(&self) -> impl Iterator<Item = (usize, usize, bool)> + use<'_> {
        self.columns.iter().copied()
    }

    /// Returns the first row of a column of at most 64 bits. `None` if there is no room.
    fn row(&mut self, column: usize, bits: u32) -> Option<u32> {
        if let Some((_, row, _)) = self.columns.iter().find(|(known, ..)| *known == column) {
            return Some(*row as u32);
        }
        let (row, wide) = (self.rows, bits > 32);
        self.rows += 1 + usize::from(wide);
        self.columns.push((column, row, wide));
        (self.rows <= Words::MAX).then_some(row as u32)
    }

    /// Returns the first of two rows for the words of addresses, before an access that may be elsewhere.
    pub fn addresses(&mut self) -> Option<usize> {
        let row = *self.addresses.get_or_insert_with(|| {
            self.rows += 2;
            self.rows - 2
        });
        (self.rows <= Words::MAX).then_some(row)
    }

    /// Returns the set of a column that is a condition. `None` if there is no room.
    fn set(&mut self, column: usize) -> Option<u16> {
        let at = self.flags.iter().position(|known| *known == column).unwrap_or_else(|| {
            self.flags.push(column);
            self.flags.len() - 1
        });
        Some(FLAGS + at as u16).filter(|set| *set < SETS)
    }
}

/// Binds what an instruction names.
pub(super) struct Bound<'a, const L: usize> {
    pub names: Names<'a, L>,
    pub words: &'a mut Words,
    /// The active lanes.
    pub active: Truth,
    /// The reach of its access to memory, and whether that is only located.
    pub reach: (usize, bool),
    /// What it accesses, once that has been asked for.
    pub reached: Option<Reached>,
}

impl<const L: usize> Bound<'_, L> {
    /// Returns the column of a state of one element that is no register, and that each lane has for itself.
    fn column(&self, state: u16) -> Option<usize> {
        let hardware = self.names.hardware();
        let shared =
            hardware.uniform.contains(&state) || hardware.bits.iter().any(|(bits, of)| *bits == state || *of == state);
        if shared || self.names.aliased(state).is_some() { None } else { self.names.machine.state_slot(state, 0) }
    }

    fn ty(&self, state: u16) -> Option<Type> {
        Some(self.names.machine.semantics().states.get(usize::from(state))?.ty)
    }
}

fn words(number: u64) -> [Location; 2] {
    [Location::Number(number as u32), Location::Number((number >> 32) as u32)]
}

impl<const L: usize> Binding for Bound<'_, L> {
    fn operand(&mut self, operand: u16, element: u16, ty: Type) -> Option<[Location; 2]> {
        if let Some(number) = self.names.number(operand, element) {
            return Some(words(number & ty.mask()));
        }
        let found = self.names.element(operand, element, Some(ty.size()))?;
        if found.part.is_some() || found.width != ty.size() || ty.class == Class::Bool {
            return None;
        }
        let row = self.words.row(found.column, found.width)?;
        Some([Location::Row(row), if found.width > 32 { Location::Row(row + 1) } else { Location::Number(0) }])
    }

    fn target(&mut self, operand: u16, element: u16) -> Option<Target> {
        if self.names.is_discarded(operand) {
            return Some(Target::Dropped);
        }
        let found = self.names.element(operand, element, None).filter(|found| self.names.is_writable(found))?;
        if self.names.machine.is_zero(found.column) {
            return Some(Target::Dropped);
        }
        Some(Target::Exact(self.words.row(found.column, found.width)?, found.width))
    }

    fn active(&self) -> Option<Truth> {
        Some(self.active)
    }

    fn set(&mut self, state: u16, graph: &mut Graph) -> Option<Truth> {
        let column = self.column(state)?;
        Some(Truth::of(graph.read_set(self.words.set(column)?)))
    }

    fn set_target(&mut self, state: u16) -> Option<u16> {
        let column = self.column(state)?;
        self.words.set(column)
    }

    fn state(&mut self, state: u16) -> Option<Location> {
        let ty = self.ty(state).filter(|ty| ty.class != Class::Bool && ty.size() <= 32)?;
        let column = self.column(state)?;
        Some(Location::Row(self.words.row(column, ty.size())?))
    }

    fn state_target(&mut self, state: u16) -> Option<Target> {
        let ty = self.ty(state).filter(|ty| ty.class != Class::Bool && ty.size() <= 32)?;
        let column = self.column(state)?;
        Some(Target::Exact(self.words.row(column, ty.size())?, ty.size()))
    }

    fn special(&mut self, special: Special) -> Option<[Location; 2]> {
        self.names.program_counter(special).map(words)
    }

    fn access(&mut self, _: Access) -> Option<usize> {
        None
    }

    fn reach(&mut self, space: u16, writes: bool) -> Option<(usize, bool)> {
        let spaces = self.names.hardware().spaces;
        let space = spaces.iter().position(|known| known.space == space);
        // Beyond the end of open memory, accesses do something.
        if space.is_some_and(|space| spaces[space].open) {
            return None;
        }
        self.reached = Some(Reached { space, writes });
        Some(self.reach)
    }
}
