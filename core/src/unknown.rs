//! Why a word is no instruction at all.

use core::fmt;

use crate::bits::ones;
use crate::table::{Form, Isa};

/// A word whose opcode no instruction has. The reason is found when it is asked for, since decoders of mixed data meet
/// many such words and print few of them.
#[derive(Clone, Copy)]
pub struct UnknownOpcode {
    /// The instruction set.
    pub isa: &'static Isa,
    /// The word.
    pub word: u64,
}

/// The bits of a word that no instruction has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The bits that an instruction must have to be considered, as a mask, and their value. The mask is 0 where no
    /// instruction at all has `found`.
    pub given: (u64, u64),
    /// Highest and lowest bit of a field of the opcode.
    pub bits: (u8, u8),
    /// Its value, which none of those instructions has.
    pub found: u64,
}

impl UnknownOpcode {
    /// Finds the bits that no instruction has. Fields that all instructions have are looked at first, then those of the
    /// instructions that agree with the word so far, and so on: the primary opcode before the secondary one.
    pub fn reason(&self) -> Reason {
        let mut given = 0;
        let wrong = loop {
            let masks = self.fitting(given).map(|form| form.match_mask);
            let (all, any) = masks.fold((!given, 0), |(all, any), mask| (all & mask, any | mask & !given));
            let run = highest_run(if all != 0 { all } else { any });
            if run == 0 || self.fitting(given | run).next().is_none() {
                break run;
            }
            given |= run;
        };
        // The statement should depend on no more fields than necessary.
        let mut rest = given;
        while rest != 0 {
            let run = highest_run(rest);
            rest &= !run;
            if self.fitting(given & !run | wrong).next().is_none() {
                given &= !run;
            }
        }
        let (bits, _, found) = first_run(wrong.max(1), wrong.max(1), 0, self.word);
        Reason { given: (given, self.word & given), bits, found }
    }

    /// The instructions whose opcode agrees with the word in some bits.
    fn fitting(&self, bits: u64) -> impl Iterator<Item = &'static Form> {
        let word = self.word;
        self.isa.forms.iter().filter(move |form| (word ^ form.match_value) & form.match_mask & bits == 0)
    }
}

impl PartialEq for UnknownOpcode {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.isa, other.isa) && self.word == other.word
    }
}

impl Eq for UnknownOpcode {}

impl fmt::Debug for UnknownOpcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnknownOpcode").field("isa", &self.isa.name).field("word", &self.word).finish()
    }
}

impl fmt::Display for UnknownOpcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Reason { given: (mut mask, value), bits, found } = self.reason();
        f.write_str("unknown opcode: no instruction")?;
        let mut before = " with";
        while mask != 0 {
            let run = highest_run(mask);
            let low = run.trailing_zeros();
            write!(f, "{before} {:#x} in ", (value & run) >> low)?;
            write_bits(f, (run.ilog2() as u8, low as u8))?;
            (mask, before) = (mask & !run, " and");
        }
        write!(f, " has {found:#x} in ")?;
        write_bits(f, bits)
    }
}

/// Names a range of bits, from the highest to the lowest.
pub(crate) fn write_bits(f: &mut fmt::Formatter<'_>, (high, low): (u8, u8)) -> fmt::Result {
    if high == low { write!(f, "bit {low}") } else { write!(f, "bits {high}..{low}") }
}

/// The highest run of set bits.
fn highest_run(mask: u64) -> u64 {
    let above = mask.leading_zeros();
    let width = mask.checked_shl(above).unwrap_or(0).leading_ones();
    ones(width).checked_shl(64 - above - width).unwrap_or(0)
}

/// The lowest run of set bits of `mask` that contains a set bit of `wrong`: its bits, their expected value, the value
/// found.
pub(crate) fn first_run(mask: u64, wrong: u64, expected: u64, word: u64) -> ((u8, u8), u64, u64) {
    let bit = wrong.trailing_zeros();
    let low = 64 - (!mask & ones(bit)).leading_zeros();
    let high = bit + (!(mask >> bit)).trailing_zeros() - 1;
    let take = |value: u64| (value >> low) & ones(high - low + 1);
    ((high as u8, low as u8), take(expected), take(word))
}
