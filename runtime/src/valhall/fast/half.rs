//! Two half-precision numbers a word: computed in single precision and rounded once more where that is exact.

use super::float::{clamp, narrow, signed, widen};
use super::rule::{Rule, rules};

const SIGNS: u32 = 0x8000_8000;

/// Applies a function to the low halves of words and to the high ones. A macro, for a closure would be compiled on its own
/// and not for the level of its caller.
macro_rules! both {
    ($($word:expr),*; $f:path) => {
        $f([$($word & 0xffff),*]) | $f([$($word >> 16),*]) << 16
    };
}
pub(super) use both;

/// The sum. Single precision holds more than twice the digits, so that rounding twice is rounding once.
#[inline(always)]
fn sum([a, b]: [u32; 2]) -> u32 {
    narrow((f32::from_bits(widen(a)) + f32::from_bits(widen(b))).to_bits())
}

/// `a · b + c`. The product is exact; the sum is rounded to the odd neighbour, which leaves the second rounding what it
/// needs to know.
#[inline(always)]
fn fused([a, b, c]: [u32; 3]) -> u32 {
    let (a, b, c) = (f32::from_bits(widen(a)), f32::from_bits(widen(b)), f32::from_bits(widen(c)));
    let product = a * b;
    let sum = product + c;
    let back = sum - product;
    let error = (product - (sum - back)) + (c - back);
    let bits = sum.to_bits();
    // Towards the exact value, if that is not the sum; infinities and NaNs have no error that compares.
    let inexact = error.abs() > 0.0;
    let away = (error > 0.0) == (sum > 0.0);
    let odd = if away { bits | 1 } else { bits.wrapping_sub(1) | 1 };
    let even = bits & 1 == 0;
    narrow(if inexact && even { odd } else { bits })
}

#[inline(always)]
fn limited<const LIMIT: u32>(word: u32) -> u32 {
    if LIMIT == 0 { word } else { both!(word; limited_half::<LIMIT>) }
}

#[inline(always)]
fn limited_half<const LIMIT: u32>([half]: [u32; 1]) -> u32 {
    narrow(clamp::<LIMIT>(widen(half)))
}

/// `a + b`, signs in the first number.
pub struct Add<const LIMIT: u32>;

impl<const LIMIT: u32> Rule for Add<LIMIT> {
    const SOURCES: usize = 2;
    #[inline(always)]
    fn lane([a, b, ..]: [u32; 4], [signs, _]: [u32; 2]) -> u32 {
        let (a, b) = (signed(a, 0, signs, SIGNS), signed(b, 1, signs, SIGNS));
        limited::<LIMIT>(both!(a, b; sum))
    }
}

/// `a · b + c`, signs in the first number.
pub struct Fma<const LIMIT: u32>;

impl<const LIMIT: u32> Rule for Fma<LIMIT> {
    const SOURCES: usize = 3;
    #[inline(always)]
    fn lane([a, b, c, _]: [u32; 4], [signs, _]: [u32; 2]) -> u32 {
        let (a, b, c) = (signed(a, 0, signs, SIGNS), signed(b, 1, signs, SIGNS), signed(c, 2, signs, SIGNS));
        limited::<LIMIT>(both!(a, b, c; fused))
    }
}

/// Limits what is there.
pub struct Limit<const LIMIT: u32>;

impl<const LIMIT: u32> Rule for Limit<LIMIT> {
    const SOURCES: usize = 1;
    #[inline(always)]
    fn lane([a, ..]: [u32; 4], _: [u32; 2]) -> u32 {
        limited::<LIMIT>(a)
    }
}

rules! {
    /// Any signs.
    Sign(a; n) signed(a, 0, n[0], SIGNS);
    Low(a; _) a & 0xffff | a << 16;
    High(a; _) a >> 16 | a & 0xffff_0000;
    Swapped(a; _) a.rotate_left(16);
    AddImmediate(a; n) both!(a, n[0]; sum);
    /// The low halves of both.
    Pack(a, b; _) a & 0xffff | b << 16;
    /// Two f32, rounded to the nearest.
    Narrow(a, b; _) narrow(a) | narrow(b) << 16;
    /// The low half of one word and the high half of another.
    MergeLow(new, old; _) new & 0xffff | old & 0xffff_0000;
    MergeHigh(new, old; _) new & 0xffff_0000 | old & 0xffff;
}
