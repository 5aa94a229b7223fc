//! What instructions do to control flow.
//!
//! Records say whether an instruction branches or ends the thread; `flow.tsv` has what they leave open, such as whether
//! a branch has a condition, as texts of the semantics language.

use super::records::Record;
use crate::read::pattern::matches;
use crate::source::{FileId, Sources, Span, Spanned};

/// Names of records (`*` is any text), what the record says, and the text. The first row that fits applies.
const TABLE: &str = include_str!("flow.tsv");

/// The table as a source, so that messages about its texts have places.
pub(super) struct Flows(FileId);

impl Flows {
    pub fn new(sources: &mut Sources) -> Flows {
        Flows(sources.add("flow.tsv", TABLE.to_owned()))
    }

    /// What an instruction does; `None` if control flow simply continues, or nothing is known.
    pub fn of(&self, record: &Record) -> Option<Spanned<String>> {
        let mut start = 0;
        TABLE.split_inclusive('\n').find_map(|line| {
            let first = start;
            start += line.len();
            let [pattern, says, text] = line.trim_end().split('\t').collect::<Vec<_>>()[..] else { return None };
            let holds = match says {
                "isBranch" => record.branches,
                // Branches are terminators, too, but of some of them nothing more is known.
                "isTerminator" => record.terminates && !record.branches,
                _ => true,
            };
            let at = first + line.trim_end().len() - text.len();
            let fits = !line.starts_with('#') && holds && matches(pattern, &record.name);
            fits.then(|| Spanned::new(text.to_owned(), Span::new(self.0, at..at + text.len())))
        })
    }
}
