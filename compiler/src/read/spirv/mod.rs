//! SPIR-V's grammar in JSON.
//!
//! [`grammar`] parses the documents to plain data with places, and [`tables`] converts them to a
//! [sequence](isaforge_core::stream::sequence). Facts that the grammar states only in prose are in `kinds.tsv` and
//! `declarations.tsv`: which literals depend on types, and which instructions declare those. `sets.tsv` lists the names
//! by which modules import the instruction sets in the neighbouring files.

mod grammar;
mod tables;

use std::path::Path;

use super::format::{Document, Format, Request};
use crate::diagnostic::Diagnostic;
use crate::model::{Encoding, Isa};
use crate::source::Span;
use crate::stream::model::{Instruction, Set, Stream};

/// The format.
pub(super) const FORMAT: Format = Format { name: "spirv-grammar", doc: "SPIR-V's grammar, as JSON", is, read };

/// The names of the instruction sets in files next to the grammar.
const SETS: &str = include_str!("sets.tsv");

fn is(document: &Document<'_>) -> bool {
    let name = document.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let head = String::from_utf8_lossy(document.head);
    name.ends_with(".json") && head.contains("\"magic_number\"") && head.contains("\"major_version\"")
}

/// The instruction sets next to a grammar: the names by which modules import them, and their files.
fn beside(path: &Path) -> Vec<(&'static str, std::path::PathBuf)> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let rows = SETS.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'));
    rows.map(|(file, name)| (name, folder.join(file))).filter(|(_, path)| path.is_file()).collect()
}

fn read(request: Request<'_>) -> Option<Isa> {
    let Request { path, generation, sources, out } = request;
    if let Some(generation) = generation {
        let error =
            Diagnostic::error_without_place("E0101", format!("there is no generation called `{generation}` here"));
        out.push(error.help("SPIR-V has one: leave `--generation` out"));
        return None;
    }
    let mut files = Vec::new();
    for (name, path) in std::iter::once(("", path.to_owned())).chain(beside(path)) {
        match sources.load(&path) {
            Ok(file) => files.push((name, file)),
            Err(error) => out.push(Diagnostic::error_without_place("E0003", error.to_string())),
        }
    }
    let mut documents = Vec::new();
    for (name, file) in files {
        documents.push((name, grammar::read(sources.text(file), file, out)?));
    }
    let ((_, core), sets) = documents.split_first()?;
    let sequence = tables::tables(core, sets, out)?;
    let span = core.span;
    let instructions = core.instructions.iter().map(|instruction| Instruction {
        name: instruction.name.clone(),
        title: String::new(),
        doc: String::new(),
        unit: String::new(),
        span: instruction.span,
        source: String::new(),
        provenance: crate::spec::Provenance::Document,
        note: String::new(),
    });
    let stream = Stream {
        unit: 4,
        longest: 4,
        swap: 1,
        sets: vec![all(span)],
        instructions: instructions.collect(),
        sequence: Some(sequence),
        ..Stream::default()
    };
    Some(Isa {
        name: "spirv".to_owned(),
        doc: "SPIR-V.".to_owned(),
        span: Some(span),
        encoding: Encoding::Stream(stream),
        ..Isa::default()
    })
}

/// The set of instructions with layouts, which is empty.
fn all(span: Span) -> Set {
    let (name, doc) = ("spirv".to_owned(), "The instructions.".to_owned());
    Set { name, doc, span, bits: 0, parameters: Vec::new(), layouts: Vec::new(), first_wins: false }
}
