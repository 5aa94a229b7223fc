//! What the compiler checks about the fields of a layout.

use super::{Frame, Steps, asked, solve};
use crate::stream::decode::Engine;
use crate::stream::piece::extract;
use crate::stream::table::{Layout, MAX_FIELDS, Source, Token};
use crate::stream::wide::Wide;

/// The fields with bits of their own, or from outside, that determine an expression of a layout, as a bit set.
pub fn leaves_of(engine: Engine, layout: &'static Layout, expression: u16) -> u64 {
    Frame::new(layout).leaves_of(engine, expression)
}

/// Whether bits can be found for which a field of a layout has a value.
pub fn gives(engine: Engine, layout: &'static Layout, field: u8, value: u64) -> bool {
    // The layout's conditions are ignored here.
    let mut frame = Frame::new(layout);
    if !frame.set(field, value) {
        return false;
    }
    solve(engine, &Steps::default(), &frame, &mut |frame| {
        frame.value(engine, field, 0) == layout.fields.get(usize::from(field)).map_or(0, |f| f.extended(value))
    })
}

/// The number of bits that determine a field.
pub fn deciding(layout: &'static Layout, field: u8) -> u32 {
    let leaves = layout.fields.get(usize::from(field)).map_or(0, |field| field.leaves);
    Frame::new(layout).width_of(leaves)
}

/// Checks the inverse of a computed field for one assignment of the fields that determine it, given as concatenated
/// bits, the first field lowest. Assignments that the layout's conditions exclude are skipped.
///
/// # Errors
/// The value, if the inverse does not lead back to it.
pub fn returns(engine: Engine, layout: &'static Layout, field: u8, bits: u64) -> Result<(), u64> {
    let Some(found) = layout.fields.get(usize::from(field)) else { return Ok(()) };
    let Source::Computed { inverse, .. } = found.source else { return Ok(()) };
    let mut there = Frame::new(layout);
    there.fill(found.leaves, bits);
    if let Some(len) = layout.length.and_then(|_| there.length(engine, &there.word())) {
        // Bits past the end are 0.
        let word = there.word() & Wide::ones(8 * u32::from(len));
        for (i, field) in layout.fields.iter().enumerate().take(MAX_FIELDS) {
            if let Source::Bits(pieces) = field.source
                && there.knows(i as u8)
            {
                there.values[i] = field.extended(extract(&word, pieces));
            }
        }
    }
    if !there.consistent(engine, 0) {
        return Ok(());
    }
    let value = there.value(engine, field, 0);
    let asked = asked(engine, layout, field);
    let mut back = Frame { known: there.known & asked | 1 << (field & 63), ..there };
    if let Some(own) = back.values.get_mut(usize::from(field)) {
        *own = value;
    }
    let same = match back.back(engine, inverse) {
        Some(back) if found.leaves & !back.known == 0 => {
            back.value(engine, field, 0) == value && back.consistent(engine, 0)
        }
        _ => gives(engine, layout, field, value),
    };
    if same { Ok(()) } else { Err(value) }
}

/// Whether a field appears in the text of a layout.
pub fn shows(layout: &Layout, field: u8) -> bool {
    fn among(tokens: &[Token], field: u8) -> bool {
        tokens.iter().any(|token| match token {
            Token::Field(shown) | Token::Bits(shown, _) => *shown == field,
            Token::If(_, tokens) | Token::Aside(tokens) => among(tokens, field),
            _ => false,
        })
    }
    among(layout.text, field)
}
