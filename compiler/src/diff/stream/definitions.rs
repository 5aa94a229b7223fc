//! Differences between enums, banks and kinds.

use isaforge_core::explain::streams::enums;
use isaforge_core::stream::{Bank, Engine, Layout, Set};

use super::changes::reading;
use super::generation::active;
use crate::diff::change::{Change, How, Subject, change};
use crate::diff::difference::{DefinitionDiff, Sort};
use crate::diff::effects::of_alternative;
use crate::diff::encoded::Encoded;
use crate::diff::revision::Revision;
use crate::diff::structure::{enum_changes, pairs};

/// What changed in the definitions.
pub(super) fn of(was: Revision<Engine>, is: Revision<Engine>) -> Vec<DefinitionDiff> {
    let (old, new) = (was.tables, is.tables);
    let (was, is) = if was.runs_as(is) { (was, is) } else { (old.into(), new.into()) };
    let mut out = Vec::new();
    let enums = |engine: Engine| {
        let found = enums(engine).map(|(index, of)| (of.name, &engine.stream.enums[index]));
        found.collect::<Vec<_>>().into_iter()
    };
    pairs(Sort::Enum, enums(old), enums(new), &mut out, enum_changes);
    let banks = |engine: Engine| engine.stream.banks.iter().map(|bank| (bank.name, bank));
    pairs(Sort::Bank, banks(old), banks(new), &mut out, bank);
    // A kind may occur once for each combination of parameters.
    let kinds = |engine: Engine| {
        let sets = engine.stream.sets.iter().skip(1);
        sets.clone()
            .enumerate()
            .map(move |(n, set)| ((set.name, sets.clone().take(n).filter(|s| s.name == set.name).count()), set))
    };
    let entry = |how, name: &str, changes| DefinitionDiff {
        sort: Sort::Kind,
        how,
        name: name.to_owned(),
        renamed: String::new(),
        changes,
    };
    for (key, a) in kinds(old) {
        let changes = match kinds(new).find(|(other, _)| *other == key) {
            None => {
                out.push(entry(How::Removed, key.0, Vec::new()));
                continue;
            }
            Some((_, b)) => kind(was, is, a, b),
        };
        if !changes.is_empty() && !out.iter().any(|known| known.name == key.0 && known.changes == changes) {
            out.push(entry(How::Changed, key.0, changes));
        }
    }
    for (key, _) in kinds(new).filter(|(key, _)| kinds(old).all(|(other, _)| other != *key)) {
        out.push(entry(How::Added, key.0, Vec::new()));
    }
    out
}

fn bank(a: &'static Bank, b: &'static Bank) -> Vec<Change> {
    let mut out = Vec::new();
    if a.count != b.count {
        out.push(change(Subject::Count, How::Changed, "", a.count.to_string(), b.count.to_string()));
    }
    if a.width != b.width {
        out.push(change(Subject::Width, How::Changed, "", a.width.to_string(), b.width.to_string()));
    }
    let also = |bank: &Bank| {
        let names: Vec<String> = bank.also.iter().map(|(name, number)| format!("`{name}` is {number}")).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    if also(a) != also(b) {
        out.push(change(Subject::Syntax, How::Changed, "other names", also(a), also(b)));
    }
    for number in 0..a.count.min(b.count) {
        let (was, is) = (a.name(number.into()), b.name(number.into()));
        if was != is {
            // One line is enough if the notation of all numbers changed.
            let general = was.number.is_some() && is.number.is_some();
            let what = if general { String::new() } else { number.to_string() };
            out.push(change(Subject::Syntax, How::Changed, &what, format!("`{was}`"), format!("`{is}`")));
            if what.is_empty() {
                break;
            }
        }
    }
    out
}

/// What changed in a kind, in the generations that are compared.
fn kind(old: Revision<Engine>, new: Revision<Engine>, a: &'static Set, b: &'static Set) -> Vec<Change> {
    let mut out = Vec::new();
    if a.bits != b.bits {
        out.push(change(Subject::Width, How::Changed, "", a.bits.to_string(), b.bits.to_string()));
    }
    let layouts = |engine: Engine, set: &Set| -> Vec<&'static Layout> {
        let all = engine.stream.layouts.iter().skip(set.first.into()).take(set.count.into());
        all.filter(|layout| active(engine, layout)).collect()
    };
    let (x, y) = (layouts(old.tables, a), layouts(new.tables, b));
    let described = |revision: Revision<Engine>, set: &Set, layout: &'static Layout| {
        let engine = revision.tables;
        let number = engine.stream.sets.iter().position(|known| std::ptr::eq(known, set)).unwrap_or_default();
        let encoded = Encoded::Stream(engine, layout);
        reading(engine, layout) + &of_alternative(revision, number as u16, layout.name, encoded)
    };
    // Alternatives of the same name are distinguished by their order.
    let number = |list: &[&'static Layout], layout: &'static Layout| {
        list.iter().filter(|l| l.name == layout.name).position(|l| std::ptr::eq(*l, layout))
    };
    let find = |list: &[&'static Layout], name: &str, n: Option<usize>| {
        list.iter().filter(|l| l.name == name).nth(n.unwrap_or(0)).copied()
    };
    let known = |list: &[&'static Layout], name: &str| list.iter().any(|layout| layout.name == name);
    let mut renamed = Vec::new();
    for layout in &x {
        let was = described(old, a, layout);
        let same = |other: &&&'static Layout| {
            !known(&y, layout.name) && !known(&x, other.name) && described(new, b, other) == was
        };
        match find(&y, layout.name, number(&x, layout)) {
            None => match y.iter().find(same) {
                Some(other) => {
                    renamed.push(other.name);
                    out.push(change(Subject::Alternative, How::Renamed, layout.name, "", format!("`{}`", other.name)));
                }
                None => out.push(change(Subject::Alternative, How::Removed, layout.name, was, "")),
            },
            Some(other) => {
                let is = described(new, b, other);
                if was != is {
                    out.push(change(Subject::Alternative, How::Changed, layout.name, was, is));
                }
            }
        }
    }
    let is_new = |layout: &&&'static Layout| {
        find(&x, layout.name, number(&y, layout)).is_none() && !renamed.contains(&layout.name)
    };
    for layout in y.iter().filter(is_new) {
        out.push(change(Subject::Alternative, How::Added, layout.name, "", described(new, b, layout)));
    }
    out
}
