//! The operands of instructions.

/// The location of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// A register of the thread.
    Local(u8),
    /// A register of the group.
    Shared(u8),
    /// For reads, a register of the group's bank; for writes, one of the bank of the group being prepared.
    Global(u8),
    /// A number in the word.
    Number(u64),
    /// None: only its fields matter.
    Nowhere,
}
