//! Modifiers of an instruction whose words after the dot are alike.
//!
//! E0109: two modifiers of which either may print a word alone, or a word with a dot that others print together. The
//! words of other instructions are compared where [texts](super::texts) are.

use std::collections::HashMap;

use isaforge_core::stream::{self as core, Engine, Role, Wide};
use isaforge_core::text::Line;

use super::model::{Layout, Set, Source, Token, Type};
use super::rules::{MAX_REPORTED, SAMPLES, engine_for};
use super::tree::order;
use crate::check::text::more;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::Isa;
use crate::source::Span;

/// How many words of an instruction are given two sets of modifiers.
const TRIED: usize = 2;

/// A modifier in the text of an instruction.
struct Modifier<'a> {
    field: usize,
    /// The value for which it is left out; `None` if it is always written.
    quiet: Option<u64>,
    /// What it prints after the dot, with the value.
    words: Vec<(&'a str, u64)>,
}

/// Values of modifiers, as indices into the list of modifiers.
type Values = Vec<(usize, u64)>;

/// Checks the instructions of a stream.
pub(super) fn check(isa: &Isa, tables: &'static core::Stream, set: &Set, out: &mut Diagnostics) {
    let first = tables.sets.first().map_or(0, |set| set.first);
    let mut found: Vec<(Span, Span, String, String)> = Vec::new();
    for ((index, layout), of) in (first..).zip(tables.layouts_of(0)).zip(order(set)) {
        let own = &set.layouts[of];
        if layout.role != Role::Own || own.modifiers.len() < 2 {
            continue;
        }
        let Some(engine) = engine_for(tables, &[layout]) else { continue };
        let mut modifiers = Vec::new();
        modifiers_of(isa, own, &own.text, &mut modifiers);
        for (a, b, text) in alike(engine, index, layout, own, &modifiers) {
            let [a, b] = [a, b].map(|modifier| &own.fields[modifiers[modifier].field]);
            // A definition that many instructions share is reported once.
            if !found.iter().any(|(known, other, ..)| (*known, *other) == (b.span, a.span)) {
                let message = format!("`{text}` is printed for `{}` and for `{}` of `{}`", a.name, b.name, own.name);
                found.push((b.span, a.span, message, format!("`{}`", a.name)));
            }
        }
    }
    let count = found.len();
    for (number, (place, other, message, name)) in (1..=MAX_REPORTED).zip(found) {
        let error = Diagnostic::error("E0109", place, message);
        let error = if other == place { error } else { error.secondary(other, name) };
        let error = error.help("rename a value, or give flags a `prints` of their own");
        out.push(match more(count, MAX_REPORTED).filter(|_| number == MAX_REPORTED) {
            Some(rest) => error.note(format!("and {rest} more")),
            None => error,
        });
    }
}

/// Collects the modifiers in a text: `.` with a value, or a word after a dot that depends on a condition.
fn modifiers_of<'a>(isa: &'a Isa, layout: &'a Layout, tokens: &'a [Token], all: &mut Vec<Modifier<'a>>) {
    let is_modifier = |field: &usize| layout.modifiers.contains(field);
    let words = |field: usize| match layout.fields[field].ty {
        Type::Enum(e, _) => isa.enums[e].values.iter().map(|value| (value.text.as_str(), value.bits)).collect(),
        _ => Vec::new(),
    };
    for token in tokens {
        match token {
            Token::Field(field) if is_modifier(field) => {
                all.push(Modifier { field: *field, quiet: None, words: words(*field) });
            }
            Token::If(condition, inner) => {
                let known = match (condition.inputs.as_slice(), condition.constants.as_slice()) {
                    ([core::Input::Field(field)], [quiet]) => Some((usize::from(*field), *quiet)),
                    _ => None,
                };
                match (known.filter(|(field, _)| is_modifier(field)), inner.as_slice()) {
                    (Some((field, quiet)), [Token::Text(dot), Token::Field(shown)])
                        if dot == "." && *shown == field =>
                    {
                        let words = words(field).into_iter().filter(|(_, value)| *value != quiet).collect();
                        all.push(Modifier { field, quiet: Some(quiet), words });
                    }
                    (Some((field, quiet @ 0)), [Token::Text(text)]) if text.starts_with('.') => {
                        all.push(Modifier { field, quiet: Some(quiet), words: vec![(&text[1..], 1)] });
                    }
                    _ => modifiers_of(isa, layout, inner, all),
                }
            }
            _ => {}
        }
    }
}

