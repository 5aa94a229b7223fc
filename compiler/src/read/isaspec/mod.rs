//! Documents of Mesa's isaspec: hierarchies of bitsets with patterns, fields and texts.
//!
//! - [`document`] reads the XML, including imports, and keeps all places.
//! - [`hierarchy`] binds bitsets to those they extend, and finds the leaves.
//! - [`c`] parses expressions, and [`graph`] converts them to those of streams.
//! - [`context`] holds the state that layouts share: enums, and the sets of operands.
//! - [`layout`] makes a layout for each alternative of a leaf, and [`display`] its text.
//!
//! The README defines the meaning of elements, and what is rejected.

mod c;
mod context;
mod display;
mod document;
mod graph;
mod hierarchy;
mod layout;

use super::format::{Document, Format, Request};
use crate::diagnostic::Diagnostic;
use crate::model::{Encoding, Isa};
use crate::source::{Sources, Span, Spanned};
use crate::spec::Provenance;
use crate::stream::model::{Instruction, Set, Stream};
use context::Context;

/// The bitset that contains the instructions.
const ROOT: &str = "#instruction";

/// Which word an ambiguous text means, by bitset.
const PREFERS: &str = include_str!("prefers.tsv");

/// The format.
pub const FORMAT: Format = Format { name: "isaspec", doc: "Mesa's isaspec: an `<isa>` of bitsets in XML", is, read };

fn is(document: &Document<'_>) -> bool {
    // Only isaspec has bitsets; a root that only imports is recognised by its imports.
    let head = String::from_utf8_lossy(document.head);
    head.contains("<isa>") && (head.contains("<bitset") || head.contains("<import file="))
}

/// The rows of the preference table, one for each bitset.
fn preferences(sources: &mut Sources) -> Vec<(String, Spanned<String>)> {
    let file = sources.add("prefers.tsv of isaspec's reader", PREFERS.to_owned());
    let mut rows = Vec::new();
    let mut start = 0;
    for line in PREFERS.split_inclusive('\n') {
        if let Some((names, text)) = line.trim_end().split_once('\t').filter(|_| !line.starts_with("# ")) {
            let at = start + names.len() + 1;
            let text = Spanned::new(text.to_owned(), Span::new(file, at..at + text.len()));
            rows.extend(names.split(' ').map(|name| (name.to_owned(), text.clone())));
        }
        start += line.len();
    }
    rows
}

fn read(request: Request<'_>) -> Option<Isa> {
    let Request { path, sources, out, .. } = request;
    let document = document::read(path, sources, out);
    if out.has_errors() {
        return None;
    }
    let hierarchies = hierarchy::hierarchies(&document, out);
    let Some((root, leaves)) = hierarchies.roots.get(ROOT) else {
        let message = format!("`{}` has no bitset `{ROOT}`", path.display());
        out.push(Diagnostic::error_without_place("E0101", message));
        return None;
    };
    let bits = root.size.unwrap_or(0);
    if !bits.is_multiple_of(8) {
        out.push(Diagnostic::error("E0032", root.name.span, format!("instructions cannot have {bits} bits")));
    }
    if out.has_errors() {
        return None;
    }
    let preferences = preferences(sources);
    let mut context = Context::new(&document, &hierarchies, preferences, out);
    context.bytes = bits / 8;
    let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let instructions = Set {
        name: "instructions".to_owned(),
        doc: root.doc.clone(),
        span: root.name.span,
        bits: 0,
        parameters: Vec::new(),
        first_wins: false,
        layouts: Vec::new(),
    };
    context.sets.push(instructions);
    let mut layouts = Vec::new();
    for (opcode, leaf) in leaves.iter().enumerate() {
        layouts.extend(layout::layouts(&mut context, leaf, &[], opcode));
    }
    context.sets[0].layouts = layouts;
    let (enums, sets) = (std::mem::take(&mut context.enums), std::mem::take(&mut context.sets));
    if out.has_errors() {
        return None;
    }
    let since = leaves.iter().map(|leaf| leaf.since).min().unwrap_or(0);
    let until = leaves.iter().map(|leaf| leaf.until).max().unwrap_or(0);
    // Generations are distinguished if some leaf does not exist in all of them.
    let all = leaves.iter().all(|leaf| (leaf.since, leaf.until) == (0, u32::MAX));
    let instructions = leaves.iter().map(|leaf| {
        let bitset = leaf.bitset();
        let (line, _) = sources.line_column(bitset.name.span);
        let unit = leaf.chain.iter().map(|level| level.unit.as_str()).find(|unit| !unit.is_empty());
        Instruction {
            name: bitset.name.value.clone(),
            title: String::new(),
            doc: bitset.doc.clone(),
            unit: unit.unwrap_or_default().to_owned(),
            span: bitset.name.span,
            source: format!("{}:{line}", sources.path(bitset.name.span.file).display()),
            provenance: Provenance::Document,
            note: String::new(),
        }
    });
    let stream = Stream {
        unit: (bits / 8) as u8,
        longest: (bits / 8) as u8,
        swap: 1,
        generations: if all { (0, 0) } else { (since, until) },
        exclusive: true,
        sets,
        instructions: instructions.collect(),
        ..Stream::default()
    };
    Some(Isa {
        name,
        doc: root.doc.clone(),
        word_bits: 64,
        span: Some(root.name.span),
        enums,
        encoding: Encoding::Stream(stream),
        ..Isa::default()
    })
}
