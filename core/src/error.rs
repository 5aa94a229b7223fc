//! Errors in words, values and lines of assembly.

use core::fmt;

use crate::suggest::{longer, nearest};
use crate::table::{Alternative, Constant, Isa, Shape, Token, Type};
use crate::text::Word;
use crate::unknown::{UnknownOpcode, write_bits};

/// Why a word is not an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// No instruction has these bits.
    UnknownOpcode(UnknownOpcode),
    /// Fixed bits have the wrong value.
    Fixed {
        /// The instruction.
        form: &'static str,
        /// Highest and lowest bit of the run.
        bits: (u8, u8),
        /// The required value.
        expected: u64,
        /// The value found.
        found: u64,
    },
    /// A field holds a value that is reserved or has no meaning.
    Reserved {
        /// The instruction.
        form: &'static str,
        /// The operand that the field belongs to; empty for a field of the instruction itself.
        operand: &'static str,
        /// The field.
        field: &'static str,
        /// Its value.
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
    /// The index of a register or constant is past the last one.
    OutOfRange {
        /// The instruction.
        form: &'static str,
        /// The operand.
        operand: &'static str,
        /// The index.
        found: u64,
        /// The number of registers or constants.
        count: u64,
    },
    /// A list of registers has a misaligned start.
    Alignment {
        /// The instruction.
        form: &'static str,
        /// The operand.
        operand: &'static str,
        /// The first register.
        found: u64,
        /// The required alignment.
        align: u8,
    },
    /// A field shared by operands is not at its default although no operand uses it.
    UnusedShared {
        /// The instruction.
        form: &'static str,
        /// The field.
        field: &'static str,
        /// Its value.
        found: u64,
        /// Its default.
        expected: u64,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DecodeError::UnknownOpcode(unknown) => unknown.fmt(f),
            DecodeError::Fixed { form, bits, expected, found } => {
                write!(f, "{form}: reserved ")?;
                write_bits(f, bits)?;
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
        /// The least allowed value.
        least: i64,
        /// The greatest allowed value.
        greatest: i64,
    },
    /// Two operands need different values of a field that they share.
    Conflict {
        /// The shared field.
        field: &'static str,
        /// The value that one operand needs.
        first: u64,
        /// The value that the other operand needs.
        second: u64,
    },
    /// A list of registers has a misaligned start.
    Alignment {
        /// The operand.
        field: &'static str,
        /// The required alignment.
        align: u8,
    },
    /// More distinct values than the hardware can read at once.
    Limit {
        /// The limited resource.
        name: &'static str,
        /// The number allowed.
        at_most: u8,
    },
    /// There is no such operand, or it has no such reading.
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

/// Why a line of text is not an instruction, with the position of the error.
#[derive(Clone, Copy)]
pub struct ParseError {
    /// Byte offset of the error in the line, from 0.
    pub at: usize,
    /// Length of the error in bytes; at least 1 where there is text to point at.
    pub len: usize,
    /// The reason.
    pub reason: ParseReason,
    /// The text at the error.
    pub found: Word,
    pub(crate) isa: &'static Isa,
}

/// The reason why a line of text is not an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseReason {
    /// No instruction has this name.
    UnknownMnemonic,
    /// The instruction (an index into [`Isa::forms`]) has no such modifier.
    UnknownModifier(u16),
    /// A modifier is written twice, or two modifiers of the same choice are written.
    RepeatedModifier(&'static str),
    /// A modifier without a default is missing.
    MissingModifier(u16, &'static str),
    /// This operand was expected here.
    Operand(u16, u8),
    /// The operand has no such suffix.
    UnknownSuffix(u16, u8),
    /// A suffix without a default is missing.
    MissingSuffix(u16, u8, &'static str),
    /// This text was expected.
    Expected(&'static str),
    /// What these words describe was expected.
    Wanted(&'static str),
    /// A constant of this table was expected: index into [`Isa::constants`].
    Constant(u16),
    /// A float was written where this operand may be a constant of this table, as for [`Constant`](Self::Constant).
    FloatConstant(u16, u8, u16),
    /// Text follows a complete instruction.
    Trailing,
    /// A number is outside the range of its field.
    Range(&'static str, i64, i64),
    /// A float was written for an operand that takes a number: the operand, its prefix, and the width of its field.
    Float(&'static str, &'static str, u32),
    /// A list of registers is not consecutive.
    NotConsecutive,
    /// A list has a length that the instruction does not allow.
    ListLength(u8, u8),
    /// The operands cannot be encoded together.
    Encode(EncodeError),
    /// A branch target is a name, which only a program can resolve.
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
    /// Column of the error, in bytes, from 1.
    pub fn column(&self) -> usize {
        self.at + 1
    }

    /// A suggestion of what to write instead; empty if there is none.
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
            ParseReason::UnknownMnemonic
                if found.as_str().starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') =>
            {
                write!(f, "no instruction is called `{found}`")
            }
            ParseReason::UnknownMnemonic => write!(f, "expected the name of an instruction, found `{found}`"),
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
            ParseReason::Wanted(what) if nothing => write!(f, "expected {what}, found the end of the line"),
            ParseReason::Wanted(what) => write!(f, "expected {what}, found `{found}`"),
            ParseReason::Expected(text) if nothing => write!(f, "expected `{text}`, found the end of the line"),
            ParseReason::Expected(text) => write!(f, "expected `{text}`, found `{found}`"),
            ParseReason::Constant(_) | ParseReason::FloatConstant(..) => {
                write!(f, "`{found}` is not one of the constants")
            }
            ParseReason::Trailing => write!(f, "the instruction ends before `{found}`"),
            ParseReason::Range(name, least, greatest) => {
                write!(f, "`{found}` is out of range for `{name}`: {least} to {greatest} is allowed")
            }
            ParseReason::Float(name, ..) => write!(f, "`{name}` is the bits of a number, and `{found}` is a float"),
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

/// The suggestion that accompanies a [`ParseError`]: what to write instead. Empty if there is no useful one.
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
            ParseReason::UnknownMnemonic => match nearest(word, error.isa.forms.iter().map(|form| form.name.str)) {
                Some(name) => meant(f, Some(name)),
                None => longer(f, word, error.isa.forms.iter().map(|form| form.name.str)),
            },
            ParseReason::UnknownModifier(form) => {
                let modifiers = error.form(form).modifiers;
                match nearest(word, modifiers.iter().flat_map(|m| modifier_words(error.isa, m))) {
                    Some(name) => meant(f, Some(name)),
                    None if modifiers.is_empty() => f.write_str("it takes no modifiers"),
                    None => {
                        f.write_str("it takes")?;
                        let words = modifiers.iter().flat_map(|m| modifier_words(error.isa, m));
                        words.take(24).try_for_each(|word| write!(f, " `.{word}`"))
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
            ParseReason::Constant(table) | ParseReason::FloatConstant(_, _, table) => {
                let values = error.isa.constants.get(usize::from(table)).map_or(&[][..], |table| table.values);
                f.write_str("they are")?;
                let is_new = |(i, value): &(usize, &Constant)| values[..*i].iter().all(|one| one.value != value.value);
                let one =
                    |(i, value): (usize, &Constant)| write!(f, "{} {:#x}", if i == 0 { "" } else { "," }, value.value);
                values.iter().enumerate().filter(is_new).take(CONSTANTS).try_for_each(one)?;
                match values.len().saturating_sub(CONSTANTS) {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
            ParseReason::Float(_, prefix, width) => {
                let text = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
                let text = word.trim_end_matches(|c: char| !text(c));
                match width {
                    32 => {
                        text.parse::<f32>().map_or(Ok(()), |float| write!(f, "write `{prefix}{:#x}`", float.to_bits()))
                    }
                    64 => {
                        text.parse::<f64>().map_or(Ok(()), |float| write!(f, "write `{prefix}{:#x}`", float.to_bits()))
                    }
                    _ => f.write_str("write its bits in hexadecimal"),
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

/// The maximum number of constants that a message lists.
const CONSTANTS: usize = 64;

/// The spellings of a modifier.
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

/// The maximum number of readings of an operand that a message spells.
const SPELLED: usize = 8;

/// Writes a text of a reading: of the first register, or the first value.
fn example(f: &mut fmt::Formatter<'_>, isa: &'static Isa, alternative: &'static Alternative) -> fmt::Result {
    for token in alternative.text {
        match token {
            Token::Text(text) => f.write_str(text.str)?,
            Token::Field(index) => match alternative.fields.get(usize::from(*index)).map(|field| field.ty) {
                Some(Type::Enum(names)) => {
                    let mut names = isa.enums[names as usize].values.iter().map(|value| value.text);
                    f.write_str(names.find(|name| !name.is_empty()).unwrap_or_default())?;
                }
                Some(Type::Constant(table)) => {
                    let first = isa.constants[table as usize].values.first();
                    write!(f, "{:#x}", first.map_or(0, |constant| constant.value))?;
                }
                Some(Type::Hex) => f.write_str("0x0")?,
                _ => f.write_str("0")?,
            },
            _ => {}
        }
    }
    Ok(())
}

fn operand_example(
    f: &mut fmt::Formatter<'_>,
    isa: &'static Isa,
    operand: &'static crate::table::Operand,
) -> fmt::Result {
    match &operand.shape {
        Shape::One { kind, .. } => {
            let alternatives = isa.kinds[*kind as usize].alternatives;
            let one_of = if alternatives.len() > 1 { "one of " } else { "" };
            write!(f, "it is written like {one_of}")?;
            for (i, alternative) in alternatives.iter().take(SPELLED).enumerate() {
                f.write_str(if i == 0 { "`" } else { ", `" })?;
                example(f, isa, alternative)?;
                f.write_str("`")?;
            }
            match alternatives.len().saturating_sub(SPELLED) {
                0 => Ok(()),
                more => write!(f, " and {more} more"),
            }
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

/// Allows `Semantics::Output` to be a `Result`.
impl<T, E: From<Unimplemented>> From<Unimplemented> for Result<T, E> {
    fn from(unimplemented: Unimplemented) -> Self {
        Err(unimplemented.into())
    }
}
