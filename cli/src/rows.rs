//! Instructions one per line: `dis --order memory --tsv` and `asm --order memory --tsv`.
//!
//! Each line is an instruction on its own, as its bytes in memory order or as text, and produces exactly one line of
//! output. For a stream, a line may be a whole program: more bytes than one instruction, or a text with escaped line
//! breaks. Branches inside it have labels.

use std::io::{BufWriter, Write};

use isaforge_core::bits::word_of;
use isaforge_core::group;
use isaforge_core::print::{Style, print};
use isaforge_core::program;
use isaforge_core::program::refused;
use isaforge_core::stream::listing::{disassemble_at, parts};
use isaforge_core::stream::program::assemble;
use isaforge_core::stream::{Engine, NoPlaces, Stream};
use isaforge_core::text::Line;
use isaforge_core::{decode::decode, parse::parse};

use crate::builtin::Tables;
use crate::code::Order;
use crate::failure::{Failure, Status};
use crate::input::Input;
use crate::output::plain_stdout;

/// Disassembles one instruction.
///
/// # Errors
/// When the bytes do not decode.
fn text_of(tables: Tables, bytes: &[u8], style: Style) -> Result<String, String> {
    let mut line = Line::new();
    match tables {
        Tables::Words(isa) => {
            let size = usize::from(isa.word_bits / 8);
            if bytes.len() != size {
                return Err(length(size, bytes.len()));
            }
            let word = word_of(bytes);
            let opcode = decode(isa, word).map_err(|error| error.to_string())?;
            if let Some(text) = (style == Style::Exact).then(|| refused(isa, opcode, word)).flatten() {
                return Ok(text);
            }
            print(isa, opcode, word, style, &mut line);
        }
        Tables::Groups(isa) => {
            let group = group::decode(isa, bytes).map_err(|error| error.to_string())?;
            if group.len() != bytes.len() {
                return Err(length(group.len(), bytes.len()));
            }
            group::print(isa, &group, group::text::SEPARATOR, &mut line);
        }
        Tables::Streams(Engine { stream: Stream { sequence: Some(sequence), .. }, .. }) => {
            let text = sequence.disassemble(bytes).map_err(|error| error.to_string())?;
            return Ok(text.trim_end_matches('\n').to_owned());
        }
        Tables::Streams(engine) => {
            let decoded = engine.decode(bytes).map_err(|error| error.to_string())?;
            if usize::from(decoded.len) != bytes.len() {
                return program(engine, bytes, style);
            }
            match style {
                Style::Customary => engine.print(&decoded, &mut line),
                Style::Exact => engine.print_exact_at(&decoded, 0, &NoPlaces, &mut line),
            }
        }
    }
    Ok(line.as_str().to_owned())
}

/// Disassembles a program.
///
/// # Errors
/// When a part of it does not decode.
fn program(engine: Engine, bytes: &[u8], style: Style) -> Result<String, String> {
    for part in parts(engine, bytes) {
        part.decoded.map_err(|error| format!("at byte {}: {error}", part.at))?;
    }
    let mut text = String::new();
    disassemble_at(engine, bytes, 0, style, &mut text);
    text.truncate(text.trim_end_matches('\n').len());
    Ok(text)
}

fn length(needed: usize, have: usize) -> String {
    format!("the instruction has {needed} bytes, but there are {have}")
}

