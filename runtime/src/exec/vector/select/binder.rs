//! Where the operands and states of instructions are in a machine.

use std::ops::Range;

use isaforge_core::semantics::{Special, Type};

/// A location in a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// The slots of a row, from a bit on. Reads always start at bit 0.
    Row(u16, u32),
    /// To be written: a row whose bits above the value become zero.
    Whole(u16),
    /// A constant, the same in all lanes.
    Number(u64),
    /// A set of lanes that the machine keeps as bits, for states of one boolean.
    Set(u16),
    /// The environment has to be asked.
    Asked,
    /// Code cannot access it.
    Nowhere,
}

/// Locates the operands and the states of a machine.
pub(crate) trait Binder {
    /// Returns where an element of an operand is read.
    fn operand(&mut self, operand: u16, element: u16, ty: Type) -> Location;
    /// Returns where an element of an operand is written.
    fn target(&mut self, operand: u16, element: u16, ty: Type) -> Location;
    /// Returns where a state is read.
    fn state(&mut self, state: u16) -> Location;
    /// Returns where a state is written.
    fn state_target(&mut self, state: u16) -> Location;
    /// Returns the rows with the low and the high word of an element that is wider than a slot, for reading.
    fn pair(&mut self, operand: u16, element: u16, ty: Type) -> Option<[u16; 2]> {
        let _ = (operand, element, ty);
        None
    }
    /// Returns the same rows for writing.
    fn pair_target(&mut self, operand: u16, element: u16, ty: Type) -> Option<[u16; 2]> {
        let _ = (operand, element, ty);
        None
    }
    /// Returns where a property of the thread is. [`Special::Active`] is not requested if parts are warps.
    fn special(&mut self, special: Special) -> Location {
        let _ = special;
        Location::Asked
    }
    /// Returns the rows of a property that is wider than a slot.
    fn special_pair(&mut self, special: Special) -> Option<[u16; 2]> {
        let _ = special;
        None
    }
    /// Whether it supports memory accesses with parts.
    fn has_parts(&self) -> bool {
        false
    }
    /// Whether it determines the targets of branches itself, from the shape.
    fn knows_targets(&self) -> bool {
        false
    }
    /// Whether it supports merged stores: the components of a slot that are selected by a mask.
    fn joins_stores(&self) -> bool {
        false
    }
    /// Returns the number of lanes, if all parts are one warp.
    fn lanes(&self) -> u64 {
        0
    }
    /// Returns the rows that may turn out to be the same as others once a shape is applied to a word.
    fn aliases(&self) -> Range<u16> {
        0..0
    }
    /// Returns the row that has a number in every slot, or `None` if there is no room for it.
    fn constant(&mut self, slot: u64) -> Option<u16>;
    /// Returns the rows that code may use as temporaries.
    fn temporaries(&self) -> Range<u16>;
    /// Returns the row with ones in the slots of active lanes.
    fn active(&self) -> u16;
}
