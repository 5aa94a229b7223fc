//! Words that differ only in their registers, uniforms, constants and numbers share a pattern: they are all valid,
//! have one shape, and their operands are located in the same way.
//!
//! ```text
//! word & the bits that patterns depend on ──hash──▶ Pattern: a template, and for each of its slots a place
//! ```

use std::rc::Rc;

use isaforge_core::bits::{Bits, ones};
use isaforge_core::decode::alternative_of;
use isaforge_core::table::{Alternative, Form, Operand, Shape, Type};
use isaforge_valhall::semantics::SEMANTICS;
use isaforge_valhall::{ISA, Instruction};

use super::slot::{RowSource, Slot, Table};
use super::template::Template;
use crate::exec::shape::{Index, Shapes};
use crate::valhall::program::{After, Decoder};

/// The maximum number of patterns that are kept. A stream of unusual words only causes patterns to be built again.
const MAX_PATTERNS: usize = 1 << 12;

/// What all words of a pattern have in common.
#[derive(Debug)]
pub struct Pattern {
    /// The operations.
    pub template: Rc<Template>,
    /// The places of the template's slots.
    pub places: Box<[RowSource]>,
    /// Whether threads end after it.
    pub ends: bool,
}

/// A word without a pattern.
#[derive(Clone, Copy, Debug)]
pub enum Left {
    /// The reference has to execute it.
    Reference(Instruction, After),
    /// It is not an executable instruction.
    Refused,
}

/// The patterns of the words so far.
#[derive(Debug)]
pub struct Patterns {
    /// The lowest bits that distinguish forms in all words, as shift and mask.
    first: (u32, u64),
    /// For each value of these bits, the bits that patterns depend on.
    masks: Box<[u64]>,
    index: Index<MAX_PATTERNS>,
    entries: Vec<Entry>,
    templates: Shapes<Option<Rc<Template>>>,
    /// Whether they are those of fragment programs.
    draws: bool,
}

#[derive(Debug)]
enum Entry {
    Ready(Pattern),
    /// More bits of these words have to be inspected: those in the mask.
    Narrow(u64),
}

impl Patterns {
    /// Creates the patterns of fragment programs, or of all others.
    pub fn new(draws: bool) -> Self {
        let templates = Shapes::new(SEMANTICS, ISA);
        let common = ISA.forms.iter().fold(u64::MAX, |common, form| common & form.match_mask);
        let shift = common.trailing_zeros() % 64;
        let mask = ones((common >> shift).trailing_ones().min(10));
        let mut masks = vec![0; mask as usize + 1];
        for (opcode, form) in ISA.forms.iter().enumerate() {
            let fixed = !free(form) | templates.key(opcode as u16);
            masks[(form.match_value >> shift & mask) as usize] |= fixed;
        }
        Patterns {
            first: (shift, mask),
            masks: masks.into(),
            index: Index::new(),
            entries: Vec::new(),
            templates,
            draws,
        }
    }

    /// Returns the pattern of a word; builds it if the word is the first of its pattern.
    #[inline(always)]
    pub fn get(&mut self, word: u64, table: &mut Table) -> Result<&Pattern, Left> {
        let decoder = Decoder::get();
        if decoder.may_go_beyond(word) && decoder.decode(word).is_none() {
            return Err(Left::Refused);
        }
        let (shift, mask) = self.first;
        let looked_at = self.masks.get((word >> shift & mask) as usize).copied().unwrap_or(u64::MAX);
        let mut found = self.index.find(0, word & looked_at);
        if let Ok(entry) = found
            && let Some(Entry::Narrow(more)) = self.entries.get(entry)
        {
            found = self.index.find(1, word & more);
        }
        let entry = match found {
            Ok(entry) => entry,
            Err(_) => self.add(word, looked_at, table)?,
        };
        match self.entries.get(entry) {
            Some(Entry::Ready(pattern)) => Ok(pattern),
            _ => Err(Left::Refused),
        }
    }

    /// Builds the pattern of a word. Returns its number.
    #[cold]
    #[inline(never)]
    fn add(&mut self, word: u64, looked_at: u64, table: &mut Table) -> Result<usize, Left> {
        let (instruction, after) = Decoder::get().decode(word).ok_or(Left::Refused)?;
        let left = Left::Reference(instruction, after);
        let opcode = instruction.opcode() as u16;
        let draws = self.draws;
        let template = self.templates.get(opcode, word, |shape| Template::new(opcode, shape, draws).map(Rc::new));
        let template = template.and_then(|entry| entry.made.clone()).ok_or(left)?;
        let form = ISA.forms.get(usize::from(opcode)).ok_or(left)?;
        let places = template.slots.iter().map(|(slot, _)| table.place(slot, word)).collect();
        let ends = after == After::End;
        if self.entries.len() + 2 > MAX_PATTERNS {
            self.entries.clear();
            self.index.clear();
        }
        let more = looked_at | named(form, &template, word);
        if more != looked_at {
            if let Err(at) = self.index.find(0, word & looked_at) {
                self.index.set(at, 0, word & looked_at, self.entries.len());
                self.entries.push(Entry::Narrow(more));
            }
            // All words that get here have the same readings of all operands, because the first lookup has compared
            // those bits.
            if let Err(at) = self.index.find(1, word & more) {
                self.index.set(at, 1, word & more, self.entries.len());
            }
        } else if let Err(at) = self.index.find(0, word & looked_at) {
            self.index.set(at, 0, word & looked_at, self.entries.len());
        }
        self.entries.push(Entry::Ready(Pattern { template, places, ends }));
        Ok(self.entries.len() - 1)
    }
}

