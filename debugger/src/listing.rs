//! The program being debugged: its instructions in memory order, with labels and source lines.

use std::collections::BTreeMap;
use std::path::PathBuf;

use isaforge_analysis::{Program, Set};
use isaforge_runtime::machine::Machine;

/// The assembly source of a program.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The file that contains it, if there is one.
    pub path: Option<PathBuf>,
    /// Its text.
    pub text: String,
    /// The line number in the file of its first line, from 1.
    pub first: usize,
}

/// An instruction of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its place, in the machine's units.
    pub pc: u64,
    /// The place after it.
    pub next: u64,
    /// The label before it, if there is one.
    pub label: Option<String>,
    /// Its text; a branch to a label is followed by the label's name.
    pub text: String,
    /// The line in the source file, from 1.
    pub line: Option<usize>,
    /// Whether it is a branch that may return, such as a call.
    pub calls: bool,
}

/// The program.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Its instructions, in ascending order of place.
    pub lines: Vec<Line>,
    /// The file of the source, if there is one.
    pub path: Option<PathBuf>,
    /// The labels and their places: those of the source, or else those that `dis` prints.
    pub labels: BTreeMap<String, u64>,
}

impl Listing {
    /// Lists the program of a machine. The source is ignored unless it has one line per instruction.
    pub fn new(machine: &dyn Machine, set: &Set, source: Option<&Source>) -> Self {
        let program = Program::read(set, machine.code());
        let place = |byte: usize| machine.base() + byte as u64 / machine.unit();
        let read = source.map(|source| read(&source.text)).filter(|read| read.lines.len() == program.entries.len());
        let labels: Vec<(usize, String)> = match &read {
            Some(read) => read.labels.clone(),
            None => program.labels.iter().map(|(index, name)| (*index, name.clone())).collect(),
        };
        let end = program.entries.last().map_or(0, |entry| entry.bytes.end);
        let start = |index: usize| program.entries.get(index).map_or(end, |entry| entry.bytes.start);
        let named = |index: usize| labels.iter().find(|(at, _)| *at == index).map(|(_, name)| name.clone());
        let line = |(index, entry): (usize, &isaforge_analysis::Entry)| {
            let (text, calls) = match &entry.instruction {
                Ok(instruction) => (instruction.text.clone(), instruction.flow.calls),
                Err(reason) => (format!("({reason})"), false),
            };
            let target = entry.target().and_then(|address| named(program.place(address)?));
            Line {
                pc: place(entry.bytes.start),
                next: place(entry.bytes.end),
                label: named(index),
                text: target.map_or(text.clone(), |name| format!("{text}  → {name}")),
                line: read.as_ref().zip(source).map(|(read, source)| read.lines[index] + source.first.max(1)),
                calls,
            }
        };
        Listing {
            lines: program.entries.iter().enumerate().map(line).collect(),
            path: source.filter(|_| read.is_some()).and_then(|source| source.path.clone()),
            labels: labels.iter().map(|(index, name)| (name.clone(), place(start(*index)))).collect(),
        }
    }

    /// The index of the instruction at a place.
    pub fn at(&self, pc: u64) -> Option<usize> {
        self.lines.binary_search_by_key(&pc, |line| line.pc).ok()
    }

    /// The text of the instruction at a place; empty if there is none.
    pub fn text(&self, pc: u64) -> &str {
        self.at(pc).map_or("", |index| &self.lines[index].text)
    }

    /// Parses a place: an instruction's word index or address (hexadecimal with `0x`), or a label.
    ///
    /// # Errors
    /// When it is none of these, or no instruction starts there.
    pub fn place(&self, text: &str) -> Result<u64, String> {
        if let Some(pc) = self.labels.get(text) {
            return Ok(*pc);
        }
        let Some(pc) = number(text) else {
            let known: Vec<&str> = self.labels.keys().map(String::as_str).collect();
            let help = if known.is_empty() { "the program has none".to_owned() } else { known.join(", ") };
            return Err(format!("there is no label `{text}`: {help}"));
        };
        match (self.at(pc), self.lines.last()) {
            (Some(_), _) => Ok(pc),
            (None, Some(last)) => Err(format!("no instruction starts at {pc:#x}; the last is at {:#x}", last.pc)),
            (None, None) => Ok(pc),
        }
    }

    /// The first instruction at or after a line of the source file.
    pub fn on_line(&self, line: usize) -> Option<&Line> {
        let following = self.lines.iter().filter(|known| known.line.is_some_and(|known| known >= line));
        following.min_by_key(|known| known.line)
    }
}

/// Parses an integer, which is hexadecimal if it starts with `0x`.
pub fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(&digits.replace('_', ""), 16).ok(),
        None => text.replace('_', "").parse().ok(),
    }
}

/// The structure of an assembly source.
struct Read {
    /// The line of each instruction, from 0.
    lines: Vec<usize>,
    /// Labels, with the index of the instruction that each precedes.
    labels: Vec<(usize, String)>,
}

/// Parses assembly: one instruction per line, `label:`, comments from `//` or `;`, comment lines that start with `#`.
/// If groups are numbered, as in `3 : …`, lines without a number continue the previous group.
fn read(text: &str) -> Read {
    let mut read = Read { lines: Vec::new(), labels: Vec::new() };
    let lines = || text.lines().enumerate().map(|(number, line)| (number, without_comment(line)));
    let is_numbered = |line: &str| line.split_once(':').is_some_and(|(number, _)| is_number(number.trim()));
    let groups = lines().any(|(_, line)| is_numbered(line));
    for (number, mut rest) in lines() {
        let starts = !groups || is_numbered(rest);
        while let Some((name, tail)) = rest.split_once(':').filter(|(name, _)| is_label(name.trim())) {
            if !is_number(name.trim()) {
                read.labels.push((read.lines.len(), name.trim().to_owned()));
            }
            rest = tail.trim();
        }
        if starts && !rest.is_empty() {
            read.lines.push(number);
        }
    }
    read
}

fn without_comment(line: &str) -> &str {
    let end = [line.find("//"), line.find(';')].into_iter().flatten().min();
    let line = line[..end.unwrap_or(line.len())].trim();
    if line.starts_with('#') { "" } else { line }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_label(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$'))
}
