//! What can be wrong with a word, a value or a line of text.

use core::fmt;

use crate::suggest::nearest;
use crate::table::{Constant, Isa, Shape, Type};
use crate::text::Word;

/// Why a word is not an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// No instruction has these bits.
    UnknownOpcode {
        /// Highest and lowest bit that was looked at last.
        bits: (u8, u8),
        /// What they hold.
        found: u64,
    },
    /// Bits that must have one certain value have another.
    Fixed {
        /// The instruction.
        form: &'static str,
        /// Highest and lowest bit of the run.
        bits: (u8, u8),
        /// What they must be.
        expected: u64,
        /// What they are.
        found: u64,
    },
    /// A field holds a value that is reserved or has no meaning.
    Reserved {
        /// The instruction.
        form: &'static str,
        /// The operand the field belongs to, empty for the instruction's own.
        operand: &'static str,
        /// The field.
        field: &'static str,
        /// What it holds.
        found: u64,
    },
    /// An operand's bits fit none of its readings.
    Operand {
        /// The instruction.
        form: &'static str,
        /// The operand.
        operand: &'static str,
        /// Its bits.
        found: u64,
    },
    /// A register or constant beyond the last one.
    OutOfRange {
        /// The instruction.
        form: &'static str,
        /// The operand.
        operand: &'static str,
        /// The index.
        found: u64,
        /// How many there are.
        count: u64,
    },
    /// A list of registers starts where it may not.
    Alignment {
        /// The instruction.
        form: &'static str,
        /// The operand.
        operand: &'static str,
        /// The first register.
        found: u64,
        /// What it must be a multiple of.
        align: u8,
    },
    /// A field that operands share is not at its default although none of them uses it.
    UnusedShared {
        /// The instruction.
        form: &'static str,
        /// The field.
        field: &'static str,
        /// What it holds.
        found: u64,
        /// What it must be.
        expected: u64,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |f: &mut fmt::Formatter<'_>, (high, low): (u8, u8)| {
            if high == low { write!(f, "bit {low}") } else { write!(f, "bits {high}..{low}") }
        };
        match *self {
            DecodeError::UnknownOpcode { bits, found } => {
                write!(f, "unknown opcode: no instruction has {found:#x} in ")?;
                range(f, bits)
            }
            DecodeError::Fixed { form, bits, expected, found } => {
                write!(f, "{form}: reserved ")?;
                range(f, bits)?;
                match expected {
                    0 => write!(f, " must be zero, found {found:#x}"),
                    _ => write!(f, " must be {expected:#x}, found {found:#x}"),
                }
            }
            DecodeError::Reserved { form, operand: "", field, found } => {
                write!(f, "{form}: reserved value {found} in `{field}`")
            }
            DecodeError::Reserved { form, operand, field, found } => {
                write!(f, "{form}: reserved value {found} in `{field}` of operand `{operand}`")
            }
            DecodeError::Operand { form, operand, found } => {
                write!(f, "{form}: reserved encoding {found:#x} of operand `{operand}`")
            }
            DecodeError::OutOfRange { form, operand, found, count } => {
                write!(f, "{form}: operand `{operand}` names number {found}, the last is {}", count.saturating_sub(1))
            }
            DecodeError::Alignment { form, operand, found, align } => {
                write!(f, "{form}: the list `{operand}` starts at register {found}, not at a multiple of {align}")
            }
            DecodeError::UnusedShared { form, field, found, expected } => {
                write!(f, "{form}: `{field}` must be {expected} when no operand uses it, found {found}")
            }
        }
    }
}

impl core::error::Error for DecodeError {}

/// Why a value cannot be put into an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// A number does not fit its field.
    OutOfRange {
        /// The field or operand.
        field: &'static str,
        /// The least value allowed.
        least: i64,
        /// The greatest.
        greatest: i64,
    },
    /// Two operands need different values of a field they share.
    Conflict {
        /// The shared field.
        field: &'static str,
        /// What one operand needs.
        first: u64,
        /// What the other needs.
        second: u64,
    },
    /// A list of registers starts where it may not.
    Alignment {
        /// The operand.
        field: &'static str,
        /// What the first register must be a multiple of.
        align: u8,
    },
    /// More distinct values than the hardware can read at once.
    Limit {
        /// What is limited.
        name: &'static str,
        /// How many are allowed.
        at_most: u8,
    },
    /// There is no such operand or reading of it.
    NoSuchOperand,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            EncodeError::OutOfRange { field, least, greatest } => {
                write!(f, "`{field}` is out of range: {least} to {greatest} is allowed")
            }
            EncodeError::Conflict { field, first, second } => {
                write!(f, "operands need different values of `{field}`: {first} and {second}")
            }
            EncodeError::Alignment { field, align } => {
                write!(f, "the list `{field}` must start at a multiple of {align} when it has more than one register")
            }
            EncodeError::Limit { name, at_most } => write!(f, "too many {name}: at most {at_most} in one instruction"),
            EncodeError::NoSuchOperand => f.write_str("the instruction has no such operand"),
        }
    }
}

