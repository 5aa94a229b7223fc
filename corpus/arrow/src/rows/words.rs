//! Rows of instructions that are words.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::{ArrayRef, UInt16Array, UInt32Array, UInt64Array};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use isaforge_analysis::entry::calls;
use isaforge_analysis::{Instruction, Program};
use isaforge_core::Tables;
use isaforge_core::decode::decode;
use isaforge_core::print::{Style, print};
use isaforge_core::text::Line;

use super::keep::Keep;
use crate::column::{Column, nothing};
use crate::registers::{Found, Operands};
use crate::set::{INVALID, Set};
use crate::views::{Lists, Name, Strings, Views};

/// Words that were decoded.
#[derive(Debug, Default)]
pub struct Words {
    words: Vec<u64>,
    /// One per word, [`INVALID`] if it is not an instruction. Empty if no column needs opcodes.
    opcodes: Vec<u16>,
    pcs: Vec<u32>,
    /// Rows of incomplete words, with their bytes.
    pieces: Vec<(usize, Vec<u8>)>,
    flows: RefCell<Flows>,
    /// The rows of calls of programs that the specification describes.
    calls: Vec<usize>,
    /// The offsets of all such calls in the program that is being read.
    offsets: Option<BTreeSet<usize>>,
    /// Empty between columns. Its memory is reused, since allocating takes longer than filling it.
    found: RefCell<Found>,
}

/// How many distinct words have their flow cached.
const MAX_FLOWS: usize = 1 << 16;

/// A cache for the flow of words, which must be derived from their operations; programs share most words.
#[derive(Debug, Default)]
struct Flows(HashMap<u64, Name>);

impl Flows {
    fn of(&mut self, set: &Set, word: u64, size: usize) -> Name {
        if let Some(known) = self.0.get(&word) {
            return *known;
        }
        if self.0.len() >= MAX_FLOWS {
            self.0.clear();
        }
        let bytes = word.to_le_bytes();
        let program = Program::read(&set.analysis, &bytes[..size]);
        let found = program.entries.first().and_then(|entry| entry.instruction.as_ref().ok());
        let name = found.map_or(Name::EMPTY, |found: &Instruction| set.flow(found.flow.name()));
        self.0.insert(word, name);
        name
    }
}

/// The maximum size of the texts in a batch, in bytes.
const MAX_TEXT: usize = 1 << 30;

impl Words {
    pub fn len(&self) -> usize {
        self.words.len()
    }

    pub fn clear(&mut self) {
        self.words.clear();
        self.opcodes.clear();
        self.pcs.clear();
        self.pieces.clear();
        self.calls.clear();
    }

    pub fn push(
        &mut self,
        set: &Set,
        keep: Option<&Keep>,
        columns: &[Column],
        code: &[u8],
        from: usize,
        most: usize,
    ) -> Option<usize> {
        let size = set.tables().unit().min(8);
        let decoded = keep.is_some() || columns.iter().any(|column| !column.is_of_program() && *column != Column::Pc);
        let calling = columns.contains(&Column::Flow) && !set.callers.is_empty();
        let addressed = columns.contains(&Column::Pc) || calling;
        let rest = code.get(from..)?;
        // Words that a filter drops take time, too, so they count.
        let most = most.saturating_sub(self.len()).max(1).min(rest.len() / size + 1);
        let (head, tail) = rest.split_at(rest.len().min(most.saturating_mul(size)));
        let start = self.words.len();
        set.words(head, |words| {
            let from = self.words.len();
            self.words.extend(words.iter().map(|word| u64::from_le_bytes(*word)));
            if decoded {
                self.opcodes.resize(self.words.len(), INVALID);
                set.opcodes(words, &mut self.opcodes[from..]);
            }
        });
        if addressed {
            let addresses = (from..).step_by(size).take(self.words.len() - start);
            self.pcs.extend(addresses.map(|address| u32::try_from(address).unwrap_or(u32::MAX)));
        }
        if let Some(keep) = keep {
            self.retain(start, keep, addressed);
        }
        if calling {
            self.find_calls(set, code, from, start);
        }
        let piece = head.len() % size;
        if tail.is_empty() && piece > 0 && keep.is_none_or(|keep| keep.invalid) {
            self.pieces.push((self.words.len(), head[head.len() - piece..].to_vec()));
            self.words.push(0);
            if decoded {
                self.opcodes.push(INVALID);
            }
            if addressed {
                self.pcs.push(u32::try_from(code.len() - piece).unwrap_or(u32::MAX));
            }
        }
        (!tail.is_empty()).then(|| from + head.len())
    }

