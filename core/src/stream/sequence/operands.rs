//! Sequences of operands, as described by slots: what reading and writing have in common.

use super::SequenceError;
use super::table::{Slot, Times};

/// The maximum nesting of instructions in operands.
pub(super) const DEEPEST: u8 = 4;

/// Reads or writes the operands of an instruction.
pub(super) trait Operands {
    /// Whether there is more input for operands.
    fn is_more(&self) -> bool;

    /// Processes the next operand, which has this kind.
    fn operand(&mut self, kind: u16) -> Result<(), SequenceError>;

    /// Processes the operands of slots.
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
