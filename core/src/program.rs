//! Whole programs as text: labels, comments, listings.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::decode::decode;
use crate::error::{ParseError, ParseReason};
use crate::parse::{Labels, parse_at};
use crate::print::{Style, print};
use crate::scan;
use crate::table::Isa;
use crate::text::Line;

/// A mistake in a program's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramError {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
    /// Characters to underline, at least 1.
    pub len: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead; may be empty.
    pub help: String,
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)?;
        if self.help.is_empty() { Ok(()) } else { write!(f, " ({})", self.help) }
    }
}

impl core::error::Error for ProgramError {}

struct Names(BTreeMap<String, u64>);

impl Labels for Names {
    fn resolve(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }
}

/// The part of a line before `//` or `;`.
pub(crate) fn without_comment(line: &str) -> &str {
    let end = [line.find("//"), line.find(';')].into_iter().flatten().min();
    &line[..end.unwrap_or(line.len())]
}

/// A label at the start of a line: `name:`, followed by nothing or by an instruction.
pub(crate) fn label(line: &str) -> Option<(&str, &str)> {
    let trimmed = line.trim_start();
    let len = trimmed.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$')).count();
    let rest = trimmed[len..].trim_start().strip_prefix(':')?;
    (len > 0).then_some((&trimmed[..len], rest))
}

/// Assembles a program: an instruction a line, `label:`, comments from `//` or `;`, and `.word NUMBER` for a raw word.
///
/// # Errors
/// Every mistake of the text, in order.
pub fn assemble(isa: &'static Isa, text: &str) -> Result<Vec<u64>, Vec<ProgramError>> {
    let mut errors = Vec::new();
    let mut names = Names(BTreeMap::new());
    // About as many lines as there will be.
    let mut words = Vec::with_capacity(text.len() / 24);
    // Lines that wait until every label is known: the index of their word, line number, line, the part to read.
    let mut open: Vec<(usize, usize, &str, &str)> = Vec::new();
    let (mut number, mut at) = (0, 0);
    while at < text.len() {
        if let Some((_, word, end)) = scan::instruction(isa, text.as_bytes(), at) {
            words.push(word);
            at = end + if text.as_bytes().get(end) == Some(&b'\r') { 2 } else { 1 };
        } else {
            let full = text[at..].lines().next().unwrap_or_default();
            let mut rest = without_comment(full);
            let mut columns = Columns::default();
            while let Some((name, after)) = label(rest) {
                if names.0.insert(name.to_string(), words.len() as u64).is_some() {
                    let at = name.as_ptr() as usize - full.as_ptr() as usize;
                    let (line, column) = (number + 1, columns.of(full, at));
                    let message = alloc::format!("the label `{name}` is defined twice");
                    errors.push(ProgramError { line, column, len: name.len().max(1), message, help: String::new() });
                }
                rest = after;
            }
            if !rest.trim().is_empty() {
                open.push((words.len(), number, full, rest));
                words.push(0);
            }
            at = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
        }
        number += 1;
    }
    let mut found = 0;
    for (index, number, full, line) in open {
        let offset = line.as_ptr() as usize - full.as_ptr() as usize;
        match directive(line) {
            Some(Ok(word)) if isa.word_bits >= 64 || word >> isa.word_bits == 0 => words[index] = word,
            Some(_) => {
                let at = offset + line.len() - line.trim_start().len();
                let message = alloc::format!("`.word` needs a number of at most {} bits", isa.word_bits);
                errors.push(place(full, number, at, line.trim().len(), message, String::new()));
            }
            None => match parse_at(isa, line, index as u64, &names) {
                Ok((_, word)) => words[index] = word,
                Err(error) => {
                    errors.push(located(full, number, offset, &error, &names, found));
                    found += 1;
                }
            },
        }
    }
    if errors.is_empty() {
        return Ok(words);
    }
    errors.sort_by_key(|e| (e.line, e.column));
    Err(errors)
}

fn directive(line: &str) -> Option<Result<u64, ()>> {
    let argument = line.trim().strip_prefix(".word")?;
    if !argument.starts_with(char::is_whitespace) {
        return None;
    }
    let argument = argument.trim().replace('_', "");
    let lower = argument.to_ascii_lowercase();
    Some(match lower.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).map_err(|_| ()),
        None => lower.parse().map_err(|_| ()),
    })
}

pub(crate) fn place(full: &str, number: usize, at: usize, len: usize, message: String, help: String) -> ProgramError {
    let count = |range: &str| range.chars().count();
    let before = full.get(..at).map_or(at, count);
    let under = full.get(at..at + len).map_or(len, count).max(1);
    ProgramError { line: number + 1, column: before + 1, len: under, message, help }
}

/// How many mistakes come with what to write instead: finding that takes longer than finding the mistake, and nobody reads
/// it a thousand times.
const HELPED: usize = 100;
/// How many unknown labels get a suggestion: finding one looks at every label.
const SUGGESTIONS: usize = 20;

/// Counts the characters before places of one line that come in order, each character once.
#[derive(Default)]
struct Columns {
    at: usize,
    characters: usize,
}

impl Columns {
    /// The column, from 1, of the byte `at`, which is not before the last one asked for.
    fn of(&mut self, line: &str, at: usize) -> usize {
        self.characters += line.get(self.at..at).map_or(0, |text| text.chars().count());
        self.at = at;
        self.characters + 1
    }
}

fn located(
    full: &str,
    number: usize,
    offset: usize,
    error: &ParseError,
    names: &Names,
    earlier: usize,
) -> ProgramError {
    let mut help = if earlier < HELPED { error.help().to_string() } else { String::new() };
    if error.reason == ParseReason::UnknownLabel
        && earlier < SUGGESTIONS
        && let Some(name) = crate::suggest::nearest(error.found.as_str(), names.0.keys().map(String::as_str))
    {
        help = alloc::format!("did you mean `{name}`?");
    }
    place(full, number, offset + error.at, error.len, error.to_string(), help)
}

/// Prints a program, an instruction a line. A word that is no instruction prints as `.word` with the reason behind it.
/// Returns the number of such words.
pub fn disassemble(isa: &'static Isa, words: &[u64], style: Style, out: &mut String) -> usize {
    let mut line = Line::new();
    let mut invalid = 0;
    for &word in words {
        match decode(isa, word) {
            Ok(opcode) => {
                line.clear();
                print(isa, opcode, word, style, &mut line);
                out.push_str(line.as_str());
                out.push('\n');
            }
            Err(error) => {
                invalid += 1;
                let digits = isa.word_bits.div_ceil(4) as usize;
                out.push_str(&alloc::format!(".word 0x{word:0digits$x} // {error}\n"));
            }
        }
    }
    invalid
}
