//! The list of instructions, by name and by unit, and the page of the decoder.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{inline, prose};
use crate::backend::manual::facts::{Book, Entry};
use crate::diagnostic::count;

/// The front page.
pub fn index(book: &Book) -> Markup {
    let mut entries: Vec<&Entry> = book.entries.iter().collect();
    entries.sort_by_cached_key(|entry| entry.name.to_lowercase());
    let mut letters: BTreeMap<char, Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        let first = entry.name.chars().next().unwrap_or('?').to_ascii_uppercase();
        letters.entry(first).or_default().push(entry);
    }
    html! {
        h1 { (book.name) }
        (prose(&book.doc))
        p.summary { (count(book.entries.len(), "instruction")) " in " (book.shape) "." }
        nav.letters aria-label="Letters" {
            @for letter in letters.keys() { a href={ "#letter-" (*letter as u32) } { (letter) } }
        }
        @for (letter, entries) in &letters {
            h2 id={ "letter-" (*letter as u32) } { (letter) }
            (list(entries))
        }
    }
}

/// The instructions of each unit.
pub fn units(book: &Book) -> Markup {
    let mut units: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in &book.entries {
        units.entry(entry.unit.as_str()).or_default().push(entry);
    }
    html! {
        h1 { "Instructions by unit" }
        @for (unit, entries) in &units {
            h2 { (if unit.is_empty() { "No unit is specified" } else { unit }) }
            (list(entries))
        }
    }
}

fn list(entries: &[&Entry]) -> Markup {
    html! {
        ul.list {
            @for entry in entries {
                li { a href={ "i/" (entry.slug) ".html" } { code { (entry.name) } } " " (inline(&entry.title)) }
            }
        }
    }
}

/// The page of the decoder, whose contents are created by the script.
pub fn decoder() -> Markup {
    html! {
        h1 { "Decoder" }
        p { "Paste machine code as hexadecimal digits or bytes, or assembly. The decoder shows fields, text and addresses;
             click a bit to flip it." }
        noscript { p { "The decoder needs JavaScript. Every other page works without it." } }
        div #program {}
    }
}
