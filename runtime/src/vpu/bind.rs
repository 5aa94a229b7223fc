//! Locates registers, states and constants of a program in the rows of a group.

use std::ops::Range;

use isaforge_core::semantics::Type;

use crate::exec::vector::select::{Binder, Place};
use crate::vpu::group::{row, word};
use crate::vpu::name;
use crate::vpu::operand;
use crate::vpu::tiles::TileSize;

/// What the instructions of a program share.
pub(crate) struct Rows<'a> {
    /// The places of the current instruction's operands.
    pub places: &'a [operand::Place],
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
    fn pending(&self) -> Place {
        if self.together { Place::Row(row::PENDING, 0) } else { Place::Set(0) }
    }
}

impl Binder for Rows<'_> {
    fn operand(&mut self, operand: u16, _: u16, _: Type) -> Place {
        match self.places.get(usize::from(operand)) {
            Some(operand::Place::Local(index)) => Place::Row(row::LOCAL + u16::from(*index), 0),
            Some(operand::Place::Shared(index)) => Place::Row(row::SHARED + u16::from(*index), 0),
            Some(operand::Place::Global(index)) if self.steady => Place::Row(row::GLOBAL + u16::from(*index), 0),
            Some(operand::Place::Global(_)) => Place::Asked,
            Some(operand::Place::Number(number)) => Place::Number(*number),
            Some(operand::Place::Nowhere) => Place::Number(0),
            None => Place::Nowhere,
        }
    }

    fn target(&mut self, operand: u16, element: u16, ty: Type) -> Place {
        match self.places.get(usize::from(operand)) {
            Some(operand::Place::Local(index)) => {
                Place::Row(row::LOCAL + u16::from(*index), ty.size() * u32::from(element))
            }
            // The other registers are written by one thread after another.
            _ => Place::Asked,
        }
    }

    fn state(&mut self, state: u16) -> Place {
        match state {
            name::FLAG => Place::Row(row::FLAG, 0),
            name::RESULT => Place::Row(row::RESULT, 0),
            name::POSITION => Place::Row(row::POSITION, 0),
            name::PENDING => self.pending(),
            name::TILE_SIZE => {
                let (width, height) = (self.tile_size.width() as u16, self.tile_size.height() as u16);
                Place::Number(word([width, height, 0, 0]))
            }
            _ => Place::Asked,
        }
    }

    fn state_target(&mut self, state: u16) -> Place {
        match state {
            name::FLAG => Place::Row(row::FLAG, 0),
            name::RESULT => Place::Row(row::RESULT, 0),
            name::PENDING if self.settles_pending => self.pending(),
            _ => Place::Asked,
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
