//! Completion at the cursor.
//!
//! What is offered follows from the tables and rules with which the assembler reads a text: it is asked what it expects
//! where the text ends, and whether it reads on after each candidate.
//!
//! - `words`, `groups`, `streams`: what can follow a text in sets of each kind
//! - this file: the text before the cursor, and the edits

mod groups;
mod streams;
mod words;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use isaforge_core::Tables;
use isaforge_core::group::parse::mnemonic;
use isaforge_core::group::table::Operation;
use isaforge_core::parse::Labels;
use isaforge_core::stream::{self, Token};
use isaforge_core::table::Value;
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionList, CompletionResponse, CompletionTextEdit, Documentation,
    InsertReplaceEdit, Position, TextEdit,
};

use super::{Source, is_word};

/// A name with its description.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Offer {
    /// The name.
    pub name: String,
    /// A title of a few words.
    pub title: &'static str,
    /// A description.
    pub doc: &'static str,
}

impl Offer {
    fn plain(name: &str) -> Offer {
        Offer { name: name.to_owned(), title: "", doc: "" }
    }

    fn of(value: &'static Value) -> Offer {
        Offer { name: value.text.to_owned(), title: "", doc: value.doc }
    }
}

/// The mnemonics of a set, each once.
pub fn mnemonics(tables: Tables) -> Vec<Offer> {
    let mut found: Vec<Offer> = match tables {
        Tables::Words(isa) => {
            let offer = |form: &isaforge_core::table::Form| Offer {
                name: form.name.str.to_owned(),
                title: form.title,
                doc: form.doc,
            };
            isa.forms.iter().map(offer).collect()
        }
        Tables::Groups(isa) => {
            let operations = isa.operations.iter().filter(|operation| !operation.remark);
            let offer = |operation: &Operation| {
                Some(Offer { name: mnemonic(operation.syntax)?.to_owned(), title: "", doc: operation.doc })
            };
            operations.filter_map(offer).collect()
        }
        Tables::Streams(engine) => {
            let offer = |layout: &stream::Layout| {
                let instruction = engine.stream.instructions.get(usize::from(layout.opcode))?;
                let Some(Token::Text(text)) = layout.text.first() else { return None };
                let name = text.str.split_whitespace().next()?.to_owned();
                Some(Offer { name, title: instruction.title, doc: instruction.doc })
            };
            engine.stream.layouts_of(0).iter().filter(|layout| engine.has(layout)).filter_map(offer).collect()
        }
    };
    found.sort();
    found.dedup_by(|b, a| a.name == b.name);
    found
}

/// A name for a label that means nothing else in any set.
const FRESH: &str = "isaforge_some_label";

/// Resolves every label, and one that does not exist, to the start.
struct Any<'s>(&'s Source);

impl Any<'_> {
    fn find(&self, name: &str) -> Option<u64> {
        (name == FRESH || self.0.has_label(name)).then_some(0)
    }
}

impl Labels for Any<'_> {
    fn resolve(&self, name: &str) -> Option<u64> {
        self.find(name)
    }
}

impl stream::Labels for Any<'_> {
    fn resolve(&self, name: &str) -> Option<u64> {
        self.find(name)
    }
}

/// The maximum number of names that are offered at once.
pub const MAX_OFFERED: usize = 500;
/// How long names are tried.
const TIME: Duration = Duration::from_millis(300);

/// Names that may follow a text, and whether they are all.
struct Offers {
    list: Vec<Offer>,
    all: bool,
}

impl Offers {
    const NONE: Offers = Offers { list: Vec::new(), all: true };

    /// Those of some candidates that start as was typed and that the assembler accepts, until there are enough of them or
    /// time is over.
    fn accepted(candidates: impl IntoIterator<Item = Offer>, typed: &str, takes: impl Fn(&str) -> bool) -> Offers {
        let until = Instant::now() + TIME;
        let mut names = HashSet::new();
        let mut found = Offers::NONE;
        for offer in candidates {
            if !starts(&offer.name, typed) || !names.insert(offer.name.clone()) {
                continue;
            }
            if found.list.len() > MAX_OFFERED || Instant::now() > until {
                found.all = false;
                break;
            }
            if takes(&offer.name) {
                found.list.push(offer);
            }
        }
        found
    }
}

/// The names that are possible at a position, each with the edit that inserts it. If there are too many, the answer
/// says that it is incomplete. `inserts` tells whether the editor can leave in place the rest of a word in which the
/// cursor is; otherwise it is replaced.
pub fn complete(source: &Source, position: Position, inserts: bool) -> CompletionResponse {
    let (items, complete) = found(source, position, inserts);
    match complete {
        true => CompletionResponse::Array(items),
        false => CompletionResponse::List(CompletionList { is_incomplete: true, items }),
    }
}

