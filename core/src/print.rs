//! From an instruction to its text.

use crate::bits::{ones, sign_extend};
use crate::decode::{alternative_of, list_len};
use crate::table::{Alternative, Form, Isa, Modifier, Operand, Shape, Token, Type};
use crate::text::Line;

/// How much the text tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// The customary text. Where two encodings share it, the assembler gives the first.
    #[default]
    Customary,
    /// A text that always assembles to the very same word: spellings that the customary text shares are told apart.
    Exact,
}

/// Appends the text of a valid word.
pub fn print(isa: &'static Isa, opcode: u16, word: u64, style: Style, line: &mut Line) {
    let form = &isa.forms[opcode as usize];
    for token in form.syntax {
        match token {
            Token::Text(text) => line.push(text),
            Token::Mnemonic => line.push(&form.name),
            Token::Modifiers => {
                if word & form.quiet_mask != form.quiet_value {
                    print_modifiers(isa, form, word, style, line);
                }
            }
            Token::Modifier(i) => print_modifier(isa, &form.modifiers[*i as usize], word, style, line),
            Token::Operand(i) => print_operand(isa, &form.operands[*i as usize], word, style, line),
            Token::Field(_) => {}
        }
    }
    if style == Style::Exact && word & form.ignored != 0 {
        line.push_str(IGNORED);
        line.push_hex(word & form.ignored);
    }
}

/// Written in the exact text before ignored bits that are not all zero.
const IGNORED: &str = " ~";

fn print_modifiers(isa: &'static Isa, form: &'static Form, word: u64, style: Style, line: &mut Line) {
    for (i, modifier) in form.modifiers.iter().enumerate() {
        if form.placed & 1 << i == 0 {
            print_modifier(isa, modifier, word, style, line);
        }
    }
}

fn print_modifier(isa: &'static Isa, modifier: &'static Modifier, word: u64, style: Style, line: &mut Line) {
    let value = modifier.bits.get(word, 0);
    if modifier.default == Some(value) {
        return;
    }
    match modifier.ty {
        Type::Enum(e) => {
            if let Some(text) = isa.enums[e as usize].dotted.get(value as usize) {
                line.push(text);
            }
        }
        _ if style == Style::Exact && !modifier.also.is_empty() => {
            line.push_str(".");
            line.push_str(modifier.also);
        }
        _ => line.push(&modifier.flag),
    }
}

/// Appends the text of one operand, its suffixes included.
pub fn print_operand(isa: &'static Isa, operand: &'static Operand, word: u64, style: Style, line: &mut Line) {
    match &operand.shape {
        Shape::One { kind, at } => {
            let kind = &isa.kinds[*kind as usize];
            let raw = (word >> at) & ones(kind.width as u32);
            let usual = isa.shared.iter().all(|s| s.bits.get(word, 0) == s.default);
            match kind.texts.get(raw as usize) {
                Some(text) if usual && style == Style::Customary => line.push(text),
                _ => {
                    if let Some(alternative) = alternative_of(isa, kind.alternatives, *at, word) {
                        print_alternative(isa, alternative, *at, word, 0, style, line);
                    }
                }
            }
        }
        Shape::List { kind, at, count, open, separator, .. } => {
            let alternative = &isa.kinds[*kind as usize].alternatives[0];
            line.push_str(open);
            for i in 0..list_len(count, word) {
                if i > 0 {
                    line.push_str(separator);
                }
                print_alternative(isa, alternative, *at, word, i as u64, style, line);
            }
        }
        Shape::Number { bits, ty, prefix, .. } => {
            line.push_str(prefix);
            print_number(*ty, bits.get(word, 0), bits.width(), line);
        }
    }
    if word & operand.quiet_mask != operand.quiet_value {
        for suffix in operand.suffixes {
            print_modifier(isa, suffix, word, style, line);
        }
    }
}

/// Appends an operand's text without its suffixes, `offset` registers further.
fn print_alternative(
    isa: &'static Isa,
    alternative: &'static Alternative,
    at: u8,
    word: u64,
    offset: u64,
    style: Style,
    line: &mut Line,
) {
    for token in alternative.text {
        match token {
            Token::Text(text) => line.push(text),
            Token::Field(i) => {
                let field = &alternative.fields[*i as usize];
                let value = field.bits.get(word, at);
                match field.ty {
                    Type::Register(_) => line.push_decimal(value + offset),
                    Type::Enum(e) => {
                        if let Some(text) = isa.enums[e as usize].dotted.get(value as usize) {
                            line.push_str(text.str.get(1..).unwrap_or_default());
                        }
                    }
                    Type::Constant(c) => {
                        let values = isa.constants[c as usize].values;
                        if let Some(constant) = values.get(value as usize) {
                            line.push_hex(constant.value);
                            let first = values.iter().position(|other| other.value == constant.value);
                            if style == Style::Exact && first != Some(value as usize) {
                                line.push_str("[");
                                line.push_decimal(value);
                                line.push_str("]");
                            }
                        }
                    }
                    ty => print_number(ty, value, field.bits.width(), line),
                }
            }
            _ => {}
        }
    }
}

fn print_number(ty: Type, value: u64, width: u32, line: &mut Line) {
    match ty {
        Type::Hex => line.push_hex(value),
        Type::Signed => {
            let value = sign_extend(value, width);
            if value < 0 {
                line.push_str("-");
            }
            line.push_decimal(value.unsigned_abs());
        }
        _ => line.push_decimal(value),
    }
}

/// A valid instruction's text as something to format: `{}` is the customary text, `{:#}` the exact one.
#[derive(Clone, Copy)]
pub struct Display {
    /// The tables.
    pub isa: &'static Isa,
    /// The instruction.
    pub opcode: u16,
    /// Its word.
    pub word: u64,
}

impl core::fmt::Display for Display {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut line = Line::new();
        let style = if f.alternate() { Style::Exact } else { Style::Customary };
        print(self.isa, self.opcode, self.word, style, &mut line);
        match (f.width(), f.precision()) {
            (None, None) => f.write_str(line.as_str()),
            _ => f.pad(line.as_str()),
        }
    }
}
