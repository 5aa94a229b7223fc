//! Selects one of several records with the same constant bits.
//!
//! Besides the records it decodes with, LLVM has records only for its assembler: the same instruction with an explicit
//! condition mask, for either wave size, and variants for 16-bit registers without halves. Among records with the same
//! bits, the one in the first table wins; within a table, the one for waves of 32 lanes, then the one without a mark in
//! its name. A record whose words all belong to an earlier table is never decoded. If records differ only in their
//! mnemonic, such as `v_mul_lo_i32` and `v_mul_lo_u32` of gfx9, the last one is decoded, as by LLVM, and the assembler
//! knows the others.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::binding::Bindings;
use super::generation::Generation;
use super::records::{Bit, Operand, Record};

/// Marks in names, in descending order of preference.
const MARKS: [&str; 3] = ["_w32_", "_w64_", "_lds_"];
/// Marks of records that treat 16-bit registers as whole registers, and of those that treat them as halves. A processor
/// uses one sort, that of its first table.
const WHOLE: &str = "fake16";
const HALVES: &str = "_t16";

/// The rank of a record; lower is better. Among image instructions, the one with the most addresses represents all.
fn rank(record: &Record) -> (usize, usize, Reverse<usize>) {
    // A record with an explicit condition mask is more precise than one that leaves the mask to LLVM's printer.
    let mark = match MARKS.iter().position(|mark| record.name.contains(mark)) {
        Some(0) => 0,
        mark => mark.map_or(1, |at| at + 1),
    };
    let addresses = record.ins.iter().filter(|operand| operand.name.starts_with("vaddr")).count();
    (record.table, mark, Reverse(addresses))
}

/// A record used for decoding.
pub(super) struct Chosen<'r> {
    pub record: &'r Record,
    /// Records that differ only in their mnemonic.
    pub also: Vec<&'r Record>,
}

/// The records used for decoding, in document order.
pub(super) fn choose<'r>(records: &'r [Record], generation: &Generation) -> Vec<Chosen<'r>> {
    let whole = generation.tables.first().is_some_and(|table| table.to_lowercase().contains(WHOLE));
    let other = if whole { HALVES } else { WHOLE };
    let mut best: HashMap<Vec<Option<bool>>, Vec<usize>> = HashMap::new();
    for (index, record) in records.iter().enumerate().filter(|(_, record)| !record.name.contains(other)) {
        let constant = |bit: &Bit| if let Bit::Is(value) = bit { Some(*value) } else { None };
        let mut key: Vec<Option<bool>> = record.bits.iter().map(constant).collect();
        // A single address is written differently from several.
        key.push(Some(record.class("vaddr1").is_some()));
        let known = best.entry(key).or_default();
        let Some(last) = known.last().map(|last| &records[*last]) else {
            known.push(index);
            continue;
        };
        if rank(record) < rank(last) {
            *known = vec![index];
        } else if rank(record) == rank(last) && renamed(record, last) {
            known.push(index);
        }
    }
    let of = |indices: Vec<usize>| {
        let (last, also) = indices.split_last()?;
        Some((*last, Chosen { record: &records[*last], also: also.iter().map(|index| &records[*index]).collect() }))
    };
    let mut chosen: Vec<(usize, Chosen<'_>)> = best.into_values().filter_map(of).collect();
    chosen.sort_unstable_by_key(|(index, _)| *index);
    let patterns: Vec<Pattern> = chosen.iter().map(|(_, chosen)| Pattern::of(chosen.record, generation)).collect();
    let reached = |pattern: &Pattern| !patterns.iter().any(|earlier| earlier.hides(pattern));
    let mut reached = patterns.iter().map(reached);
    chosen.retain(|_| reached.next() == Some(true));
    chosen.into_iter().map(|(_, chosen)| chosen).collect()
}

/// Whether two records differ only in their mnemonic.
fn renamed(record: &Record, other: &Record) -> bool {
    let (name, operands) = record.split();
    let (other_name, other_operands) = other.split();
    let same = record.bits == other.bits && record.ins == other.ins && record.outs == other.outs;
    same && operands == other_operands && name != other_name
}

/// The constant bits of a record.
struct Pattern {
    table: usize,
    bits: usize,
    mask: u128,
    value: u128,
    /// Whether the pattern alone decides, without conditions on operands.
    exact: bool,
}

impl Pattern {
    fn of(record: &Record, generation: &Generation) -> Pattern {
        let free = |operand: &Operand| {
            let binding = Bindings::get().of(&operand.class, &record.text, generation.number);
            binding.is_none_or(|binding| binding.fixed.is_none() && binding.condition.is_none())
        };
        let exact = record.ins.iter().all(free);
        let mut pattern = Pattern { table: record.table, bits: record.bits.len(), mask: 0, value: 0, exact };
        for (at, bit) in record.bits.iter().enumerate() {
            if let Bit::Is(value) = bit {
                pattern.mask |= 1 << at;
                pattern.value |= u128::from(*value) << at;
            }
        }
        pattern
    }

    /// Whether a decoder finds this record in an earlier table for all words of the other.
    fn hides(&self, other: &Pattern) -> bool {
        let same = (self.value ^ other.value) & self.mask == 0;
        self.exact && self.table < other.table && self.bits == other.bits && self.mask & !other.mask == 0 && same
    }
}
