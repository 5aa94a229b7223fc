//! One difference: what has changed, and how.

use std::fmt;

/// The sort of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Only the new revision has it.
    Added,
    /// Only the old revision has it.
    Removed,
    /// The same bits have another name.
    Renamed,
    /// The same name has other bits.
    Moved,
    /// Something else about it differs.
    Changed,
}

impl How {
    /// The word for it in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            How::Added => "added",
            How::Removed => "removed",
            How::Renamed => "renamed",
            How::Moved => "moved",
            How::Changed => "changed",
        }
    }
}

/// The subject of a [`Change`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An operand of an instruction.
    Operand,
    /// A modifier of an instruction.
    Modifier,
    /// A modifier of an operand, named `operand.modifier`.
    Suffix,
    /// How the instruction accesses an operand.
    Access,
    /// The width of one value of an operand.
    Size,
    /// Constant bits besides the opcode.
    ConstantBits,
    /// Ignored bits.
    IgnoredBits,
    /// The unit that executes the instruction.
    Unit,
    /// How the instruction is written.
    Syntax,
    /// The number that a limit on operands allows.
    Limit,
    /// A value of an enum.
    Value,
    /// The value if none is written.
    Default,
    /// An entry of a table of constants.
    Constant,
    /// The number of registers of a bank.
    Count,
    /// A width in bits.
    Width,
    /// An alternative of a kind of operand.
    Alternative,
    /// The position of a shared field, or whether it prints; in a stream, a field that is not an operand.
    Field,
    /// The length of an instruction in bytes.
    Length,
    /// A condition of an instruction.
    Condition,
    /// Another text for some words of an instruction.
    Alias,
    /// How a value is computed from bits and other fields.
    Computed,
    /// Another layout of an instruction, or a record of a slot.
    Variant,
    /// A part of a group, or those parts that an operation may be in.
    Slot,
    /// How a branch target is counted.
    Target,
    /// What an instruction does. The name tells for which modifier this is, if not for all.
    Operation,
    /// A property of the machine.
    Property,
    /// The order of the bytes of instructions in memory.
    ByteOrder,
    /// The alignment of instructions in memory.
    Alignment,
}

impl Subject {
    /// The words for it in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Subject::Operand => "operand",
            Subject::Modifier => "modifier",
            Subject::Suffix => "suffix",
            Subject::Access => "access",
            Subject::Size => "size",
            Subject::ConstantBits => "constant bits",
            Subject::IgnoredBits => "ignored bits",
            Subject::Unit => "unit",
            Subject::Syntax => "syntax",
            Subject::Limit => "limit",
            Subject::Value => "value",
            Subject::Default => "default",
            Subject::Constant => "constant",
            Subject::Count => "count",
            Subject::Width => "width",
            Subject::Alternative => "reading",
            Subject::Field => "field",
            Subject::Length => "length",
            Subject::Condition => "conditions",
            Subject::Alias => "alias",
            Subject::Computed => "value",
            Subject::Variant => "variant",
            Subject::Slot => "slot",
            Subject::Target => "branch target",
            Subject::Operation => "operation",
            Subject::Property => "property",
            Subject::ByteOrder => "byte order",
            Subject::Alignment => "alignment",
        }
    }
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What changed.
    pub subject: Subject,
    /// How it changed.
    pub how: How,
    /// The name of what changed; may be empty.
    pub name: String,
    /// The old state; empty if it was added.
    pub old: String,
    /// The new state; empty if it was removed.
    pub new: String,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.subject.as_str())?;
        if !self.name.is_empty() {
            write!(f, " `{}`", self.name)?;
        }
        write!(f, " {}", self.how.as_str())?;
        match (self.old.is_empty(), self.new.is_empty()) {
            (false, false) => write!(f, ": {} → {}", self.old, self.new),
            (false, true) => write!(f, ": was {}", self.old),
            (true, false) => write!(f, ": {}", self.new),
            (true, true) => Ok(()),
        }
    }
}

pub(super) fn change(subject: Subject, how: How, name: &str, old: impl Into<String>, new: impl Into<String>) -> Change {
    Change { subject, how, name: name.to_owned(), old: old.into(), new: new.into() }
}
