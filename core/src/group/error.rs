//! Errors in decoding, encoding and parsing groups.

use core::fmt;

use crate::text::Word;

/// Why bytes are not a group. Offsets are relative to the first byte of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupError {
    /// The bytes end before the group does.
    Truncated {
        /// The number of bytes needed.
        needed: usize,
        /// The number of bytes available.
        found: usize,
    },
    /// No record that is allowed here starts like this.
    Unknown {
        /// The slot.
        slot: &'static str,
        /// Its offset.
        at: u8,
        /// The byte there.
        found: u8,
    },
    /// A field holds a reserved value.
    Reserved {
        /// The slot.
        slot: &'static str,
        /// The record.
        record: &'static str,
        /// The field.
        field: &'static str,
        /// The offset of the record.
        at: u8,
        /// The bits of the field.
        found: u64,
    },
    /// No group has this header.
    Header {
        /// The header's record.
        record: &'static str,
        /// The key fields, lowest bits first.
        found: u64,
    },
    /// The header contradicts itself.
    Rule {
        /// The rule.
        rule: &'static str,
        /// The field that breaks it.
        field: &'static str,
        /// Its value.
        found: i64,
    },
    /// A derived field has the wrong value.
    Derived {
        /// The slot.
        slot: &'static str,
        /// The field.
        field: &'static str,
        /// The value that follows from the group.
        expected: i64,
        /// The value found.
        found: i64,
    },
    /// The header announces a part that is absent.
    Missing {
        /// The slot.
        slot: &'static str,
        /// The offset at which it should start.
        at: u8,
    },
    /// The parts are longer than the group's length.
    Overrun {
        /// The length of the parts.
        parts: u8,
        /// The length that the header gives.
        length: u8,
    },
    /// A byte of padding has the wrong value.
    Padding {
        /// Its offset.
        at: u8,
        /// The required value.
        expected: u8,
        /// The value found.
        found: u8,
    },
}

impl fmt::Display for GroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            GroupError::Truncated { needed, found } => {
                let s = if needed == 1 { "" } else { "s" };
                write!(f, "the group needs {needed} byte{s}, found {found}")
            }
            GroupError::Unknown { slot, at, found } => {
                write!(f, "byte {at}: no record of `{slot}` starts with {found:#04x}")
            }
            GroupError::Reserved { slot, record, field, at, found } => {
                write!(f, "byte {at}: reserved value {found} in `{field}` of {slot} ({record})")
            }
            GroupError::Header { record, found } => {
                write!(f, "no group has the parts that the header ({record}) selects: {found:#x}")
            }
            GroupError::Rule { rule, field, found } => write!(f, "`{field}` is {found}, but {rule}"),
            GroupError::Derived { slot, field, expected, found } => {
                write!(f, "`{field}` of {slot} is {found}, but the group makes it {expected}")
            }
            GroupError::Missing { slot, at } => write!(f, "byte {at}: `{slot}` should start here"),
            GroupError::Overrun { parts, length } => {
                write!(f, "the parts take {parts} bytes, the header says {length}")
            }
            GroupError::Padding { at, expected, found } => {
                write!(f, "byte {at}: padding must be {expected:#04x}, found {found:#04x}")
            }
        }
    }
}

impl core::error::Error for GroupError {}

/// Why values cannot be encoded as a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// No group combines these parts.
    Parts {
        /// A part that cannot be combined with the others.
        slot: &'static str,
    },
    /// No record of the slot can hold a value.
    Value {
        /// The slot.
        slot: &'static str,
        /// The field.
        field: &'static str,
        /// The value.
        value: i64,
    },
    /// The requested form cannot hold a value.
    Form {
        /// The slot.
        slot: &'static str,
        /// The requested record.
        record: &'static str,
        /// The field.
        field: &'static str,
        /// The value.
        value: i64,
    },
    /// The record needed has no encoding that distinguishes it from another record.
    Unusable {
        /// The slot.
        slot: &'static str,
        /// The record.
        record: &'static str,
        /// The reason.
        reason: &'static str,
    },
    /// The operation has no public encoding.
    NoEncoding {
        /// The operation.
        operation: &'static str,
        /// The reason.
        reason: &'static str,
    },
    /// The group exceeds the maximum length.
    TooLong {
        /// Its length.
        length: usize,
        /// The maximum length.
        longest: usize,
    },
    /// The group cannot have the requested length.
    Length {
        /// The requested length.
        length: usize,
        /// The length that is needed.
        needed: usize,
    },
    /// The header contradicts itself.
    Rule {
        /// The rule.
        rule: &'static str,
        /// The field that breaks it.
        field: &'static str,
        /// Its value.
        value: i64,
    },
    /// There is no group.
    Empty,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            BuildError::Parts { slot } => {
                write!(f, "no group has these parts together; `{slot}` conflicts with the rest")
            }
            BuildError::Value { slot, field, value } => write!(f, "no encoding of {slot} holds {value} in `{field}`"),
            BuildError::Form { slot, record, field, value } => {
                write!(f, "the form `{record}` of {slot} cannot hold {value} in `{field}`")
            }
            BuildError::Unusable { slot, record, reason } => write!(f, "{slot} would need `{record}`: {reason}"),
            BuildError::NoEncoding { operation, reason } => write!(f, "{operation} has no public encoding: {reason}"),
            BuildError::TooLong { length, longest } => {
                write!(f, "the group takes {length} bytes, the longest has {longest}")
            }
            BuildError::Length { length, needed } => {
                write!(f, "a length of {length} bytes was requested, but {needed} are needed")
            }
            BuildError::Rule { rule, field, value } => write!(f, "`{field}` is {value}, but {rule}"),
            BuildError::Empty => f.write_str("a program needs at least one group"),
        }
    }
}

impl core::error::Error for BuildError {}

/// Why text is not a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextError {
    /// The byte offset in the text.
    pub at: usize,
    /// The length in bytes, at least 1.
    pub len: usize,
    /// The reason.
    pub reason: TextReason,
    /// The text found there.
    pub found: Word,
    /// The operation that fits best (index into [`GroupIsa::operations`](crate::group::GroupIsa::operations)) and its
    /// slot, if the operands are wrong.
    pub nearest: Option<(u16, u8)>,
}

/// The reason why text is not a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextReason {
    /// No operation is written like this.
    Operation,
    /// An operation of this name exists, but its operands do not match.
    Operands,
    /// The part conflicts with another part of the group.
    Taken,
    /// More registers are selected than there are free sources.
    Sources,
    /// A selector would have to select two registers.
    Selector,
    /// A mark is unknown.
    Mark,
    /// Bytes that are not a group.
    Bytes,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = self.found.as_str();
        match self.reason {
            TextReason::Operation => write!(f, "unknown operation `{found}`"),
            TextReason::Operands => write!(f, "these are not the operands of `{found}`"),
            TextReason::Taken => write!(f, "`{found}` conflicts with another part of the group"),
            TextReason::Sources => write!(f, "no source is free for the register of `{found}`"),
            TextReason::Selector => write!(f, "`{found}` needs a second register from one selector"),
            TextReason::Mark => write!(f, "`{found}` is not a mark"),
            TextReason::Bytes => write!(f, "`{found}` is not the bytes of a group"),
        }
    }
}

impl core::error::Error for TextError {}
