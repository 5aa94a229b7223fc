//! A program: one row for each instruction, with addresses and branch targets.

use isaforge_core::bits::word_of;
use isaforge_core::decode::decode;
use isaforge_core::explain::hex;
use isaforge_core::group::text::SEPARATOR;
use isaforge_core::group::{self, GroupIsa};
use isaforge_core::print::{Style, print};
use isaforge_core::program::ProgramError;
use isaforge_core::stream::{Engine, Notation, Type};
use isaforge_core::table::{Shape, Target};
use isaforge_core::text::Line;
use isaforge_core::{Isa, Tables, program, stream};

use crate::explain::{bytes, digits};
use crate::input::{Pasted, read};
use crate::json::Json;

/// The maximum number of instructions listed.
const MAX_LISTED: usize = 20_000;

/// An instruction, or bytes that are not one.
#[derive(Default)]
struct Row {
    at: u64,
    code: String,
    text: String,
    error: String,
    target: Option<u64>,
}

/// Answers with the rows of pasted machine code; for assembly, also with its code, or with its errors.
pub fn answer(tables: Tables, text: &str, json: &mut Json) {
    let mut swapped = false;
    let (kind, rows) = match tables {
        Tables::Words(isa) => {
            let (kind, words) = match read(text, Some(digits(isa))) {
                Pasted::Words(words) => {
                    let other = turned(isa, &words);
                    let good = |words: &[u64]| words.iter().filter(|word| decode(isa, **word).is_ok()).count();
                    swapped = good(&other) > good(&words);
                    ("code", Ok(if swapped { other } else { words }))
                }
                Pasted::Bytes(bytes) => ("code", Ok(from_bytes(isa, &bytes))),
                Pasted::Text => ("text", program::assemble(isa, text)),
            };
            (kind, words.map(|words| of_words(isa, &words)))
        }
        Tables::Groups(isa) => match bytes(text) {
            Some(bytes) => ("code", Ok(of_groups(isa, &bytes))),
            None => ("text", group::listing::assemble_program(isa, text).map(|bytes| of_groups(isa, &bytes))),
        },
        Tables::Streams(engine) => match (engine.stream.sequence, bytes(text)) {
            (Some(sequence), Some(bytes)) => {
                ("code", of_module(sequence.disassemble(&bytes).map_err(|e| e.to_string())))
            }
            (_, Some(bytes)) => ("code", Ok(of_stream(engine, &bytes))),
            (_, None) => ("text", stream::program::assemble(engine, text).map(|bytes| of_stream(engine, &bytes))),
        },
    };
    json.object(|json| {
        json.field("kind", |json| json.text(kind));
        json.field("swapped", |json| json.truth(swapped));
        match rows {
            Ok(rows) => json
                .field("rows", |json| json.array(|json| rows.iter().take(MAX_LISTED).for_each(|row| write(row, json)))),
            Err(errors) => json.field("errors", |json| {
                json.array(|json| {
                    for error in errors.iter().take(100) {
                        json.object(|json| {
                            json.field("line", |json| json.number(error.line as u32));
                            json.field("column", |json| json.number(error.column as u32));
                            json.field("length", |json| json.number(error.len as u32));
                            json.field("message", |json| json.text(&error.message));
                            json.field("help", |json| json.text(&error.help));
                        });
                    }
                });
            }),
        }
    });
}

fn of_module(listing: Result<String, String>) -> Result<Vec<Row>, Vec<ProgramError>> {
    let text =
        listing.map_err(|message| vec![ProgramError { line: 1, column: 1, len: 1, message, help: String::new() }])?;
    Ok(text.lines().map(|line| Row { text: line.to_owned(), ..Row::default() }).collect())
}

fn turned(isa: &Isa, words: &[u64]) -> Vec<u64> {
    let size = usize::from(isa.word_bits).div_ceil(8).clamp(1, 8);
    words.iter().map(|word| word.swap_bytes() >> (64 - 8 * size)).collect()
}

fn from_bytes(isa: &Isa, bytes: &[u8]) -> Vec<u64> {
    let size = usize::from(isa.word_bits).div_ceil(8).clamp(1, 8);
    bytes.chunks(size).map(word_of).collect()
}

fn of_words(isa: &'static Isa, words: &[u64]) -> Vec<Row> {
    let size = u64::from(isa.word_bits).div_ceil(8).max(1);
    let digits = digits(isa);
    let row = |(index, word): (usize, &u64)| {
        let at = index as u64 * size;
        let mut row = Row { at, code: format!("{word:0digits$x}"), ..Row::default() };
        match decode(isa, *word) {
            Ok(opcode) => {
                let mut line = Line::new();
                print(isa, opcode, *word, Style::Customary, &mut line);
                row.text = line.as_str().to_owned();
                let operands = isa.forms.get(usize::from(opcode)).map_or(&[][..], |form| form.operands);
                row.target = operands.iter().find_map(|operand| match operand.shape {
                    Shape::Number { bits, target: Some(target), .. } => {
                        let number = isaforge_core::bits::sign_extend(bits.get(*word, 0), bits.width());
                        Some(target.address(number, at, at + size))
                    }
                    _ => None,
                });
            }
            Err(error) => row.error = error.to_string(),
        }
        row
    };
    words.iter().enumerate().map(row).collect()
}

fn of_groups(isa: &'static GroupIsa, bytes: &[u8]) -> Vec<Row> {
    let mut rows = Vec::new();
    for piece in group::listing::pieces(isa, bytes, &[]) {
        let mut row = Row { at: piece.at as u64, ..Row::default() };
        row.code = hex(bytes.get(piece.at..piece.at + piece.len).unwrap_or_default());
        match &piece.group {
            Ok(found) => {
                let mut line = Line::new();
                group::print(isa, found, SEPARATOR, &mut line);
                row.text = line.as_str().to_owned();
                row.target = group::program::target(isa, found, piece.at).and_then(|to| u64::try_from(to).ok());
            }
            Err(error) => row.error = error.to_string(),
        }
        rows.push(row);
    }
    rows
}

fn of_stream(engine: Engine, bytes: &[u8]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let mut row = Row { at: at as u64, ..Row::default() };
        let decoded = engine.decode(rest);
        let unit = usize::from(engine.stream.unit.max(1));
        let len = decoded.as_ref().map_or(unit, |found| found.len.into()).clamp(1, rest.len());
        row.code = hex(&rest[..len]);
        match decoded {
            Ok(decoded) => {
                let mut line = Line::new();
                engine.print(&decoded, &mut line);
                row.text = line.as_str().to_owned();
                let scope = engine.scope(&decoded);
                row.target = scope.layout.fields.iter().zip(0..).find_map(|(field, index)| match field.ty {
                    Type::Number(Notation { target: Some(target), .. }) => {
                        let target: Target = target;
                        Some(target.address(scope.value(index) as i64, at as u64, (at + len) as u64))
                    }
                    _ => None,
                });
            }
            Err(error) => row.error = error.to_string(),
        }
        rows.push(row);
        at += len;
    }
    rows
}

fn write(row: &Row, json: &mut Json) {
    json.object(|json| {
        json.field("at", |json| json.number(row.at as u32));
        json.field("code", |json| json.text(&row.code));
        json.field("text", |json| json.text(&row.text));
        if !row.error.is_empty() {
            json.field("error", |json| json.text(&row.error));
        }
        if let Some(target) = row.target {
            json.field("target", |json| json.number(target as u32));
        }
    });
}
