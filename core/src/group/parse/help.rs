//! What to write instead of a text that is not a group.

use core::fmt;

use crate::group::error::{TextError, TextReason};
use crate::group::operation::{mnemonic, named_bits};
use crate::group::scan::first_word;
use crate::group::table::{GroupIsa, OperandKind, Operation, Token};
use crate::suggest::nearest;

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
