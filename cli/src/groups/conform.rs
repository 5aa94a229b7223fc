//! `isaforge conform` for groups: tables of groups and of records, and whole programs.

use isaforge_core::bits::word_of;
use isaforge_core::explain::hex;
use isaforge_core::group::listing::{assemble_program, disassemble};
use isaforge_core::group::program::walk;
use isaforge_core::group::table::{Choice, Encoding, Record, Type};
use isaforge_core::group::text::SEPARATOR;
use isaforge_core::group::{GroupIsa, assemble, decode, encode, print};
use isaforge_core::text::Line;

use super::parse;
use crate::output::count;

type Outcome = Result<(), String>;

/// The formats of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A table whose given column has the bytes of a group.
    Groups(usize),
    /// A table of records with the columns `record`, `fields`, `hex_mesa` and `hex_corrected`.
    Records {
        /// The column with the record's name.
        record: usize,
        /// The column with its fields.
        fields: usize,
        /// The column with its bytes, and the one with the corrected bytes.
        bytes: [usize; 2],
    },
    /// Programs in JSON, one per line; their bytes are the cases.
    Programs,
    /// The bytes of one program in hexadecimal.
    Program,
}

impl Format {
    /// Recognises a format by its first line.
    ///
    /// # Errors
    /// When the text has none of the known formats.
    pub fn recognise(text: &str) -> Result<Format, String> {
        let first = text.lines().find(|line| !line.trim().is_empty()).ok_or("it is empty")?;
        if first.trim_start().starts_with('{') {
            return Ok(Format::Programs);
        }
        let columns: Vec<&str> = first.split('\t').collect();
        let column = |name: &str| columns.iter().position(|column| *column == name);
        if let (Some(record), Some(fields), Some(hex)) = (column("record"), column("fields"), column("hex_mesa")) {
            return Ok(Format::Records { record, fields, bytes: [column("hex_corrected").unwrap_or(hex), hex] });
        }
        match column("hex") {
            Some(column) => Ok(Format::Groups(column)),
            None if parse(text).is_some() => Ok(Format::Program),
            None => Err("it has no column `hex` and is not hexadecimal text".to_owned()),
        }
    }

    /// Whether the first line has the names of the columns.
    pub fn has_heading(self) -> bool {
        matches!(self, Format::Groups(_) | Format::Records { .. })
    }

    /// Judges a case, which is a line or the whole text.
    ///
    /// # Errors
    /// When the case fails.
    pub fn judge(self, isa: &'static GroupIsa, case: &str) -> Outcome {
        let columns: Vec<&str> = case.split('\t').collect();
        let column = |index: usize| {
            columns.get(index).copied().ok_or(format!("it has only {}", count(columns.len() as u64, "column")))
        };
        let bytes_of = |text: &str| parse(text).ok_or(format!("`{text}` is not hexadecimal"));
        match self {
            Format::Groups(index) => group(isa, &bytes_of(column(index)?)?),
            Format::Records { record, fields, bytes: [first, second] } => {
                let bytes =
                    Some(column(first)?).filter(|bytes| !bytes.is_empty()).map_or_else(|| column(second), Ok)?;
                // The bytes of a record may be empty.
                let bytes = if bytes.is_empty() { Vec::new() } else { bytes_of(bytes)? };
                vector(isa, column(record)?, column(fields)?, &bytes)
            }
            Format::Programs => {
                let value: serde_json::Value = serde_json::from_str(case).map_err(|error| error.to_string())?;
                let text = value.get("bytes").and_then(|bytes| bytes.as_str()).ok_or("it has no `bytes`")?;
                program(isa, &bytes_of(text)?)
            }
            Format::Program => program(isa, &bytes_of(case)?),
        }
    }
}

/// Whether a line is a program with runs and expected outputs.
pub fn has_runs(format: Format, line: &str) -> bool {
    let wanted = |value: serde_json::Value| value.get("runs").is_some() && value.get("outputs").is_some();
    format == Format::Programs && serde_json::from_str(line).is_ok_and(wanted)
}

/// Checks that the bytes are a group that its values and its text reproduce.
fn group(isa: &'static GroupIsa, bytes: &[u8]) -> Outcome {
    let group = decode(isa, bytes).map_err(|error| error.to_string())?;
    if group.len() != bytes.len() {
        return Err(format!("the group ends after {} of {} bytes", group.len(), bytes.len()));
    }
    let again =
        encode(isa, &group.values(isa), &group.form()).map_err(|error| format!("it is not encoded: {error}"))?;
    if again != group {
        return Err(format!("its values encode to {}", hex(again.as_bytes())));
    }
    let mut line = Line::new();
    print(isa, &group, SEPARATOR, &mut line);
    let text = line.as_str();
    let read = assemble(isa, text).map_err(|error| format!("`{text}` does not assemble: {error}"))?;
    match read.encode(isa) {
        Ok(again) if again == group => Ok(()),
        Ok(again) => Err(format!("`{text}` assembles to {}", hex(again.as_bytes()))),
        Err(error) => Err(format!("`{text}` is not encoded: {error}")),
    }
}

