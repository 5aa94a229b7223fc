//! Half precision, computed in single precision where double rounding gives the same result.
//!
//! A single has 24 significant bits and a half 11, so sums, differences, products, quotients and roots may be rounded
//! to a single first.

use super::rule::rules;

const SIGN: u16 = 1 << 15;
const INFINITY: u16 = 0x7c00;
const QUIET: u16 = 0x200;

/// Widens a half in the low bits to a single, exactly; a NaN keeps its bits.
#[inline(always)]
pub(super) fn widen(half: u32) -> u32 {
    let magnitude = half & 0x7fff;
    let moved = magnitude << 13;
    // Subnormals count units of 2^-24.
    let subnormal = (magnitude as i32 as f32 * f32::from_bits(0x3380_0000)).to_bits();
    let bias = if magnitude >= 0x7c00 { 0x7000_0000 } else { 0x3800_0000 };
    (half & 0x8000) << 16 | if magnitude < 0x400 { subnormal } else { moved + bias }
}

/// Narrows a single to a half, rounded to nearest; a NaN is made quiet and keeps the high bits of its payload.
#[inline(always)]
pub(super) fn narrow(bits: u32) -> u32 {
    let magnitude = bits & 0x7fff_ffff;
    // The last place of the sum with 0.5 is that of a subnormal half, so the addition rounds correctly.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    let normal = magnitude.wrapping_sub(0x3800_0000).wrapping_add(0xfff + (magnitude >> 13 & 1)) >> 13;
    let finite = if magnitude < 0x3880_0000 { subnormal } else { normal };
    let number = if magnitude >= 0x4780_0000 { 0x7c00 } else { finite };
    let nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
    (bits >> 16 & 0x8000) | if magnitude > 0x7f80_0000 { nan } else { number }
}

#[inline(always)]
fn f(half: u16) -> f32 {
    f32::from_bits(widen(half.into()))
}

#[inline(always)]
fn rounded(value: f32, nan: u64) -> u16 {
    let half = narrow(value.to_bits()) as u16;
    if value.is_nan() { nan as u16 } else { half }
}

/// Computes `a · b + c` for one more rounding: the product is exact, and the sum is rounded to odd.
#[inline(always)]
fn fused(a: f32, b: f32, c: f32) -> f32 {
    let product = a * b;
    let sum = product + c;
    let rest = sum - product;
    let lost = (product - (sum - rest)) + (c - rest);
    let bits = sum.to_bits();
    // Neither condition holds if nothing is lost, nor for infinities and NaNs, for which `lost` is a NaN.
    let towards = (lost > 0.0) == (sum > 0.0);
    let odd = if towards { bits | 1 } else { bits.wrapping_sub(1) | 1 };
    let inexact = lost.abs() > 0.0;
    f32::from_bits(if inexact && bits & 1 == 0 { odd } else { bits })
}

fn ones(holds: bool) -> u16 {
    if holds { u16::MAX } else { 0 }
}

#[inline(always)]
fn is_nan(half: u16) -> bool {
    half & !SIGN > INFINITY
}

/// Returns an integer that orders like the number, with -0 before +0.
#[inline(always)]
fn rank(half: u16) -> i16 {
    (half ^ ((half as i16 >> 15) as u16 >> 1)) as i16
}

/// The same, but zeros of either sign are equal.
#[inline(always)]
fn order(half: u16) -> i16 {
    let magnitude = (half & !SIGN) as i16;
    if half & SIGN != 0 { -magnitude } else { magnitude }
}

#[inline(always)]
fn both_numbers(a: u16, b: u16) -> bool {
    !is_nan(a) & !is_nan(b)
}

/// Returns the other operand if one is a NaN, or the first one made quiet if both are.
#[inline(always)]
fn without_nan(a: u16, b: u16, number: u16) -> u16 {
    let (is_a, is_b) = (is_nan(a), is_nan(b));
    let either = if is_b { a } else { number };
    let loser = if is_a { b } else { either };
    if is_a && is_b { a | QUIET } else { loser }
}

rules! { u16;
    Add(a, b; nan) rounded(f(a) + f(b), nan);
    Sub(a, b; nan) rounded(f(a) - f(b), nan);
    Mul(a, b; nan) rounded(f(a) * f(b), nan);
    Div(a, b; nan) rounded(f(a) / f(b), nan);
    Sqrt(a; nan) rounded(f(a).sqrt(), nan);
    Fma(a, b, c; nan) rounded(fused(f(a), f(b), f(c)), nan);
    Canonical(a; nan) if is_nan(a) { nan as u16 } else { a };
    Min(a, b; _) without_nan(a, b, if rank(b) < rank(a) { b } else { a });
    Max(a, b; _) without_nan(a, b, if rank(b) > rank(a) { b } else { a });
    Neg(a; _) a ^ SIGN;
    Abs(a; _) a & !SIGN;
    Equal(a, b; _) ones(both_numbers(a, b) & (order(a) == order(b)));
    NotEqual(a, b; _) ones(!(both_numbers(a, b) & (order(a) == order(b))));
    Less(a, b; _) ones(both_numbers(a, b) & (order(a) < order(b)));
    LessEqual(a, b; _) ones(both_numbers(a, b) & (order(a) <= order(b)));
    Apart(a, b; _) ones(both_numbers(a, b) & (order(a) != order(b)));
    Unordered(a, b; _) ones(!both_numbers(a, b));
    Total(a, b; _) ones(rank(a) <= rank(b));
    ToSigned(a; _) f(a) as i16 as u16;
    ToUnsigned(a; _) f(a) as u16;
    FromSigned(a; _) narrow((f32::from(a as i16)).to_bits()) as u16;
    FromUnsigned(a; _) narrow((f32::from(a)).to_bits()) as u16;
}
