//! An instruction in parts: pieces of text, and the bits of the word that each depends on.

use isaforge_core::bits::Bits;
use isaforge_core::decode::{alternative_of, decode, operand_is_valid};
use isaforge_core::print::{Style, print, print_operand};
use isaforge_core::table::{Form, Isa, Modifier, Operand, Shape, Token, Type};
use isaforge_core::text::Line;

use super::difference::Reading;

/// A part of an instruction's text.
#[derive(Clone, Copy)]
pub(super) enum Part {
    /// Fixed text.
    Text(&'static str),
    /// A modifier or a suffix.
    Modifier(&'static Modifier),
    /// An operand without its suffixes.
    Operand(&'static Operand),
}

/// A part with the bits that its text and validity depend on.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub part: Part,
    pub mask: u64,
}

/// The parts of a form in print order.
pub(super) fn pieces(isa: &'static Isa, form: &'static Form) -> Vec<Piece> {
    parts(form).into_iter().map(|part| Piece { part, mask: part.mask(isa) }).collect()
}

fn parts(form: &'static Form) -> Vec<Part> {
    let mut parts = Vec::new();
    for token in form.syntax {
        match token {
            Token::Text(text) => parts.push(Part::Text(text.str)),
            Token::Mnemonic => parts.push(Part::Text(form.name.str)),
            Token::Modifiers => {
                let free = form.modifiers.iter().enumerate().filter(|(i, _)| form.placed & 1 << i == 0);
                parts.extend(free.map(|(_, m)| Part::Modifier(m)));
            }
            Token::Modifier(i) => parts.extend(form.modifiers.get(*i as usize).map(Part::Modifier)),
            Token::Operand(i) => {
                if let Some(operand) = form.operands.get(*i as usize) {
                    parts.push(Part::Operand(operand));
                    parts.extend(operand.suffixes.iter().map(Part::Modifier));
                }
            }
            Token::Field(_) => {}
        }
    }
    parts
}

impl Part {
    fn mask(&self, isa: &'static Isa) -> u64 {
        match self {
            Part::Text(_) => 0,
            Part::Modifier(m) => m.bits.mask(0),
            Part::Operand(o) => operand_mask(isa, o),
        }
    }

    /// Its text in a valid word.
    pub(super) fn text(&self, isa: &'static Isa, word: u64) -> String {
        match self {
            Part::Text(text) => (*text).to_owned(),
            Part::Modifier(m) => modifier_text(isa, m, word).to_owned(),
            Part::Operand(o) => operand_text(isa, o, word),
        }
    }

    /// Whether its bits are valid.
    pub(super) fn is_valid(&self, isa: &'static Isa, form: &'static Form, word: u64) -> bool {
        match self {
            Part::Text(_) => true,
            Part::Modifier(m) => match m.ty {
                Type::Enum(e) => isa.enums[e as usize].defines(m.bits.get(word, 0)),
                _ => true,
            },
            Part::Operand(o) => operand_is_valid(isa, form, o, word),
        }
    }

    /// The shared fields that it uses in this word.
    pub(super) fn uses(&self, isa: &'static Isa, word: u64) -> u32 {
        match self {
            Part::Operand(Operand { shape: Shape::One { kind, at }, .. }) => {
                alternative_of(isa, isa.kinds[*kind as usize].alternatives, *at, word).map_or(0, |a| a.uses)
            }
            Part::Operand(Operand { shape: Shape::List { kind, .. }, .. }) => {
                isa.kinds[*kind as usize].alternatives.first().map_or(0, |a| a.uses)
            }
            _ => 0,
        }
    }

    /// The field of a number, which prints the same wherever it has the same type and prefix.
    pub(super) fn number(&self) -> Option<(Bits, Type, &'static str)> {
        match self {
            Part::Operand(Operand { shape: Shape::Number { bits, ty, prefix, .. }, .. }) => Some((*bits, *ty, prefix)),
            _ => None,
        }
    }
}

fn operand_mask(isa: &'static Isa, operand: &Operand) -> u64 {
    match &operand.shape {
        Shape::Number { bits, .. } => bits.mask(0),
        Shape::One { kind, at } => {
            let alternatives = isa.kinds[*kind as usize].alternatives.iter();
            alternatives.fold(0, |mask, a| {
                let when = a.when.iter().map(|(s, _)| isa.shared[*s as usize].bits.mask(0));
                let fields = a.fields.iter().map(|f| f.bits.mask(*at));
                mask | a.mask << at | when.chain(fields).fold(0, |m, bits| m | bits)
            })
        }
        Shape::List { kind, at, count, .. } => {
            let field = isa.kinds[*kind as usize].alternatives.first().and_then(|a| a.fields.first());
            field.map_or(0, |f| f.bits.mask(*at)) | count.bits.map_or(0, |b| b.mask(0))
        }
    }
}

/// The text of a modifier, with its dot.
pub(crate) fn modifier_text(isa: &'static Isa, modifier: &'static Modifier, word: u64) -> &'static str {
    let value = modifier.bits.get(word, 0);
    if modifier.default == Some(value) {
        return "";
    }
    match modifier.ty {
        Type::Enum(e) => isa.enums[e as usize].dotted.get(value as usize).map_or("", |t| t.str),
        _ => modifier.flag.str,
    }
}

/// The text of an operand, without its suffixes.
pub(crate) fn operand_text(isa: &'static Isa, operand: &'static Operand, word: u64) -> String {
    let mut line = Line::new();
    print_operand(isa, operand, word, Style::Customary, &mut line);
    let suffixes: String = operand.suffixes.iter().map(|s| modifier_text(isa, s, word)).collect();
    let text = line.as_str();
    text.strip_suffix(suffixes.as_str()).unwrap_or(text).to_owned()
}

/// How an instruction set decodes a word.
pub(super) fn reading(isa: &'static Isa, word: u64) -> Reading {
    match decode(isa, word) {
        Ok(opcode) => Reading::Text(text(isa, opcode, word)),
        Err(error) => Reading::Invalid(error.to_string()),
    }
}

/// The customary text of a valid word.
pub(crate) fn text(isa: &'static Isa, opcode: u16, word: u64) -> String {
    let mut line = Line::new();
    print(isa, opcode, word, Style::Customary, &mut line);
    line.as_str().to_owned()
}
