//! E0032: a variable length that the instruction cannot have.

use isaforge_core::stream::{self as core, Role, Scope, Wide};

use super::blast::{constant, equal, resized};
use super::diagram::Node;
use super::model::Stream;
use super::never::earlier;
use super::rules::{engine_for, report};
use super::tree::order;
use super::validity::Validity;
use crate::diagnostic::{Diagnostic, Diagnostics, count};

/// Looks for words whose `length` is no multiple of the unit up to the greatest length, or is another one without the
/// bits after it. Lengths that are too costly to compute for all words count as possible.
pub(super) fn check(tables: &'static core::Stream, stream: &Stream, out: &mut Diagnostics) {
    let Some(set) = stream.sets.first() else { return };
    let mut validity = Validity::new(tables);
    let mut wrong = Vec::new();
    for ((index, layout), of) in (0u16..).zip(tables.layouts_of(0)).zip(order(set)) {
        let Some(length) = layout.length.filter(|_| layout.role == Role::Own) else { continue };
        let Some(engine) = engine_for(tables, &[layout]) else { continue };
        validity.turn(engine.generation);
        let Some(word) = word(&mut validity, (index, layout), length) else { continue };
        let word = word | layout.fixed_value;
        let bytes = |word: &Wide| Scope { engine, layout, word, len: 0, outer: None }.expression(length);
        let says = bytes(&word);
        let (unit, longest) = (u64::from(tables.unit), u64::from(layout.bits / 8));
        let message = if (1..=longest).contains(&says) && says.is_multiple_of(unit) {
            let rest = bytes(&(word & Wide::ones(8 * says as u32)));
            format!("the length of `{}` is {says} bytes with the bits after them, but {rest} without", layout.name)
        } else {
            let says = count(says as usize, "byte");
            let of = if unit == longest { String::new() } else { format!("a multiple of {unit} up to ") };
            format!("the length of `{}` cannot be {says}: it is {of}{longest}", layout.name)
        };
        wrong.push((set.layouts[of].span, message, word));
    }
    let errors = wrong.iter().map(|(span, message, word)| {
        Diagnostic::error("E0032", *span, message.clone())
            .note(format!("for example {word:#x}"))
            .help("correct `length`, or exclude such words: `where: …`")
    });
    report(wrong.len(), errors, out);
}

/// A word of a layout with an impossible length.
fn word(validity: &mut Validity, (index, layout): (u16, &'static core::Layout), length: u16) -> Option<Wide> {
    if validity.is_spent() || validity.is_told_a_length(layout, false) {
        return None;
    }
    let stream = validity.engine().stream;
    let taken = validity.taken((index, layout), &earlier(stream, 0, (index, layout)));
    let whole = validity.place(index, layout.mask, layout.value)?;
    let says = resized(validity.expression(&whole, length), 64);
    let own = validity.own(&whole);
    let cut = validity.present(whole);
    let again = resized(validity.expression(&cut, length), 64);
    let own_cut = validity.own(&cut);
    let diagrams = &mut validity.diagrams;
    let lengths = (1..=u64::from(layout.bits / 8)).filter(|length| length.is_multiple_of(stream.unit.max(1).into()));
    let possible = lengths.fold(Node::FALSE, |any, length| {
        let is = equal(diagrams, &says, &constant(length, says.len()));
        diagrams.choose(is, Node::TRUE, any)
    });
    let impossible = diagrams.without(own, possible);
    let same = equal(diagrams, &says, &again);
    let changes = diagrams.without(own_cut, same);
    let wrong = diagrams.choose(possible, changes, impossible);
    let wrong = diagrams.without(wrong, taken);
    if diagrams.is_full() { None } else { validity.word_of(wrong) }
}
