//! Looks up the registers that operands of words name, by the bits that name them. The alternative of an operand and
//! its number of registers vary from word to word, so nearly all words take a branch-free path; branches would be
//! mispredicted.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use isaforge_analysis::Register;
use isaforge_core::Isa;
use isaforge_core::registers::RegisterField;

use crate::views::Name;

/// Consecutive registers in [`Registers::all`]; empty if an operand is not a register.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Run {
    /// The first registers, as many as are written at once; only as many as `summary` counts are valid.
    items: [u32; AT_ONCE],
    /// The count, from bit [`COUNT`] up. Below it, a bit for each register, which some registers share: runs without
    /// common bits have no common registers. [`EXACT`] if there are more than [`AT_ONCE`] registers, or the operand has no
    /// table.
    summary: u64,
}

/// The number of registers of a run that are written at once.
const AT_ONCE: usize = 4;

/// The maximum number of operands with tables; words with more operands are [`EXACT`].
const MAX_OPERANDS: usize = 4;

/// The position of the count in a summary.
const COUNT: u32 = 59;

/// Marks runs for which registers must be found one by one.
const EXACT: u64 = 1 << (COUNT - 1);

/// The number of bits for registers: the sum of [`MAX_OPERANDS`] summaries never carries into [`EXACT`].
const REGISTER_BITS: usize = 56;

/// The registers of a set of words.
#[derive(Debug, Default)]
pub(crate) struct Registers {
    /// The registers of all banks, bank by bank.
    pub all: Vec<Register>,
    /// Their names.
    pub names: Vec<Name>,
    /// The index of each bank's first register.
    banks: Vec<usize>,
    /// Operands by their fields. Forms share them, so that those in use stay in the cache.
    operands: HashMap<Vec<RegisterField>, Arc<Operands>>,
    /// The tables of operands, concatenated, and the range of each.
    runs: Vec<Run>,
    tables: Vec<Range<usize>>,
}

/// The number of registers beyond the end of each bank, since the specification may allow a run to begin there.
const AFTER: u32 = 64;

/// The maximum number of bits that operands share.
const MAX_SHARED: u32 = 4;

/// The maximum number of bits that index a table.
const MAX_BITS: u32 = 15;

/// The maximum number of runs in all tables of a set.
const MAX_RUNS: usize = 1 << 18;

impl Registers {
    /// The registers of a set, without operands.
    pub fn new(isa: &Isa, name: impl FnMut(&Register) -> Name) -> Registers {
        let mut found = Registers::default();
        found.runs.resize(1 << MAX_SHARED, Run::default());
        found.runs.resize(2 << MAX_SHARED, Run { summary: EXACT, ..Run::default() });
        for (bank, count) in isa.banks.iter().map(|bank| bank.count).enumerate() {
            found.banks.push(found.all.len());
            found.all.extend((0..count + AFTER).map(|index| Register { bank: bank as u16, index }));
        }
        found.names = found.all.iter().map(name).collect();
        found
    }

    /// The operands with these fields.
    pub fn operands(&mut self, fields: Vec<RegisterField>) -> Arc<Operands> {
        if let Some(known) = self.operands.get(&fields) {
            return Arc::clone(known);
        }
        let operands = Arc::new(Operands::new(&fields, self));
        self.operands.insert(fields, Arc::clone(&operands));
        operands
    }

    /// The registers that a word names in the first of these fields that has any.
    fn find(&self, fields: &[RegisterField], word: u64) -> Range<usize> {
        let Some(found) = fields.iter().find_map(|field| field.of(word)) else { return 0..0 };
        let start = |bank: usize| self.banks.get(bank).copied().unwrap_or(self.all.len());
        let bank = usize::from(found.bank);
        let (first, end) = (start(bank) + usize::from(found.first), start(bank + 1));
        first.min(end)..(first + usize::from(found.count)).min(end)
    }

    /// The same as a table entry.
    fn run(&self, fields: &[RegisterField], word: u64) -> Run {
        let found = self.find(fields, word);
        // Programs use the first registers of each bank most, so these get different bits.
        let bit = |at: usize| {
            let register = self.all[at];
            1 << ((register.index as usize + 29 * usize::from(register.bank)) % REGISTER_BITS)
        };
        let summary = match found.len() {
            count if count > AT_ONCE => EXACT,
            count => found.clone().fold((count as u64) << COUNT, |bits, at| bits | bit(at)),
        };
        Run { items: std::array::from_fn(|index| (found.start + index) as u32), summary }
    }

    /// Adds a table and returns its start. Operands with equal tables share one.
    fn add(&mut self, table: &[Run]) -> u32 {
        if let Some(known) = self.tables.iter().find(|known| self.runs[known.start..known.end] == *table) {
            return known.start as u32;
        }
        let start = self.runs.len();
        self.runs.extend(table);
        self.tables.push(start..self.runs.len());
        start as u32
    }
}