impl core::error::Error for EncodeError {}

/// Why a line of text is not an instruction, and where.
#[derive(Clone, Copy)]
pub struct ParseError {
    /// Byte of the line at which the trouble starts, from 0.
    pub at: usize,
    /// Bytes it covers, at least 1 where there is anything to point at.
    pub len: usize,
    /// What the trouble is.
    pub reason: ParseReason,
    /// The text in question.
    pub found: Word,
    pub(crate) isa: &'static Isa,
}

/// What is wrong with a line of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseReason {
    /// No instruction has this name.
    UnknownMnemonic,
    /// The instruction (an index into [`Isa::forms`]) has no such modifier.
    UnknownModifier(u16),
    /// The modifier is written twice, or two of one choice are.
    RepeatedModifier(&'static str),
    /// A modifier that has no default is missing.
    MissingModifier(u16, &'static str),
    /// This operand was expected; something else, or nothing, is here.
    Operand(u16, u8),
    /// The operand has no such suffix.
    UnknownSuffix(u16, u8),
    /// A suffix without default is missing.
    MissingSuffix(u16, u8, &'static str),
    /// This text was expected.
    Expected(&'static str),
    /// A constant of a table was expected, an index into [`Isa::constants`].
    Constant(u16),
    /// The line goes on after a whole instruction.
    Trailing,
    /// A number is outside what the field holds.
    Range(&'static str, i64, i64),
    /// A list of registers is not consecutive.
    NotConsecutive,
    /// A list has a number of registers that the instruction cannot take.
    ListLength(u8, u8),
    /// The operands do not go together.
    Encode(EncodeError),
    /// A name is used as a branch target, which only a program can resolve.
    UnknownLabel,
}

impl fmt::Debug for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParseError")
            .field("at", &self.at)
            .field("reason", &self.reason)
            .field("found", &self.found)
            .finish()
    }
}

impl PartialEq for ParseError {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.len, self.reason, self.found) == (other.at, other.len, other.reason, other.found)
    }
}
impl Eq for ParseError {}

impl ParseError {
    /// Column of the trouble, from 1, in bytes.
    pub fn column(&self) -> usize {
        self.at + 1
    }

    /// What to write instead, where that can be said.
    pub fn help(&self) -> Help<'_> {
        Help(self)
    }

    fn form(&self, form: u16) -> &'static crate::table::Form {
        &self.isa.forms[form as usize]
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = self.found;
        let nothing = found.as_str().is_empty();
        match self.reason {
            ParseReason::UnknownMnemonic => write!(f, "no instruction is called `{found}`"),
            ParseReason::UnknownModifier(form) => {
                write!(f, "{} has no modifier `{found}`", self.form(form).name.str)
            }
            ParseReason::RepeatedModifier(name) => write!(f, "`{name}` is already chosen before `{found}`"),
            ParseReason::MissingModifier(form, name) => {
                write!(f, "{} needs the modifier `{name}`", self.form(form).name.str)
            }
            ParseReason::Operand(form, operand) => {
                let form = self.form(form);
                let name = form.operands.get(operand as usize).map_or("", |o| o.name);
                write!(f, "{} needs the operand `{name}` here, found ", form.name.str)?;
                if nothing { f.write_str("the end of the line") } else { write!(f, "`{found}`") }
            }
            ParseReason::UnknownSuffix(form, operand) => {
                let form = self.form(form);
                let name = form.operands.get(operand as usize).map_or("", |o| o.name);
                write!(f, "the operand `{name}` of {} cannot take `.{found}`", form.name.str)
            }
            ParseReason::MissingSuffix(_, _, name) => write!(f, "the operand needs `{name}` after a dot"),
            ParseReason::Expected(text) if nothing => write!(f, "expected `{text}`, found the end of the line"),
            ParseReason::Expected(text) => write!(f, "expected `{text}`, found `{found}`"),
            ParseReason::Constant(_) => write!(f, "`{found}` is not among the constants that there are"),
            ParseReason::Trailing => write!(f, "the instruction ends before `{found}`"),
            ParseReason::Range(name, least, greatest) => {
                write!(f, "`{found}` is out of range for `{name}`: {least} to {greatest} is allowed")
            }
            ParseReason::NotConsecutive => write!(f, "the registers of a list must be consecutive, found `{found}`"),
            ParseReason::ListLength(least, most) if least == most => {
                write!(f, "the list must have {least} registers")
            }
            ParseReason::ListLength(least, most) => write!(f, "the list must have {least} to {most} registers"),
            ParseReason::Encode(error) => error.fmt(f),
            ParseReason::UnknownLabel => write!(f, "the label `{found}` is not defined"),
        }
    }
}

impl core::error::Error for ParseError {}

/// The second half of a [`ParseError`]: what to write instead. Empty when there is nothing useful to say.
#[derive(Clone, Copy)]
pub struct Help<'a>(&'a ParseError);

