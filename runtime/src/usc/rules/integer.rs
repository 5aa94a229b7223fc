//! Integers of 8, 16, 32 and 64 bits.

use isaforge_usc::{Int8_16Op, Int32_64Op};

/// Modifiers of an integer source: absolute value before negation, both in two's complement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modifiers {
    /// Without sign.
    pub abs: bool,
    /// Negated.
    pub neg: bool,
}

impl Modifiers {
    /// The word as modified.
    #[inline(always)]
    pub fn apply(self, word: u32) -> u32 {
        let word = if self.abs && (word as i32) < 0 { word.wrapping_neg() } else { word };
        if self.neg { word.wrapping_neg() } else { word }
    }

    /// The word extended to 64 bits, as modified: a negated 32-bit source of a 64-bit operation is below zero, so that a
    /// borrow reaches the high word. The absolute value is that of a signed word, whatever the operation is.
    #[inline(always)]
    pub fn extend(self, word: u32, signed: bool) -> u64 {
        let extended = match (self.abs, signed) {
            (true, _) => u64::from((word as i32).unsigned_abs()),
            (false, true) => word as i32 as i64 as u64,
            (false, false) => u64::from(word),
        };
        if self.neg { extended.wrapping_neg() } else { extended }
    }

    #[inline(always)]
    fn apply_to_part(self, part: i64) -> i64 {
        let part = if self.abs { part.abs() } else { part };
        if self.neg { -part } else { part }
    }
}

/// A result of 32 or 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wide {
    /// The low word.
    pub low: u32,
    /// The high word; 0 for a result of 32 bits.
    pub high: u32,
    /// Whether the addition carried out of the result.
    pub carry: bool,
}

/// An operation on words. `s` are sources 0 to 2, `high` is the high word of a 64-bit addend.
///
/// The words of a 64-bit source are modified each for itself, as they are written; a 32-bit source of a 64-bit operation
/// is modified as the 64-bit number that it becomes.
#[inline(always)]
pub fn wide(op: Int32_64Op, signed: bool, modifiers: [Modifiers; 3], s: [u32; 3], high: u32, carry: bool) -> Wide {
    let carry = u64::from(carry);
    let word = |i: usize| modifiers[i].apply(s[i]);
    let extend = |i: usize| modifiers[i].extend(s[i], signed);
    let pair = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
    match op {
        Int32_64Op::Madd32 => {
            let sum = u64::from(word(0).wrapping_mul(word(1))) + u64::from(word(2)) + carry;
            Wide { low: sum as u32, high: 0, carry: sum >> 32 != 0 }
        }
        Int32_64Op::Madd64 => sum(extend(0).wrapping_mul(extend(1)), pair(word(2), high), carry),
        Int32_64Op::Add64 => sum(pair(word(0), word(1)), pair(word(2), high), carry),
        Int32_64Op::Add6432 => sum(pair(word(0), word(1)), extend(2), carry),
    }
}

#[inline(always)]
fn sum(a: u64, b: u64, carry: u64) -> Wide {
    let (sum, over) = a.overflowing_add(b);
    let (sum, over_again) = sum.overflowing_add(carry);
    Wide { low: sum as u32, high: (sum >> 32) as u32, carry: over || over_again }
}

/// How an operation reads and writes parts of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// 8 or 16.
    pub bits: u32,
    /// Whether parts have a sign.
    pub signed: bool,
    /// Whether the result is clamped to the range of a part; it wraps around otherwise.
    pub saturate: bool,
    /// Which part of each source.
    pub element: [u32; 3],
    /// What is done to each part.
    pub modifiers: [Modifiers; 3],
}

impl Parts {
    /// The part of a source, modified.
    #[inline(always)]
    fn part(&self, source: usize, word: u32) -> i64 {
        let shift = (self.element[source] * self.bits) & 31;
        let part = word >> shift & ((1 << self.bits) - 1);
        let unused = 32 - self.bits;
        let value = if self.signed { i64::from((part << unused) as i32 >> unused) } else { i64::from(part) };
        self.modifiers[source].apply_to_part(value)
    }

    /// An operation on parts: the result, extended to a word by its sign, and whether it carried out of the part.
    #[inline(always)]
    pub fn operate(&self, op: Int8_16Op, s: [u32; 3]) -> (u32, bool) {
        let [a, b, c] = [self.part(0, s[0]), self.part(1, s[1]), self.part(2, s[2])];
        let value = match op {
            Int8_16Op::Add => a + b,
            Int8_16Op::Mul => a * b,
            Int8_16Op::Mad0_1 | Int8_16Op::Mad2_3 => a * b + c,
        };
        let (low, high) =
            if self.signed { (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1) } else { (0, (1 << self.bits) - 1) };
        let carry = !(low..=high).contains(&value);
        if self.saturate {
            return (value.clamp(low, high) as u32, carry);
        }
        let unused = 64 - self.bits;
        let wrapped = if self.signed { value << unused >> unused } else { value & high };
        (wrapped as u32, carry)
    }
}
