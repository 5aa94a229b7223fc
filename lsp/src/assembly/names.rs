//! Labels and registers: definitions, uses, and renaming of labels.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use isaforge_analysis::Register;
use isaforge_core::Tables;
use isaforge_core::parse::{Labels, parse_at};
use isaforge_core::stream;
use lsp_types::{DocumentHighlight, DocumentHighlightKind, Position, TextEdit};

use super::{Source, assemble, is_label, is_word};
use crate::text::{occurrences, run_at};

/// The label at a position, and its range of bytes in the line.
pub fn label_at(source: &Source, position: Position) -> Option<(String, Range<usize>)> {
    let line = position.line as usize;
    let code = source.code(line);
    let byte = source.text.byte(position);
    let range = run_at(code, byte.min(code.len()), is_label);
    let name = code.get(range.clone())?;
    let found = byte <= code.len() && source.has_label(name) && names_label(source, line, &range);
    found.then(|| (name.to_owned(), range))
}

/// The definition of the label at a position.
pub fn definition(source: &Source, position: Position) -> Option<lsp_types::Range> {
    let (name, _) = label_at(source, position)?;
    let label = source.assembly.labels.iter().find(|label| label.name == name)?;
    Some(source.text.range(label.line, label.at..label.at + name.len()))
}

/// Whether a label is defined at this byte of a line.
fn defines(source: &Source, line: usize, byte: usize) -> bool {
    let labels = &source.assembly.labels;
    let first = labels.partition_point(|label| label.line < line);
    labels.iter().skip(first).take_while(|label| label.line == line).any(|label| label.at == byte)
}

/// A name for a label that means nothing else in any set.
const FRESH: &str = "isaforge_some_label";

struct Fresh<'s>(&'s Source);

impl Fresh<'_> {
    fn find(&self, name: &str) -> Option<u64> {
        (name == FRESH || self.0.has_label(name)).then_some(0)
    }
}

impl Labels for Fresh<'_> {
    fn resolve(&self, name: &str) -> Option<u64> {
        self.find(name)
    }
}

impl stream::Labels for Fresh<'_> {
    fn resolve(&self, name: &str) -> Option<u64> {
        self.find(name)
    }
}

/// Whether a word that is called like a label stands for it. Instructions and registers may have the same name.
fn names_label(source: &Source, line: usize, bytes: &Range<usize>) -> bool {
    if defines(source, line, bytes.start) {
        return true;
    }
    let code = source.code(line);
    let start = source.statement(code.get(..bytes.start).unwrap_or_default());
    let statement = code.get(start..).unwrap_or_default();
    let (before, after) = (code.get(start..bytes.start), code.get(bytes.end..));
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let assembled = source.assembly.placed.binary_search_by_key(&line, |placed| placed.line).is_ok();
    // In an instruction that can be read, another label can take the place of a label.
    let replaced = format!("{}{FRESH}{}", before.trim_start(), after.trim_end());
    match source.set.tables {
        Tables::Words(isa) if assembled => parse_at(isa, &replaced, 0, &Fresh(source)).is_ok(),
        Tables::Streams(engine) if assembled => engine.parse_at(&replaced, 0, 0, &Fresh(source)).is_ok(),
        _ => {
            let name = code.get(bytes.clone()).unwrap_or_default();
            let first = before.trim().is_empty() && !statement.trim().is_empty();
            !first && !source.spellings().iter().any(|(known, _)| known == name)
        }
    }
}

/// All occurrences of a label, including its definition: the line, its bytes, and whether it is defined there.
fn places_of_label<'s>(source: &'s Source, name: &'s str) -> impl Iterator<Item = (usize, Range<usize>, bool)> + 's {
    let lines = (0..source.text.lines()).map(|line| (line, source.code(line)));
    let found = lines.flat_map(move |(line, code)| occurrences(code, name, is_label).map(move |bytes| (line, bytes)));
    let found = found.filter(|(line, bytes)| names_label(source, *line, bytes));
    found.map(|(line, bytes)| (line, bytes.clone(), defines(source, line, bytes.start)))
}