    /// Finds the calls among the rows from `start` on. Whether a branch is a call depends on the words before it.
    fn find_calls(&mut self, set: &Set, code: &[u8], from: usize, start: usize) {
        if from == 0 {
            self.offsets = None;
        }
        for row in start..self.words.len() {
            if set.callers.contains(&self.opcodes[row]) {
                let offsets = self.offsets.get_or_insert_with(|| calls(&set.analysis, code));
                if offsets.contains(&(self.pcs[row] as usize)) {
                    self.calls.push(row);
                }
            }
        }
    }

    /// Removes unwanted rows from `start` on.
    fn retain(&mut self, start: usize, keep: &Keep, addressed: bool) {
        let mut to = start;
        for from in start..self.words.len() {
            let opcode = self.opcodes[from];
            if keep.takes((opcode != INVALID).then_some(opcode)) {
                self.words[to] = self.words[from];
                self.opcodes[to] = opcode;
                if addressed {
                    self.pcs[to] = self.pcs[from];
                }
                to += 1;
            }
        }
        self.words.truncate(to);
        self.opcodes.truncate(to);
        self.pcs.truncate(if addressed { to } else { 0 });
    }

    fn valid(&self) -> Option<NullBuffer> {
        // Most batches contain only valid words, and this check is faster than building the bitmap.
        if !self.opcodes.contains(&INVALID) {
            return None;
        }
        nulls(self.opcodes.iter().map(|opcode| *opcode != INVALID))
    }

    /// Calls `each` with the words that are instructions, and with `None` for the others.
    fn each(&self, mut each: impl FnMut(Option<(u64, u16)>)) {
        for (word, opcode) in self.words.iter().zip(&self.opcodes) {
            each((*opcode != INVALID).then_some((*word, *opcode)));
        }
    }

    /// A name for each row whose word is an instruction, which `name` gets with its row.
    fn names(&self, set: &Set, mut name: impl FnMut(usize, u64, u16) -> Name) -> ArrayRef {
        let (mut views, mut rows) = (Views::default(), 0..);
        self.each(|found| {
            let row = rows.next().unwrap_or(usize::MAX);
            views.push(found.map_or(Name::EMPTY, |(word, opcode)| name(row, word, opcode)));
        });
        Arc::new(views.finish(&set.texts, self.valid()))
    }

    fn lists(&self, set: &Set, mut fill: impl FnMut(u64, u16, &mut Views)) -> ArrayRef {
        let mut lists = Lists::default();
        self.each(|found| {
            if let Some((word, opcode)) = found {
                fill(word, opcode, &mut lists.views);
            }
            lists.end();
        });
        Arc::new(lists.finish(&set.texts, self.valid()))
    }

    fn registers(&self, set: &Set, write: bool) -> ArrayRef {
        let (mut found, none) = (self.found.borrow_mut(), Operands::default());
        found.clear();
        let mut ends = vec![0; self.words.len() + 1];
        let operands = |opcode: u16| {
            // An invalid word has no plan.
            let plan = set.plans.get(usize::from(opcode));
            plan.map_or(&none, |plan| if write { &*plan.writes } else { &plan.reads })
        };
        let words = self.words.iter().zip(&self.opcodes).map(|(word, opcode)| (*word, operands(*opcode)));
        match write {
            true => found.extend::<1>(&set.registers, words, &mut ends[1..]),
            false => found.extend::<3>(&set.registers, words, &mut ends[1..]),
        }
        let views = found.all().iter().map(|register| set.registers.names[*register as usize]).collect();
        Arc::new(Lists::new(views, ends).finish(&set.texts, self.valid()))
    }

