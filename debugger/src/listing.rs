//! The program being debugged: its instructions in memory order, with labels and source lines.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use isaforge_analysis::{Entry, Program, Set};
use isaforge_core::assembly::Assembly;
use isaforge_core::number;
use isaforge_runtime::machine::{Machine, Register, View};

use crate::code::{Code, Found};
use crate::names::register;

/// What is known of a program beside its code: its assembly source, or symbols.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The file that contains it, if there is one.
    pub path: Option<PathBuf>,
    /// Its text.
    pub text: String,
    /// The line number in the file of its first line, from 1.
    pub first: usize,
    /// The names of places by their offset in the code, if they are known without a text: the symbols of a file.
    pub symbols: BTreeMap<usize, String>,
}

/// An instruction of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Its place, in the machine's units.
    pub pc: u64,
    /// The place after it.
    pub next: u64,
    /// The label before it, if there is one.
    pub label: Option<String>,
    /// Its text; a branch to a label is followed by the label's name.
    pub text: String,
    /// Its mnemonic; for groups, the names of all their operations. Empty if the bytes do not decode.
    pub mnemonic: String,
    /// The line in the source file, from 1.
    pub line: Option<usize>,
    /// Whether it is a branch that may return, such as a call.
    pub calls: bool,
    /// The place that it branches to, if that is encoded in the instruction.
    pub target: Option<u64>,
}

/// The program.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Its instructions, in ascending order of place.
    pub lines: Vec<Line>,
    /// The file of the source, if there is one.
    pub path: Option<PathBuf>,
    /// The labels and their places: those of the source or of the file, and for other branch targets those that `dis`
    /// prints.
    pub labels: BTreeMap<String, u64>,
    /// The states that registers hold, by name. They may be named like registers.
    pub states: BTreeMap<String, Register>,
    /// The registers that the texts of its instructions name.
    pub registers: BTreeSet<Register>,
    /// The code in memory, if it is there.
    code: Option<Code>,
}

impl Line {
    /// The line of an instruction, without its place. `leads_to` is the label that it branches to.
    pub(crate) fn new(entry: &Entry, leads_to: Option<&str>) -> Self {
        let (text, mnemonic, calls) = match &entry.instruction {
            Ok(found) => (found.text.clone(), found.mnemonic.clone(), found.flow.calls),
            Err(reason) => (format!("({reason})"), String::new(), false),
        };
        let text = leads_to.map_or(text.clone(), |name| format!("{text}  → {name}"));
        Line { text, mnemonic, calls, ..Line::default() }
    }
}

impl Listing {
    /// Lists the program of a machine. A source that does not assemble to its code is ignored.
    pub fn new(machine: &dyn Machine, set: &Set, source: Option<&Source>) -> Self {
        let code = machine.code();
        let set = &set.clone().at(machine.base().wrapping_mul(machine.unit()));
        let assembly = source.map(|source| set.tables.assemble_at(&source.text, set.base));
        let assembly = assembly.filter(|read| read.errors.is_empty() && code.starts_with(&read.bytes));
        let mut names = source.map_or_else(BTreeMap::new, |source| source.symbols.clone());
        names.extend(assembly.iter().flat_map(Assembly::names));
        let program = Program::read(set, code).named(&names);
        let place = |byte: usize| machine.base() + byte as u64 / machine.unit();
        let first = source.map_or(1, |source| source.first.max(1));
        let lines: BTreeMap<usize, usize> =
            assembly.iter().flat_map(|read| &read.placed).map(|placed| (placed.at, placed.line + first)).collect();
        let has_source = !lines.is_empty();
        let named = |index: usize| program.labels.get(&index).cloned();
        let start = |index: usize| program.offset(index);
        let line = |(index, entry): (usize, &Entry)| {
            let target = entry.target().and_then(|address| program.place(address));
            Line {
                pc: place(entry.bytes.start),
                next: place(entry.bytes.end),
                label: named(index),
                line: lines.get(&entry.bytes.start).copied(),
                target: target.map(|index| place(start(index))),
                ..Line::new(entry, target.and_then(named).as_deref())
            }
        };
        let mut labels: BTreeMap<String, u64> =
            program.labels.iter().map(|(index, name)| (name.clone(), place(start(*index)))).collect();
        // Several labels of a source may precede one instruction.
        labels.extend(assembly.iter().flat_map(Assembly::addresses).map(|(at, label)| (label.name.clone(), place(at))));
        let lines: Vec<Line> = program.entries.iter().enumerate().map(line).collect();
        Listing {
            registers: registers(machine, &lines),
            lines,
            path: source.filter(|_| has_source).and_then(|source| source.path.clone()),
            labels,
            states: BTreeMap::new(),
            code: Code::of(machine, set),
        }
    }

    /// The instruction that a warp executes at a place: where a program has written code, that is not the listed one.
    pub fn find(&self, view: &dyn View, pc: u64) -> Option<Found<'_>> {
        let listed = self.at(pc).map(|index| &self.lines[index]);
        match (&self.code, listed) {
            (Some(code), Some(line)) if code.holds(view, line) => Some(Found::Listed(line)),
            (Some(code), _) => code.fetch(self, view, pc).map(Found::Fetched),
            (None, line) => line.map(Found::Listed),
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

    /// Parses a place: an instruction's word index or address (hexadecimal with `0x`), or a label. Where code is in
    /// memory, an address may be one that is not listed.
    ///
    /// # Errors
    /// When it is none of these, or no instruction can be there.
    pub fn place(&self, text: &str) -> Result<u64, String> {
        if let Some(pc) = self.labels.get(text) {
            return Ok(*pc);
        }
        let Some(pc) = number::parse(text) else {
            let known: Vec<&str> = self.labels.keys().map(String::as_str).collect();
            let help = match &known[..] {
                [] => "the program has none".to_owned(),
                [only] => format!("the only one is `{only}`"),
                _ => format!("the labels are `{}`", known.join("`, `")),
            };
            return Err(format!("there is no label `{text}`; {help}"));
        };
        if let (None, Some(code)) = (self.at(pc), &self.code) {
            return code.check(pc).map(|()| pc);
        }
        match (self.at(pc), self.lines.last()) {
            (Some(_), _) => Ok(pc),
            // In the notation of the question.
            (None, Some(last)) if text.starts_with("0x") || text.starts_with("0X") => {
                Err(format!("no instruction starts at {pc:#x}; the last is at {:#x}", last.pc))
            }
            (None, Some(last)) => Err(format!("no instruction starts at {pc}; the last is at {}", last.pc)),
            (None, None) => Ok(pc),
        }
    }

    /// The first instruction at or after a line of the source file.
    pub fn on_line(&self, line: usize) -> Option<&Line> {
        let following = self.lines.iter().filter(|known| known.line.is_some_and(|known| known >= line));
        following.min_by_key(|known| known.line)
    }
}

/// The registers that texts name.
fn registers(machine: &dyn Machine, lines: &[Line]) -> BTreeSet<Register> {
    let mut known: HashMap<&str, Option<Register>> = HashMap::new();
    let words = lines.iter().flat_map(|line| line.text.split(|c: char| !c.is_alphanumeric() && c != '_'));
    for word in words.filter(|word| word.starts_with(char::is_alphabetic)) {
        known.entry(word).or_insert_with(|| register(machine.banks(), word).map(|(register, _)| register));
    }
    known.into_values().flatten().collect()
}

/// Formats a place in the machine's units: word indices in decimal, addresses in hexadecimal.
pub fn format_pc(machine: &dyn Machine, pc: u64) -> String {
    if machine.unit() == 1 { format!("{pc:#x}") } else { pc.to_string() }
}
