//! Words that match two layouts.
//!
//! E0106: a word matches two instructions. E0110: it matches two alternatives of an operand. E0134: two layouts for
//! which that cannot be decided at reasonable cost. [Diagrams](super::validity) represent the common words exactly, so
//! that layouts without a report are proved to be disjoint.

use isaforge_core::stream::{self as core, Engine, Role, Scope, Source, Wide};

use super::diagram::Node;
use super::model::Set;
use super::rules::{MARKED, MAX_REPORTED, engine_for};
use super::validity::{Validity, by_significance};
use crate::diagnostic::{Diagnostic, Diagnostics};

/// What is known about the common words of two layouts.
enum Both {
    Never,
    Word(Wide),
    Unknown,
}

/// Looks for words that match both layouts, given by their indices in the tables.
fn words_of_both(validity: &mut Validity, engine: Engine, a: u16, b: u16) -> Both {
    let [Some(one), Some(other)] = [a, b].map(|index| engine.stream.layouts.get(usize::from(index))) else {
        return Both::Never;
    };
    // The values of parameters are unknown here. Only conditions that do not depend on them, and the order, distinguish
    // such layouts.
    let told = |layout: &core::Layout| layout.fields.iter().any(|field| matches!(field.source, Source::Outer(_)));
    if told(one) || told(other) {
        return Both::Never;
    }
    if validity.is_spent() {
        return Both::Unknown;
    }
    let looked = |layout: &'static core::Layout| {
        let leaves = layout.conditions.iter().fold(0, |all, c| all | core::solve::leaves_of(engine, layout, *c));
        (layout, leaves)
    };
    validity.reorder(by_significance(&[looked(one), looked(other)]));
    let (mask, value) = (one.mask | other.mask, one.value & one.mask | other.value & other.mask);
    let fits = [a, b].map(|index| validity.place(index, mask, value).map(|place| validity.fits(&place)));
    let [Some(first), Some(second)] = fits else { return Both::Never };
    let both = validity.diagrams.and(first, second);
    if validity.diagrams.is_full() {
        return Both::Unknown;
    }
    let word = validity.word_of(both).map(|word| word | value);
    let fits = |layout: &'static core::Layout, word: &Wide| {
        Scope { engine, layout, word, len: (one.bits / 8) as u8, outer: None }.fits()
    };
    match word.filter(|word| fits(one, word) && fits(other, word)) {
        Some(word) => Both::Word(word),
        None if both == Node::FALSE => Both::Never,
        None => Both::Unknown,
    }
}

/// Checks a set.
pub(super) fn check(stream: &'static core::Stream, index: usize, set: &Set, out: &mut Diagnostics) {
    let first = stream.sets.get(index).map_or(0, |set| set.first);
    let layouts: Vec<(u16, &'static core::Layout)> =
        (first..).zip(stream.layouts_of(index)).filter(|(_, layout)| layout.role == Role::Own).collect();
    let (mut told, mut validity) = (0, Validity::new(stream));
    for (i, (second, b)) in layouts.iter().enumerate() {
        for (first, a) in &layouts[..i] {
            let same_pattern = ((a.value ^ b.value) & a.mask & b.mask).is_zero();
            // One pattern contains the other, so that the more specific one wins. Layouts of one instruction are tried
            // in order.
            let contained = if a.mask == b.mask {
                a.conditions.is_empty() != b.conditions.is_empty()
            } else {
                (a.mask & b.mask) == a.mask || (a.mask & b.mask) == b.mask
            };
            let variants = index == 0 && a.opcode == b.opcode;
            if !same_pattern || contained || variants || told >= MAX_REPORTED {
                continue;
            }
            let Some(engine) = engine_for(stream, &[a, b]) else { continue };
            validity.turn(engine.generation);
            if validity.are_apart(*first, *second) {
                continue;
            }
            let both = words_of_both(&mut validity, engine, *first, *second);
            let found = |of: &core::Layout| {
                set.layouts.iter().find(|l| l.name == of.name && l.since == of.since && l.value == of.value)
            };
            let span = |of: &core::Layout| found(of).map_or(set.span, |layout| layout.span);
            let what = if index == 0 {
                "match the same word".to_owned()
            } else {
                format!("read the same bits of a `{}`", set.name)
            };
            let word = match both {
                Both::Never => continue,
                Both::Word(word) => word,
                Both::Unknown => {
                    let message = format!("whether `{}` and `{}` {what} cannot be decided", b.name, a.name);
                    let error = Diagnostic::error("E0134", span(b), message).rival(span(a), "the other one");
                    let help = "tell them apart by `fixed` bits, or by conditions that compare fields with constants";
                    out.push(error.help(help));
                    if validity.is_spent() {
                        return;
                    }
                    told += 1;
                    continue;
                }
            };
            told += 1;
            // The constant bits of both are where the layouts should differ.
            let common = a.mask & b.mask;
            let constants = |of: &core::Layout| {
                let said = found(of).map_or(&[][..], |layout| &layout.said).iter();
                said.filter(|(bits, _)| !(*bits & common).is_zero())
                    .map(|(_, span)| *span)
                    .take(MARKED)
                    .collect::<Vec<_>>()
            };
            let code = if index == 0 { "E0106" } else { "E0110" };
            let error = Diagnostic::error(code, span(b), format!("`{}` and `{}` {what}", b.name, a.name));
            let error = error.rival(span(a), "the other one");
            let marks = constants(b)
                .into_iter()
                .map(|span| (span, &b.name))
                .chain(constants(a).into_iter().map(|span| (span, &a.name)));
            let error =
                marks.fold(error, |error, (span, name)| error.rival(span, format!("constant bits of `{name}`")));
            let several = stream.generations.0 != stream.generations.1;
            let when = if several { format!(" in generation {}", engine.generation) } else { String::new() };
            let error = error.note(format!("for example {word:#x} is both{when}"));
            out.push(error.help("give them different `fixed` bits, or conditions that exclude each other: `where: …`"));
        }
    }
}
