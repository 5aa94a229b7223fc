//! What a check finds.

/// The kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    /// Reachable bytes do not decode.
    Invalid,
    /// A register is read before any instruction writes it.
    Unwritten,
    /// A result is never read.
    Unread,
    /// An instruction is unreachable.
    Unreachable,
    /// The instruction can be encoded, but the hardware does not allow these operands.
    Limit,
    /// A branch target is not the start of an instruction, or lies outside the program.
    Astray,
    /// A register is accessed while a message that uses it may be in flight.
    Unawaited,
    /// An instruction waits although no message is in flight.
    Needless,
    /// A register is read again after a read marked as the last.
    Discarded,
    /// A barrier may not be reached by all threads of a workgroup.
    Diverged,
    /// A list names more or fewer registers than the operation accesses.
    Length,
}

impl Check {
    /// All checks.
    pub const ALL: [Check; 11] = [
        Check::Invalid,
        Check::Unwritten,
        Check::Unread,
        Check::Unreachable,
        Check::Limit,
        Check::Astray,
        Check::Unawaited,
        Check::Needless,
        Check::Discarded,
        Check::Diverged,
        Check::Length,
    ];

    /// The code of the check.
    pub fn code(self) -> &'static str {
        match self {
            Check::Invalid => "P0001",
            Check::Unwritten => "P0002",
            Check::Unread => "P0003",
            Check::Unreachable => "P0004",
            Check::Limit => "P0005",
            Check::Astray => "P0006",
            Check::Unawaited => "P0007",
            Check::Needless => "P0008",
            Check::Discarded => "P0009",
            Check::Diverged => "P0010",
            Check::Length => "P0011",
        }
    }
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The check.
    pub check: Check,
    /// The index of the entry in the program.
    pub entry: usize,
    /// The message.
    pub message: String,
}
