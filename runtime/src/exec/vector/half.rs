//! Half precision, computed in single precision where double rounding gives the same result.
//!
//! A single has 24 significant bits and a half 11, so sums, differences, products, quotients and roots may be rounded
//! to a single first.

use isaforge_core::semantics::{Comparison, Op};

use super::number::number;
use super::rule::{of, operations, rules};

number! { u16, i16, 10, of }

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

/// Returns an integer that orders like the number, with zeros of either sign equal.
#[inline(always)]
fn order(half: u16) -> i16 {
    let magnitude = (half & !SIGN) as i16;
    if half & SIGN != 0 { -magnitude } else { magnitude }
}

#[inline(always)]
fn both_numbers(a: u16, b: u16) -> bool {
    !is_nan(a) & !is_nan(b)
}

operations! { u16, of, arithmetic(Op);
    Op::Add => Add(a, b; nan) rounded(f(a) + f(b), nan);
    Op::Sub => Sub(a, b; nan) rounded(f(a) - f(b), nan);
    Op::Mul => Mul(a, b; nan) rounded(f(a) * f(b), nan);
    Op::Div => Div(a, b; nan) rounded(f(a) / f(b), nan);
    Op::Sqrt => Sqrt(a; nan) rounded(f(a).sqrt(), nan);
    Op::Fma => Fma(a, b, c; nan) rounded(fused(f(a), f(b), f(c)), nan);
}

operations! { u16, of, compare(Comparison);
    Comparison::Equal => Equal(a, b; _) ones(both_numbers(a, b) & (order(a) == order(b)));
    Comparison::NotEqual => NotEqual(a, b; _) ones(!(both_numbers(a, b) & (order(a) == order(b))));
    Comparison::Less => Less(a, b; _) ones(both_numbers(a, b) & (order(a) < order(b)));
    Comparison::LessEqual => LessEqual(a, b; _) ones(both_numbers(a, b) & (order(a) <= order(b)));
    Comparison::Apart => Apart(a, b; _) ones(both_numbers(a, b) & (order(a) != order(b)));
    Comparison::Unordered => Unordered(a, b; _) ones(!both_numbers(a, b));
    Comparison::TotalLessEqual => Total(a, b; _) ones(rank(a) <= rank(b));
}

rules! { u16;
    ToSigned(a; _) f(a) as i16 as u16;
    ToUnsigned(a; _) f(a) as u16;
    FromSigned(a; _) narrow((f32::from(a as i16)).to_bits()) as u16;
    FromUnsigned(a; _) narrow((f32::from(a)).to_bits()) as u16;
}
