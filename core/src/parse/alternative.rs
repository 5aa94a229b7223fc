//! Parses operands of a kind: the alternative that matches the longest text, and its fields.

use super::cursor::{Cursor, is_word};
use crate::bits::{ones, sign_extend};
use crate::encode::{greatest, number_range, place};
use crate::error::{ParseError, ParseReason};
use crate::table::{Alternative, Field, Isa, Token, Type};

/// Finds the alternative that matches the longest text: its end, its index, its fields. `missed` is called for
/// alternatives that fail, with the position. If the instruction sets the shared fields `said` by modifiers, readings
/// that depend on them are matched by their other spellings only.
pub(super) fn longest(
    cursor: &Cursor<'_>,
    alternatives: &'static [Alternative],
    said: u32,
    mut missed: impl FnMut(usize, ParseError),
) -> Option<(usize, usize, [u64; MAX_FIELDS])> {
    let mut best: Option<(usize, usize, [u64; MAX_FIELDS])> = None;
    let texts = |a: &'static Alternative| {
        let also = a.also.iter().map(|spelling| (spelling.text, spelling.with));
        core::iter::once((a.text, &[][..])).chain(also).map(|(text, with)| (a.fields, text, with))
    };
    let other = |a: &Alternative| !a.also.is_empty() && a.when.iter().any(|(shared, _)| said & 1 << shared != 0);
    let all = alternatives.iter().enumerate();
    let all = all.flat_map(|(i, a)| texts(a).skip(usize::from(other(a))).map(move |text| (i, text)));
    for (i, (fields, text, with)) in all {
        let mut cursor = Cursor { ..*cursor };
        let mut values = [0; MAX_FIELDS];
        for (field, value) in with {
            values[usize::from(*field) % MAX_FIELDS] = *value;
        }
        match read_text(&mut cursor, fields, text, &mut values) {
            Ok(()) if cursor.byte().is_some_and(is_word) => {}
            Ok(()) => {
                if best.is_none_or(|(end, ..)| end < cursor.at) {
                    best = Some((cursor.at, i, values));
                }
                // No alternative can extend beyond the end of the line.
                if cursor.byte().is_none() {
                    break;
                }
            }
            Err(Some(error)) => missed(cursor.at, error),
            Err(None) => {}
        }
    }
    best
}

/// Parses the whole of `text` as an operand of a kind, at bit `at` of a word in which only the shared fields are set,
/// to their defaults.
pub fn parse_kind(isa: &'static Isa, kind: usize, at: u8, text: &str) -> Option<u64> {
    let alternatives = isa.kinds.get(kind)?.alternatives;
    let cursor = Cursor { isa, line: text, at: 0 };
    let (end, alternative, values) = longest(&cursor, alternatives, 0, |_, _| {})?;
    if end != text.len() {
        return None;
    }
    place(isa, &alternatives[alternative], at, isa.usual_value, &values).ok()
}

/// The maximum number of fields in an alternative, which the compiler enforces.
pub const MAX_FIELDS: usize = 12;

fn read_text(
    cursor: &mut Cursor<'_>,
    fields: &'static [Field],
    text: &'static [Token],
    values: &mut [u64; MAX_FIELDS],
) -> Result<(), Option<ParseError>> {
    for token in text {
        match token {
            Token::Text(text) => {
                if !cursor.rest().starts_with(text.str) {
                    return Err(None);
                }
                cursor.at += text.str.len();
            }
            Token::Field(i) => {
                let field = &fields[*i as usize];
                let value = read_field(cursor, field.name, field.ty, field.bits.width())?;
                if let Some(slot) = values.get_mut(*i as usize) {
                    *slot = value;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn read_field(cursor: &mut Cursor<'_>, name: &'static str, ty: Type, width: u32) -> Result<u64, Option<ParseError>> {
    let start = cursor.at;
    let isa = cursor.isa;
    match ty {
        Type::Enum(e) => {
            let values = isa.enums[e as usize].values;
            let rest = cursor.rest().as_bytes();
            let here = |text: &str| text.as_bytes().first() == rest.first() && rest.starts_with(text.as_bytes());
            let value = values.iter().filter(|v| here(v.text)).max_by_key(|v| v.text.len()).ok_or(None)?;
            cursor.at += value.text.len();
            Ok(value.bits)
        }
        Type::Constant(c) => {
            let value = cursor.number().ok_or(None)?.map_err(Some)?;
            let values = isa.constants[c as usize].values;
            if cursor.byte() == Some(b'[') {
                return read_index(cursor, values.len() as u64);
            }
            let index = values.iter().position(|v| v.value as i128 == value);
            index.map(|i| i as u64).ok_or(Some(cursor.error_span(start, cursor.at, ParseReason::Constant(c))))
        }
        Type::Register(_) | Type::Decimal | Type::Hex | Type::Flag => {
            if !cursor.byte().is_some_and(|b| b.is_ascii_digit()) {
                return Err(None);
            }
            let value = cursor.number().ok_or(None)?.map_err(Some)?;
            let most = greatest(isa, ty, width);
            if value < 0 || value > most as i128 {
                return Err(Some(cursor.error_span(start, cursor.at, ParseReason::Range(name, 0, most as i64))));
            }
            Ok(value as u64)
        }
        Type::Signed => {
            let value = cursor.number().ok_or(None)?.map_err(Some)?;
            match i64::try_from(value) {
                Ok(value) if sign_extend(value as u64, width) == value => Ok(value as u64 & ones(width)),
                _ => {
                    let (least, most) = number_range(ty, width);
                    Err(Some(cursor.error_span(start, cursor.at, ParseReason::Range(name, least, most))))
                }
            }
        }
    }
}

/// Reads the index, such as `[21]`, after a constant that occurs in its table more than once.
fn read_index(cursor: &mut Cursor<'_>, count: u64) -> Result<u64, Option<ParseError>> {
    cursor.at += 1;
    let start = cursor.at;
    let value = cursor.number().ok_or(None)?.map_err(Some)?;
    if value < 0 || value >= count as i128 {
        let most = count as i64 - 1;
        return Err(Some(cursor.error_span(start, cursor.at, ParseReason::Range("index", 0, most))));
    }
    if cursor.byte() != Some(b']') {
        return Err(Some(cursor.error_word(ParseReason::Expected("]"))));
    }
    cursor.at += 1;
    Ok(value as u64)
}
