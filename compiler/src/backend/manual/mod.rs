//! The back end for manuals: static pages for a browser.
//!
//! ```text
//! tables ──facts──▶ book ──pages──▶ HTML
//!                       └─search──▶ records ┐
//! tables ──────────────────────────▶ data   ┴─▶ engine.js, with the decoder
//! ```
//!
//! A [`Subject`] is what a manual is about. [`facts`] reads the tables, `pages` has the templates, [`search`] makes the
//! records that queries are matched with, and [`engine`] makes the script with the module and the tables. The pages are
//! complete without the script.
//! `assets/manual.js` is what they do in a browser: search, decoding, execution.

pub mod engine;
pub mod facts;
mod pages;
pub mod search;
mod subject;

use std::collections::BTreeMap;

use isaforge_core::Tables;

use crate::diff::diff;
use facts::Book;

pub use subject::Subject;

/// A manual: the text of each file, by its path in the folder.
pub type Files = BTreeMap<String, String>;

/// Renders a bit diagram as HTML, as on the page of an instruction. The runs cover all bits, highest first; the classes
/// of the cells are the names of roles.
pub fn diagram(bits: u16, runs: Vec<facts::Run>, label: &str) -> String {
    let layout = facts::Layout { bits, runs, ..facts::Layout::default() };
    pages::diagram::diagram(&layout, &[], label).into_string()
}

/// Makes the manual.
pub fn manual(subject: &Subject) -> Files {
    let book = Book::new(subject);
    let difference = match (subject.since, subject.tables) {
        (Some(Tables::Words(old)), Tables::Words(new)) => Some(diff(old, new)),
        _ => None,
    };
    let since = difference.is_some();
    let mut files = Files::new();
    let mut add = |path: &str, title: &str, main| {
        let base = if path.contains('/') { "../" } else { "" };
        files.insert(path.to_owned(), pages::shell(&book, title, base, since, main));
    };
    add("index.html", &book.name, pages::index::index(&book));
    add("units.html", "Units", pages::index::units(&book));
    add("registers.html", "Registers", pages::lists::registers(&book, subject.semantics, subject.hardware));
    add("decoder.html", "Decoder", pages::index::decoder());
    if !book.opcodes.is_empty() {
        add("opcodes.html", "Opcodes", pages::opcodes::opcodes(&book));
    }
    if !book.slots.is_empty() {
        add("groups.html", "Groups", pages::lists::groups(&book, subject.semantics));
    }
    if !book.kinds.is_empty() {
        add("operands.html", "Operands", pages::lists::operands(&book));
    }
    if !book.enums.is_empty() {
        add("values.html", "Values", pages::lists::values(&book));
    }
    if let Some(difference) = &difference {
        add("since.html", "Changes", pages::since::page(&book, difference));
    }
    for entry in &book.entries {
        let changes = difference.as_ref().and_then(|difference| pages::since::of(difference, &entry.name));
        let page = pages::instruction::page(&book, entry, changes);
        add(&format!("i/{}.html", entry.slug), &entry.name, page);
    }
    files.insert("engine.js".to_owned(), engine::script(&engine::data(subject, &search::records(&book))));
    files.insert("manual.css".to_owned(), include_str!("assets/manual.css").to_owned());
    files.insert("manual.js".to_owned(), include_str!("assets/manual.js").to_owned());
    files
}