/// The occurrences of the label or register at a position, each with whether it is written there.
pub fn places(source: &Source, position: Position) -> Vec<DocumentHighlight> {
    let highlight = |range, written: bool| DocumentHighlight {
        range,
        kind: Some(if written { DocumentHighlightKind::WRITE } else { DocumentHighlightKind::READ }),
    };
    if let Some((name, _)) = label_at(source, position) {
        let found = places_of_label(source, &name);
        return found.map(|(line, bytes, defined)| highlight(source.text.range(line, bytes), defined)).collect();
    }
    let Some(register) = register_at(source, position) else { return Vec::new() };
    let mut names: HashMap<Register, Vec<&str>> = HashMap::new();
    for (name, known) in source.spellings().iter().filter(|(_, known)| known.bank == register.bank) {
        names.entry(*known).or_default().push(name);
    }
    let mut found = Vec::new();
    for (placed, instruction) in source.instructions() {
        let written = instruction.writes.iter().any(|(written, _)| *written == register);
        let is_read = instruction.reads.contains(&register);
        if !written && !is_read {
            continue;
        }
        // A value that spans several registers is named by the first one.
        let used = instruction.reads.iter().chain(instruction.writes.iter().map(|(written, _)| written));
        let used = used.filter(|used| used.bank == register.bank && used.index <= register.index);
        let used: BTreeSet<u32> = used.map(|used| used.index).collect();
        let places = used.into_iter().rev().map(|index| {
            let names = names.get(&Register { index, ..register }).map_or(&[][..], Vec::as_slice);
            source.lines_of(placed).flat_map(|line| written_as(source, line, names)).collect::<Vec<_>>()
        });
        let places = places.into_iter().find(|places| !places.is_empty()).unwrap_or_default();
        // Where an instruction also reads what it writes, the destination is the first of its operands.
        let places = places.into_iter().enumerate();
        found.extend(places.map(|(number, (line, bytes))| {
            highlight(source.text.range(line, bytes), written && (number == 0 || !is_read))
        }));
    }
    found
}

/// Where a line contains a register with these names.
fn written_as(source: &Source, line: usize, names: &[&str]) -> Vec<(usize, Range<usize>)> {
    let code = source.code(line);
    let mut found: Vec<Range<usize>> = Vec::new();
    for name in names {
        let is_label = source.has_label(name);
        found.extend(occurrences(code, name, is_word).filter(|bytes| !is_label || !names_label(source, line, bytes)));
    }
    found.sort_by_key(|bytes| (bytes.start, bytes.end));
    found.dedup();
    found.into_iter().map(|bytes| (line, bytes)).collect()
}

/// The register whose name is at a position.
fn register_at(source: &Source, position: Position) -> Option<Register> {
    let code = source.code(position.line as usize);
    let byte = source.text.byte(position);
    let here = |name: &str| occurrences(code, name, is_word).any(|range| range.start <= byte && byte <= range.end);
    let found = source.spellings().iter().filter(|(name, _)| here(name));
    found.max_by_key(|(name, _)| name.len()).map(|(_, register)| *register)
}

/// The edits that rename the label at a position.
///
/// # Errors
/// When there is no label, or if the program would change.
pub fn rename(source: &Source, position: Position, new: &str) -> Result<Vec<TextEdit>, String> {
    let Some((name, _)) = label_at(source, position) else { return Err("only labels can be renamed".to_owned()) };
    let is_name = !new.is_empty() && new.chars().all(is_label) && !new.starts_with(|c: char| c.is_ascii_digit());
    if !is_name {
        let allowed = "a label consists of letters, digits, `_`, `.` and `$`, and does not start with a digit";
        return Err(format!("`{new}` is not the name of a label: {allowed}"));
    }
    if new != name && source.has_label(new) {
        return Err(format!("the label `{new}` exists already"));
    }
    let places = places_of_label(source, &name).map(|(line, bytes, _)| source.text.range(line, bytes));
    let edits: Vec<TextEdit> = places.map(|range| TextEdit::new(range, new.to_owned())).collect();
    let mut text = source.text.text.clone();
    for edit in edits.iter().rev() {
        let at = |place: Position| source.text.start(place.line as usize) + source.text.byte(place);
        text.replace_range(at(edit.range.start)..at(edit.range.end), new);
    }
    let renamed = assemble(&source.set, &text);
    let (old, new_bytes) = (&source.assembly, &renamed);
    if old.errors.len() == new_bytes.errors.len() && old.bytes == new_bytes.bytes {
        return Ok(edits);
    }
    Err(format!("renaming to `{new}` would change the program"))
}
