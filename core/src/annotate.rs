//! The meaning of each bit of a word.

use crate::bits::{Bits, sign_extend};
use crate::decode::{alternative_of, list_len};
use crate::print::{Style, print_operand};
use crate::table::{Alternative, Isa, Modifier, Shape, Type};
use crate::text::Line;

/// The role of a run of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Distinguishes the instruction from others.
    Opcode,
    /// Must have this value.
    Fixed,
    /// A modifier.
    Modifier,
    /// An operand.
    Operand,
    /// A modifier of an operand.
    Suffix,
    /// Shared by several operands.
    Shared,
    /// May have any value.
    Ignored,
}

/// One run of bits and its meaning.
#[derive(Clone, Debug)]
pub struct Note {
    /// Highest bit.
    pub high: u8,
    /// Lowest bit.
    pub low: u8,
    /// The field.
    pub name: &'static str,
    /// The operand that it belongs to; empty for a field of the instruction itself.
    pub operand: &'static str,
    /// Its role.
    pub role: Role,
    /// Its value.
    pub value: u64,
    /// The value in assembly.
    pub text: Line,
    /// The meaning of the value, as the specification describes it.
    pub meaning: &'static str,
}

/// Calls `each` for every run of bits of a valid word, in the order of the specification. A field in several pieces
/// gets several notes. Every bit of the word is in exactly one note; bits shared by operands may be in one more.
///
/// # Examples
///
/// ```
/// use isaforge_core::{annotate::annotate, decode::decode};
/// use isaforge_vpu::ISA;
///
/// let word = 0x2a00004000800000;
/// annotate(ISA, decode(ISA, word)?, word, &mut |note| {
///     println!("{:2}..{:2} {} {}: {}", note.high, note.low, note.name, note.text.as_str(), note.meaning);
/// });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn annotate(isa: &'static Isa, opcode: u16, word: u64, each: &mut dyn FnMut(Note)) {
    let form = &isa.forms[opcode as usize];
    let mut runs = |mask: u64, role: Role, name: &'static str| {
        let mut rest = mask;
        while rest != 0 {
            let low = rest.trailing_zeros();
            let width = (!(rest >> low)).trailing_zeros().min(64 - low);
            let bits = Bits::new(low as u8, width as u8);
            let mut text = Line::new();
            text.push_hex(bits.get(word, 0));
            each(note(bits, 0, name, "", role, bits.get(word, 0), text, ""));
            rest &= !bits.mask(0);
        }
    };
    runs(form.match_mask, Role::Opcode, "opcode");
    runs(form.fixed_mask & !form.match_mask, Role::Fixed, "reserved");
    runs(form.ignored, Role::Ignored, "ignored");
    for modifier in form.modifiers {
        modifier_note(isa, modifier, "", Role::Modifier, word, each);
    }
    let mut shared_used = 0;
    for operand in form.operands {
        let mut text = Line::new();
        print_operand(isa, operand, word, Style::Customary, &mut text);
        match &operand.shape {
            Shape::Number { bits, ty, .. } => {
                let value = bits.get(word, 0);
                let value = if *ty == Type::Signed { sign_extend(value, bits.width()) as u64 } else { value };
                pieces(*bits, 0, &mut |b| {
                    each(note(b, 0, operand.name, "", Role::Operand, value, text.clone(), operand.doc))
                });
            }
            Shape::One { kind, at } => {
                let kind = &isa.kinds[*kind as usize];
                let chosen = alternative_of(isa, kind.alternatives, *at, word);
                shared_used |= chosen.map_or(0, |a| a.uses);
                let meaning = chosen.map_or(kind.doc, |a| constant_doc(isa, a, *at, word).unwrap_or(a.doc));
                // A plain register may be split, with bits between its pieces that belong to other fields.
                if let [Alternative { mask: 0, fields: [field], .. }] = kind.alternatives {
                    let value = field.bits.get(word, *at);
                    pieces(field.bits, *at, &mut |b| {
                        each(note(b, 0, operand.name, "", Role::Operand, value, text.clone(), meaning))
                    });
                } else {
                    let mut rest = kind.own_bits();
                    while rest != 0 {
                        let low = rest.trailing_zeros() as u8;
                        let run = Bits::new(low, (rest >> low).trailing_ones() as u8);
                        let value = run.get(word, *at);
                        each(note(run, *at, operand.name, "", Role::Operand, value, text.clone(), meaning));
                        rest &= !run.mask(0);
                    }
                }
            }
            Shape::List { kind, at, count, .. } => {
                let field = &isa.kinds[*kind as usize].alternatives[0].fields[0];
                let value = field.bits.get(word, *at);
                pieces(field.bits, *at, &mut |b| {
                    each(note(b, 0, operand.name, "", Role::Operand, value, text.clone(), operand.doc));
                });
                if let Some(bits) = count.bits {
                    let mut text = Line::new();
                    text.push_decimal(list_len(count, word) as u64);
                    let meaning = "number of registers in the list";
                    each(note(bits, 0, count.name, operand.name, Role::Suffix, bits.get(word, 0), text, meaning));
                }
            }
        }
        for suffix in operand.suffixes {
            modifier_note(isa, suffix, operand.name, Role::Suffix, word, each);
        }
    }
    for (i, shared) in isa.shared.iter().enumerate() {
        if shared.printed || shared.bits.mask(0) & (form.fixed_mask | form.ignored) != 0 {
            continue;
        }
        let meaning = if shared_used & 1 << i != 0 { "used by an operand" } else { "used by no operand" };
        let mut text = Line::new();
        text.push_decimal(shared.bits.get(word, 0));
        each(note(shared.bits, 0, shared.name, "", Role::Shared, shared.bits.get(word, 0), text, meaning));
    }
}