/// Returns the bits of a form that select a register, uniform, constant or number in some reading of an operand. All
/// other bits determine what the word does, or whether it is valid.
fn free(form: &Form) -> u64 {
    let free = form.operands.iter().fold(0, |free, operand| {
        free | match &operand.shape {
            Shape::Number { bits, .. } => bits.mask(0),
            Shape::List { kind, at, .. } => {
                ISA.kinds[usize::from(*kind)].alternatives.iter().fold(0, |free, reading| free | numbers(reading, *at))
            }
            Shape::One { kind, at } => {
                let readings = ISA.kinds[usize::from(*kind)].alternatives;
                let chosen = readings.iter().fold(0, |chosen, reading| chosen | reading.mask << at);
                readings.iter().fold(0, |free, reading| free | numbers(reading, *at)) & !chosen
            }
        }
    });
    let modifiers = form.modifiers.iter().chain(form.operands.iter().flat_map(|operand| operand.suffixes));
    let counts = form.operands.iter().filter_map(|operand| match &operand.shape {
        Shape::List { count, .. } => count.bits,
        _ => None,
    });
    let shared = ISA.shared.iter().map(|shared| shared.bits);
    let bits = modifiers.map(|modifier| modifier.bits).chain(counts).chain(shared);
    free & !bits.fold(form.match_mask | form.fixed_mask | form.ignored, |fixed, bits| fixed | bits.mask(0))
}

/// Returns the bits of a reading itself for which every value is valid.
fn numbers(reading: &Alternative, at: u8) -> u64 {
    let fields = reading.fields.iter().filter(|field| {
        let values = match field.ty {
            Type::Register(bank) => ISA.banks.get(usize::from(bank)).map_or(0, |bank| bank.count as usize),
            Type::Constant(table) => ISA.constants.get(usize::from(table)).map_or(0, |table| table.values.len()),
            _ => 0,
        };
        ones(field.bits.width()) < values as u64
    });
    let own = fields.flat_map(|field| field.bits.pieces()).filter(|(piece, _)| !piece.shared);
    own.fold(0, |bits, (piece, _)| bits | Bits::new(piece.at, piece.width).mask(at))
}

/// Returns the bits of operands that have names instead of numbers in the readings of a word, and of lists that no
/// slot depends on; slots know with which registers a list may begin.
fn named(form: &Form, template: &Template, word: u64) -> u64 {
    let looks = |at: u8| template.slots.iter().any(|(slot, _)| matches!(slot, Slot::List(of, ..) if of.is_at(at)));
    let named = |operand: &Operand| match operand.shape {
        Shape::One { kind, at } => {
            let Some(kind) = ISA.kinds.get(usize::from(kind)) else { return 0 };
            let reading = alternative_of(ISA, kind.alternatives, at, word);
            kind.own_bits() << at & !reading.map_or(0, |reading| numbers(reading, at))
        }
        Shape::List { kind, at, .. } if !looks(at) => {
            let readings = ISA.kinds.get(usize::from(kind)).map_or(&[][..], |kind| kind.alternatives);
            readings.iter().fold(0, |bits, reading| bits | numbers(reading, at))
        }
        _ => 0,
    };
    form.operands.iter().fold(0, |bits, operand| bits | named(operand))
}

#[cfg(test)]
mod tests {
    use isaforge_core::sample::{Random, sample};

    use super::*;

    #[test]
    fn words_of_a_pattern_are_valid_and_have_one_shape() {
        let (mut patterns, mut table, mut random) = (Patterns::new(false), Table::new(), Random(5));
        let mut shapes = Shapes::new(SEMANTICS, ISA);
        let mut known = 0;
        for opcode in 0..ISA.forms.len() as u16 {
            for _ in 0..64 {
                let word = sample(ISA, opcode, &mut random);
                let Ok(pattern) = patterns.get(word, &mut table) else { continue };
                let template = Rc::as_ptr(&pattern.template);
                // Changes all bits that the patterns leave open.
                let looked_at = patterns.masks[(word >> patterns.first.0 & patterns.first.1) as usize];
                let entries = patterns.entries.len();
                let other = word & looked_at | random.next() & !looked_at;
                let found = patterns.get(other, &mut table).map(|pattern| Rc::as_ptr(&pattern.template));
                let decoded = isaforge_valhall::decode(other);
                if let (Ok(found), true) = (found, patterns.entries.len() == entries) {
                    // For lists, the places tell which registers are missing.
                    let form = &ISA.forms[usize::from(opcode)];
                    let lists = form.operands.iter().any(|operand| matches!(operand.shape, Shape::List { .. }));
                    assert!(lists || decoded.is_ok(), "{word:#018x} {other:#018x}");
                    assert_eq!(found, template, "{word:#018x} {other:#018x}");
                    let one = shapes.get(opcode, word, |_| ()).map(|entry| entry.shape.clone());
                    let other = shapes.get(opcode, other, |_| ()).map(|entry| entry.shape.clone());
                    assert_eq!(one, other, "{word:#018x}");
                    known += 1;
                }
            }
        }
        assert!(known > 3000, "{known}");
    }
}
