//! Labels and registers: definitions, uses, and renaming of labels.

use std::ops::Range;

use isaforge_analysis::{Instruction, Register};
use lsp_types::{DocumentHighlight, DocumentHighlightKind, Position, TextEdit};

use super::{Source, is_label, is_word, registers};
use crate::text::{occurrences, run_at};

/// The label at a position, and its range of bytes in the line.
pub fn label_at(source: &Source, position: Position) -> Option<(String, Range<usize>)> {
    let code = source.code(position.line as usize);
    let byte = source.text.byte(position);
    let range = run_at(code, byte.min(code.len()), is_label);
    let name = code.get(range.clone())?;
    let known = source.assembly.labels.iter().any(|label| label.name == name);
    (known && byte <= code.len()).then(|| (name.to_owned(), range))
}

/// The definition of the label at a position.
pub fn definition(source: &Source, position: Position) -> Option<lsp_types::Range> {
    let (name, _) = label_at(source, position)?;
    let label = source.assembly.labels.iter().find(|label| label.name == name)?;
    Some(source.text.range(label.line, label.at..label.at + name.len()))
}

/// All occurrences of a label, including its definition.
fn places_of_label(source: &Source, name: &str) -> Vec<lsp_types::Range> {
    let lines = (0..source.text.lines()).map(|line| (line, source.code(line)));
    let found = lines.flat_map(|(line, code)| occurrences(code, name, is_label).map(move |bytes| (line, bytes)));
    found.map(|(line, bytes)| source.text.range(line, bytes)).collect()
}

/// The occurrences of the label or register at a position, each with whether it is written there.
pub fn places(source: &Source, position: Position) -> Vec<DocumentHighlight> {
    let highlight = |range, written: bool| DocumentHighlight {
        range,
        kind: Some(if written { DocumentHighlightKind::WRITE } else { DocumentHighlightKind::READ }),
    };
    if let Some((name, _)) = label_at(source, position) {
        let defined = |range: &lsp_types::Range| {
            let line = range.start.line as usize;
            source.assembly.labels.iter().any(|label| label.line == line && label.name == name)
        };
        let found = places_of_label(source, &name).into_iter();
        return found.map(|range| (defined(&range), range)).map(|(written, range)| highlight(range, written)).collect();
    }
    let Some(register) = register_at(source, position) else { return Vec::new() };
    let known = registers(&source.set);
    let mut found = Vec::new();
    for (placed, instruction) in source.instructions() {
        let written = instruction.writes.iter().any(|(written, _)| *written == register);
        if !written && !instruction.reads.contains(&register) {
            continue;
        }
        // A value that spans several registers is named by the first one.
        let mut named: Vec<&(String, Register)> =
            known.iter().filter(|(_, other)| other.bank == register.bank && other.index <= register.index).collect();
        named.sort_by_key(|(_, other)| std::cmp::Reverse(other.index));
        let mut named = named.into_iter().filter(|(_, other)| *other == register || uses(instruction, *other));
        let places = named.find_map(|(name, _)| {
            let lines = source.lines_of(placed);
            let places = lines.flat_map(|line| {
                occurrences(source.code(line), name, is_word).map(move |bytes| source.text.range(line, bytes))
            });
            Some(places.collect::<Vec<_>>()).filter(|places| !places.is_empty())
        });
        // Where an instruction also reads what it writes, the destination is the first of its operands.
        let is_read = instruction.reads.contains(&register);
        let places = places.unwrap_or_default().into_iter().enumerate();
        found.extend(places.map(|(number, range)| highlight(range, written && (number == 0 || !is_read))));
    }
    found
}

fn uses(instruction: &Instruction, register: Register) -> bool {
    instruction.reads.contains(&register) || instruction.writes.iter().any(|(written, _)| *written == register)
}

/// The register whose name is at a position.
fn register_at(source: &Source, position: Position) -> Option<Register> {
    let code = source.code(position.line as usize);
    let byte = source.text.byte(position);
    let here = |name: &str| occurrences(code, name, is_word).any(|range| range.start <= byte && byte <= range.end);
    let found = registers(&source.set).into_iter().filter(|(name, _)| here(name));
    found.max_by_key(|(name, _)| name.len()).map(|(_, register)| register)
}

/// The edits that rename the label at a position.
///
/// # Errors
/// When there is no label, or if the program would change.
pub fn rename(source: &Source, position: Position, new: &str) -> Result<Vec<TextEdit>, String> {
    let Some((name, _)) = label_at(source, position) else { return Err("only labels can be renamed".to_owned()) };
    if new != name && source.assembly.labels.iter().any(|label| label.name == new) {
        return Err(format!("the label `{new}` exists already"));
    }
    let edits: Vec<TextEdit> =
        places_of_label(source, &name).into_iter().map(|range| TextEdit::new(range, new.to_owned())).collect();
    let mut text = source.text.text.clone();
    for edit in edits.iter().rev() {
        let at = |place: Position| source.text.start(place.line as usize) + source.text.byte(place);
        text.replace_range(at(edit.range.start)..at(edit.range.end), new);
    }
    let renamed = source.set.tables.assemble(&text);
    let (old, new_bytes) = (&source.assembly, &renamed);
    if old.errors.len() == new_bytes.errors.len() && old.bytes == new_bytes.bytes {
        return Ok(edits);
    }
    Err(format!("renaming to `{new}` would change the program"))
}