/// The names, and whether they are all.
fn found(source: &Source, position: Position, inserts: bool) -> (Vec<CompletionItem>, bool) {
    let line = position.line as usize;
    let byte = source.text.byte(position);
    let code = source.code(line);
    let Some(left) = code.get(..byte) else { return (Vec::new(), true) };
    let rest = code.get(byte..).unwrap_or_default();
    let end = byte + rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
    let start = source.statement(left);
    let text = left.get(start..).unwrap_or_default();
    let first = !text.trim_start().contains(char::is_whitespace);
    let (mut found, mut complete) = (Vec::new(), true);
    let mut names = HashSet::new();
    let mut add = |offers: Offers, from: usize, kind: CompletionItemKind| {
        let typed = text.get(from..).unwrap_or_default();
        let range = |to: usize| source.text.range(line, start + from..to);
        complete &= offers.all;
        for offer in offers.list.into_iter().filter(|offer| starts(&offer.name, typed)) {
            if !names.insert((from, offer.name.clone())) {
                continue;
            }
            if found.len() == MAX_OFFERED {
                complete = false;
                break;
            }
            found.push(item(offer, range(byte), range(end), inserts, kind));
        }
    };
    if first && !matches!(source.set.tables, Tables::Groups(_)) {
        let from = text.len() - text.trim_start().len();
        let list = mnemonics(source.set.tables);
        add(Offers { list, all: true }, from, CompletionItemKind::FUNCTION);
    }
    let from = text.rfind([' ', '\t', ',']).map_or(0, |at| at + 1);
    let word = text.trim_end_matches(|c: char| is_word(c) || c == '.').len();
    // A modifier, after a dot; it may contain marks.
    let after = if matches!(source.set.tables, Tables::Words(_)) { from } else { word };
    if let Some(dot) = text.get(after..).and_then(|typed| typed.rfind('.')) {
        let (before, typed) = text.split_at(after + dot + 1);
        let offers = match source.set.tables {
            Tables::Words(isa) => words::suffixes(source, isa, before, typed),
            Tables::Groups(isa) => groups::suffixes(isa, before, typed),
            Tables::Streams(engine) => streams::names(source, engine, before, typed),
        };
        add(offers, before.len(), CompletionItemKind::ENUM_MEMBER);
    }
    // An operand, of which a prefix such as a mark is a part.
    let (before, typed) = text.split_at(from);
    let kind = CompletionItemKind::VARIABLE;
    match source.set.tables {
        Tables::Words(_) | Tables::Streams(_) if first => {}
        Tables::Words(isa) => add(words::operands(source, isa, before, typed), from, kind),
        Tables::Groups(isa) => {
            let from = if first { text.len() - text.trim_start().len() } else { from };
            let (before, typed) = text.split_at(from);
            let kind = if first { CompletionItemKind::FUNCTION } else { kind };
            add(groups::names(source, isa, before, typed), from, kind);
        }
        Tables::Streams(engine) => {
            let (before, typed) = text.split_at(word);
            add(streams::names(source, engine, before, typed), word, kind);
        }
    }
    (found, complete)
}

fn starts(name: &str, typed: &str) -> bool {
    name.get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed))
}

/// `insert` ends at the cursor, `replace` at the end of the word in which it is.
fn item(
    offer: Offer,
    insert: lsp_types::Range,
    replace: lsp_types::Range,
    inserts: bool,
    kind: CompletionItemKind,
) -> CompletionItem {
    let new_text = offer.name.clone();
    let edit = match inserts {
        true => CompletionTextEdit::InsertAndReplace(InsertReplaceEdit { new_text, insert, replace }),
        false => CompletionTextEdit::Edit(TextEdit::new(replace, new_text)),
    };
    CompletionItem {
        label: offer.name.clone(),
        kind: Some(kind),
        detail: (!offer.title.is_empty()).then(|| offer.title.to_owned()),
        documentation: (!offer.doc.is_empty()).then(|| Documentation::String(offer.doc.to_owned())),
        filter_text: Some(offer.name),
        text_edit: Some(edit),
        ..CompletionItem::default()
    }
}

fn labels(source: &Source) -> impl Iterator<Item = Offer> {
    source.assembly.labels.iter().map(|label| Offer::plain(&label.name))
}

/// Whether a text ends in the middle of a word that the rest continues: a word must not be the start of another one.
fn is_within_word(text: &str, rest: &str) -> bool {
    text.ends_with(is_word) && rest.starts_with(is_word)
}

/// The name at the start of a fixed text, in which some texts have marks; `None` if it starts with punctuation.
fn name_in(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let name = text.split([' ', ',']).next()?;
    let name = name.trim_end_matches(['(', '[']);
    name.starts_with(|c: char| is_word(c) || c == '(').then_some(name).filter(|name| name.contains(is_word))
}