impl fmt::Display for Help<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = self.0;
        let word = error.found.as_str();
        let meant = |f: &mut fmt::Formatter<'_>, name: Option<&str>| match name {
            Some(name) => write!(f, "did you mean `{name}`?"),
            None => Ok(()),
        };
        match error.reason {
            ParseReason::UnknownMnemonic => meant(f, nearest(word, error.isa.forms.iter().map(|form| form.name.str))),
            ParseReason::UnknownModifier(form) => {
                let modifiers = error.form(form).modifiers;
                match nearest(word, modifiers.iter().flat_map(|m| modifier_words(error.isa, m))) {
                    Some(name) => meant(f, Some(name)),
                    None if modifiers.is_empty() => f.write_str("it takes no modifiers"),
                    None => {
                        f.write_str("it takes")?;
                        modifiers
                            .iter()
                            .enumerate()
                            .try_for_each(|(i, m)| write!(f, "{} `{}`", if i == 0 { "" } else { "," }, m.name))
                    }
                }
            }
            ParseReason::MissingModifier(form, name) => {
                let Some(modifier) = error.form(form).modifiers.iter().find(|m| m.name == name) else { return Ok(()) };
                f.write_str("write one of")?;
                modifier_words(error.isa, modifier).take(16).try_for_each(|word| write!(f, " `.{word}`"))
            }
            ParseReason::UnknownSuffix(form, operand) => {
                let Some(operand) = error.form(form).operands.get(operand as usize) else { return Ok(()) };
                match nearest(word, operand.suffixes.iter().flat_map(|m| modifier_words(error.isa, m))) {
                    Some(name) => meant(f, Some(name)),
                    None if operand.suffixes.is_empty() => f.write_str("it takes no suffix"),
                    None => {
                        f.write_str("it takes")?;
                        let words = operand.suffixes.iter().flat_map(|m| modifier_words(error.isa, m));
                        words.take(24).try_for_each(|word| write!(f, " `.{word}`"))
                    }
                }
            }
            ParseReason::Operand(form, operand) => {
                let Some(operand) = error.form(form).operands.get(operand as usize) else { return Ok(()) };
                operand_example(f, error.isa, operand)
            }
            ParseReason::Constant(table) => {
                let values = error.isa.constants.get(usize::from(table)).map_or(&[][..], |table| table.values);
                f.write_str("they are")?;
                let one =
                    |(i, value): (usize, &Constant)| write!(f, "{} {:#x}", if i == 0 { "" } else { "," }, value.value);
                values.iter().take(CONSTANTS).enumerate().try_for_each(one)?;
                match values.len().saturating_sub(CONSTANTS) {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
            ParseReason::Encode(EncodeError::Limit { name, .. }) => {
                let limit = error.isa.limits.iter().find(|l| l.name == name);
                limit.map_or(Ok(()), |l| f.write_str(l.doc))
            }
            _ => Ok(()),
        }
    }
}

/// Constants of a table that a message names, at most.
const CONSTANTS: usize = 64;

/// The words a modifier can be written as.
pub fn modifier_words(
    isa: &'static Isa,
    modifier: &'static crate::table::Modifier,
) -> impl Iterator<Item = &'static str> {
    let values = match modifier.ty {
        Type::Enum(e) => isa.enums[e as usize].values,
        _ => &[],
    };
    let flag = modifier.flag.str.strip_prefix('.');
    let also = (!modifier.also.is_empty()).then_some(modifier.also);
    flag.into_iter().chain(also).chain(values.iter().map(|v| v.text))
}

fn operand_example(
    f: &mut fmt::Formatter<'_>,
    isa: &'static Isa,
    operand: &'static crate::table::Operand,
) -> fmt::Result {
    match &operand.shape {
        Shape::One { kind, .. } => {
            f.write_str("it is one of:")?;
            for (i, alternative) in isa.kinds[*kind as usize].alternatives.iter().enumerate() {
                write!(f, "{} {}", if i == 0 { "" } else { "," }, alternative.name)?;
            }
            Ok(())
        }
        Shape::List { open, separator, .. } => write!(f, "write a list of registers: `{open}r4{separator}r5`"),
        Shape::Number { prefix: "", .. } => f.write_str("write a number"),
        Shape::Number { prefix, target: Some(_), .. } if !prefix.is_empty() => {
            write!(f, "write a label, or `{prefix}` and a number")
        }
        Shape::Number { prefix, .. } => write!(f, "write `{prefix}` and a number"),
    }
}

/// An instruction that an implementation of a generated `Semantics` trait does not execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unimplemented {
    /// The mnemonic.
    pub mnemonic: &'static str,
}

impl fmt::Display for Unimplemented {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not implemented", self.mnemonic)
    }
}

impl core::error::Error for Unimplemented {}

/// So that `Semantics::Output` can be a `Result`.
impl<T, E: From<Unimplemented>> From<Unimplemented> for Result<T, E> {
    fn from(unimplemented: Unimplemented) -> Self {
        Err(unimplemented.into())
    }
}
