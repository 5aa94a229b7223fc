//! Instructions that are single words.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{Field, name_keys};
use crate::annotate::{Role, annotate};
use crate::bits::ones;
use crate::decode::{decode, lookup};
use crate::encode::{Builder, list_lengths};
use crate::error::DecodeError;
use crate::parse::parse;
use crate::print::{Style, print};
use crate::sample::{Random, sample};
use crate::semantics::{Operation, Semantics, instantiate, show};
use crate::table::{Isa, Shape, Token, Type};
use crate::text::Line;
use crate::unknown::Reason;

/// A word and the meaning of its bits.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The opcode, or why the word is not an instruction.
    pub decoded: Result<u16, DecodeError>,
    /// The opcode of the word, or the one that it comes close to, if there is one.
    pub opcode: Option<u16>,
    /// The fields, highest bit first, each with its letter.
    pub fields: Vec<Field>,
}

/// Explains the bits of a word. Fields that make it invalid are marked.
///
/// # Examples
///
/// ```
/// use isaforge_core::explain::words::explain;
/// use isaforge_vpu::ISA;
///
/// let explained = explain(ISA, 0x2a00004000800000);
/// assert_eq!(explained.decoded, Ok(explained.opcode.unwrap()));
/// for field in &explained.fields {
///     println!("{} {} = {}: {}", field.key, field.full_name(), field.text, field.meaning);
/// }
/// ```
pub fn explain(isa: &'static Isa, word: u64) -> Explained {
    let decoded = decode(isa, word);
    let opcode = match &decoded {
        Ok(opcode) => Some(*opcode),
        Err(_) => lookup(isa, word).ok(),
    };
    let mut found = opcode.map_or(Vec::new(), |opcode| fields(isa, opcode, word));
    if let Err(error) = &decoded {
        blame(&mut found, error, word);
        if let Some(opcode) = opcode {
            blame_the_obvious(isa, opcode, &mut found);
        }
    }
    name_keys(&mut found);
    Explained { decoded, opcode, fields: found }
}

/// The semantics of an instruction, if the specification has them: the full text, and the text that remains once the
/// modifiers of this word are known.
///
/// # Examples
///
/// ```
/// use isaforge_core::{decode::decode, explain::words::operation};
/// use isaforge_vpu::{ISA, semantics::SEMANTICS};
///
/// let word = 0x2a00004000800000;
/// let (whole, of_this_word) = operation(ISA, SEMANTICS, decode(ISA, word)?, word).unwrap();
/// println!("{whole}\nhere: {of_this_word}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn operation(
    isa: &'static Isa,
    semantics: &'static Semantics,
    opcode: u16,
    word: u64,
) -> Option<(&'static str, String)> {
    let form = isa.forms.get(usize::from(opcode))?;
    let operation: &'static Operation =
        semantics.operations.get(usize::from(opcode)).filter(|found| !found.text.is_empty())?;
    let bits = |modifier: u16| {
        let modifier = operation.modifiers.get(usize::from(modifier));
        modifier.map_or(0, |modifier| modifier.bits(isa, form, word))
    };
    let name = |operand: u16| form.operands.get(usize::from(operand)).map_or("?", |operand| operand.name);
    Some((operation.text, show(semantics, &instantiate(semantics, operation, bits), name)))
}

/// An example of an instruction: a word with plain operands if that is valid, otherwise a random word that assembles.
pub fn example(isa: &'static Isa, opcode: u16) -> u64 {
    let mut random = Random(u64::from(opcode));
    let drawn = core::iter::repeat_with(|| sample(isa, opcode, &mut random)).take(200);
    let good = |word: &u64| {
        let mut line = Line::new();
        decode(isa, *word) == Ok(opcode) && {
            print(isa, opcode, *word, Style::Customary, &mut line);
            parse(isa, line.as_str()).is_ok()
        }
    };
    let plain = plain_example(isa, opcode);
    core::iter::once(plain).chain(drawn).find(good).unwrap_or(plain)
}

/// A word with modifiers at their defaults, distinct operands and lists that are not empty. It need not be valid.
fn plain_example(isa: &'static Isa, opcode: u16) -> u64 {
    let mut builder = Builder::new(isa, opcode);
    for (index, operand) in builder.form().operands.iter().enumerate() {
        // Use even registers, since pairs must start at one. Operands that reject the value stay zero.
        let register = 2 * index as u64;
        let _ = match operand.shape {
            Shape::One { .. } => builder.set_operand(index, 0, &[register]),
            Shape::List { .. } => builder.set_list(index, register, u64::from(list_lengths(operand).0.max(1))),
            Shape::Number { .. } => Ok(()),
        };
    }
    builder.word()
}

/// Marks the field that makes a word invalid.
fn blame(fields: &mut Vec<Field>, error: &DecodeError, word: u64) {
    match *error {
        DecodeError::UnknownOpcode(unknown) => {
            let Reason { bits, found, .. } = unknown.reason();
            fields.push(Field::wrong(bits, "opcode", found, "no instruction"))
        }
        DecodeError::Fixed { bits, expected, found, .. } => {
            let meaning = if expected == 0 { "must be zero".to_owned() } else { format!("must be {expected:#x}") };
            match fields.iter_mut().find(|field| field.has_bits(bits)) {
                Some(field) => field.blame(&meaning),
                None => {
                    // Only these bits of a longer reserved run are wrong; the rest keeps its own row.
                    cut(fields, bits, word);
                    fields.push(Field::wrong(bits, "reserved", found, &meaning));
                }
            }
        }
        DecodeError::Reserved { operand, field, found, .. } => {
            let name = |f: &&mut Field| {
                (f.name == field && f.operand == operand) || (!operand.is_empty() && f.name == operand)
            };
            // The field itself, or else the operand that contains it.
            let exact = fields.iter().position(|f| f.name == field && f.operand == operand);
            let found_field = match exact {
                Some(index) => fields.get_mut(index),
                None => fields.iter_mut().find(name),
            };
            if let Some(found_field) = found_field {
                found_field.blame(&format!("the value {found} of `{field}` is reserved"));
            }
        }
        DecodeError::Operand { operand, .. } => blame_operand(fields, operand, "reserved encoding"),
        DecodeError::OutOfRange { operand, count, .. } => {
            blame_operand(fields, operand, &format!("the last is {}", count.saturating_sub(1)));
        }
        DecodeError::Alignment { operand, align, .. } => {
            blame_operand(fields, operand, &format!("must start at a multiple of {align}"));
        }
        DecodeError::UnusedShared { field, expected, .. } => {
            if let Some(found) = fields.iter_mut().find(|f| f.name == field && f.operand.is_empty()) {
                found.blame(&format!("must be {expected} when no operand uses it"));
            }
        }
    }
}