/// The operands of a form that may be registers.
#[derive(Debug, Default)]
pub(crate) struct Operands {
    /// Bits that index the tables of several operands: their shift, and their mask after it.
    shared: (u8, u32),
    /// How many of the places are used.
    count: usize,
    places: [Place; MAX_OPERANDS],
    /// The fields of each operand.
    fields: Vec<Vec<RegisterField>>,
}

/// The bits that determine an operand's registers. The default is that of an operand without registers.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The start of its table. The index consists of the shared bits (low part) and its own bits (high part).
    table: u32,
    /// The mask of its own bits, after the word is rotated right.
    mask: u32,
    rotate: u8,
}

impl Place {
    /// An operand without a table.
    const EXACT: Place = Place { table: 1 << MAX_SHARED, mask: 0, rotate: 0 };
}

impl Operands {
    fn new(fields: &[RegisterField], registers: &mut Registers) -> Operands {
        let of_operands = fields.chunk_by(|field, next| field.operand == next.operand);
        let fields: Vec<Vec<RegisterField>> = of_operands.map(<[_]>::to_vec).collect();
        // Bits far from the others of an operand are usually shared with other operands.
        let wide = fields.iter().map(|fields| named(fields)).find(|named| span(*named) > MAX_BITS).unwrap_or(0);
        let far = lowest_run(wide & !lowest_run(wide));
        let shared = if far.count_ones() > MAX_SHARED { 0 } else { far };
        let (shift, width) = (shared.trailing_zeros() & 63, shared.count_ones());
        let mut places = [Place::default(); MAX_OPERANDS];
        for (place, fields) in places.iter_mut().zip(&fields) {
            let own = named(fields) & !shared;
            let at = own.trailing_zeros() & 63;
            *place = Place::EXACT;
            let bits = span(own) + width;
            if bits > MAX_BITS || registers.runs.len() + (1 << bits) > MAX_RUNS {
                continue;
            }
            let run = |index: u64| {
                let word = (index >> width) << at;
                // Words never yield an index with bits set in the gaps.
                let is_index = word & !own == 0;
                let word = word | (index << shift) & shared;
                if is_index { registers.run(fields, word) } else { Run::default() }
            };
            let table: Vec<Run> = (0..1 << bits).map(run).collect();
            let mask = ((own >> at) << width) as u32;
            *place = Place { table: registers.add(&table), mask, rotate: (at.wrapping_sub(width) & 63) as u8 };
        }
        if fields.len() > MAX_OPERANDS {
            places[0] = Place::EXACT;
        }
        let count = fields.len().min(MAX_OPERANDS);
        Operands { shared: (shift as u8, (shared >> shift) as u32), count, places, fields }
    }

    /// The registers of a valid word, operand by operand, as indices into [`Registers::all`].
    pub fn each<'o>(&'o self, registers: &'o Registers, word: u64) -> impl Iterator<Item = usize> + 'o {
        self.fields.iter().flat_map(move |fields| registers.find(fields, word))
    }
}

/// The bits of a word that determine its registers in these fields.
fn named(fields: &[RegisterField]) -> u64 {
    fields.iter().fold(0, |named, field| {
        named | field.mask | field.first.mask(field.base) | field.count.map_or(0, |count| count.mask(0))
    })
}

/// The number of bits from the lowest to the highest set bit.
fn span(bits: u64) -> u32 {
    64 - (bits.leading_zeros() + bits.trailing_zeros()).min(64)
}

/// The registers of words, without duplicates within a word, as indices into [`Registers::all`].
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The items before `len` are valid. Others were written because that is cheaper than a test.
    items: Vec<u32>,
    len: usize,
}

/// The room needed for one word: a summary counts up to 31.
const ROOM: usize = (1 << (64 - COUNT)) + AT_ONCE;

impl Found {
    /// Removes all registers.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// All registers, word by word.
    pub fn all(&self) -> &[u32] {
        &self.items[..self.len]
    }

    /// Appends the registers of valid words, operand by operand. `ends` receives the total after each word. `USUAL` is
    /// the number of operands that most words do not exceed.
    #[inline(always)]
    pub fn extend<'o, const USUAL: usize>(
        &mut self,
        registers: &Registers,
        words: impl Iterator<Item = (u64, &'o Operands)>,
        ends: &mut [i32],
    ) {
        for ((word, operands), end) in words.zip(ends) {
            let Some(room) = self.items[self.len..].first_chunk_mut::<ROOM>() else {
                self.exactly(registers, operands, word);
                *end = self.len as i32;
                continue;
            };
            let (shift, mask) = operands.shared;
            let shared = (word >> (shift & 63)) as u32 & mask;
            let (mut sum, mut either) = (0u64, 0);
            let mut add = |place: &Place| {
                let own = word.rotate_right(place.rotate.into()) as u32 & place.mask;
                let run = &registers.runs[(place.table + shared + own) as usize];
                let at = (sum >> COUNT) as usize;
                room[at..at + AT_ONCE].copy_from_slice(&run.items);
                sum = sum.wrapping_add(run.summary);
                either |= run.summary;
            };
            operands.places[..USUAL].iter().for_each(&mut add);
            operands.places[..operands.count].iter().skip(USUAL).for_each(add);
            let count = (sum >> COUNT) as usize;
            // If two runs have a common bit, their sum differs from their union.
            let apart = (sum ^ either) << (64 - COUNT) == 0;
            match either & EXACT == 0 {
                true if apart => self.len += count,
                true => self.len += once(&mut room[..count]),
                false => self.exactly(registers, operands, word),
            }
            *end = self.len as i32;
        }
    }

