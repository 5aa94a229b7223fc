//! Prints instructions as text.

use crate::bits::{ones, sign_extend};
use crate::decode::{alternative_of, list_len};
use crate::table::{Alternative, Form, Isa, Kind, Modifier, Operand, Shape, Token, Type};
use crate::text::{Line, Pen, apart};

/// The level of detail of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// The customary text. If two encodings share it, the assembler produces the first.
    #[default]
    Customary,
    /// A text that always assembles to the same word: it distinguishes encodings that share a customary text.
    Exact,
}

/// Appends the text of a valid word.
///
/// # Examples
///
/// ```
/// use isaforge_core::{decode::decode, print::{Style, print}, text::Line};
/// use isaforge_vpu::ISA;
///
/// let (word, mut line) = (0x2a00004000800000, Line::new());
/// print(ISA, decode(ISA, word)?, word, Style::Customary, &mut line);
/// assert_eq!(line.as_str(), "MultiplyHiInt16u r0.x?y?z?w?, r2.xxxx, r4.xxxx");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn print(isa: &'static Isa, opcode: u16, word: u64, style: Style, line: &mut Line) {
    let form = &isa.forms[opcode as usize];
    line.write(|pen| {
        if is_usual(isa, word, style) && !form.script.long.is_empty() {
            run(isa, form, word, pen);
        } else {
            apart(pen, |pen| write_by_syntax(isa, form, word, style, pen));
        }
    });
}

/// Prints a whole line on the fast path.
#[inline(always)]
fn run(isa: &'static Isa, form: &'static Form, word: u64, pen: &mut Pen<'_>) {
    pen.push(&form.name);
    let short = word & form.script.mask == form.script.value;
    for step in if short { form.script.short } else { form.script.long } {
        let index = step.first as usize + ((word >> (step.shift & 63)) as usize & step.mask as usize);
        match isa.labels.get(index) {
            Some(label) => pen.push_label(label),
            None => {
                let operand = &form.operands[step.shift as usize];
                apart(pen, |pen| write_operand(isa, operand, word, true, Style::Customary, pen));
            }
        }
    }
}

fn write_by_syntax(isa: &'static Isa, form: &'static Form, word: u64, style: Style, pen: &mut Pen<'_>) {
    let usual = is_usual(isa, word, style);
    for token in form.syntax {
        match token {
            Token::Text(text) => pen.push(text),
            Token::Mnemonic => pen.push(&form.name),
            Token::Modifiers => {
                if word & form.quiet_mask != form.quiet_value {
                    write_modifiers(isa, form.modifiers, form.placed, word, style, pen);
                }
            }
            Token::Modifier(i) => write_modifier(isa, &form.modifiers[*i as usize], word, style, pen),
            Token::Operand(i) => write_operand(isa, &form.operands[*i as usize], word, usual, style, pen),
            Token::Field(_) => {}
        }
    }
    if style == Style::Exact && word & form.ignored != 0 {
        pen.push_str(IGNORED);
        pen.push_hex(word & form.ignored);
    }
}

/// In the exact text, introduces ignored bits that are not all zero.
const IGNORED: &str = " ~";

/// Appends the text of one operand, including its suffixes.
pub fn print_operand(isa: &'static Isa, operand: &'static Operand, word: u64, style: Style, line: &mut Line) {
    let usual = is_usual(isa, word, style);
    line.write(|pen| write_operand(isa, operand, word, usual, style, pen));
}

/// Whether [`Kind::texts`](crate::table::Kind::texts) holds the texts of the operands: the style is customary and the
/// shared fields have their defaults.
#[inline]
fn is_usual(isa: &Isa, word: u64, style: Style) -> bool {
    style == Style::Customary && word & isa.usual_mask == isa.usual_value
}

/// Prints the modifiers whose indices are not in the bit set `skipped`.
#[inline(always)]
fn write_modifiers(
    isa: &'static Isa,
    modifiers: &'static [Modifier],
    skipped: u32,
    word: u64,
    style: Style,
    pen: &mut Pen<'_>,
) {
    for (i, modifier) in modifiers.iter().enumerate() {
        if skipped & 1 << i == 0 {
            write_modifier(isa, modifier, word, style, pen);
        }
    }
}

#[inline(always)]
fn write_modifier(isa: &'static Isa, modifier: &'static Modifier, word: u64, style: Style, pen: &mut Pen<'_>) {
    let value = modifier.bits.get(word, 0);
    if modifier.default == Some(value) {
        return;
    }
    match modifier.ty {
        Type::Enum(e) => {
            if let Some(text) = isa.enums[e as usize].dotted.get(value as usize) {
                pen.push(text);
            }
        }
        _ if style == Style::Exact && !modifier.also.is_empty() => {
            pen.push_byte(b'.');
            pen.push_str(modifier.also);
        }
        _ => pen.push(&modifier.flag),
    }
}

