//! Assembles whole programs: labels, comments.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::Cell;

use super::decode::Engine;
use super::error::Reason;
use super::parse::{Labels, exact};
use super::table::Token;
use crate::assembly::{Assembly, Label, Placed};
use crate::program::{ProgramError, label, place, without_comment};

/// How often addresses may change, because instructions grew, before a program is rejected.
const TURNS: usize = 100;

/// The addresses of labels, and whether a label was used.
struct Marks {
    addresses: BTreeMap<String, u64>,
    used: Cell<bool>,
}

impl Labels for Marks {
    fn resolve(&self, name: &str) -> Option<u64> {
        let found = self.addresses.get(name).copied();
        self.used.set(self.used.get() || found.is_some());
        found
    }
}

/// Places every label at the instruction itself, which gives the shortest encoding of a branch.
struct Here<'m>(&'m Marks, u64);

impl Labels for Here<'_> {
    fn resolve(&self, name: &str) -> Option<u64> {
        self.0.resolve(name).map(|_| self.1)
    }
}

/// A line that assembles to bytes.
struct Source<'t> {
    number: usize,
    full: &'t str,
    text: &'t str,
    bytes: Vec<u8>,
    /// Whether the bytes depend on addresses of labels.
    moves: bool,
    error: Option<ProgramError>,
}

/// Assembles a program: one instruction per line, labels (`label:`), comments from `//` or `;`, and `.byte 1, 0x2f` for
/// raw bytes.
///
/// # Errors
/// All errors in the text, in order.
pub fn assemble(engine: Engine, text: &str) -> Result<Vec<u8>, Vec<ProgramError>> {
    let read = read(engine, text, 0);
    if read.errors.is_empty() { Ok(read.bytes) } else { Err(read.errors) }
}

/// Assembles the lines of a program at `base` that are instructions, with the position of each, and collects all errors
/// in order.
pub(crate) fn read(engine: Engine, text: &str, base: u64) -> Assembly {
    let mut found = Assembly::default();
    let errors = &mut found.errors;
    let mut lines: Vec<Source<'_>> = Vec::new();
    let semicolon = ends_with_semicolons(engine);
    // The line that each label marks: the one that follows it.
    let mut labels: BTreeMap<String, usize> = BTreeMap::new();
    for (number, full) in text.lines().enumerate() {
        let mut rest = code(full, semicolon);
        while let Some((name, after)) = label(rest) {
            let at = name.as_ptr() as usize - full.as_ptr() as usize;
            found.labels.push(Label::new(full, number, name));
            if name.starts_with(|c: char| c.is_ascii_digit()) {
                let message = alloc::format!("the label `{name}` starts with a digit");
                let help = "a branch reads it as a number; start it with a letter".to_string();
                errors.push(place(full, number, at, name.len(), message, help));
            } else if labels.insert(name.to_string(), lines.len()).is_some() {
                let message = alloc::format!("the label `{name}` is defined twice");
                errors.push(place(full, number, at, name.len(), message, String::new()));
            }
            rest = after;
        }
        if !rest.trim().is_empty() {
            lines.push(Source { number, full, text: rest, bytes: Vec::new(), moves: true, error: None });
        }
    }
    let mut marks = Marks { addresses: labels.keys().map(|name| (name.clone(), 0)).collect(), used: Cell::new(false) };
    // The address of a label depends on the lengths of the instructions before it, which may in turn depend on labels.
    // An instruction that has grown never shrinks, so distances only increase until they settle.
    for turn in 0..TURNS {
        let mut moved = false;
        // Distances are right only if both addresses are from the same turn. Before the first turn, lines have no
        // length.
        let mut address = base;
        for line in &mut lines {
            let length = line.bytes.len() as u64;
            if line.moves {
                let had = core::mem::take(&mut line.bytes);
                marks.used.set(false);
                let here = Here(&marks, address);
                let labels: &dyn Labels = if turn == 0 { &here } else { &marks };
                match bytes(engine, line, address, had.len() as u8, labels, &marks) {
                    Ok(bytes) => (line.bytes, line.error) = (bytes, None),
                    // The address of the label may not be final yet.
                    Err(error) => {
                        let length = exact(line.text).map_or(engine.stream.unit.into(), |(_, digits)| digits.len() / 2);
                        let some = alloc::vec![0; length.min(engine.stream.longest.into())];
                        line.bytes = if had.is_empty() { some } else { had.clone() };
                        line.error = Some(error);
                    }
                }
                line.moves = marks.used.get();
                moved |= line.moves && line.bytes != had;
            }
            address = address.wrapping_add(if turn == 0 { line.bytes.len() as u64 } else { length });
        }
        if !moved {
            for line in &mut lines {
                match line.error.take() {
                    Some(error) => errors.push(error),
                    None => {
                        found.placed.push(Placed { line: line.number, at: found.bytes.len(), len: line.bytes.len() })
                    }
                }
                found.bytes.append(&mut line.bytes);
            }
            errors.sort_by_key(|e| (e.line, e.column));
            return found;
        }
        let mut addresses = Vec::with_capacity(lines.len() + 1);
        let mut address = base;
        for line in &lines {
            addresses.push(address);
            address = address.wrapping_add(line.bytes.len() as u64);
        }
        addresses.push(address);
        for (name, line) in &labels {
            marks.addresses.insert(name.clone(), addresses.get(*line).copied().unwrap_or(address));
        }
    }
    let message = "the lengths of instructions and the positions of labels do not converge".to_string();
    *errors = alloc::vec![ProgramError { line: 1, column: 1, len: 1, message, help: String::new() }];
    found
}