/// Checks that the bytes consist of groups and that their listing assembles to the same bytes.
fn program(isa: &'static GroupIsa, bytes: &[u8]) -> Outcome {
    for (at, found) in walk(isa, bytes) {
        let found = found.map_err(|error| format!("at byte {at}: {error}"))?;
        group(isa, found.as_bytes()).map_err(|reason| format!("at byte {at}: {reason}"))?;
    }
    match assemble_program(isa, &disassemble(isa, bytes)) {
        Ok(again) if again == bytes => Ok(()),
        Ok(again) => Err(format!("its text assembles to {}", hex(&again))),
        Err(errors) => Err(errors.first().map_or_else(String::new, |error| format!("its text at {error}"))),
    }
}

/// Checks that each field is decoded from the bytes, and that the fields encode to them.
fn vector(isa: &'static GroupIsa, name: &str, fields: &str, bytes: &[u8]) -> Outcome {
    let (set, own) = name.split_once('.').unwrap_or(("", name));
    let mut candidates = Vec::new();
    for choice in isa.choices {
        candidates.extend(choice.records.iter().filter(|r| r.name == own).map(|record| (choice, record)));
    }
    // Names of record sets may differ from those of the specification; a match takes precedence.
    candidates.sort_by_key(|(choice, _)| choice.name != set);
    let outcomes = candidates.iter().map(|(choice, record)| vector_of(isa, choice, record, fields, bytes));
    let mut first = None;
    for outcome in outcomes {
        match outcome {
            Ok(()) => return Ok(()),
            Err(reason) => _ = first.get_or_insert(reason),
        }
    }
    Err(first.unwrap_or_else(|| format!("there is no record `{name}`")))
}

fn vector_of(
    isa: &'static GroupIsa,
    choice: &'static Choice,
    record: &'static Record,
    fields: &str,
    bytes: &[u8],
) -> Outcome {
    if bytes.len() != usize::from(record.bytes) {
        return Err(format!("`{}` has {} bytes, not {}", record.name, record.bytes, bytes.len()));
    }
    let word = word_of(bytes);
    let raw = fields.starts_with("raw:");
    let mut written = record.value;
    let mut named = 0;
    for (key, text) in fields.split_whitespace().filter_map(|pair| pair.split_once('=')) {
        let own = isa.aliases.iter().find(|(other, _)| *other == key).map(|(_, own)| *own);
        let index = choice.field(key).into_iter().chain(own.and_then(|own| choice.field(own)));
        let mut places = index.filter_map(|i| record.places.iter().find(|p| usize::from(p.field) == i));
        let place = places.next().ok_or_else(|| format!("`{}` has no bits for `{key}`", record.name))?;
        let field = &choice.fields[usize::from(place.field)];
        let width = place.bits.width();
        let stored = if raw {
            text.parse().map_err(|_| format!("`{text}` is not a number"))?
        } else {
            let value = value_of(isa, field.ty, field.encoding, text).ok_or(format!("`{key}` is never `{text}`"))?;
            let found = field.encoding.value(place.bits.get(word, 0), width);
            if found != value {
                return Err(format!("`{key}` is read as {found}, not as {value}"));
            }
            field.encoding.stored(value, width).ok_or(format!("`{key}` cannot hold {value}"))?
        };
        written = place.bits.set(written, 0, stored);
        named |= place.bits.mask(0);
    }
    // Fields that the case does not name keep the values found in the bytes; constant bits do not.
    let all = u64::MAX.checked_shr(64 - u32::from(record.bytes) * 8).unwrap_or(0);
    let unnamed = all & !record.mask & !named;
    let written = written & !unnamed | word & unnamed;
    if written == word { Ok(()) } else { Err(format!("it is written as {written:#x}, not as {word:#x}")) }
}

/// The value of another assembler's notation.
fn value_of(isa: &'static GroupIsa, ty: Type, encoding: Encoding, text: &str) -> Option<i64> {
    if let Ok(number) = text.parse::<i64>() {
        // Offsets are written as unsigned 32-bit numbers.
        let signed = matches!(encoding, Encoding::SignedTimes(_));
        return Some(if signed { i64::from(number as u32 as i32) } else { number });
    }
    let named = match ty {
        Type::Enum(index) => isa.enums.get(usize::from(index))?.values.iter().find(|value| value.name == text),
        _ => None,
    };
    match named {
        Some(value) => Some(value.bits as i64),
        None => {
            let alias = |word: &str| isa.aliases.iter().find(|(other, _)| *other == word)?.1.parse::<i64>().ok();
            text.split(['|', '+']).map(alias).sum()
        }
    }
}
