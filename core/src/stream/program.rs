//! Whole programs as text: labels, comments, listings.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::decode::Engine;
use super::error::Reason;
use super::parse::Labels;
use super::table::Token;
use crate::program::{ProgramError, label, place, without_comment};
use crate::text::Line;

/// How often lengths may change because labels moved, before the program is refused.
const TURNS: usize = 16;

struct Names(BTreeMap<String, u64>);

impl Labels for Names {
    fn resolve(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }
}

/// Every name is where the instruction itself is: good enough to find the length of most instructions.
struct Anywhere<'n>(&'n BTreeMap<String, usize>, u64);

impl Labels for Anywhere<'_> {
    fn resolve(&self, name: &str) -> Option<u64> {
        self.0.contains_key(name).then_some(self.1)
    }
}

/// A line that becomes bytes.
struct Source<'t> {
    number: usize,
    full: &'t str,
    text: &'t str,
    bytes: Vec<u8>,
}

/// Assembles a program: an instruction a line, `label:`, comments from `//` or `;`, and `.byte 1, 0x2f` for raw bytes.
///
/// # Errors
/// Every mistake of the text, in order.
pub fn assemble(engine: Engine, text: &str) -> Result<Vec<u8>, Vec<ProgramError>> {
    let mut errors = Vec::new();
    let mut lines: Vec<Source<'_>> = Vec::new();
    let semicolon = engine.stream.layouts.iter().any(|layout| has_semicolon(layout.text));
    // A label marks the line that follows it.
    let mut marks: BTreeMap<String, usize> = BTreeMap::new();
    for (number, full) in text.lines().enumerate() {
        // Where instructions end with a semicolon, it starts no comment.
        let mut rest = if semicolon { full.split("//").next().unwrap_or_default() } else { without_comment(full) };
        while let Some((name, after)) = label(rest) {
            if marks.insert(name.to_string(), lines.len()).is_some() {
                let at = name.as_ptr() as usize - full.as_ptr() as usize;
                let message = alloc::format!("the label `{name}` is defined twice");
                errors.push(place(full, number, at, name.len(), message, String::new()));
            }
            rest = after;
        }
        if !rest.trim().is_empty() {
            lines.push(Source { number, full, text: rest, bytes: Vec::new() });
        }
    }
    // Where a label is depends on the lengths before it, and those may depend on where labels are.
    for turn in 0..TURNS {
        let mut addresses = Vec::with_capacity(lines.len() + 1);
        let mut address = 0;
        for line in &lines {
            addresses.push(address);
            address += line.bytes.len() as u64;
        }
        addresses.push(address);
        let names = marks.iter().map(|(name, line)| (name.clone(), addresses.get(*line).copied().unwrap_or(address)));
        let names = Names(names.collect());
        let mut moved = false;
        for (line, &address) in lines.iter_mut().zip(&addresses) {
            let anywhere = Anywhere(&marks, address);
            let labels: &dyn Labels = if turn == 0 { &anywhere } else { &names };
            match bytes(engine, line, address, labels, &names) {
                // An instruction that grew once stays long, so that lengths settle.
                Ok(bytes) => {
                    moved |= bytes.len() != line.bytes.len() || bytes != line.bytes;
                    line.bytes = bytes;
                }
                Err(error) => {
                    errors.push(error);
                    line.bytes = alloc::vec![0; usize::from(engine.stream.unit)];
                }
            }
        }
        if !errors.is_empty() {
            errors.sort_by_key(|e| (e.line, e.column));
            return Err(errors);
        }
        if turn > 0 && !moved {
            return Ok(lines.into_iter().flat_map(|line| line.bytes).collect());
        }
    }
    let message = "the lengths of instructions and the places of labels do not settle".to_string();
    Err(alloc::vec![ProgramError { line: 1, column: 1, len: 1, message, help: String::new() }])
}

fn has_semicolon(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| match token {
        Token::Text(text) => text.str.contains(';'),
        Token::If(_, tokens) => has_semicolon(tokens),
        _ => false,
    })
}

fn bytes(
    engine: Engine,
    line: &Source<'_>,
    address: u64,
    labels: &dyn Labels,
    names: &Names,
) -> Result<Vec<u8>, ProgramError> {
    let offset = line.text.as_ptr() as usize - line.full.as_ptr() as usize;
    if let Some(bytes) = directive(line.text) {
        return bytes.ok_or_else(|| {
            let at = offset + line.text.len() - line.text.trim_start().len();
            let message = "`.byte` needs numbers from 0 to 255 with commas between".to_string();
            place(line.full, line.number, at, line.text.trim().len(), message, String::new())
        });
    }
    let parsed = engine.parse_at(line.text.trim_end(), address, labels).map_err(|error| {
        let mut help = String::new();
        if error.reason == Reason::UnknownLabel
            && let Some(name) = crate::suggest::nearest(error.found.as_str(), names.0.keys().map(String::as_str))
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

/// Prints a program, an instruction a line. Bytes that are no instruction print as `.byte`, with the reason behind them, and
/// reading goes on at the next unit. Returns the number of such places.
pub fn disassemble(engine: Engine, bytes: &[u8], out: &mut String) -> usize {
    let mut line = Line::new();
    let mut invalid = 0;
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        match engine.decode(rest) {
            Ok(decoded) if decoded.len > 0 => {
                line.clear();
                engine.print(&decoded, &mut line);
                out.push_str(line.as_str());
                at += usize::from(decoded.len);
            }
            result => {
                invalid += 1;
                let count = usize::from(engine.stream.unit.max(1)).min(rest.len());
                let list: Vec<String> = rest[..count].iter().map(|byte| alloc::format!("{byte:#04x}")).collect();
                out.push_str(&alloc::format!(".byte {}", list.join(", ")));
                if let Err(error) = result {
                    out.push_str(&alloc::format!(" // {error}"));
                }
                at += count;
            }
        }
        out.push('\n');
    }
    invalid
}
