//! The registers that operands of words name, looked up by the bits that name them: what an operand is differs from word to
//! word, so tests in turn would be mispredicted.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use isaforge_analysis::Register;
use isaforge_core::Isa;
use isaforge_core::registers::RegisterField;

use crate::views::Name;

/// Registers that follow each other in [`Registers::all`]; none where an operand is no register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Run {
    first: u32,
    count: u32,
}

/// The registers of a set of words.
#[derive(Debug, Default)]
pub(crate) struct Registers {
    /// Those of each bank, one bank after the other.
    pub all: Vec<Register>,
    /// Their names.
    pub names: Vec<Name>,
    /// Where each bank begins.
    banks: Vec<usize>,
    /// Operands by their fields, and their look-ups: forms share them, so that those in use stay in the cache.
    operands: HashMap<Vec<RegisterField>, Arc<[OperandPlan]>>,
    runs: HashSet<Arc<[Run]>>,
}

/// Registers after the last of a bank: nothing says that hardware refuses a run that begins there.
const AFTER: u32 = 64;

impl Registers {
    /// Those of a set, without operands.
    pub fn new(isa: &Isa, name: impl FnMut(&Register) -> Name) -> Registers {
        let mut found = Registers::default();
        for (bank, count) in isa.banks.iter().map(|bank| bank.count).enumerate() {
            found.banks.push(found.all.len());
            found.all.extend((0..count + AFTER).map(|index| Register { bank: bank as u16, index }));
        }
        found.names = found.all.iter().map(name).collect();
        found
    }

    /// The operands that have these fields.
    pub fn operands(&mut self, fields: Vec<RegisterField>) -> Arc<[OperandPlan]> {
        if let Some(known) = self.operands.get(&fields) {
            return Arc::clone(known);
        }
        let of_operands = fields.chunk_by(|field, next| field.operand == next.operand);
        let plans: Arc<[OperandPlan]> = of_operands.map(|fields| OperandPlan::new(fields, self)).collect();
        self.operands.insert(fields, Arc::clone(&plans));
        plans
    }

    /// The registers that a word has at the first of these fields where it has some.
    #[inline(never)]
    fn find(&self, fields: &[RegisterField], word: u64) -> Run {
        let Some(found) = fields.iter().find_map(|field| field.of(word)) else { return Run::default() };
        let start = |bank: usize| self.banks.get(bank).copied().unwrap_or(self.all.len());
        let bank = usize::from(found.bank);
        let (first, end) = (start(bank) + usize::from(found.first), start(bank + 1));
        let count = usize::from(found.count).min(end.saturating_sub(first));
        Run { first: first.min(end) as u32, count: count as u32 }
    }
}

/// An operand that may be a register.
#[derive(Debug)]
pub(crate) struct OperandPlan {
    /// Shifts and masks of the bits that say which register it is: they lie in one place or two, one after the other here.
    places: [(u8, u16); 2],
    /// The registers, by these bits. Empty where the bits are many, or in more places.
    runs: Arc<[Run]>,
    fields: Vec<RegisterField>,
}

/// The most bits that registers are looked up by.
const MOST_BITS: u32 = 10;

impl OperandPlan {
    fn new(fields: &[RegisterField], registers: &mut Registers) -> OperandPlan {
        let named = fields.iter().fold(0, |named, field| {
            named | field.mask | field.first.mask(field.base) | field.count.map_or(0, |count| count.mask(0))
        });
        let low = lowest_run(named);
        let high = lowest_run(named & !low);
        let mut plan = OperandPlan { places: [(0, 0); 2], runs: Arc::default(), fields: fields.to_vec() };
        if low | high != named || named.count_ones() > MOST_BITS {
            return plan;
        }
        let width = low.count_ones();
        let [low_at, high_at] = [low, high].map(|run| run.trailing_zeros() & 63);
        let place = |run: u64, at: u32, to: u32| (at.saturating_sub(to) as u8, ((run >> at) << to) as u16);
        plan.places = [place(low, low_at, 0), place(high, high_at, width)];
        let word = |index: u64| (index << low_at) & low | ((index >> width) << high_at) & high;
        plan.runs = (0..1 << named.count_ones()).map(|index| registers.find(fields, word(index))).collect();
        match registers.runs.get(&plan.runs) {
            Some(known) => plan.runs = Arc::clone(known),
            None => drop(registers.runs.insert(Arc::clone(&plan.runs))),
        }
        plan
    }

    /// The registers that it is in a valid word, as a range of all.
    #[inline(always)]
    pub fn of(&self, registers: &Registers, word: u64) -> Range<usize> {
        let [low, high] = self.places.map(|(shift, mask)| (word >> (shift & 63)) as u16 & mask);
        let run = match self.runs.get(usize::from(low | high)) {
            Some(run) => *run,
            None => registers.find(&self.fields, word),
        };
        run.first as usize..run.first as usize + run.count as usize
    }
}

/// The lowest run of adjacent bits that are set.
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
        const WIDE: &Bits = &Bits::new(0, 11);
        const COUNT: &Bits = &Bits::new(33, 2);
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
        for (first, is_looked_up) in [(NEAR, true), (APART, true), (SCATTERED, false), (WIDE, false)] {
            for count in [None, Some(COUNT)] {
                let fields = vec![RegisterField { count, ..field(first, 0, 0) }, field(first, 1, 0), field(NEAR, 0, 1)];
                let operands = registers.operands(fields.clone());
                assert_eq!(operands.len(), 2);
                assert_eq!(!operands[0].runs.is_empty(), is_looked_up && (first == NEAR || count.is_none()));
                for _ in 0..10_000 {
                    let word = random.next();
                    for (operand, fields) in operands.iter().zip([&fields[..2], &fields[2..]]) {
                        let run = fields.iter().find_map(|field| field.of(word));
                        let named = |run: isaforge_core::registers::RegisterUse| {
                            let (first, end) = (u32::from(run.first), isa.banks[usize::from(run.bank)].count + AFTER);
                            let indices = first..(first + u32::from(run.count)).min(end);
                            indices.map(move |index| Register { bank: run.bank, index })
                        };
                        let expected: Vec<Register> = run.into_iter().flat_map(named).collect();
                        assert_eq!(registers.all[operand.of(&registers, word)], expected, "{word:#x}");
                    }
                }
            }
        }
    }
}
