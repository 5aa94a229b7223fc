//! Sequences of operands, as described by slots: what reading and writing have in common.

use super::SequenceError;
use super::table::{Kind, Operation, Sequence, Slot, Times};

/// The maximum nesting of operands: parameters of values, halves of pairs, operands of instructions in operands.
const MAX_DEPTH: u8 = 16;

/// Reads or writes the operands of an instruction.
pub(super) trait Operands {
    /// How much input was processed.
    fn at(&self) -> usize;

    /// Whether there is more input for operands.
    fn is_more(&self) -> bool;

    /// Processes the next operand, which has this kind.
    fn operand(&mut self, kind: u16) -> Result<(), SequenceError>;

    /// How deep the current operand is nested in others.
    fn depth(&mut self) -> &mut u8;

    /// An error at the current place.
    fn error(&self, message: &str) -> SequenceError;

    /// Processes an operand of this kind, which may be a part of another.
    fn within(&mut self, kind: u16) -> Result<(), SequenceError> {
        if *self.depth() >= MAX_DEPTH {
            return Err(self.error("operands are nested too deeply"));
        }
        *self.depth() += 1;
        let done = self.operand(kind);
        *self.depth() -= 1;
        done
    }

    /// Processes the operands of slots.
    fn slots(&mut self, slots: &[Slot]) -> Result<(), SequenceError> {
        for slot in slots {
            match slot.times {
                Times::Once => self.within(slot.kind)?,
                Times::Maybe if self.is_more() => self.within(slot.kind)?,
                Times::Maybe => {}
                Times::Any => {
                    while self.is_more() {
                        let before = self.at();
                        self.within(slot.kind)?;
                        // An operand may be written as nothing.
                        if self.at() == before {
                            break;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Processes the operands of an instruction that is itself an operand, so that it has no result of its own.
    fn nested(&mut self, sequence: &Sequence, operation: &Operation) -> Result<(), SequenceError> {
        let kind = |slot: &Slot| sequence.kinds.get(usize::from(slot.kind));
        let is_result = |slot: &Slot| matches!(kind(slot), Some(Kind::Result | Kind::ResultType));
        operation.operands.iter().filter(|slot| !is_result(slot)).try_for_each(|slot| self.slots(&[*slot]))
    }
}
