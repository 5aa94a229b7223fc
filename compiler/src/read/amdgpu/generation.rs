//! Which of LLVM's decoder tables a processor has.

use crate::diagnostic::Diagnostic;
use crate::suggest::{did_you_mean, one_of};

/// Name, number and tables of each processor, the tables that win first.
const TABLE: &str = include_str!("generations.tsv");

/// Predicates that not all processors fulfil whose tables have such records, and records that they lack though the document
/// has no predicate for them: ranges of their numbers.
const PREDICATES: &str = include_str!("predicates.tsv");

/// A processor.
#[derive(Debug)]
pub(super) struct Generation {
    /// Its name.
    pub name: String,
    /// The number that conditions of `printers.yaml` compare.
    pub number: u32,
    /// The decoder tables, the one that wins first.
    pub tables: Vec<&'static str>,
}

impl Generation {
    /// Whether the processor fulfils a predicate of a record, or has a record of a name.
    pub fn has(&self, predicate: &str) -> bool {
        let row = PREDICATES.lines().find_map(|line| line.strip_prefix(predicate)?.strip_prefix('\t'));
        let within = |range: &str| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last) = (first.parse().unwrap_or(0), last.parse().unwrap_or(u32::MAX));
            (first..=last).contains(&self.number)
        };
        row.is_none_or(|ranges| ranges.split(' ').any(within))
    }
}

fn rows() -> impl Iterator<Item = Generation> {
    TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut cells = line.split('\t');
        let (name, number) = (cells.next()?, cells.next()?.parse().ok()?);
        Some(Generation { name: name.to_owned(), number, tables: cells.next()?.split(' ').collect() })
    })
}

/// The processor of a name.
pub(super) fn find(name: Option<&str>) -> Option<Generation> {
    rows().find(|row| name == Some(&row.name[..]))
}

/// Says that there is no such processor.
pub(super) fn unknown(name: Option<&str>) -> Diagnostic {
    let names: Vec<String> = rows().map(|row| row.name).collect();
    let known = one_of(&names);
    match name {
        None => {
            let message = "the document describes many processors, and no generation says which is meant";
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
