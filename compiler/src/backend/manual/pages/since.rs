//! Differences from another revision, of the whole set and of one instruction.

use maud::{Markup, html};

use crate::backend::manual::facts::Book;
use crate::diagnostic::count;
use crate::diff::{Diff, Fate, InstructionDiff};

/// The page of differences.
pub fn page(book: &Book, diff: &Diff) -> Markup {
    html! {
        h1 { "Changes since " (diff.old.name) }
        p {
            (count(diff.alike, "instruction")) " of " (diff.old.name) " read alike in " (diff.new.name) ", "
            (diff.different) " read differently" @if diff.unproven > 0 { ", " (diff.unproven) " are unproven" } "."
        }
        @for fate in Fate::ALL {
            @let found: Vec<&InstructionDiff> = diff.instructions.iter().filter(|it| it.fate == fate).collect();
            @if !found.is_empty() {
                h2 { (capital(fate.as_str())) span.place { (found.len()) } }
                ul.list { @for it in found { li {
                    @match book.entries.iter().find(|entry| it.new.as_ref().is_some_and(|new| new.name == entry.name)) {
                        Some(entry) => { a href={ "i/" (entry.slug) ".html#changes" } { code { (it.name()) } } " " (entry.title) }
                        None => code { (it.name()) },
                    }
                } } }
            }
        }
        @if !diff.definitions.is_empty() {
            h2 { "Definitions" }
            ul { @for it in &diff.definitions {
                li { (it.sort.as_str()) " " code { (it.name) } ": " (it.how.as_str())
                    @if !it.renamed.is_empty() { " as " code { (it.renamed) } } (changes(&it.changes)) }
            } }
        }
    }
}

/// The differences of an instruction; `None` if there are none.
pub fn of(diff: &Diff, name: &str) -> Option<Markup> {
    let it = diff.instructions.iter().find(|it| it.new.as_ref().is_some_and(|new| new.name == name))?;
    let old = it.old.as_ref().map(|old| old.name.as_str()).filter(|old| *old != name);
    Some(html! {
        p { "Since " a href="../since.html" { (diff.old.name) } ": " (it.fate.as_str())
            @if let Some(old) = old { "; there it is " code { (old) } } "." }
        (changes(&it.changes))
        @for example in &it.examples {
            p { code { (example.word) } " was " code { (example.old) } ", is now " code { (example.new) } "." }
        }
    })
}

fn changes(changes: &[crate::diff::Change]) -> Markup {
    html! {
        @if !changes.is_empty() {
            ul { @for change in changes {
                li { (change.subject.as_str()) " " code { (change.name) } " " (change.how.as_str())
                    @if !change.old.is_empty() || !change.new.is_empty() {
                        ": " @if change.old.is_empty() { "none" } @else { code { (change.old) } }
                        " → " @if change.new.is_empty() { "none" } @else { code { (change.new) } }
                    }
                }
            } }
        }
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
