//! The contents of the manual as data, which is the same for words, groups and streams, so that all pages have the same
//! structure.
//!
//! `words`, `groups` and `streams` read their tables into the types of `book`. The facts of an example word come from
//! [`isaforge_core::explain`], as in `isaforge explain`.

mod book;
mod groups;
mod streams;
mod words;

use std::collections::BTreeSet;

use isaforge_core::Tables;

use super::subject::Subject;

pub use book::{Bank, Book, Entry, Example, Kind, Layout, Names, Opcode, Part, Piece, Reading, Run, Slot, Values};

impl Book {
    /// Reads the tables of a subject.
    pub fn new(subject: &Subject) -> Book {
        let mut book = match subject.tables {
            Tables::Words(isa) => words::book(isa),
            Tables::Groups(isa) => groups::book(isa, subject.semantics),
            Tables::Streams(engine) => streams::book(engine),
        };
        book.add_meanings(subject);
        if let Tables::Streams(_) = subject.tables {
            book.drop_absent();
        }
        book.name_pages();
        book.relate();
        book
    }

    /// Drops the instructions that do not exist in the generation.
    fn drop_absent(&mut self) {
        let mut kept = 0..;
        let places: Vec<Option<usize>> =
            self.entries.iter().map(|entry| if entry.layouts.is_empty() { None } else { kept.next() }).collect();
        self.entries.retain(|entry| !entry.layouts.is_empty());
        self.opcodes.retain_mut(|opcode| match places.get(opcode.entry).copied().flatten() {
            Some(entry) => {
                opcode.entry = entry;
                true
            }
            None => false,
        });
    }

    fn add_meanings(&mut self, subject: &Subject) {
        let Some(semantics) = subject.semantics else { return };
        for (entry, operation) in self.entries.iter_mut().zip(semantics.operations) {
            entry.operation = operation.text.trim().to_owned();
            let used = operation.intrinsics.iter().filter_map(|index| semantics.intrinsics.get(usize::from(*index)));
            entry.intrinsics = used.map(|intrinsic| (intrinsic.name, intrinsic.doc)).collect();
        }
        for fact in semantics.fidelity {
            let text = [fact.detail, fact.evidence, fact.note].into_iter().filter(|text| !text.is_empty());
            let text = text.collect::<Vec<_>>().join("; ");
            for opcode in fact.instructions {
                if let Some(entry) = self.entries.get_mut(usize::from(*opcode)) {
                    entry.fidelity = Some((fact.class.name(), text.clone()));
                }
            }
        }
    }

    fn name_pages(&mut self) {
        let mut used = BTreeSet::new();
        for entry in &mut self.entries {
            entry.slug = unique(&entry.name, &mut used);
        }
        let mut used = BTreeSet::new();
        self.enums.iter_mut().for_each(|names| names.slug = unique(&names.name, &mut used));
        let mut used = BTreeSet::new();
        self.kinds.iter_mut().for_each(|kind| kind.slug = unique(&kind.name, &mut used));
    }

    fn relate(&mut self) {
        let stems: Vec<String> = self.entries.iter().map(|entry| stem(&entry.name)).collect();
        for (index, entry) in self.entries.iter_mut().enumerate() {
            let same = stems.iter().enumerate().filter(|(other, found)| *other != index && **found == stems[index]);
            entry.related = same.map(|(other, _)| other).take(24).collect();
        }
    }
}

/// The part of a name that related instructions share: up to the first dot, without a trailing type.
fn stem(name: &str) -> String {
    let name = name.to_lowercase();
    let first = name.split_once('.').map_or(name.as_str(), |(first, _)| first);
    let parts: Vec<&str> = first.split('_').collect();
    match parts.as_slice() {
        [first, second, _, ..] if first.len() <= 2 => format!("{first}_{second}"),
        [first, ..] => (*first).to_owned(),
        [] => String::new(),
    }
}

/// A unique name for files and anchors, made of letters, digits, underscores and hyphens.
fn unique(name: &str, used: &mut BTreeSet<String>) -> String {
    let mut slug = String::new();
    for c in name.to_lowercase().chars() {
        match c {
            'a'..='z' | '0'..='9' | '_' => slug.push(c),
            _ if slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    let base = match slug.trim_matches('-') {
        "" => "x".to_owned(),
        slug => slug.chars().take(80).collect(),
    };
    let mut slug = base.clone();
    for number in 2.. {
        if used.insert(slug.clone()) {
            break;
        }
        slug = format!("{base}-{number}");
    }
    slug
}
