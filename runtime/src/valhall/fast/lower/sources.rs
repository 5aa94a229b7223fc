//! Sources and handlers of instructions on bytes, on pairs, and across lanes.

use isaforge_valhall::{
    Condition, HalfSwizzles8Bit, LaneOperation, Lanes8Bit, ResultType, RoundMode, Source, SubgroupSize, Swizzles8Bit,
};

use super::super::super::rules::compare::{Truth, holds};
use super::super::super::rules::lanes as cross;
use super::super::code::row;
use super::super::convert::direction;
use super::super::handler::{Handler, handler};
use super::super::lanes::{Permute, operation};
use super::super::rule::Long;
use super::super::{integer, long, parts};
use super::{Lowering, Operand};

/// Ones for a flag that is set.
pub fn ones(flag: bool) -> u32 {
    if flag { u32::MAX } else { 0 }
}

/// The number of the last lane of a subgroup.
pub fn subgroup(size: SubgroupSize) -> u32 {
    cross::size(size) as u32 - 1
}

/// A direction of rounding as a number for handlers.
pub fn towards(mode: RoundMode) -> u32 {
    match mode {
        RoundMode::Rte => direction::EVEN,
        RoundMode::Rtp => direction::UP,
        RoundMode::Rtn => direction::DOWN,
        RoundMode::Rtz => direction::ZERO,
    }
}

/// What stands for a comparison that holds, in a component of so many bits.
pub fn truth(result: ResultType, bits: u32) -> u32 {
    Truth { result, bits }.value(true) as u32
}

/// The orders that meet a condition: bits 0, 1 and 2 for less, equal and greater.
pub fn sequence(condition: Condition) -> u32 {
    [-1, 0, 1]
        .into_iter()
        .fold(0, |table, order: i32| table | u32::from(holds(condition, order.cmp(&0))) << (order + 1))
}

impl Lowering<'_> {
    /// Four bytes, which keep their width.
    pub(super) fn bytes(&mut self, index: u32, source: Source, swizzle: Swizzles8Bit) -> Option<Operand> {
        let order = match swizzle {
            Swizzles8Bit::B0123 => return self.word(source),
            Swizzles8Bit::B3210 => [3, 2, 1, 0],
            Swizzles8Bit::B0101 => [0, 1, 0, 1],
            Swizzles8Bit::B2323 => [2, 3, 2, 3],
            Swizzles8Bit::B0000 => [0; 4],
            Swizzles8Bit::B1111 => [1; 4],
            Swizzles8Bit::B2222 => [2; 4],
            Swizzles8Bit::B3333 => [3; 4],
            Swizzles8Bit::B2301 => [2, 3, 0, 1],
            Swizzles8Bit::B1032 => [1, 0, 3, 2],
            Swizzles8Bit::B0011 => [0, 0, 1, 1],
            Swizzles8Bit::B2233 => [2, 2, 3, 3],
        };
        self.ordered(index, source, order)
    }

    /// The counts of a shift of four bytes.
    pub(super) fn byte_counts(&mut self, source: Source, lanes: Lanes8Bit) -> Option<Operand> {
        let order = match lanes {
            Lanes8Bit::B02 => return self.word(source),
            Lanes8Bit::B00 => [0; 4],
            Lanes8Bit::B11 => [1; 4],
            Lanes8Bit::B22 => [2; 4],
            Lanes8Bit::B33 => [3; 4],
            Lanes8Bit::B01 => [0, 0, 1, 1],
            Lanes8Bit::B23 => [2, 2, 3, 3],
        };
        self.ordered(1, source, order)
    }

    fn ordered(&mut self, index: u32, source: Source, order: [u8; 4]) -> Option<Operand> {
        let word = self.word(source)?;
        let places = u32::from_le_bytes(order.map(|byte| 8 * byte));
        Some(self.prepare::<parts::Bytes>(index, word, [places, 0]))
    }

    /// Two bytes, extended to halves. The code is the first byte's number and four times the second's.
    pub(super) fn byte_pair(&mut self, source: Source, swizzle: HalfSwizzles8Bit, sign: bool) -> Option<Operand> {
        let word = self.word(source)?;
        let code = swizzle.bits() as u32;
        let numbers = [8 * (code & 3), 8 * (code >> 2)];
        Some(if sign {
            self.prepare::<integer::SignedBytes>(0, word, numbers)
        } else {
            self.prepare::<integer::UnsignedBytes>(0, word, numbers)
        })
    }

    /// A pair shifted by the low bits of a count.
    pub(super) fn shifted<const KIND: u32>(&mut self, [low, high]: [Operand; 2], count: Operand) -> [Operand; 2] {
        if count == Operand::Value(0) {
            return [low, high];
        }
        self.emit::<Long<long::LongShift<KIND>>>(row::SCRATCH, &[low, high, count], [0; 2]);
        [Operand::Row(row::SCRATCH), Operand::Row(row::SCRATCH + 1)]
    }

    /// The handler that reads from other lanes.
    pub(super) fn permute<const BITS: u32, const WORDS: usize>(&self, operation: LaneOperation) -> Handler {
        match operation {
            LaneOperation::None => handler::<Permute<{ operation::NUMBER }, BITS, WORDS>>(self.level),
            LaneOperation::Xor => handler::<Permute<{ operation::XOR }, BITS, WORDS>>(self.level),
            LaneOperation::Shift => handler::<Permute<{ operation::SHIFT }, BITS, WORDS>>(self.level),
            LaneOperation::Accumulate => handler::<Permute<{ operation::ACCUMULATE }, BITS, WORDS>>(self.level),
        }
    }
}
