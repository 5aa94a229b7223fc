//! Instructions in a stream of bytes.

use crate::stream::{Engine, Layout, Source, Wide};

/// A word of a layout: its constants and the defaults of its fields, with small numbers that can be told apart.
pub fn example(engine: Engine, layout: &'static Layout) -> Wide {
    let word = |spread: bool| {
        let mut word = Wide::ZERO;
        for (i, field) in layout.fields.iter().enumerate() {
            if let Source::Bits(pieces) = field.source {
                let mut value = if spread && field.default == 0 { i as u64 + 1 } else { field.default };
                for piece in pieces {
                    word.set(piece.at.into(), piece.width.into(), value);
                    value = value.checked_shr(piece.width.into()).unwrap_or(0);
                }
            }
        }
        word & !layout.fixed_mask | layout.fixed_value
    };
    let good = |word: &Wide| engine.decode(&engine.store(*word)).is_ok();
    [word(true), word(false)].into_iter().find(good).unwrap_or_else(|| word(false))
}
