//! Why text is not a group, and what to write instead.

use core::fmt;

use crate::group::operation::{mnemonic, named_bits};
use crate::group::scan::first_word;
use crate::group::table::{GroupIsa, OperandKind, Operation, Token};
use crate::suggest::nearest;
use crate::text::Word;

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
    /// The operation that fits best (index into [`GroupIsa::operations`]) and its slot, if the operands are wrong.
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

impl TextError {
    /// A suggestion of what to write instead; prints nothing if there is none.
    pub fn help<'i>(&self, isa: &'i GroupIsa) -> TextHelp<'i> {
        TextHelp { isa, error: *self }
    }
}

/// See [`TextError::help`].
#[derive(Clone, Copy, Debug)]
pub struct TextHelp<'i> {
    isa: &'i GroupIsa,
    error: TextError,
}

impl fmt::Display for TextHelp<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.error.reason {
            TextReason::Operation => {
                let names = self.isa.operations.iter().filter_map(|o| mnemonic(o.syntax));
                match nearest(first_word(self.error.found.as_str()), names) {
                    Some(name) => write!(f, "did you mean `{name}`?"),
                    None => Ok(()),
                }
            }
            TextReason::Operands => {
                let found = self.error.nearest.and_then(|(i, slot)| Some((self.isa.operations.get(i as usize)?, slot)));
                let Some((operation, slot)) = found else { return Ok(()) };
                f.write_str("it is written `")?;
                write_syntax(self.isa, operation, slot.into(), f)?;
                f.write_str("`")
            }
            TextReason::Taken => f.write_str("a number and a colon start the next group: `1 : …`"),
            TextReason::Mark => f.write_str("marks are `slot.field=value`, `slot:record`, `slot` and `length=bytes`"),
            TextReason::Bytes | TextReason::Sources | TextReason::Selector => Ok(()),
        }
    }
}

/// Prints the syntax of an operation in a slot: `{…}` is optional, `<…>` is a value or a register.
pub fn write_syntax(isa: &GroupIsa, operation: &Operation, slot: usize, f: &mut impl fmt::Write) -> fmt::Result {
    let field = |at: u8, field: u8| {
        let at = if at == Token::OWN { slot } else { at as usize };
        let choice = isa.slots.get(at).and_then(|s| isa.choices.get(s.choice as usize));
        choice.and_then(|c| c.fields.get(field as usize)).map_or("", |f| f.name)
    };
    for token in operation.syntax {
        match *token {
            Token::Text(text) => f.write_str(text)?,
            Token::Flag(_, _, text) => write!(f, "{{{text}}}")?,
            Token::Suffix(at, index, optional) => {
                let name = field(at, index);
                if optional { write!(f, "{{.{name}}}")? } else { write!(f, ".<{name}>")? }
            }
            Token::Value(at, index) => write!(f, "<{}>", field(at, index))?,
            Token::Optional(at, index, text) => write!(f, "{{{text}<{}>}}", field(at, index))?,
            Token::Words(_, _, words) => {
                let mut first = true;
                for word in words.iter().filter(|w| !w.is_empty()) {
                    f.write_str(if first { "{" } else { "|" })?;
                    f.write_str(word)?;
                    first = false;
                }
                if !first {
                    f.write_str("}")?;
                }
            }
            Token::Bits(_, _, words) => {
                for word in named_bits(words).1 {
                    write!(f, "{{.{word}}}")?;
                }
            }
            Token::Operand(index) => write_operand(isa, index.into(), f)?,
            Token::Role(role) => {
                let roles = isa.slots.get(slot).map_or(&[][..], |s| s.roles);
                if let Some((_, index)) = roles.iter().find(|(name, _)| *name == role) {
                    write_operand(isa, (*index).into(), f)?;
                }
            }
        }
    }
    Ok(())
}

fn write_operand(isa: &GroupIsa, index: usize, f: &mut impl fmt::Write) -> fmt::Result {
    match isa.operands.get(index) {
        Some(operand) => match operand.kind {
            OperandKind::Wire(wire) => f.write_str(wire),
            _ => write!(f, "<{}>", operand.name),
        },
        None => Ok(()),
    }
}
