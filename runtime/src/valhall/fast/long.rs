//! Shifts and logic of 64 bits.

use super::super::rules::integer as scalar;
use super::integer::{combine, join, shift};
use super::rule::{LongRule, long_rules};

/// The first source, a pair, shifted by the low six bits of the third.
pub struct LongShift<const KIND: u32>;

impl<const KIND: u32> LongRule for LongShift<KIND> {
    const SOURCES: usize = 3;
    #[inline(always)]
    fn lane([a, b, count, _]: [u32; 4], _: [u32; 2]) -> u64 {
        let (value, count) = (join(a, b), count & 63);
        match KIND {
            shift::LEFT => value << count,
            shift::RIGHT => value >> count,
            shift::ARITHMETIC => (value as i64 >> count) as u64,
            _ => value,
        }
    }
}

/// Two pairs; the numbers are ones where the second and the result are complemented.
pub struct LongLogic<const LOGIC: u32>;

impl<const LOGIC: u32> LongRule for LongLogic<LOGIC> {
    const SOURCES: usize = 4;
    #[inline(always)]
    fn lane([a, b, c, d]: [u32; 4], [not_c, not_result]: [u32; 2]) -> u64 {
        join(combine::<LOGIC>(a, c ^ not_c) ^ not_result, combine::<LOGIC>(b, d ^ not_c) ^ not_result)
    }
}

long_rules! {
    /// The numbers say whether the offset is subtracted and whether null stays null.
    SegmentAdd(a, b, c, d; n) scalar::segment_add(join(a, b), join(c, d), n[0] != 0, n[1] != 0);
}
