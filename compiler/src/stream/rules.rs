//! What the rules for streams share: which words they try, and how they report.

use isaforge_core::stream::{self as core, Engine, Wide};

use super::model::Layout;
use crate::check::text::more;
use crate::diagnostic::{Diagnostic, Diagnostics};

/// How many words of each layout are tried.
pub(super) const SAMPLES: u64 = 24;

/// How many mistakes of a kind are reported individually.
pub(super) const MAX_REPORTED: usize = 20;

/// How many places involved in a mistake are marked.
pub(super) const MARKED: usize = 4;

/// The tables at the first generation that has all of the layouts; `None` when there is none.
pub(super) fn engine_for(stream: &'static core::Stream, layouts: &[&core::Layout]) -> Option<Engine> {
    let (first, last) = stream.generations;
    let since = layouts.iter().map(|layout| layout.since).max().unwrap_or(first).max(first);
    let until = layouts.iter().map(|layout| layout.until).min().unwrap_or(last).min(last);
    (since <= until).then_some(Engine { stream, generation: since })
}

/// The bits that are stored for some fields of a layout, given as a bit set.
pub(super) fn bits_of_fields(layout: &core::Layout, fields: u64) -> Wide {
    let fields = layout.fields.iter().enumerate().filter(|(i, _)| fields >> (i & 63) & 1 != 0);
    fields.fold(Wide::ZERO, |bits, (_, field)| match field.source {
        core::Source::Bits(pieces) => bits | Layout::bits_of(pieces),
        _ => bits,
    })
}

/// Scatters a value over certain bits of a word, lowest first.
pub(super) fn spread(bits: Wide, mut value: u64) -> Wide {
    let mut word = Wide::ZERO;
    for (at, width) in bits.runs() {
        word.set(at, width, value);
        value = value.checked_shr(width).unwrap_or(0);
    }
    word
}

/// Reports the first [`MAX_REPORTED`] mistakes of a kind, and how many more there are.
pub(super) fn report(count: usize, mistakes: impl Iterator<Item = Diagnostic>, out: &mut Diagnostics) {
    for (number, mistake) in (1..=MAX_REPORTED).zip(mistakes) {
        let rest = more(count, MAX_REPORTED).filter(|_| number == MAX_REPORTED);
        out.push(match rest {
            Some(rest) => mistake.note(format!("and {rest} more")),
            None => mistake,
        });
    }
}
