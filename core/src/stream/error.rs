//! Errors in decoding and parsing instructions of a stream.

use core::fmt;

use super::wide::Wide;
use crate::text::Word;

/// Why bytes are not an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The bytes end before the instruction does.
    Short {
        /// The length of the instruction.
        needed: usize,
        /// The number of bytes available.
        have: usize,
    },
    /// No instruction has these bits.
    Unknown,
    /// The bits fit two instructions of a set that does not allow this.
    Conflict {
        /// One instruction.
        name: &'static str,
        /// The other instruction.
        other: &'static str,
    },
    /// The instruction specifies an impossible length.
    Length {
        /// The instruction.
        name: &'static str,
        /// The length that it specifies.
        found: u64,
    },
    /// Constant bits are wrong.
    Fixed {
        /// The instruction, or the reading of an operand.
        name: &'static str,
        /// Highest and lowest bit.
        bits: (u16, u16),
        /// The required value.
        expected: u64,
        /// The value found.
        found: u64,
    },
    /// A field holds a reserved value.
    Reserved {
        /// The instruction, or the reading of an operand.
        name: &'static str,
        /// The field.
        field: &'static str,
        /// Its value.
        found: u64,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Short { needed, have } => {
                write!(f, "the instruction has {needed} bytes, but there {}", Are(*have))
            }
            DecodeError::Unknown => f.write_str("no instruction has these bits"),
            DecodeError::Conflict { name, other } => write!(f, "both `{name}` and `{other}` have these bits"),
            DecodeError::Length { name, found } => write!(f, "`{name}` cannot have {found} bytes"),
            DecodeError::Fixed { name, bits: (high, low), expected, found } if high == low => {
                write!(f, "bit {low} of `{name}` must be {expected}, found {found}")
            }
            DecodeError::Fixed { name, bits: (high, low), expected, found } => {
                write!(f, "bits {high}..{low} of `{name}` must be {expected:#x}, found {found:#x}")
            }
            DecodeError::Reserved { name, field, found } => {
                write!(f, "`{field}` of `{name}` has the reserved value {found:#x}")
            }
        }
    }
}

struct Are(usize);

impl fmt::Display for Are {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("is 1"),
            n => write!(f, "are {n}"),
        }
    }
}

impl core::error::Error for DecodeError {}

/// The lowest run of constant bits with an error: highest and lowest bit, the required value, the value found.
pub(super) fn wrong_bits(word: &Wide, mask: Wide, value: Wide) -> Option<((u16, u16), u64, u64)> {
    let wrong = (*word ^ value) & mask;
    let first = wrong.first_one()?;
    let (at, width) = mask.runs().find(|(at, width)| (*at..at + width).contains(&first))?;
    Some((((at + width - 1) as u16, at as u16), value.get(at, width), word.get(at, width)))
}

/// Why a text is not an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The byte offset in the text.
    pub at: usize,
    /// The length of the error in bytes; 0 if something is missing.
    pub len: usize,
    /// The text there.
    pub found: Word,
    /// The reason.
    pub reason: Reason,
}

/// The reason why a text is not an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No instruction starts like this.
    Unknown,
    /// Something else was expected: this text, or a value for the field with this name.
    Expected(&'static str),
    /// The field cannot hold the value, or the value conflicts with others.
    Value(&'static str),
    /// There is no such label.
    UnknownLabel,
    /// The distance to a label is not a multiple of the unit.
    Between,
    /// The distance to a label exceeds the range of the field.
    TooFar(&'static str),
    /// Text follows the end of the instruction.
    Trailing,
    /// The word after an exact text does not belong to that text.
    OtherWord,
    /// The text has more possible readings than can be tried.
    Ambiguous,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            Reason::Unknown => write!(f, "no instruction has the syntax of `{}`", self.found),
            Reason::Expected(what) if self.found.as_str().is_empty() => write!(f, "`{what}` is missing"),
            Reason::Expected(what) => write!(f, "expected `{what}`, found `{}`", self.found),
            Reason::Value(field) => write!(f, "`{field}` cannot be `{}` here", self.found),
            Reason::UnknownLabel => write!(f, "there is no label `{}`", self.found),
            Reason::Between => write!(f, "no whole number of steps leads to `{}`", self.found),
            Reason::TooFar(field) => write!(f, "`{}` is out of the range of `{field}`", self.found),
            Reason::Trailing => write!(f, "unexpected `{}` after the end of the instruction", self.found),
            Reason::OtherWord => write!(f, "`{}` is not an instruction with this text", self.found),
            Reason::Ambiguous => f.write_str("the text can be read in too many ways"),
        }
    }
}

impl core::error::Error for ParseError {}