/// What the assembler takes the text of an instruction for, if it does not read all of it as an instruction. `semicolon`
/// is what [`ends_with_semicolons`] says of the set.
pub fn mistaken_for(semicolon: bool, text: &str) -> Option<&'static str> {
    let rest = code(text, semicolon);
    match rest {
        _ if label(rest).is_some() => Some("it begins with a label"),
        _ if directive(rest).is_some() => Some("it is a directive"),
        _ if rest.len() < text.len() => Some("a comment begins in it"),
        _ => None,
    }
}

/// The part of a line before a comment.
fn code(line: &str, semicolon: bool) -> &str {
    match semicolon && !line.trim_start().starts_with('#') {
        true => line.split("//").next().unwrap_or_default(),
        false => without_comment(line),
    }
}

/// Whether instructions of the set may end with a semicolon, which then starts no comment.
pub fn ends_with_semicolons(engine: Engine) -> bool {
    engine.stream.layouts.iter().any(|layout| has_semicolon(layout.text))
}

fn has_semicolon(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| match token {
        Token::Text(text) => text.str.contains(';'),
        Token::If(_, tokens) => has_semicolon(tokens),
        Token::Aside(_) => true,
        _ => false,
    })
}

fn bytes(
    engine: Engine,
    line: &Source<'_>,
    address: u64,
    least: u8,
    labels: &dyn Labels,
    marks: &Marks,
) -> Result<Vec<u8>, ProgramError> {
    let offset = line.text.as_ptr() as usize - line.full.as_ptr() as usize;
    if let Some(bytes) = directive(line.text) {
        return bytes.ok_or_else(|| {
            let at = offset + line.text.len() - line.text.trim_start().len();
            let message = "`.byte` needs numbers from 0 to 255 with commas between".to_string();
            place(line.full, line.number, at, line.text.trim().len(), message, String::new())
        });
    }
    let text = line.text.trim_end();
    if text.trim_start().strip_prefix(".word").is_some_and(|rest| rest.trim_start() != rest) {
        let at = offset + text.len() - text.trim_start().len();
        let message = "`.word` is for sets whose instructions are words".to_string();
        let help = "write its bytes in memory order: `.byte 0x34, 0x12`".to_string();
        return Err(place(line.full, line.number, at, ".word".len(), message, help));
    }
    let parsed = engine.parse_at(text, address, least, labels);
    // An instruction that grew for a label that has come closer since may have no long form for it.
    let parsed = parsed.or_else(|error| if least > 0 { engine.parse_at(text, address, 0, labels) } else { Err(error) });
    let parsed = parsed.map_err(|error| {
        let error = engine.diagnose(text, labels, error);
        let mut help = engine.help(&error).to_string();
        if error.reason == Reason::UnknownLabel
            && let Some(name) =
                crate::suggest::nearest(error.found.as_str(), marks.addresses.keys().map(String::as_str))
        {
            help = alloc::format!("did you mean `{name}`?");
        }
        place(line.full, line.number, offset + error.at, error.len, error.to_string(), help)
    })?;
    let bytes = engine.store(parsed.decoded.word);
    Ok(bytes.get(..usize::from(parsed.decoded.len)).unwrap_or_default().to_vec())
}

fn directive(line: &str) -> Option<Option<Vec<u8>>> {
    let arguments = line.trim().strip_prefix(".byte")?;
    if !arguments.starts_with(char::is_whitespace) {
        return None;
    }
    let byte = |text: &str| {
        let text = text.trim();
        match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(hex) => u8::from_str_radix(hex, 16).ok(),
            None => text.parse().ok(),
        }
    };
    Some(arguments.split(',').map(byte).collect())
}
