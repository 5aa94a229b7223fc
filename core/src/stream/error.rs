//! Why bytes are no instruction, and why a text is none.

use core::fmt;

use super::wide::Wide;
use crate::text::Word;

/// Why bytes are no instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// There are fewer bytes than the instruction has.
    Short {
        /// How many it has.
        needed: usize,
        /// How many there are.
        have: usize,
    },
    /// No instruction has these bits.
    Unknown,
    /// Two instructions have them, where none may.
    Conflict {
        /// One.
        name: &'static str,
        /// The other.
        other: &'static str,
    },
    /// The instruction says that it has a length that none can have.
    Length {
        /// The instruction.
        name: &'static str,
        /// What it says.
        found: u64,
    },
    /// Constant bits are wrong.
    Fixed {
        /// The instruction, or the reading of an operand.
        name: &'static str,
        /// Highest and lowest bit.
        bits: (u16, u16),
        /// What they must be.
        expected: u64,
        /// What they are.
        found: u64,
    },
    /// A value that means nothing.
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
                write!(f, "the instruction has {needed} bytes, and there {}", Are(*have))
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

/// The lowest run of wrong bits: highest and lowest bit, what they must be, what they are.
pub(super) fn wrong_bits(word: &Wide, mask: Wide, value: Wide) -> Option<((u16, u16), u64, u64)> {
    let wrong = (*word ^ value) & mask;
    let first = wrong.first_one()?;
    let (at, width) = mask.runs().find(|(at, width)| (*at..at + width).contains(&first))?;
    Some((((at + width - 1) as u16, at as u16), value.get(at, width), word.get(at, width)))
}

/// Why a text is no instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Where, in bytes from the start of the text.
    pub at: usize,
    /// How many bytes are wrong; 0 where something is missing.
    pub len: usize,
    /// The text there.
    pub found: Word,
    /// What is wrong.
    pub reason: Reason,
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No instruction begins so.
    Unknown,
    /// Something else must stand here: a text, or what the name of a field says.
    Expected(&'static str),
    /// A value that the field cannot hold, or that does not go with the others.
    Value(&'static str),
    /// There is no such label.
    UnknownLabel,
    /// A label that no whole number of steps leads to.
    Between,
    /// A label that is further away than the field can say.
    TooFar(&'static str),
    /// Something stands behind the end.
    Trailing,
    /// The word behind an exact text is none of that text.
    OtherWord,
    /// There are more ways to read the text than can be tried.
    Ambiguous,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            Reason::Unknown => write!(f, "no instruction is written like `{}`", self.found),
            Reason::Expected(what) if self.found.as_str().is_empty() => write!(f, "`{what}` is missing"),
            Reason::Expected(what) => write!(f, "expected `{what}`, found `{}`", self.found),
            Reason::Value(field) => write!(f, "`{field}` cannot be `{}` here", self.found),
            Reason::UnknownLabel => write!(f, "there is no label `{}`", self.found),
            Reason::Between => write!(f, "no whole number of steps leads to `{}`", self.found),
            Reason::TooFar(field) => write!(f, "`{}` is out of the range of `{field}`", self.found),
            Reason::Trailing => write!(f, "`{}` stands behind the end of the instruction", self.found),
            Reason::OtherWord => write!(f, "`{}` is no instruction with this text", self.found),
            Reason::Ambiguous => f.write_str("the text can be read in too many ways"),
        }
    }
}

impl core::error::Error for ParseError {}