/// The specification's description of the constant or named value that an operand selects.
fn constant_doc(isa: &'static Isa, alternative: &'static Alternative, at: u8, word: u64) -> Option<&'static str> {
    let mut docs = alternative.fields.iter().filter_map(|field| {
        let value = field.bits.get(word, at);
        let doc = match field.ty {
            Type::Constant(c) => isa.constants[c as usize].values.get(value as usize)?.doc,
            Type::Enum(e) => isa.enums[e as usize].value(value)?.doc,
            _ => "",
        };
        (!doc.is_empty()).then_some(doc)
    });
    // With several descriptions, none describes the operand as a whole.
    docs.next().filter(|_| docs.next().is_none())
}

fn modifier_note(
    isa: &'static Isa,
    modifier: &'static Modifier,
    operand: &'static str,
    role: Role,
    word: u64,
    each: &mut dyn FnMut(Note),
) {
    let value = modifier.bits.get(word, 0);
    let mut text = Line::new();
    let mut meaning = modifier.doc;
    match modifier.ty {
        Type::Enum(e) => {
            if let Some(named) = isa.enums[e as usize].value(value) {
                text.push_str(named.text);
                meaning = if named.doc.is_empty() { meaning } else { named.doc };
            }
        }
        _ => text.push_str(if value == 0 { "no" } else { "yes" }),
    }
    pieces(modifier.bits, 0, &mut |b| each(note(b, 0, modifier.name, operand, role, value, text.clone(), meaning)));
}

fn pieces(bits: Bits, base: u8, each: &mut dyn FnMut(Bits)) {
    // A modifier with a single possible spelling has no bits.
    for (piece, _) in bits.pieces().filter(|(piece, _)| piece.width > 0) {
        let at = if piece.shared { piece.at } else { piece.at + base };
        each(Bits::new(at, piece.width));
    }
}

#[allow(clippy::too_many_arguments, reason = "one call fills one struct of as many fields")]
fn note(
    bits: Bits,
    base: u8,
    name: &'static str,
    operand: &'static str,
    role: Role,
    value: u64,
    text: Line,
    meaning: &'static str,
) -> Note {
    let low = bits.low.at + base;
    Note { high: low + bits.low.width - 1, low, name, operand, role, value, text, meaning }
}