/// Prints one operand. `usual` means that the style is customary and the shared fields have their defaults.
#[inline(always)]
fn write_operand(
    isa: &'static Isa,
    operand: &'static Operand,
    word: u64,
    usual: bool,
    style: Style,
    pen: &mut Pen<'_>,
) {
    match &operand.shape {
        Shape::One { kind, at } => write_kind(isa, &isa.kinds[*kind as usize], *at, word, usual, style, pen),
        Shape::List { kind, at, count, open, separator, .. } => {
            let kind = &isa.kinds[*kind as usize];
            let alternative = &kind.alternatives[0];
            // The kind's texts are those of the registers only if the operand consists of the register number alone.
            let texts = if usual && alternative.mask == 0 && kind.width as u32 == alternative.fields[0].bits.width() {
                kind.texts
            } else {
                &[]
            };
            let first = alternative.fields[0].bits.get(word, *at);
            pen.push_str(open);
            for i in 0..list_len(count, word) as u64 {
                if i > 0 {
                    pen.push_str(separator);
                }
                match texts.get((first + i) as usize) {
                    Some(text) => pen.push(text),
                    None => write_alternative(isa, alternative, *at, word, i, style, pen),
                }
            }
        }
        Shape::Number { bits, ty, prefix, .. } => {
            pen.push_str(prefix);
            write_number(*ty, bits.get(word, 0), bits.width(), pen);
        }
    }
    if word & operand.quiet_mask != operand.quiet_value {
        write_modifiers(isa, operand.suffixes, 0, word, style, pen);
    }
}

#[inline(always)]
fn write_kind(isa: &'static Isa, kind: &'static Kind, at: u8, word: u64, usual: bool, style: Style, pen: &mut Pen<'_>) {
    let raw = (word >> (at & 63)) & ones(kind.width as u32);
    match kind.texts.get(raw as usize) {
        Some(text) if usual => pen.push(text),
        _ => {
            if let Some(alternative) = alternative_of(isa, kind.alternatives, at, word) {
                write_alternative(isa, alternative, at, word, 0, style, pen);
            }
        }
    }
}

/// Appends the text of an operand of this kind at bit `at` of a word.
pub fn print_kind(isa: &'static Isa, kind: usize, at: u8, word: u64, line: &mut Line) {
    let usual = is_usual(isa, word, Style::Customary);
    line.write(|pen| write_kind(isa, &isa.kinds[kind], at, word, usual, Style::Customary, pen));
}

/// Prints an operand without its suffixes. `offset` is added to its register number.
fn write_alternative(
    isa: &'static Isa,
    alternative: &'static Alternative,
    at: u8,
    word: u64,
    offset: u64,
    style: Style,
    pen: &mut Pen<'_>,
) {
    for token in alternative.text {
        match token {
            Token::Text(text) => pen.push(text),
            Token::Field(i) => {
                let field = &alternative.fields[*i as usize];
                let value = field.bits.get(word, at);
                match field.ty {
                    Type::Register(_) => pen.push_decimal(value + offset),
                    Type::Enum(e) => {
                        if let Some(text) = isa.enums[e as usize].dotted.get(value as usize) {
                            pen.push_str(text.str.get(1..).unwrap_or_default());
                        }
                    }
                    Type::Constant(c) => {
                        let values = isa.constants[c as usize].values;
                        if let Some(constant) = values.get(value as usize) {
                            pen.push_hex(constant.value);
                            let first = values.iter().position(|other| other.value == constant.value);
                            if style == Style::Exact && first != Some(value as usize) {
                                pen.push_byte(b'[');
                                pen.push_decimal(value);
                                pen.push_byte(b']');
                            }
                        }
                    }
                    ty => write_number(ty, value, field.bits.width(), pen),
                }
            }
            _ => {}
        }
    }
}

/// Prints a number in the notation of its type.
pub(crate) fn write_number(ty: Type, value: u64, width: u32, pen: &mut Pen<'_>) {
    match ty {
        Type::Hex => pen.push_hex(value),
        Type::Signed => {
            let value = sign_extend(value, width);
            if value < 0 {
                pen.push_byte(b'-');
            }
            pen.push_decimal(value.unsigned_abs());
        }
        _ => pen.push_decimal(value),
    }
}

/// Formats the text of a valid instruction: `{}` is the customary text, `{:#}` the exact one.
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