/// Assembles one instruction.
///
/// # Errors
/// When the text does not assemble.
fn bytes_of(tables: Tables, text: &str) -> Result<Vec<u8>, String> {
    match tables {
        Tables::Words(isa) => {
            let is_directive = text.trim_start().starts_with(".word") && !text.contains('\n');
            let word = match is_directive {
                true => program::assemble(isa, text)
                    .map(|words| words.first().copied().unwrap_or(0))
                    .map_err(|errors| errors.first().map_or_else(String::new, |error| error.message.clone()))?,
                false => parse(isa, text).map_err(|error| error.to_string())?.1,
            };
            Ok(word.to_le_bytes()[..usize::from(isa.word_bits / 8)].to_vec())
        }
        Tables::Groups(isa) => {
            // A single group is not the end of a program; marking it as such would make it longer.
            let alone = group::assemble(isa, text).ok().filter(|_| !text.contains('\n'));
            if let Some(group) = alone.and_then(|assembled| assembled.encode(isa).ok()) {
                return Ok(group.as_bytes().to_vec());
            }
            group::listing::assemble_program(isa, text)
                .map_err(|errors| errors.first().map_or_else(String::new, |error| error.message.clone()))
        }
        Tables::Streams(Engine { stream: Stream { sequence: Some(sequence), .. }, .. }) => {
            sequence.assemble(text).map_err(|error| error.to_string())
        }
        Tables::Streams(engine) => {
            if text.contains('\n') {
                return assemble(engine, text)
                    .map_err(|errors| errors.first().map_or_else(String::new, ToString::to_string));
            }
            let parsed = engine.parse(text).map_err(|error| error.to_string())?;
            Ok(engine.store(parsed.decoded.word)[..usize::from(parsed.decoded.len)].to_vec())
        }
    }
}

/// Parses pairs of hexadecimal digits, optionally separated by spaces.
fn bytes_in(line: &str) -> Result<Vec<u8>, String> {
    let mut digits = Vec::with_capacity(line.len());
    for c in line.chars().filter(|c| !c.is_whitespace()) {
        digits.push(c.to_digit(16).ok_or_else(|| format!("`{c}` is not a hexadecimal digit"))? as u8);
    }
    if digits.len() % 2 != 0 {
        return Err("a byte has two hexadecimal digits".to_owned());
    }
    if digits.is_empty() {
        return Err("there are no bytes".to_owned());
    }
    Ok(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// Escapes tabs, line breaks and backslashes as `\t`, `
/// ` and `\\`.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n")
}

/// The inverse of [`escaped`].
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next() {
            Some('t') => out.push('\t'),
            Some('n') => out.push('\n'),
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}

fn lines(input: &Input) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
    let body = input.body();
    let body = body.strip_suffix(b"\n").unwrap_or(body);
    let empty = body.is_empty() && input.bytes.is_empty();
    let lines = body.split(|byte| *byte == b'\n').filter(move |_| !empty);
    lines.map(|line| String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)))
}

/// Disassembles each line to `bytes TAB ok|invalid TAB text or reason`.
///
/// # Errors
/// When the output cannot be written.
pub fn dis(tables: Tables, input: &Input, style: Style) -> Result<Status, Failure> {
    let mut out = BufWriter::with_capacity(1 << 16, plain_stdout());
    let mut invalid = false;
    for line in lines(input) {
        let shown: String = line.split_whitespace().collect();
        let (verdict, text) = match bytes_in(&line).and_then(|bytes| text_of(tables, &bytes, style)) {
            Ok(text) => ("ok", text),
            Err(reason) => ("invalid", reason),
        };
        invalid |= verdict != "ok";
        writeln!(out, "{}\t{verdict}\t{}", escaped(&shown), escaped(&text))?;
    }
    out.flush()?;
    Ok(Status::mistakes_if(invalid))
}

/// The text of a line: the whole line, or the text column of a row written by [`dis`], which has tabs only between
/// columns. An error for a row without an instruction: its first column.
fn text_in(line: &str) -> Result<&str, &str> {
    match line.split('\t').collect::<Vec<_>>()[..] {
        [_, "ok", text] | [_, "ok", text, _] => Ok(text),
        [code, "invalid", _] | [code, "invalid", _, _] => Err(code),
        _ => Ok(line),
    }
}

