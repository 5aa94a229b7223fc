//! Errors in decoding and parsing instructions of a stream.

use core::fmt;

use super::table::Type;
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
    /// No instruction has this name.
    Mnemonic,
    /// The instruction needs a value of this field after its name: index into [`Stream::enums`](super::Stream::enums).
    Modifier(&'static str, u16),
    /// This text was expected.
    Expected(&'static str),
    /// A value for the field with this name was expected.
    Field(&'static str, Wanted),
    /// The field cannot hold the value, or the value conflicts with others.
    Value(&'static str),
    /// The number is out of the range of the field.
    Range(&'static str, i64, u64),
    /// The number is too large for the field, a float of this many bits.
    Overflow(&'static str, u8),
    /// The bank with this name has no such register, but this many.
    Register(&'static str, u32),
    /// The values do not satisfy the condition of the instruction or of the reading of an operand with this name.
    Condition(&'static str, &'static str),
    /// The field follows from other values, and must be this.
    Follows(&'static str, Word),
    /// The text is an instruction only since a later generation: its number and its name, if it has one.
    Since(u32, &'static str),
    /// The text is an instruction only until an earlier generation.
    Until(u32, &'static str),
    /// There is no such label.
    UnknownLabel,
    /// The distance to a label is not a multiple of the unit.
    Between,
    /// The distance to a label exceeds the range of the field.
    TooFar(&'static str),
    /// The name is the default of the field with this name, which the text leaves out.
    Default(&'static str),
    /// Text follows the end of the instruction.
    Trailing,
    /// The word after an exact text does not belong to that text.
    OtherWord,
    /// The text has more possible readings than can be tried.
    Ambiguous,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A number.
    Number,
    /// A branch target.
    Target,
    /// A name: index into [`Stream::enums`](super::Stream::enums).
    Name(u16),
    /// A register: index into [`Stream::banks`](super::Stream::banks).
    Register(u16),
    /// An operand: index into [`Stream::sets`](super::Stream::sets).
    Operand(u16),
}

impl Wanted {
    /// What a field of this type holds.
    pub(super) fn of(ty: &Type) -> Wanted {
        match ty {
            Type::Number(notation) if notation.target.is_some() => Wanted::Target,
            Type::Number(_) | Type::Float(_) => Wanted::Number,
            Type::Enum(names, _) => Wanted::Name(*names),
            Type::Register(bank) => Wanted::Register(*bank),
            Type::Set(set, _) => Wanted::Operand(*set),
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wanted::Number => "a number",
            Wanted::Target => "a label or a number",
            Wanted::Name(_) => "a name",
            Wanted::Register(_) => "a register",
            Wanted::Operand(_) => "an operand",
        })
    }
}

/// A generation: its name, or its number if it has none.
struct Generation(u32, &'static str);

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.1.is_empty() { write!(f, "generation {}", self.0) } else { f.write_str(self.1) }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nothing = self.found.as_str().is_empty();
        match self.reason {
            Reason::Unknown => write!(f, "no instruction has the syntax of `{}`", self.found),
            Reason::Mnemonic => write!(f, "no instruction is called `{}`", self.found),
            Reason::Modifier(field, _) => write!(f, "`{}` needs a value of `{field}` after a dot", self.found),
            Reason::Expected(what) if what.trim().is_empty() => write!(f, "a space is missing before `{}`", self.found),
            Reason::Expected(what) if nothing => write!(f, "`{}` is missing", what.trim()),
            Reason::Expected(what) => write!(f, "expected `{}`, found `{}`", what.trim(), self.found),
            Reason::Field(field, wanted) if nothing => write!(f, "`{field}` is missing: {wanted}"),
            Reason::Field(field, wanted) => write!(f, "expected {wanted} for `{field}`, found `{}`", self.found),
            Reason::Default(field) => write!(f, "`{}` is the default of `{field}` and is not written", self.found),
            Reason::Value(field) => write!(f, "`{field}` cannot be `{}` here", self.found),
            Reason::Range(field, least, greatest) => {
                write!(f, "`{}` is out of range for `{field}`: {least} to {greatest} is allowed", self.found)
            }
            Reason::Overflow(field, width) => {
                write!(f, "`{}` is too large for `{field}`, a float of {width} bits", self.found)
            }
            Reason::Register(bank, count) => {
                write!(f, "there is no register `{}`: `{bank}` has {count}", self.found)
            }
            Reason::Condition(name, condition) => write!(f, "`{name}` requires `{condition}`"),
            Reason::Follows(field, value) => write!(f, "`{field}` must be `{value}` here"),
            Reason::Since(number, name) => {
                write!(f, "`{}` exists only since {}", self.found, Generation(number, name))
            }
            Reason::Until(number, name) => {
                write!(f, "`{}` exists only until {}", self.found, Generation(number, name))
            }
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
