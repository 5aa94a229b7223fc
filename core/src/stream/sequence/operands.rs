//! Operands one after another, as their slots say: what reading and writing have in common.

use super::SequenceError;
use super::table::{Slot, Times};

/// How deep operands may name instructions.
pub(super) const DEEPEST: u8 = 4;

/// Reads or writes the operands of an instruction.
pub(super) trait Operands {
    /// Whether anything is left that may be an operand.
    fn is_more(&self) -> bool;

    /// The next operand, of a kind by its number.
    fn operand(&mut self, kind: u16) -> Result<(), SequenceError>;

    /// The operands of slots.
    fn slots(&mut self, slots: &[Slot]) -> Result<(), SequenceError> {
        for slot in slots {
            match slot.times {
                Times::Once => self.operand(slot.kind)?,
                Times::Maybe if self.is_more() => self.operand(slot.kind)?,
                Times::Maybe => {}
                Times::Any => {
                    while self.is_more() {
                        self.operand(slot.kind)?;
                    }
                }
            }
        }
        Ok(())
    }
}
