//! Hover, definitions and the outline of a specification.

use std::collections::HashMap;
use std::fmt::Write;
use std::iter::Peekable;
use std::path::{Path, PathBuf};

use isaforge_compiler::source::{FileId, Sources, Span};
use lsp_types::{
    DocumentSymbol, Hover, HoverContents, Location, MarkupContent, MarkupKind, Position, Range, SymbolKind,
};

use super::entry::is_yaml;
use super::outline::{Definition, Here, at, definitions};
use super::{Checked, Unsaved};
use crate::text::Text;
use crate::uri;

/// A position in a file.
struct Place {
    sources: Sources,
    file: FileId,
    text: Text,
    offset: usize,
}

impl Place {
    fn new(path: &Path, position: Position, unsaved: &Unsaved) -> Option<Place> {
        let mut sources = Sources::new();
        sources.unsaved.clone_from(unsaved);
        let file = sources.load(path).ok()?;
        let text = Text::new(sources.text(file).to_owned());
        let offset = text.start(position.line as usize) + text.byte(position);
        Some(Place { sources, file, text, offset })
    }
}

/// The maximum number of lines of a definition that are shown.
const SHOWN: usize = 12;

/// The documentation of the key at a position, or the definition of the item named there.
pub fn hover(checked: &Checked, path: &Path, position: Position, unsaved: &Unsaved) -> Option<Hover> {
    let place = Place::new(path, position, unsaved)?;
    let (here, span) = at(&place.sources, place.file, place.offset)?;
    let mut out = String::new();
    match &here {
        Here::Key(key) => {
            let need = if key.required { ", required" } else { "" };
            let _ = write!(out, "**`{}`**: {}{need}\n\n{}", key.name, key.expected, key.doc);
        }
        Here::Name(name, map) => {
            let _ = write!(out, "**{name}**");
            if let Some(map) = map {
                let _ = write!(out, "\n\n{}", map.doc);
                let keys = (map.keys)();
                let names: Vec<String> = keys.iter().map(|key| format!("`{}`", key.name)).collect();
                let _ = write!(out, "\n\nKeys: {}", names.join(", "));
            }
        }
        Here::Value(text, key) => {
            let _ = write!(out, "**`{}`**: {}\n\n{}", key.name, key.expected, key.doc);
            if let Some(found) = named(checked, text, key.name) {
                let span = found.key.to(found.value);
                let shown: Vec<&str> = checked.sources.snippet(span).lines().take(SHOWN).collect();
                let _ = write!(out, "\n\n```yaml\n{}\n```", shown.join("\n"));
            }
        }
    }
    let range = Range::new(place.text.place(span.range().start), place.text.place(span.range().end));
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: out });
    Some(Hover { contents, range: Some(range) })
}

/// The location of the definition of the item named at a position.
pub fn definition(checked: &Checked, path: &Path, position: Position, unsaved: &Unsaved) -> Option<Location> {
    let place = Place::new(path, position, unsaved)?;
    let Here::Value(text, key) = at(&place.sources, place.file, place.offset)?.0 else { return None };
    if let Some(file) = file_named(checked, path, &text) {
        return Some(Location::new(uri::of_path(&file)?, Range::default()));
    }
    let span = match named(checked, &text, key.name) {
        Some(found) => found.key,
        None => in_model(checked, &text, key.name)?,
    };
    checked.location(span, &mut HashMap::new())
}

/// The file of the specification that a text in one of its files names. Names are relative to the folder of that file.
fn file_named(checked: &Checked, path: &Path, name: &str) -> Option<PathBuf> {
    let found = path.parent()?.join(name).canonicalize().ok()?;
    (found.is_file() && checked.files.contains(&found)).then_some(found)
}

/// The outline of a file: what it defines.
pub fn symbols(path: &Path, unsaved: &Unsaved) -> Option<Vec<DocumentSymbol>> {
    let mut sources = Sources::new();
    sources.unsaved.clone_from(unsaved);
    let file = sources.load(path).ok()?;
    let text = Text::new(sources.text(file).to_owned());
    let all = definitions(&sources, file);
    Some(tree(&mut all.iter().peekable(), usize::MAX, &text))
}

/// The definitions that start before a byte, each with those within it.
fn tree<'d>(
    all: &mut Peekable<impl Iterator<Item = &'d Definition>>,
    before: usize,
    text: &Text,
) -> Vec<DocumentSymbol> {
    let mut found = Vec::new();
    while let Some(one) = all.next_if(|one| one.key.range().start < before) {
        let (name, whole) = (one.key.range(), one.key.to(one.value).range());
        let range = |bytes: std::ops::Range<usize>| Range::new(text.place(bytes.start), text.place(bytes.end));
        let end = whole.end;
        let children = tree(all, end, text);
        #[allow(deprecated, reason = "the field has no default")]
        found.push(DocumentSymbol {
            name: one.name.clone(),
            detail: Some(one.section.to_owned()),
            kind: kind(one.section),
            tags: None,
            deprecated: None,
            range: range(whole),
            selection_range: range(name),
            children: (!children.is_empty()).then_some(children),
        });
    }
    found
}

/// What comes closest to the definitions in a section.
fn kind(section: &str) -> SymbolKind {
    match section {
        "instructions" | "operations" | "functions" => SymbolKind::FUNCTION,
        "enums" => SymbolKind::ENUM,
        "values" => SymbolKind::ENUM_MEMBER,
        "constants" => SymbolKind::CONSTANT,
        "kinds" | "templates" | "slots" | "records" => SymbolKind::STRUCT,
        "operands" | "fields" => SymbolKind::FIELD,
        "banks" => SymbolKind::ARRAY,
        _ => SymbolKind::OBJECT,
    }
}

/// The definition that a key's value refers to: the one in the section with the name of the key, or else the only one
/// with this name.
fn named(checked: &Checked, name: &str, key: &str) -> Option<Definition> {
    let files = checked.sources.files().filter(|file| is_yaml(checked.sources.path_on_disk(*file)));
    let all = files.flat_map(|file| definitions(&checked.sources, file)).filter(|found| found.name == name);
    let all: Vec<Definition> = all.collect();
    let has_section = |found: &&Definition| found.section.trim_end_matches('s') == key.trim_end_matches('s');
    match (all.iter().find(has_section), &all[..]) {
        (Some(found), _) | (None, [found]) => Some(found.clone()),
        (None, _) => None,
    }
}

/// The location of a definition that comes from a document in a foreign format.
fn in_model(checked: &Checked, name: &str, key: &str) -> Option<Span> {
    let model = checked.model.as_ref()?;
    match key {
        "enum" => model.enums.iter().find(|found| found.name == name).map(|found| found.span),
        "kind" => model.kinds.iter().find(|found| found.name == name).map(|found| found.span),
        "bank" => model.banks.iter().find(|found| found.name == name).map(|found| found.span),
        "constants" => model.constants.iter().find(|found| found.name == name).map(|found| found.span),
        _ => None,
    }
}
