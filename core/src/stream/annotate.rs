//! The meaning of each bit of an instruction.

use super::decode::{Decoded, Engine};
use super::table::{Field, Source};
use super::wide::Wide;
use crate::text::Line;

/// The meaning of some bits of an instruction, or of a value computed from them.
#[derive(Clone, Debug)]
pub struct Note {
    /// The bits; zero for a computed value.
    pub bits: Wide,
    /// The field; `None` for constant bits and for bits without meaning.
    pub field: Option<&'static Field>,
    /// Whether the bits are constant.
    pub constant: bool,
    /// The number that the bits make up, without the bits between them, or the value.
    pub value: Wide,
    /// The value in assembly.
    pub text: Line,
}

/// Reports the meaning of the bits of a decoded instruction: constant bits, then fields in the order of the
/// specification, then bits without meaning.
pub fn annotate(engine: Engine, decoded: &Decoded, tell: &mut dyn FnMut(Note)) {
    let scope = engine.scope(decoded);
    let layout = scope.layout;
    let len = Wide::ones(8 * u32::from(decoded.len));
    let plain = |bits: Wide, constant| {
        let value = number(&decoded.word, bits);
        Note { bits, field: None, constant, value, text: Line::new() }
    };
    let mut told = layout.fixed_mask & len;
    if !told.is_zero() {
        tell(plain(told, true));
    }
    for (index, field) in layout.fields.iter().enumerate() {
        let index = index as u8;
        let mut bits = Wide::ZERO;
        if let Source::Bits(pieces) = field.source {
            for piece in pieces {
                bits.set(piece.at.into(), piece.width.into(), u64::MAX);
            }
        }
        bits = bits & len;
        told |= bits;
        let mut text = Line::new();
        scope.print_field(index, &mut text, 0);
        let value = match field.source {
            Source::Bits(_) => scope.bits(field, index),
            _ => Wide::new(scope.value(index)),
        };
        tell(Note { bits, field: Some(field), constant: false, value, text });
    }
    let rest = len & !told;
    if !rest.is_zero() {
        tell(plain(rest, false));
    }
}

/// The number that some bits of a word make up.
fn number(word: &Wide, bits: Wide) -> Wide {
    let (mut number, mut to) = (Wide::ZERO, 0);
    for (at, width) in bits.runs() {
        for part in (0..width).step_by(64) {
            let size = (width - part).min(64);
            number.set(to, size, word.get(at + part, size));
            to += size;
        }
    }
    number
}
