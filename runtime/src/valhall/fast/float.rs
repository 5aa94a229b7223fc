//! Single precision in vectors: what `rules` says, without branches.

use super::super::rules::rounding::F32;
use super::rule::{Rule, rules};

const SIGN: u32 = 1 << 31;

/// The bits of a result, every NaN as the one NaN.
#[inline(always)]
pub fn result(value: f32) -> u32 {
    if value.is_nan() { F32.nan } else { value.to_bits() }
}

/// An f16 in the low half, as f32.
#[inline(always)]
pub fn widen(half: u32) -> u32 {
    let magnitude = half & 0x7fff;
    let shifted = magnitude << 13;
    let subnormal = (magnitude as i32 as f32 * f32::from_bits(0x3380_0000)).to_bits();
    let special = shifted + 0x7000_0000;
    let normal = shifted + 0x3800_0000;
    let wide = if magnitude >= 0x7c00 { special } else { normal };
    (half & 0x8000) << 16 | if magnitude < 0x400 { subnormal } else { wide }
}

/// An f32 as f16, to the nearest.
#[inline(always)]
pub fn narrow(bits: u32) -> u32 {
    let magnitude = bits & !SIGN;
    // The addition of a half moves a subnormal's bits to the end of the fraction and rounds them.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let odd = magnitude >> 13 & 1;
    let normal = magnitude.wrapping_sub(0x3800_0000).wrapping_add(0xfff + odd) >> 13;
    let finite = if magnitude < 0x3880_0000 { subnormal } else { normal };
    let signed = bits >> 16 & 0x8000 | if magnitude >= 0x4780_0000 { 0x7c00 } else { finite };
    if magnitude > F32.infinity { 0x7e00 } else { signed }
}

/// A number whose order as an integer is that of the float.
#[inline(always)]
pub fn key(bits: u32) -> i32 {
    bits as i32 ^ ((bits as i32 >> 31) as u32 >> 1) as i32
}

#[inline(always)]
fn is_nan(bits: u32) -> bool {
    bits & !SIGN > F32.infinity
}

/// The lesser or, with `GREATER`, the greater; a NaN loses.
#[inline(always)]
fn pick<const GREATER: bool>(a: u32, b: u32) -> u32 {
    let first = if GREATER { key(a) >= key(b) } else { key(a) <= key(b) };
    let number = if first { a } else { b };
    let unless_a = if is_nan(a) { b } else { number };
    let unless_b = if is_nan(b) { a } else { unless_a };
    if is_nan(unless_b) { F32.nan } else { unless_b }
}

/// The limits of a clamp, as const parameters.
pub mod limit {
    pub const NONE: u32 = 0;
    pub const POSITIVE: u32 = 1;
    pub const SIGNED: u32 = 2;
    pub const UNIT: u32 = 3;
}

/// Limits a result; NaN becomes the low bound.
#[inline(always)]
pub fn clamp<const LIMIT: u32>(bits: u32) -> u32 {
    let value = f32::from_bits(bits);
    let low = if LIMIT == limit::SIGNED { -1.0 } else { 0.0 };
    let raised = if value > low { value } else { low };
    let kept = if raised < 1.0 { raised } else { 1.0 };
    match LIMIT {
        limit::NONE => bits,
        limit::POSITIVE => raised.to_bits(),
        _ => kept.to_bits(),
    }
}

/// The signs of sources as a const parameter: two bits each, magnitude and negation.
pub mod signs {
    /// They are in the first number.
    pub const DYNAMIC: u32 = u32::MAX;
    pub const PLAIN: u32 = 0;
    pub const NEGATE_0: u32 = 2;
    pub const NEGATE_1: u32 = 2 << 2;
    pub const NEGATE_2: u32 = 2 << 4;
}

/// A source with its sign changed as `signs` says; `sign` has the sign bits.
#[inline(always)]
pub fn signed(word: u32, index: u32, signs: u32, sign: u32) -> u32 {
    let flags = signs >> (2 * index);
    let keep = if flags & 1 != 0 { !sign } else { u32::MAX };
    let flip = if flags & 2 != 0 { sign } else { 0 };
    word & keep ^ flip
}

#[inline(always)]
fn chosen<const SIGNS: u32>(numbers: [u32; 2]) -> u32 {
    if SIGNS == signs::DYNAMIC { numbers[0] } else { SIGNS }
}