/// The byte order of the first column of rows: that of the first instruction whose bytes differ in the two orders. Words
/// are in rows of `dis --tsv` as values, and with `--order memory` as bytes.
fn order_of(tables: Tables, input: &Input) -> Option<Order> {
    if !matches!(tables, Tables::Words(_)) {
        return Some(Order::Memory);
    }
    lines(input).find_map(|line| {
        let (code, _) = line.split_once("\tok\t")?;
        let code = bytes_in(code).ok()?;
        let mut bytes = bytes_of(tables, &unescaped(text_in(&line).ok()?)).ok()?;
        let is_memory = bytes == code;
        bytes.reverse();
        match (is_memory, bytes == code) {
            (true, false) => Some(Order::Memory),
            (false, true) => Some(Order::Value),
            _ => None,
        }
    })
}

/// The bytes of a row that has no instruction.
fn without_text(code: &str, order: Option<Order>) -> Result<Vec<u8>, String> {
    let Some(order) = order else {
        let help = "no row of an instruction says in which order its bytes are";
        return Err(format!("this row of `dis` has no instruction, and {help}"));
    };
    let mut bytes = bytes_in(code)?;
    if order == Order::Value {
        bytes.reverse();
    }
    Ok(bytes)
}

/// Assembles each line to its bytes, or `TAB invalid TAB reason`. A row of bytes that are no instruction stands for these
/// bytes.
///
/// # Errors
/// When the output cannot be written.
pub fn asm(tables: Tables, input: &Input) -> Result<Status, Failure> {
    let mut out = BufWriter::with_capacity(1 << 16, plain_stdout());
    let mut invalid = false;
    let mut order = None;
    for line in lines(input) {
        let bytes = match text_in(&line) {
            Ok(text) => bytes_of(tables, &unescaped(text)),
            Err(code) => without_text(code, *order.get_or_insert_with(|| order_of(tables, input))),
        };
        match bytes {
            Ok(bytes) => writeln!(out, "{}", isaforge_core::explain::hex(&bytes))?,
            Err(reason) => {
                invalid = true;
                writeln!(out, "\tinvalid\t{}", escaped(&reason))?;
            }
        }
    }
    out.flush()?;
    Ok(Status::mistakes_if(invalid))
}

/// Checks a row of a recorded table, either `bytes TAB text` or a row written by [`dis`]: bytes and text must give each
/// other, and invalid bytes must be rejected for any reason.
///
/// # Errors
/// When the row does not hold.
pub fn judge(tables: Tables, line: &str) -> Result<(), String> {
    let (hex, is_valid, text) = match line.split('\t').collect::<Vec<_>>()[..] {
        [hex, text] | [hex, "ok", text] => (hex, true, unescaped(text)),
        [hex, "invalid", _] => (hex, false, String::new()),
        _ => return Err("the line is not `bytes TAB text` and not as `dis --tsv --order memory` writes it".to_owned()),
    };
    let bytes = bytes_in(hex)?;
    match text_of(tables, &bytes, Style::Customary) {
        Err(_) if !is_valid => return Ok(()),
        Ok(found) if !is_valid => return Err(format!("{hex} decodes to `{found}`, and must be refused")),
        Err(reason) => return Err(format!("{hex} does not decode to `{text}`: {reason}")),
        Ok(found) if found != text => return Err(format!("{hex} decodes to `{found}`, not to `{text}`")),
        Ok(_) => {}
    }
    let back = bytes_of(tables, &text).map_err(|reason| format!("`{text}` does not assemble: {reason}"))?;
    // Several words may have the same text.
    if back == bytes || text_of(tables, &back, Style::Customary).as_deref() == Ok(&text) {
        return Ok(());
    }
    Err(format!("`{text}` assembles to {}, not to {hex}", isaforge_core::explain::hex(&back)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_one_to_one() {
        for text in ["", "a\tb\nc", "\\t", "a\\nb\\\\", "\\"] {
            assert_eq!(unescaped(&escaped(text)), text);
            assert!(!escaped(text).contains(['\t', '\n']));
        }
    }

    #[test]
    fn blanks_between_bytes_are_free() {
        assert_eq!(bytes_in("13 05b0 FF"), Ok(vec![0x13, 0x05, 0xb0, 0xff]));
        assert!(bytes_in("135").is_err() && bytes_in("").is_err() && bytes_in("zz").is_err());
    }
}
