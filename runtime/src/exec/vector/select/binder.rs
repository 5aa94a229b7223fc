//! Where a machine has what its instructions work on.

use std::ops::Range;

use isaforge_core::semantics::{Special, Type};

/// Where something is that a machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the slots of a row, from a bit on. What is read begins at bit 0.
    Row(u16, u32),
    /// The same in all lanes, for good.
    Number(u64),
    /// A set of lanes that the machine keeps as bits; for states of one boolean.
    Set(u16),
    /// The environment is asked.
    Asked,
    /// Code cannot have it.
    Nowhere,
}

/// What knows where the operands and the states of a machine are.
pub(crate) trait Binder {
    /// Where an element of an operand is read.
    fn operand(&mut self, operand: u16, element: u16, ty: Type) -> Place;
    /// Where it is written.
    fn target(&mut self, operand: u16, element: u16, ty: Type) -> Place;
    /// Where a state is read.
    fn state(&mut self, state: u16) -> Place;
    /// Where it is written.
    fn state_target(&mut self, state: u16) -> Place;
    /// The rows in which the low and the high word of an element is read that is wider than a slot.
    fn pair(&mut self, operand: u16, element: u16, ty: Type) -> Option<[u16; 2]> {
        let _ = (operand, element, ty);
        None
    }
    /// The rows in which it is written.
    fn pair_target(&mut self, operand: u16, element: u16, ty: Type) -> Option<[u16; 2]> {
        let _ = (operand, element, ty);
        None
    }
    /// Where a fact of the thread is. [`Special::Active`] is not asked for where parts are warps.
    fn special(&mut self, special: Special) -> Place {
        let _ = special;
        Place::Asked
    }
    /// The rows of a fact that is wider than a slot.
    fn special_pair(&mut self, special: Special) -> Option<[u16; 2]> {
        let _ = special;
        None
    }
    /// Whether it performs accesses to memory that have parts.
    fn has_parts(&self) -> bool {
        false
    }
    /// Whether it finds the targets of branches by itself, from the shape.
    fn knows_targets(&self) -> bool {
        false
    }
    /// Whether it performs stores of neighbours as one: of the components of a slot, those in a mask.
    fn joins_stores(&self) -> bool {
        false
    }
    /// Rows that may turn out to be the same, once the words that have a shape are known.
    fn aliases(&self) -> Range<u16> {
        0..0
    }
    /// The row that has a number in every slot, if there is room for it.
    fn constant(&mut self, slot: u64) -> Option<u16>;
    /// Rows that code may use as it likes.
    fn temporaries(&self) -> Range<u16>;
    /// The row with ones in the slots of active lanes.
    fn active(&self) -> u16;
}
