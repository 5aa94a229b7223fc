//! What can be wrong with the bytes of a group, or with what is to become one.

use core::fmt;

/// Why bytes are not a group. Offsets count from the first byte of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupError {
    /// The bytes end before the group does.
    Truncated {
        /// How many bytes are needed.
        needed: usize,
        /// How many there are.
        found: usize,
    },
    /// No record that may stand here starts so.
    Unknown {
        /// The slot.
        slot: &'static str,
        /// Where it starts.
        at: u8,
        /// The byte there.
        found: u8,
    },
    /// A field holds a value that is reserved.
    Reserved {
        /// The slot.
        slot: &'static str,
        /// The record.
        record: &'static str,
        /// The field.
        field: &'static str,
        /// Where the record starts.
        at: u8,
        /// The bits of the field.
        found: u64,
    },
    /// The header allows no group.
    Header {
        /// The header's record.
        record: &'static str,
        /// The fields that decide, lowest bits first.
        found: u64,
    },
    /// What the header says contradicts itself.
    Rule {
        /// What must hold.
        rule: &'static str,
        /// The field that breaks it.
        field: &'static str,
        /// Its value.
        found: i64,
    },
    /// A field that follows from the rest of the group has another value.
    Derived {
        /// The slot.
        slot: &'static str,
        /// The field.
        field: &'static str,
        /// What it should be.
        expected: i64,
        /// What it is.
        found: i64,
    },
    /// The header promises a part that is not there.
    Missing {
        /// The slot.
        slot: &'static str,
        /// Where it should start.
        at: u8,
    },
    /// The parts are longer than the group says it is.
    Overrun {
        /// The length of the parts.
        parts: u8,
        /// What the header says.
        length: u8,
    },
    /// A byte of padding is not what it must be.
    Padding {
        /// Which byte.
        at: u8,
        /// What it must be.
        expected: u8,
        /// What it is.
        found: u8,
    },
}

impl fmt::Display for GroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            GroupError::Truncated { needed, found } => write!(f, "the group needs {needed} bytes, there are {found}"),
            GroupError::Unknown { slot, at, found } => {
                write!(f, "byte {at}: nothing that can stand in `{slot}` starts with {found:#04x}")
            }
            GroupError::Reserved { slot, record, field, at, found } => {
                write!(f, "byte {at}: reserved value {found} in `{field}` of {slot} ({record})")
            }
            GroupError::Header { record, found } => {
                write!(f, "no group has the parts that the header ({record}) says: {found:#x}")
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

/// Why values do not make a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// No group has these parts together.
    Parts {
        /// A part that is there and that none of the other parts goes with.
        slot: &'static str,
    },
    /// No record of the slot can say a value.
    Value {
        /// The slot.
        slot: &'static str,
        /// The field.
        field: &'static str,
        /// The value.
        value: i64,
    },
    /// The form that is asked for cannot say a value.
    Form {
        /// The slot.
        slot: &'static str,
        /// The record that was asked for.
        record: &'static str,
        /// The field.
        field: &'static str,
        /// The value.
        value: i64,
    },
    /// The record that is needed has no encoding that can be told from another's.
    Unusable {
        /// The slot.
        slot: &'static str,
        /// The record.
        record: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// The operation has no public encoding.
    NoEncoding {
        /// The operation.
        operation: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// The group is longer than the longest that can be.
    TooLong {
        /// Its length.
        length: usize,
        /// The longest.
        longest: usize,
    },
    /// The length that is asked for is not one that the group can have.
    Length {
        /// What was asked for.
        length: usize,
        /// What is needed.
        needed: usize,
    },
    /// What the header says contradicts itself.
    Rule {
        /// What must hold.
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
                write!(f, "no group has these parts together; `{slot}` does not go with the rest")
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
                write!(f, "a length of {length} bytes was asked for, {needed} are needed")
            }
            BuildError::Rule { rule, field, value } => write!(f, "`{field}` is {value}, but {rule}"),
            BuildError::Empty => f.write_str("a program needs at least one group"),
        }
    }
}

impl core::error::Error for BuildError {}
