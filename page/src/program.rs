//! A program: one row for each instruction, with addresses and branch targets.

use isaforge_core::bits::word_of;
use isaforge_core::decode::decode;
use isaforge_core::explain::hex;
use isaforge_core::group::text::SEPARATOR;
use isaforge_core::group::{self, GroupIsa};
use isaforge_core::print::{Style, print};
use isaforge_core::program::ProgramError;
use isaforge_core::stream::Engine;
use isaforge_core::text::Line;
use isaforge_core::{Isa, Tables, program, stream};

use crate::explain::{digits, unit};
use crate::input::{Digit, Pasted, read, reversed, value};
use crate::json::Json;

/// The maximum number of instructions listed.
const MAX_LISTED: usize = 20_000;

/// An instruction, or bytes that are not one.
#[derive(Default)]
pub struct Row {
    pub at: u64,
    pub code: String,
    pub text: String,
    error: String,
    target: Option<i64>,
}

/// A program with its rows.
pub struct Listing {
    /// Whether the digits of words were in the opposite byte order.
    swapped: bool,
    /// In memory order.
    pub bytes: Vec<u8>,
    pub rows: Vec<Row>,
    /// The digits of all rows, in the order of their codes. `None` for assembly.
    pub digits: Option<Vec<Digit>>,
}

/// Parses the byte order in a request, which stands after the command. `None` if it is to be decided.
pub fn order(name: &str) -> Option<bool> {
    match name {
        "swapped" => Some(true),
        "plain" => Some(false),
        _ => None,
    }
}

/// Lists a program. `swapped` is as [`order`] returns it.
///
/// # Errors
/// All errors in the text.
pub fn list(tables: Tables, text: &str, swapped: Option<bool>) -> Result<Listing, Vec<ProgramError>> {
    let mut turned = false;
    let digits = match (read(text, unit(tables)), tables) {
        (Pasted::Text(Some(error)), _) => return Err(vec![error]),
        (Pasted::Text(None), _) => None,
        (Pasted::Bytes(digits), Tables::Words(isa)) => Some(of_memory(isa, &digits)),
        (Pasted::Words(digits), Tables::Words(isa)) => {
            let other = turn(isa, &digits);
            let good = |digits: &[Digit]| words(isa, digits).filter(|word| decode(isa, *word).is_ok()).count();
            turned = swapped.unwrap_or_else(|| good(&other) > good(&digits));
            Some(if turned { other } else { digits })
        }
        (Pasted::Bytes(digits) | Pasted::Words(digits), _) => Some(digits),
    };
    let bytes: Vec<u8> = match (&digits, tables) {
        (Some(digits), Tables::Words(isa)) => {
            words(isa, digits).flat_map(|word| word.to_le_bytes().into_iter().take(size(isa))).collect()
        }
        (Some(digits), _) => digits.chunks(2).map(|pair| value(pair) as u8).collect(),
        (None, _) => {
            let read = tables.assemble(text);
            if !read.errors.is_empty() {
                return Err(read.errors);
            }
            read.bytes
        }
    };
    let rows = match tables {
        Tables::Words(isa) => of_words(isa, &bytes),
        Tables::Groups(isa) => of_groups(isa, &bytes),
        Tables::Streams(engine) => match engine.stream.sequence.filter(|_| digits.is_some()) {
            Some(sequence) => of_module(sequence.disassemble(&bytes).map_err(|e| e.to_string()))?,
            None => of_stream(engine, &bytes),
        },
    };
    Ok(Listing { swapped: turned, bytes, rows, digits })
}

/// Answers with the rows of pasted machine code; for assembly, also with its code, or with its errors.
pub fn answer(tables: Tables, text: &str, swapped: Option<bool>, json: &mut Json) {
    json.object(|json| match list(tables, text, swapped) {
        Ok(listing) => {
            json.field("kind", |json| json.text(if listing.digits.is_some() { "code" } else { "text" }));
            json.field("swapped", |json| json.truth(listing.swapped));
            json.field("count", |json| json.number(listing.rows.len() as i64));
            json.field("rows", |json| {
                json.array(|json| listing.rows.iter().take(MAX_LISTED).for_each(|row| write(row, json)));
            });
        }
        Err(errors) => write_errors(&errors, json),
    });
}

/// Writes errors as a field of the answer.
pub fn write_errors(errors: &[ProgramError], json: &mut Json) {
    let write = |error: &ProgramError, json: &mut Json| {
        json.object(|json| {
            json.field("line", |json| json.number(error.line as i64));
            json.field("column", |json| json.number(error.column as i64));
            json.field("length", |json| json.number(error.len as i64));
            json.field("message", |json| json.text(&error.message));
            json.field("help", |json| json.text(&error.help));
        });
    };
    json.field("errors", |json| json.array(|json| errors.iter().take(100).for_each(|error| write(error, json))));
}

/// The bytes of a word.
fn size(isa: &Isa) -> usize {
    usize::from(isa.word_bits).div_ceil(8).clamp(1, 8)
}

fn words(isa: &Isa, digits: &[Digit]) -> impl Iterator<Item = u64> {
    digits.chunks(self::digits(isa)).map(value)
}

/// The digits of words in opposite byte order.
fn turn(isa: &Isa, words: &[Digit]) -> Vec<Digit> {
    words.chunks(digits(isa)).flat_map(reversed).collect()
}

/// The digits of words from those of bytes, which may include a leading one that no word has.
fn of_memory(isa: &Isa, bytes: &[Digit]) -> Vec<Digit> {
    let skipped = 2 * size(isa) - digits(isa).min(2 * size(isa));
    bytes.chunks(2 * size(isa)).flat_map(|word| reversed(word).into_iter().skip(skipped)).collect()
}

fn of_module(listing: Result<String, String>) -> Result<Vec<Row>, Vec<ProgramError>> {
    let text =
        listing.map_err(|message| vec![ProgramError { line: 1, column: 1, len: 1, message, help: String::new() }])?;
    Ok(text.lines().map(|line| Row { text: line.to_owned(), ..Row::default() }).collect())
}

fn of_words(isa: &'static Isa, bytes: &[u8]) -> Vec<Row> {
    let (size, digits) = (size(isa), digits(isa));
    let row = |(index, bytes): (usize, &[u8])| {
        let (at, word) = ((index * size) as u64, word_of(bytes));
        let mut row = Row { at, code: format!("{word:0digits$x}"), ..Row::default() };
        match decode(isa, word) {
            Ok(opcode) => {
                let mut line = Line::new();
                print(isa, opcode, word, Style::Customary, &mut line);
                row.text = line.as_str().to_owned();
                row.target = program::target(isa, opcode, word, at).map(|target| target as i64);
            }
            Err(error) => row.error = error.to_string(),
        }
        row
    };
    bytes.chunks(size).enumerate().map(row).collect()
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
                row.target = group::program::target(isa, found, piece.at);
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
                row.target = stream::target(engine, &decoded, row.at).map(|target| target as i64);
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
        json.field("at", |json| json.number(row.at as i64));
        json.field("code", |json| json.text(&row.code));
        json.field("text", |json| json.text(&row.text));
        if !row.error.is_empty() {
            json.field("error", |json| json.text(&row.error));
        }
        if let Some(target) = row.target {
            let sign = if target < 0 { "-" } else { "" };
            json.field("target", |json| json.number(target));
            json.field("to", |json| json.text(&format!("{sign}{:#x}", target.unsigned_abs())));
        }
    });
}