/// Pairs of modifiers that print alike, with a text of both.
fn alike(
    engine: Engine,
    index: u16,
    layout: &'static core::Layout,
    own: &Layout,
    modifiers: &[Modifier<'_>],
) -> Vec<(usize, usize, String)> {
    let mut known: HashMap<&str, Values> = HashMap::new();
    let mut candidates: Vec<(Values, Values)> = Vec::new();
    for (m, modifier) in modifiers.iter().enumerate() {
        for &(word, value) in &modifier.words {
            let others = known.entry(word).or_default();
            candidates.extend(others.iter().filter(|(other, _)| *other != m).map(|o| (vec![*o], vec![(m, value)])));
            others.push((m, value));
        }
    }
    for (m, modifier) in modifiers.iter().enumerate() {
        for &(word, value) in modifier.words.iter().filter(|(word, _)| word.contains('.')) {
            let mut parts: Values = Vec::new();
            let all = word.split('.').all(|part| {
                let found = known.get(part).into_iter().flatten().find(|(o, _)| parts.iter().all(|(p, _)| p != o));
                parts.extend(found);
                found.is_some()
            });
            if all {
                candidates.push((vec![(m, value)], parts));
            }
        }
    }
    let mut told: Vec<(usize, usize, String)> = Vec::new();
    for (one, other) in candidates {
        // The first modifiers of the two that differ.
        let of = |values: &Values, others: &Values| {
            let only = values.iter().find(|(m, _)| others.iter().all(|(o, _)| o != m));
            only.or(values.first()).map(|(m, _)| *m)
        };
        let (Some(a), Some(b)) = (of(&one, &other), of(&other, &one)) else { continue };
        if told.iter().any(|(x, y, _)| (*x, *y) == (a, b)) {
            continue;
        }
        told.extend(same_text(engine, index, layout, own, modifiers, [&one, &other]).map(|text| (a, b, text)));
    }
    told
}

/// The text of two valid words that differ only in the values of some modifiers; those without a value are left out.
fn same_text(
    engine: Engine,
    index: u16,
    layout: &'static core::Layout,
    own: &Layout,
    modifiers: &[Modifier<'_>],
    [one, other]: [&Values; 2],
) -> Option<String> {
    let decoded = |word: Wide| engine.decode(&engine.store(word)).ok().filter(|decoded| decoded.layout == index);
    let with = |word: Wide, values: &Values| {
        let all = one.iter().chain(other).map(|(m, _)| *m);
        all.into_iter().try_fold(word, |word, m| {
            let given = values.iter().find(|(own, _)| *own == m).map(|(_, value)| *value);
            with_field(own, word, modifiers[m].field, given.or(modifiers[m].quiet)?)
        })
    };
    let text = |decoded: &core::Decoded| {
        let mut line = Line::new();
        engine.print(decoded, &mut line);
        line.as_str().to_owned()
    };
    let pairs = core::sample::words(layout, SAMPLES).filter_map(|word| {
        let words = [with(word, one)?, with(word, other)?].map(decoded);
        if let [Some(a), Some(b)] = words { Some([a, b]) } else { None }
    });
    pairs.take(TRIED).find(|[a, b]| a.word != b.word && text(a) == text(b)).map(|[a, _]| text(&a))
}

/// A word with a value in the bits of a field; `None` if they cannot hold it.
fn with_field(layout: &Layout, mut word: Wide, field: usize, value: u64) -> Option<Wide> {
    let Source::Bits(pieces) = &layout.fields[field].source else { return None };
    core::insert(&mut word, pieces, value);
    (core::extract(&word, pieces) == value).then_some(word)
}
