//! From an instruction to its text.

use super::decode::{Decoded, Engine, Scope, named};
use super::number::{write_float, write_number};
use super::table::{Token, Type};
use crate::text::Line;

impl Engine {
    /// Appends the text of a decoded instruction: that of the first preferred alias that fits, or its own.
    pub fn print(&self, decoded: &Decoded, line: &mut Line) {
        let own = self.scope(decoded);
        self.preferred(&own).unwrap_or(own).print(line);
    }

    /// The alias that an instruction is written as.
    fn preferred<'a>(&self, own: &Scope<'a>) -> Option<Scope<'a>> {
        let instruction = self.stream.instructions.get(usize::from(own.layout.opcode))?;
        instruction.preferred.iter().find_map(|index| {
            let layout = self.stream.layouts.get(usize::from(*index))?;
            let scope = Scope { layout, ..*own };
            (own.layout.bits == layout.bits && scope.fits()).then_some(scope)
        })
    }
}

impl Scope<'_> {
    /// Appends the text of the layout.
    pub fn print(&self, line: &mut Line) {
        let start = line.as_bytes().len();
        self.print_tokens(self.layout.text, line, start);
        // Columns and what is written as nothing may leave blanks at the end.
        if self.outer.is_none() {
            let end = line.as_str().trim_end().len();
            line.truncate(end);
        }
    }

    fn print_tokens(&self, tokens: &'static [Token], line: &mut Line, start: usize) {
        for token in tokens {
            match token {
                Token::Text(text) => line.push(text),
                Token::Field(field) => self.print_field(*field, line, start),
                Token::Column(column) => {
                    while line.as_bytes().len() < start + usize::from(*column) {
                        line.push_str(" ");
                    }
                }
                Token::If(condition, tokens) => {
                    if self.expression(*condition) != 0 {
                        self.print_tokens(tokens, line, start);
                    }
                }
            }
        }
    }

    pub(super) fn print_field(&self, index: u8, line: &mut Line, start: usize) {
        let Some(field) = self.layout.fields.get(usize::from(index)) else { return };
        let stream = self.engine.stream;
        match field.ty {
            Type::Number(notation) => write_number(&notation, self.value(index), field.signed, line),
            Type::Enum(names, otherwise) => {
                let value = self.value(index);
                match (stream.enums.get(usize::from(names)).and_then(|e| named(e, value)), otherwise) {
                    (Some(name), _) => line.push_str(name.text),
                    (None, Some(notation)) => write_number(&notation, value, field.signed, line),
                    (None, None) => {}
                }
            }
            Type::Register(bank) => {
                let Some(bank) = stream.banks.get(usize::from(bank)) else { return };
                let number = self.value(index);
                match bank.names.get(number as usize) {
                    Some(name) if !name.is_empty() => line.push_str(name),
                    _ => {
                        line.push_str(bank.open);
                        line.push_decimal(number);
                        line.push_str(bank.close);
                    }
                }
            }
            Type::Set(set, arguments) => {
                let bits = self.bits(field, index);
                if let Some(reading) = self.reading(set, arguments, &bits) {
                    reading.print_tokens(reading.layout.text, line, start);
                }
            }
            Type::Float(width) => write_float(width, self.value(index), line),
        }
    }
}
