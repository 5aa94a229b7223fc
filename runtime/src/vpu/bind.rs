//! Locates registers, states and constants of a program in the rows of a group.

use std::ops::Range;

use isaforge_core::semantics::Type;

use crate::exec::vector::select::{Binder, Location};
use crate::vpu::group::{row, word};
use crate::vpu::name;
use crate::vpu::operand;
use crate::vpu::tiles::TileSize;

/// What the instructions of a program share.
pub(crate) struct Rows<'a> {
    /// The places of the current instruction's operands.
    pub places: &'a [operand::Location],
    /// The contents of the constant rows.
    pub constants: &'a mut Vec<u64>,
    pub tile_size: TileSize,
    /// Whether the registers of a group's bank stay unchanged while it runs.
    pub steady: bool,
    /// Whether it is for groups side by side.
    pub together: bool,
    /// Whether the current instruction sets the pending state of results only to known values, without a condition.
    pub settles_pending: bool,
}

impl Rows<'_> {
    fn pending(&self) -> Location {
        if self.together { Location::Row(row::PENDING, 0) } else { Location::Set(0) }
    }
}

impl Binder for Rows<'_> {
    fn operand(&mut self, operand: u16, _: u16, _: Type) -> Location {
        match self.places.get(usize::from(operand)) {
            Some(operand::Location::Local(index)) => Location::Row(row::LOCAL + u16::from(*index), 0),
            Some(operand::Location::Shared(index)) => Location::Row(row::SHARED + u16::from(*index), 0),
            Some(operand::Location::Global(index)) if self.steady => Location::Row(row::GLOBAL + u16::from(*index), 0),
            Some(operand::Location::Global(_)) => Location::Asked,
            Some(operand::Location::Number(number)) => Location::Number(*number),
            Some(operand::Location::Nowhere) => Location::Number(0),
            None => Location::Nowhere,
        }
    }

    fn target(&mut self, operand: u16, element: u16, ty: Type) -> Location {
        match self.places.get(usize::from(operand)) {
            Some(operand::Location::Local(index)) => {
                Location::Row(row::LOCAL + u16::from(*index), ty.size() * u32::from(element))
            }
            // The other registers are written by one thread after another.
            _ => Location::Asked,
        }
    }

    fn state(&mut self, state: u16) -> Location {
        match state {
            name::FLAG => Location::Row(row::FLAG, 0),
            name::RESULT => Location::Row(row::RESULT, 0),
            name::POSITION => Location::Row(row::POSITION, 0),
            name::PENDING => self.pending(),
            name::TILE_SIZE => {
                let (width, height) = (self.tile_size.width() as u16, self.tile_size.height() as u16);
                Location::Number(word([width, height, 0, 0]))
            }
            _ => Location::Asked,
        }
    }

    fn state_target(&mut self, state: u16) -> Location {
        match state {
            name::FLAG => Location::Row(row::FLAG, 0),
            name::RESULT => Location::Row(row::RESULT, 0),
            name::PENDING if self.settles_pending => self.pending(),
            _ => Location::Asked,
        }
    }

    fn joins_stores(&self) -> bool {
        self.together
    }

    fn constant(&mut self, slot: u64) -> Option<u16> {
        let known = self.constants.iter().position(|constant| *constant == slot);
        let at = match known {
            Some(at) => at,
            None if self.constants.len() < row::CONSTANTS.len() => {
                self.constants.push(slot);
                self.constants.len() - 1
            }
            None => return None,
        };
        Some(row::CONSTANTS.start + at as u16)
    }

    fn temporaries(&self) -> Range<u16> {
        row::TEMPORARIES
    }

    fn active(&self) -> u16 {
        row::ACTIVE
    }
}
