//! Prints instructions as text.

use super::decode::{Decoded, Engine, Scope, named};
use super::number::{write_float, write_number};
use super::table::{Field, MAX_ASIDES, Notation, Token, Type};
use crate::text::Line;

/// Names the targets of branches.
pub trait Places {
    /// Prints the name of the place at an address in bytes; `call` tells whether it is a function. Returns `false` if
    /// the place has no name; the branch then prints with its number.
    fn write(&self, address: u64, call: bool, line: &mut Line) -> bool;
}

/// No places: branches print with their numbers.
#[derive(Clone, Copy, Debug)]
pub struct NoPlaces;

impl Places for NoPlaces {
    fn write(&self, _: u64, _: bool, _: &mut Line) -> bool {
        false
    }
}

/// In the exact text, precedes the bytes of an instruction in memory order.
pub(super) const WORD: &str = " ~";

impl Engine {
    /// Appends the text of a decoded instruction: that of the first preferred alias that fits, or else its own.
    pub fn print(&self, decoded: &Decoded, line: &mut Line) {
        self.print_at(decoded, 0, &NoPlaces, line);
    }

    /// Appends the text of an instruction of a program, at an address in bytes.
    pub fn print_at(&self, decoded: &Decoded, address: u64, places: &dyn Places, line: &mut Line) {
        let own = self.scope(decoded);
        self.preferred(&own).unwrap_or(own).print_at(address, places, line);
    }

    /// Appends the exact text of an instruction of a program. If its text assembles to a different word, it is followed
    /// by ` ~` and the word.
    pub fn print_exact_at(&self, decoded: &Decoded, address: u64, places: &dyn Places, line: &mut Line) {
        let mut text = Line::new();
        self.print(decoded, &mut text);
        self.print_at(decoded, address, places, line);
        if self.parse(text.as_str()).is_ok_and(|parsed| parsed.decoded.word == decoded.word) {
            return;
        }
        line.push_str(WORD);
        for byte in self.store(decoded.word).iter().take(decoded.len.into()) {
            for digit in [byte >> 4, byte & 15] {
                line.push_str("0123456789abcdef".get(digit.into()..usize::from(digit) + 1).unwrap_or_default());
            }
        }
    }

    /// The alias under which an instruction prints.
    fn preferred<'a>(&self, own: &Scope<'a>) -> Option<Scope<'a>> {
        let instruction = self.stream.instructions.get(usize::from(own.layout.opcode))?;
        instruction.preferred.iter().find_map(|index| {
            let layout = self.stream.layouts.get(usize::from(*index))?;
            let scope = Scope { layout, ..*own };
            (own.layout.bits == layout.bits && scope.fits()).then_some(scope)
        })
    }
}

/// Appends the value of a field as a number.
fn write_value(notation: &Notation, field: &Field, value: u64, line: &mut Line) {
    match notation.wraps {
        true => write_number(notation, value & crate::bits::ones(field.width.into()), false, line),
        false => write_number(notation, value, field.signed, line),
    }
}

/// The part of a text that is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// The text.
    Text,
    /// The asides after it.
    Asides,
}

/// A text under construction.
struct Printer<'l> {
    line: &'l mut Line,
    /// The start of the text in the line.
    start: usize,
    /// The number of asides.
    asides: usize,
    /// The addresses of the instruction and of the next one.
    this: u64,
    next: u64,
    places: &'l dyn Places,
}

impl Scope<'_> {
    /// Appends the text of the layout, for an instruction of a program at an address in bytes.
    pub fn print_at(&self, address: u64, places: &dyn Places, line: &mut Line) {
        let start = line.as_bytes().len();
        let next = address.wrapping_add(self.len.into());
        let mut printer = Printer { line, start, asides: 0, this: address, next, places };
        self.print_tokens(self.layout.text, &mut printer, Pass::Text);
        if printer.asides > 0 {
            printer.asides = 0;
            self.print_tokens(self.layout.text, &mut printer, Pass::Asides);
        } else if self.outer.is_none() {
            // Columns and omitted fields may leave trailing blanks.
            let end = line.as_str().trim_end().len();
            line.truncate(end);
        }
    }

    fn print_tokens(&self, tokens: &'static [Token], printer: &mut Printer<'_>, pass: Pass) {
        for token in tokens {
            match token {
                Token::If(condition, tokens) => {
                    if self.expression(*condition) != 0 {
                        self.print_tokens(tokens, printer, pass);
                    }
                }
                Token::Field(field) => self.print_value(*field, printer, pass),
                Token::Aside(tokens) => {
                    if pass == Pass::Asides && printer.asides < MAX_ASIDES {
                        printer.line.push_str(if printer.asides == 0 { "\t; " } else { ", " });
                        self.print_tokens(tokens, printer, Pass::Text);
                    }
                    printer.asides += 1;
                }
                _ if pass == Pass::Asides => {}
                Token::Text(text) => printer.line.push(text),
                Token::Column(column) => {
                    while printer.line.as_bytes().len() < printer.start + usize::from(*column) {
                        printer.line.push_str(" ");
                    }
                }
                Token::Bits(field, notation) => {
                    let width = self.layout.fields.get(usize::from(*field)).map_or(0, |field| field.width);
                    let bits = self.value(*field) & crate::bits::ones(width.into());
                    write_number(notation, bits, false, printer.line);
                }
            }
        }
    }

    /// Appends the text of a field. `start` is the offset in the line at which the instruction begins.
    pub fn print_field(&self, index: u8, line: &mut Line, start: usize) {
        let printer = Printer { line, start, asides: 0, this: 0, next: self.len.into(), places: &NoPlaces };
        self.print_value(index, &mut { printer }, Pass::Text);
    }

    fn print_value(&self, index: u8, printer: &mut Printer<'_>, pass: Pass) {
        let Some(field) = self.layout.fields.get(usize::from(index)) else { return };
        let stream = self.engine.stream;
        if let Type::Set(set, arguments) = field.ty {
            let bits = self.bits(field, index);
            if let Some(reading) = self.reading(set, arguments, &bits) {
                reading.print_tokens(reading.layout.text, printer, pass);
            }
            return;
        }
        if pass == Pass::Asides {
            return;
        }
        let line = &mut *printer.line;
        match field.ty {
            Type::Number(notation) => {
                let value = self.value(index);
                let named = notation.target.is_some_and(|target| {
                    let address = target.address(value as i64, printer.this, printer.next);
                    printer.places.write(address, notation.call, line)
                });
                if !named {
                    write_value(&notation, field, value, line);
                }
            }
            Type::Enum(names, otherwise) => {
                let value = self.value(index);
                match (stream.enums.get(usize::from(names)).and_then(|e| named(e, value)), otherwise) {
                    (Some(name), _) => line.push_str(name.text),
                    (None, Some(notation)) => write_value(&notation, field, value, line),
                    (None, None) => {}
                }
            }
            Type::Register(bank) => {
                let Some(bank) = stream.banks.get(usize::from(bank)) else { return };
                let name = bank.name(self.value(index));
                line.push_str(name.open);
                if let Some(number) = name.number {
                    line.push_decimal(number);
                }
                line.push_str(name.close);
            }
            Type::Set(..) => {}
            Type::Float(width) => write_float(width, self.value(index), line),
        }
    }
}
