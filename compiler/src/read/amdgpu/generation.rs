//! The LLVM decoder tables that a processor uses.

use std::collections::BTreeSet;

use crate::diagnostic::Diagnostic;
use crate::read::pattern::matches;
use crate::suggest::{did_you_mean, one_of};

/// Name, number and tables of each processor, in order of precedence of the tables.
const TABLE: &str = include_str!("generations.tsv");

/// Predicates that hold only for some of the processors whose tables contain such records, and records that processors
/// lack without a predicate in the document: ranges of processor numbers.
const PREDICATES: &str = include_str!("predicates.tsv");

/// The first processor whose masks of lanes are taken to have 32 bits; they have 64 before.
pub(super) const WAVES_OF_32: u32 = 1000;

/// The maximum number of decoder tables that an error lists.
const SHOWN: usize = 12;

/// A processor.
#[derive(Debug)]
pub(super) struct Generation {
    /// Its name.
    pub name: String,
    /// The number used in conditions of `printers.yaml`.
    pub number: u32,
    /// The decoder tables, in order of precedence.
    pub tables: Vec<&'static str>,
    /// The rows of [`PREDICATES`] that the processor does not fulfil.
    missing: Vec<&'static str>,
}

impl Generation {
    /// Whether the processor satisfies a predicate of a record, or has the record of that name.
    pub fn has(&self, predicate: &str) -> bool {
        self.missing.iter().all(|pattern| !matches(pattern, predicate))
    }
}

/// The predicates and records that a processor lacks.
fn missing(number: u32) -> Vec<&'static str> {
    let within = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse().unwrap_or(0), last.parse().unwrap_or(u32::MAX));
        (first..=last).contains(&number)
    };
    let rows = PREDICATES.lines().filter_map(|line| line.split_once('\t'));
    rows.filter(|(_, ranges)| !ranges.split(' ').any(within)).map(|(pattern, _)| pattern).collect()
}

fn rows() -> impl Iterator<Item = Generation> {
    TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut cells = line.split('\t');
        let (name, number) = (cells.next()?, cells.next()?.parse().ok()?);
        let tables = cells.next()?.split(' ').collect();
        Some(Generation { name: name.to_owned(), number, tables, missing: missing(number) })
    })
}

/// Finds a processor by name.
pub(super) fn find(name: Option<&str>) -> Option<Generation> {
    rows().find(|row| name == Some(&row.name[..]))
}

/// The error for a document without any record of these processors.
pub(super) fn foreign(text: &str) -> Option<Diagnostic> {
    let parts = text.split("\"DecoderNamespace\":\"\\\"").skip(1);
    let tables: BTreeSet<&str> = parts.filter_map(|part| part.split('\\').next()).collect();
    let is_known = |table: &&str| table.is_empty() || rows().any(|row| row.tables.contains(table));
    if tables.is_empty() || tables.iter().any(is_known) {
        return None;
    }
    let mut shown: Vec<&str> = tables.iter().copied().take(SHOWN).collect();
    if tables.len() > SHOWN {
        shown.push("…");
    }
    let message = format!("the document has no records of AMD's GPUs; its decoder tables are {}", shown.join(", "));
    let names: Vec<String> = rows().map(|row| row.name).collect();
    let help = format!("only records of {} are understood", names.join(", "));
    Some(Diagnostic::error_without_place("E0003", message).help(help))
}

/// The error for an unknown or missing processor.
pub(super) fn unknown(name: Option<&str>) -> Diagnostic {
    let names: Vec<String> = rows().map(|row| row.name).collect();
    let known = one_of(&names);
    match name {
        None => {
            let message = "the document describes many processors: a generation must select one";
            Diagnostic::error_without_place("E0022", message.to_owned()).help(format!("say {known}"))
        }
        Some(name) => {
            let error =
                Diagnostic::error_without_place("E0101", format!("there is no generation called `{name}` here"));
            error.help(match did_you_mean(name, names.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("say {known}"),
            })
        }
    }
}