/// `a + b`.
pub struct Add<const SIGNS: u32, const LIMIT: u32>;

impl<const SIGNS: u32, const LIMIT: u32> Rule for Add<SIGNS, LIMIT> {
    const SOURCES: usize = 2;
    #[inline(always)]
    fn lane([a, b, ..]: [u32; 4], numbers: [u32; 2]) -> u32 {
        let signs = chosen::<SIGNS>(numbers);
        let (a, b) = (signed(a, 0, signs, SIGN), signed(b, 1, signs, SIGN));
        clamp::<LIMIT>(result(f32::from_bits(a) + f32::from_bits(b)))
    }
}

/// `a · b + c`.
pub struct Fma<const SIGNS: u32, const LIMIT: u32>;

impl<const SIGNS: u32, const LIMIT: u32> Rule for Fma<SIGNS, LIMIT> {
    const SOURCES: usize = 3;
    #[inline(always)]
    fn lane([a, b, c, _]: [u32; 4], numbers: [u32; 2]) -> u32 {
        let signs = chosen::<SIGNS>(numbers);
        let (a, b, c) = (signed(a, 0, signs, SIGN), signed(b, 1, signs, SIGN), signed(c, 2, signs, SIGN));
        clamp::<LIMIT>(result(f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c))))
    }
}

/// `a · b`, which is the fused product with an addend of -0.
pub struct Multiply<const SIGNS: u32>;

impl<const SIGNS: u32> Rule for Multiply<SIGNS> {
    const SOURCES: usize = 2;
    #[inline(always)]
    fn lane([a, b, ..]: [u32; 4], numbers: [u32; 2]) -> u32 {
        let signs = chosen::<SIGNS>(numbers);
        let (a, b) = (signed(a, 0, signs, SIGN), signed(b, 1, signs, SIGN));
        result(f32::from_bits(a) * f32::from_bits(b))
    }
}

/// Limits what is there.
pub struct Limit<const LIMIT: u32>;

impl<const LIMIT: u32> Rule for Limit<LIMIT> {
    const SOURCES: usize = 1;
    #[inline(always)]
    fn lane([a, ..]: [u32; 4], _: [u32; 2]) -> u32 {
        clamp::<LIMIT>(a)
    }
}

rules! {
    /// Any signs.
    Sign(a; n) signed(a, 0, n[0], SIGN);
    WidenLow(a; _) widen(a & 0xffff);
    WidenHigh(a; _) widen(a >> 16);
    /// f16 to f32, every NaN as the one NaN.
    Convert(a; _) result(f32::from_bits(widen(a & 0xffff)));
    /// To f16, into both halves.
    NarrowBoth(a; _) narrow(a) * 0x1_0001;
    Min(a, b; _) pick::<false>(a, b);
    Max(a, b; _) pick::<true>(a, b);
    AddImmediate(a; n) result(f32::from_bits(a) + f32::from_bits(n[0]));
    RoundEven(a; _) result(f32::from_bits(a).round_ties_even());
    RoundUp(a; _) result(f32::from_bits(a).ceil());
    RoundDown(a; _) result(f32::from_bits(a).floor());
    RoundZero(a; _) result(f32::from_bits(a).trunc());
    ToSignedEven(a; _) f32::from_bits(a).round_ties_even() as i32 as u32;
    ToSignedUp(a; _) f32::from_bits(a).ceil() as i32 as u32;
    ToSignedDown(a; _) f32::from_bits(a).floor() as i32 as u32;
    ToSignedZero(a; _) f32::from_bits(a) as i32 as u32;
    ToUnsignedEven(a; _) f32::from_bits(a).round_ties_even() as u32;
    ToUnsignedUp(a; _) f32::from_bits(a).ceil() as u32;
    ToUnsignedDown(a; _) f32::from_bits(a).floor() as u32;
    ToUnsignedZero(a; _) f32::from_bits(a) as u32;
    FromSigned(a; _) (a as i32 as f32).to_bits();
    FromUnsigned(a; _) (a as f32).to_bits();
    Reciprocal(a; _) flush(result(1.0 / f32::from_bits(flush(a))));
}

/// A subnormal becomes a zero of its sign.
#[inline(always)]
fn flush(bits: u32) -> u32 {
    if bits & F32.infinity == 0 { bits & SIGN } else { bits }
}