    /// Appends the registers of a word without using tables.
    #[inline(never)]
    fn exactly(&mut self, registers: &Registers, operands: &Operands, word: u64) {
        let found: Vec<u32> = operands.each(registers, word).map(|register| register as u32).collect();
        let needed = self.len + found.len() + ROOM;
        if self.items.len() < needed {
            self.items.resize(2 * needed, 0);
        }
        let room = &mut self.items[self.len..][..found.len()];
        room.copy_from_slice(&found);
        self.len += once(room);
    }
}

/// Moves the first of each set of equal items to the front, in order, and returns their number.
#[inline(never)]
fn once(items: &mut [u32]) -> usize {
    let mut kept = 0;
    for at in 0..items.len() {
        let item = items[at];
        if !items[..kept].contains(&item) {
            items[kept] = item;
            kept += 1;
        }
    }
    kept
}

/// The lowest run of adjacent set bits.
fn lowest_run(bits: u64) -> u64 {
    let lowest = bits & bits.wrapping_neg();
    bits & !bits.wrapping_add(lowest)
}

#[cfg(test)]
mod tests {
    use isaforge_core::bits::{Bits, Piece};
    use isaforge_core::sample::Random;

    use super::*;

    #[test]
    fn operands_are_the_registers_that_their_fields_name_wherever_the_bits_lie() {
        const NEAR: &Bits = &Bits::new(0, 6);
        const APART: &Bits = &Bits { low: Piece::new(0, 6), high: &[Piece::shared(57, 2)] };
        const SCATTERED: &Bits = &Bits { low: Piece::new(0, 3), high: &[Piece::new(4, 2), Piece::shared(63, 1)] };
        const WIDE: &Bits = &Bits::new(0, 16);
        const COUNT: &Bits = &Bits::new(33, 2);
        const MANY: &Bits = &Bits::new(33, 3);
        let isa = isaforge_valhall::ISA;
        let mut registers = Registers::new(isa, |_| Name::EMPTY);
        let mut random = Random(7);
        let field = |first, bank, operand| RegisterField {
            mask: 0xc0 << 40,
            value: u64::from(bank) << 46,
            first,
            base: 40,
            count: None,
            plus: 1,
            bank,
            operand,
        };
        let of = |fields: &[RegisterField], word: u64| -> Vec<Register> {
            let run = fields.iter().find_map(|field| field.of(word));
            let named = |run: isaforge_core::registers::RegisterUse| {
                let (first, end) = (u32::from(run.first), isa.banks[usize::from(run.bank)].count + AFTER);
                let indices = first..(first + u32::from(run.count)).min(end);
                indices.map(move |index| Register { bank: run.bank, index })
            };
            run.into_iter().flat_map(named).collect()
        };
        let mut found = Found::default();
        for first in [NEAR, APART, SCATTERED, WIDE] {
            for (count, plus) in [(None, 1), (None, 2), (Some(COUNT), 1), (Some(MANY), 0)] {
                for operands in 0..=MAX_OPERANDS as u8 + 1 {
                    let several = |operand| {
                        // Each has registers of two banks, near those of the others.
                        let one = RegisterField { count, plus, ..field(first, 0, operand) };
                        [one, RegisterField { base: 40 + operand % 2, ..field(NEAR, 1, operand) }]
                    };
                    let fields: Vec<RegisterField> = (0..operands).flat_map(several).collect();
                    let known = registers.operands(fields.clone());
                    let looked_up = known.places[..known.count].iter().all(|place| place.table != Place::EXACT.table);
                    let is_narrow = first == NEAR || first != WIDE && count.is_none();
                    let expected = operands == 0 || is_narrow && usize::from(operands) <= MAX_OPERANDS;
                    assert_eq!(looked_up, expected, "{first:?} {count:?} {operands}");
                    let words: Vec<u64> = (0..1000).map(|_| random.next()).collect();
                    let (mut ends, mut expected, mut expected_ends) = ([0; 1000], Vec::new(), Vec::new());
                    found.clear();
                    found.extend::<1>(&registers, words.iter().map(|word| (*word, &*known)), &mut ends);
                    for word in &words {
                        let start = expected.len();
                        for register in fields.chunks(2).flat_map(|fields| of(fields, *word)) {
                            if !expected[start..].contains(&register) {
                                expected.push(register);
                            }
                        }
                        expected_ends.push(expected.len() as i32);
                    }
                    let found: Vec<Register> = found.all().iter().map(|item| registers.all[*item as usize]).collect();
                    assert_eq!(found, expected);
                    assert_eq!(ends, *expected_ends);
                }
            }
        }
    }
}
