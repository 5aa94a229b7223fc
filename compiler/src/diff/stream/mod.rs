//! Compares two revisions of a stream, or two generations of one document.

mod alike;
mod changes;
mod definitions;
mod generation;
mod words;

use isaforge_core::explain::hex;
use isaforge_core::stream::Engine;

use super::change::{Change, How, Subject, change};
use super::difference::{Diff, Example};
use super::effects::{self, Effects};
use super::entries::{Judged, fill};
use super::machine::machine;
use super::revision::Revision;
use generation::{Entry, Generation, pattern};
use words::{Judgement, Pair};

pub(crate) use changes::{renamed, same_reading};

/// Compares two revisions of a stream, or two of its generations.
pub fn diff_streams(old: impl Into<Revision<Engine>>, new: impl Into<Revision<Engine>>) -> Diff {
    let (was, is) = (old.into(), new.into());
    let (forward, backward) = (Pair::new(was.tables, is.tables), Pair::new(is.tables, was.tables));
    let (old, new) = (Generation::new(was.tables), Generation::new(is.tables));
    let fates: Vec<Judgement> = old.instructions.iter().map(|entry| forward.judge(entry)).collect();
    let origins: Vec<Judgement> = new.instructions.iter().map(|entry| backward.judge(entry)).collect();
    let partners = partners(&old, &new);
    let changed = |(entry, partner): (&Entry, &Option<u16>)| {
        let Some(other) = partner.map(|n| &new.instructions[usize::from(n)]) else { return Vec::new() };
        let mut changes = changes::of(&old, &new, entry, other);
        if let (Some(a), Some(b)) = (entry.own.first(), other.own.first()) {
            let own = |(old, new): (&str, &str)| (old.to_owned(), new.to_owned());
            let renamed = renamed(was.tables, is.tables, a, b).into_iter().map(own).collect();
            changes.extend(effects::changes(&Effects::of_stream(was, a), &Effects::of_stream(is, b), renamed));
        }
        changes
    };
    let changes: Vec<Vec<Change>> = old.instructions.iter().zip(&partners).map(changed).collect();
    let mut diff = Diff {
        old: old.side(),
        new: new.side(),
        instructions: Vec::new(),
        common: memory(old.engine, new.engine),
        definitions: definitions::of(was, is),
        alike: 0,
        different: 0,
        unproven: 0,
        resized: false,
    };
    let banks = |engine: Engine| engine.stream.banks.iter().map(|bank| bank.name).collect::<Vec<_>>();
    let (old_banks, new_banks) = (banks(was.tables), banks(is.tables));
    diff.definitions.extend(machine(was.tables.stream.name, (was, &old_banks), (is, &new_banks)));
    let judged = |of: &Generation, by: &Generation, all: Vec<Judgement>| -> Vec<Judged> {
        let entry = |(entry, Judgement { decoding, example, readers }): (&Entry, Judgement)| Judged {
            instruction: entry.instruction(),
            decoding,
            example: example.map(|bytes| Example {
                word: hex(&bytes),
                old: words::reading(was.tables, &bytes),
                new: words::reading(is.tables, &bytes),
            }),
            readers: by.names(&readers),
        };
        of.instructions.iter().zip(all).map(entry).collect()
    };
    fill(&mut diff, judged(&old, &new, fates), judged(&new, &old, origins), &partners, &changes);
    diff
}

/// What changed in how instructions are stored.
fn memory(old: Engine, new: Engine) -> Vec<Change> {
    let order = |engine: Engine| match engine.stream.swap {
        0 | 1 => "least significant byte first".to_owned(),
        size => format!("units of {size} bytes, most significant byte first"),
    };
    let unit = |engine: Engine| format!("{} bytes", engine.stream.unit.max(1));
    let all = [(Subject::ByteOrder, order(old), order(new)), (Subject::Alignment, unit(old), unit(new))];
    let differs = all.into_iter().filter(|(_, was, is)| was != is);
    differs.map(|(subject, was, is)| change(subject, How::Changed, "", was, is)).collect()
}

/// The new counterpart of each old instruction: of the same name, or else with the same patterns if each name is
/// unknown to the other revision.
fn partners(old: &Generation, new: &Generation) -> Vec<Option<u16>> {
    let patterns = |entry: &Entry| entry.own.iter().map(|layout| pattern(layout)).collect::<Vec<_>>();
    let renamed = |entry: &Entry| {
        let wanted = patterns(entry);
        let fits = |other: &Entry| old.named(other.name).is_none() && patterns(other) == wanted;
        new.instructions.iter().position(fits)
    };
    old.instructions.iter().map(|entry| new.named(entry.name).or_else(|| renamed(entry)).map(|n| n as u16)).collect()
}
