//! `isaforge explain` for groups: every bit of every record, and the effects of the operations.

use std::io::Write;

use isaforge_analysis::Set;
use isaforge_core::Tables;
use isaforge_core::explain::{groups, hex, name_keys};
use isaforge_core::group::info::operations;
use isaforge_core::group::parse::write_syntax;
use isaforge_core::group::table::{Operation, Record};
use isaforge_core::group::text::SEPARATOR;
use isaforge_core::group::{Group, GroupIsa, assemble, decode, print};
use isaforge_core::program::ProgramError;
use isaforge_core::text::Line;

use super::parse;
use crate::example::remark;
use crate::explain::about;
use crate::explain::diagram;
use crate::explain::does::text_of;
use crate::explain::fields::{Field, table};
use crate::failure::{Failure, Status};
use crate::output::{say, stdout};
use crate::paint::{BOLD, DIM, ERROR, columns, paint, wrap};
use crate::snippet;

/// Explains bytes in memory order, assembly text or the name of an operation, or else prints the result of `search`.
///
/// # Errors
/// When standard output cannot be written.
pub fn explain(
    set: &Set,
    isa: &'static GroupIsa,
    what: &str,
    search: impl Fn() -> Option<String>,
) -> Result<Status, Failure> {
    let width = columns().min(120);
    let named = isa.operations.iter().find(|operation| operation.name.eq_ignore_ascii_case(what));
    let (text, status) = match named {
        Some(operation) => (example(set, isa, operation, width), Status::Fine),
        None => match parse(what) {
            Some(bytes) => of_bytes(set, isa, &bytes, width),
            None => match of_text(isa, what) {
                Ok(group) => (render(set, isa, &group, "", width), Status::Fine),
                Err(error) => match search() {
                    Some(found) => (found, Status::Fine),
                    None => {
                        say(&snippet::draw("text", what, &error));
                        return Ok(Status::Mistakes);
                    }
                },
            },
        },
    };
    stdout().write_all(text.as_bytes())?;
    Ok(status)
}

/// Explains the groups in some bytes, up to the first that is invalid.
pub fn of_bytes(set: &Set, isa: &'static GroupIsa, bytes: &[u8], width: usize) -> (String, Status) {
    let mut out = String::new();
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        match decode(isa, rest) {
            Ok(group) => {
                out.push_str(&render(set, isa, &group, "", width));
                at += group.len();
            }
            Err(error) => {
                let reason = format!("{}: {error}", paint(ERROR, "not a group"));
                out.push_str(&format!("{}  {reason}\n", paint(DIM, &hex(rest))));
                return (out, Status::Mistakes);
            }
        }
    }
    (out, Status::Fine)
}

fn of_text(isa: &'static GroupIsa, text: &str) -> Result<Group, ProgramError> {
    let characters = |range: std::ops::Range<usize>| text.get(range).map_or(1, |text| text.chars().count());
    let read = assemble(isa, text).map_err(|error| ProgramError {
        line: 1,
        column: characters(0..error.at) + 1,
        len: characters(error.at..error.at + error.len).max(1),
        message: error.to_string(),
        help: error.help(isa).to_string(),
    })?;
    read.encode(isa).map_err(|error| {
        let len = text.chars().count().max(1);
        ProgramError { line: 1, column: 1, len, message: error.to_string(), help: String::new() }
    })
}