    pub fn column(&self, set: &Set, column: Column) -> ArrayRef {
        let rows = self.words.len();
        let Tables::Words(isa) = set.tables() else { return nothing(rows) };
        let is_piece = |row: usize| self.pieces.binary_search_by_key(&row, |(row, _)| *row).is_ok();
        match column {
            Column::Pc => Arc::new(UInt32Array::from(self.pcs.clone())),
            Column::Word => {
                let valid = if self.pieces.is_empty() { None } else { nulls((0..rows).map(|row| !is_piece(row))) };
                Arc::new(UInt64Array::new(ScalarBuffer::from(self.words.clone()), valid))
            }
            Column::Bytes => {
                let mut builder = BinaryBuilder::new();
                let mut pieces = self.pieces.iter().peekable();
                for row in 0..rows {
                    builder.append_option(pieces.next_if(|(at, _)| *at == row).map(|(_, bytes)| bytes));
                }
                Arc::new(builder.finish())
            }
            Column::Opcode => {
                let valid = self.valid();
                Arc::new(UInt16Array::new(ScalarBuffer::from(self.opcodes.clone()), valid))
            }
            Column::Mnemonic => self.names(set, |_, _, opcode| set.forms[usize::from(opcode)].view),
            Column::Modifiers => self.lists(set, |word, opcode, views| {
                let plan = &set.plans[usize::from(opcode)];
                if word & plan.quiet_mask != plan.quiet_value {
                    plan.modifiers
                        .iter()
                        .filter_map(|modifier| modifier.of(word))
                        .for_each(|(_, name)| views.push(name));
                }
            }),
            Column::Flow => {
                let size = set.tables().unit().min(8);
                let (mut flows, mut calls) = (self.flows.borrow_mut(), self.calls.iter().peekable());
                self.names(set, |row, word, _| match calls.next_if_eq(&&row) {
                    Some(_) => set.flow("call"),
                    None => flows.of(set, word, size),
                })
            }
            Column::Dst => self.registers(set, true),
            Column::Src => self.registers(set, false),
            Column::Text => {
                let (mut strings, mut line) = (Strings::default(), Line::new());
                self.each(|found| {
                    line.clear();
                    if let Some((word, opcode)) = found.filter(|_| strings.size() < MAX_TEXT) {
                        print(isa, opcode, word, Style::Customary, &mut line);
                    }
                    strings.push(line.as_str());
                });
                Arc::new(strings.finish(self.valid()))
            }
            Column::Error => {
                let valid = self.valid();
                if valid.is_none() {
                    return nothing(rows);
                }
                let mut strings = Strings::default();
                let mut pieces = self.pieces.iter().peekable();
                for row in 0..rows {
                    let error = match pieces.next_if(|(at, _)| *at == row) {
                        Some((_, bytes)) => {
                            Some(format!("a word has {} bytes, but there are {}", set.tables().unit(), bytes.len()))
                        }
                        None if self.opcodes[row] == INVALID => {
                            decode(isa, self.words[row]).err().map(|error| error.to_string())
                        }
                        None => None,
                    };
                    strings.push(error.as_deref().unwrap_or_default());
                }
                let wrong = nulls(self.opcodes.iter().map(|opcode| *opcode == INVALID));
                Arc::new(strings.finish(wrong))
            }
            Column::Program | Column::Hash | Column::Isa => nothing(rows),
        }
    }
}

/// The null buffer for validity flags; `None` if there are no nulls.
fn nulls(valid: impl ExactSizeIterator<Item = bool>) -> Option<NullBuffer> {
    let buffer: arrow_buffer::BooleanBuffer = valid.collect();
    let nulls = NullBuffer::new(buffer);
    (nulls.null_count() > 0).then_some(nulls)
}