fn blame_operand(fields: &mut [Field], operand: &str, meaning: &str) {
    if let Some(found) = fields.iter_mut().find(|f| f.name == operand && f.operand.is_empty()) {
        found.blame(meaning);
    }
}

/// The fields of a word that is, or is close to, an instruction, highest bit first.
pub fn fields(isa: &'static Isa, opcode: u16, word: u64) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    annotate(isa, opcode, word, &mut |note| {
        let own = matches!(note.role, Role::Modifier | Role::Operand | Role::Suffix | Role::Shared);
        let same = |f: &&mut Field| f.name == note.name && f.operand == note.operand && f.role == Some(note.role);
        match fields.iter_mut().find(|f| own && same(f)) {
            // Notes of a split field arrive least significant piece first; the runs are listed most significant first.
            Some(field) => field.runs.insert(0, (note.high, note.low)),
            None => fields.push(Field::of_note(&note)),
        }
    });
    for field in &mut fields {
        match field.role {
            Some(Role::Opcode) if field.meaning.is_empty() => field.meaning = "selects the instruction".to_owned(),
            Some(Role::Fixed) if field.meaning.is_empty() => field.meaning = "must have this value".to_owned(),
            Some(Role::Ignored) if field.meaning.is_empty() => field.meaning = "may be anything".to_owned(),
            _ => {}
        }
    }
    fields
}

/// Marks further errors in a word, beyond the first one, which decoding reports.
fn blame_the_obvious(isa: &'static Isa, opcode: u16, fields: &mut [Field]) {
    let form = &isa.forms[opcode as usize];
    for field in fields.iter_mut().filter(|field| !field.wrong) {
        match field.role {
            Some(Role::Fixed) => {
                let run = field.runs.first().copied();
                let expected = run.map(|(high, low)| form.fixed_value >> low & ones(u32::from(high - low) + 1));
                match expected {
                    Some(0) if field.value != 0 => field.blame("must be zero"),
                    Some(expected) if field.value != expected => field.blame(&format!("must be {expected:#x}")),
                    _ => {}
                }
            }
            Some(Role::Modifier | Role::Suffix) if field.text.is_empty() => field.blame("reserved value"),
            Some(Role::Operand) if field.text.is_empty() => field.blame("reserved encoding"),
            _ => {}
        }
    }
}

/// Removes bits from the fields that contain them.
fn cut(fields: &mut Vec<Field>, (high, low): (u8, u8), word: u64) {
    let mut pieces = Vec::new();
    for field in fields.iter_mut() {
        let Some(&(top, bottom)) = field.runs.first().filter(|run| run.0 >= high && run.1 <= low) else { continue };
        let mut piece = |top: u8, bottom: u8| {
            let value = word >> bottom & ones(u32::from(top - bottom) + 1);
            let text = format!("{value:#X}").replacen("0X", "0x", 1);
            pieces.push(Field { runs: vec![(top, bottom)], value, text, ..field.clone() });
        };
        if top > high {
            piece(top, high + 1);
        }
        if bottom < low {
            piece(low - 1, bottom);
        }
        field.runs.clear();
    }
    fields.retain(|field| !field.runs.is_empty());
    fields.append(&mut pieces);
}

/// The text before and after the number of a register, in the shortest spelling that any operand uses.
pub fn affixes(isa: &'static Isa, bank: u16) -> Option<(&'static str, &'static str)> {
    let kinds = isa.forms.iter().flat_map(|form| form.operands).filter_map(|operand| match operand.shape {
        Shape::One { kind, .. } | Shape::List { kind, .. } => Some(kind),
        Shape::Number { .. } => None,
    });
    let mut seen = vec![false; isa.kinds.len()];
    let mut best: Option<(&'static str, &'static str)> = None;
    for kind in kinds {
        if core::mem::replace(&mut seen[kind as usize], true) {
            continue;
        }
        for alternative in isa.kinds[kind as usize].alternatives {
            let (before, field, after) = match alternative.text {
                [Token::Field(field)] => ("", field, ""),
                [Token::Text(before), Token::Field(field)] => (before.str, field, ""),
                [Token::Field(field), Token::Text(after)] => ("", field, after.str),
                [Token::Text(before), Token::Field(field), Token::Text(after)] => (before.str, field, after.str),
                // A register that is followed by more text, such as its components.
                [Token::Text(before), Token::Field(field), Token::Text(_), ..] => (before.str, field, ""),
                _ => continue,
            };
            let is_bank = alternative.fields.get(*field as usize).is_some_and(|f| f.ty == Type::Register(bank));
            let shorter = best.is_none_or(|(b, a)| before.len() + after.len() < b.len() + a.len());
            if is_bank && shorter {
                best = Some((before, after));
            }
        }
    }
    best
}