/// Describes an operation: its syntax and, if possible, an example group with no other operation.
fn example(set: &Set, isa: &'static GroupIsa, operation: &'static Operation, width: usize) -> String {
    let slots = (0..isa.slots.len()).filter(|slot| operation.slots >> slot & 1 != 0);
    let mut out = String::new();
    for slot in slots {
        let mut syntax = String::new();
        // Writing to a string does not fail.
        let _ = write_syntax(isa, operation, slot, &mut syntax);
        let name = isa.slots.get(slot).map_or("", |slot| slot.name);
        out.push_str(&format!("{}   {}\n", paint(BOLD, &syntax), paint(DIM, &format!("(in {name})"))));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    match groups::example(isa, operation) {
        Some(group) => out.push_str(&render(set, isa, &group, &remark(Tables::Groups(isa), operation.name), width)),
        None => {
            let number = isa.operations.iter().position(|known| std::ptr::eq(known, operation));
            out.push_str(&about(operation, number.and_then(|number| text_of(set, number)), width));
        }
    }
    out
}

/// Explains a group, in colour, wrapped at `width`.
fn render(set: &Set, isa: &'static GroupIsa, group: &Group, note: &str, width: usize) -> String {
    let mut line = Line::new();
    print(isa, group, SEPARATOR, &mut line);
    let mut out = format!("{}  {}", paint(DIM, &hex(group.as_bytes())), paint(BOLD, line.as_str()));
    if !note.is_empty() {
        out.push_str(&format!("   {}", paint(DIM, &format!("({note})"))));
    }
    out.push_str("\n\n");
    let mut end = 0;
    for (index, slot) in isa.slots.iter().enumerate() {
        let Some(record) = group.record(isa, index) else { continue };
        let start = group.start(index);
        end = start + usize::from(record.bytes);
        let place = match record.bytes {
            0 => "no bytes".to_owned(),
            1 => format!("byte {start}"),
            _ => format!("bytes {start}..{}", end - 1),
        };
        let head = format!("{} ({})", slot.name, record.name);
        out.push_str(&format!("{} {}\n", paint(BOLD, &place), paint(BOLD, &head)));
        for text in [slot.doc, record.doc, record.note].iter().filter(|text| !text.is_empty()) {
            for line in wrap(text, width.saturating_sub(2)) {
                out.push_str(&format!("  {line}\n"));
            }
        }
        out.push_str(&format!("  {}\n", paint(DIM, &format!("{}: {}", record.provenance.as_str(), record.source))));
        let mut fields = groups::fields(isa, group, index, record);
        name_keys(&mut fields);
        out.push_str(&draw(record, group.word(index), &fields, width));
        out.push_str(&table(&fields, width));
        out.push('\n');
    }
    if end < group.len() {
        let bytes = hex(group.as_bytes().get(end..).unwrap_or_default());
        out.push_str(&format!("{}  {bytes}\n\n", paint(BOLD, "padding")));
    }
    for (_, number, operation) in operations(isa, group) {
        out.push_str(&about(operation, text_of(set, number), width));
    }
    for (name, write) in [("reads", false), ("writes", true)] {
        let found = about::accesses(set, group.as_bytes(), write);
        out.push_str(&format!("  {}{found}\n", paint(DIM, &format!("{name:10}"))));
    }
    // What the operations pass to each other depends on the group.
    if let Some(here) = set.semantics.filter(|_| note.is_empty()).and_then(|known| groups::operation(isa, known, group))
    {
        out.push_str(&about::statements("here", &here));
    }
    out.push('\n');
    out
}

/// The description of an operation in the specification, with its text.
fn about(operation: &Operation, does: Option<&str>, width: usize) -> String {
    let mut out = format!("{}\n", paint(BOLD, operation.name));
    let none = if operation.no_encoding.is_empty() {
        String::new()
    } else {
        format!("It has no public encoding: {}.", operation.no_encoding)
    };
    for text in [operation.doc, operation.note, &none].iter().filter(|text| !text.is_empty()) {
        for line in wrap(text, width.saturating_sub(2)) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    out.push_str(&about::statements("does", does.unwrap_or_default()));
    out.push_str(&format!("  {}\n\n", paint(DIM, &format!("{}: {}", operation.provenance.as_str(), operation.source))));
    out
}

/// Draws a record with its bytes in memory order. The numbers of the bits are unchanged.
fn draw(record: &Record, word: u64, fields: &[Field], width: usize) -> String {
    if record.bytes == 0 {
        return String::new();
    }
    let bits = record.bytes * 8;
    // Bit 0 of the last byte becomes the lowest bit.
    let turn = |bit: u8| bits - 8 - bit / 8 * 8 + bit % 8;
    let mut turned: Vec<Field> = fields.to_vec();
    for field in &mut turned {
        let mut runs = Vec::new();
        for (high, low) in field.runs.drain(..) {
            let bytes = low / 8..=high / 8;
            runs.extend(bytes.map(|byte| (turn(high.min(byte * 8 + 7)), turn(low.max(byte * 8)))));
        }
        field.runs = runs;
    }
    let word = (word.swap_bytes()) >> (64 - u32::from(bits));
    diagram::draw(bits, word, &turned, width, &turn)
}
