//! Single-precision arithmetic. Subnormals are kept.

use super::rounding::{F32, Number, Rounding};
use isaforge_valhall::Clamp;

/// The bits of a result, every NaN as the one NaN.
pub fn result(value: f32) -> u32 {
    if value.is_nan() { F32.nan } else { value.to_bits() }
}

/// What the lesser or greater of a number and a NaN is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nans {
    /// The number. The only choice that v9 encodes.
    Suppress,
    /// NaN.
    Propagate,
}

/// Picks between numbers by `prefer(a, b)`, with -0 below +0, and follows the rule for NaNs.
fn pick(a: u32, b: u32, nans: Nans, prefer: impl Fn(i32, i32) -> bool) -> u32 {
    match (F32.is_nan(a), F32.is_nan(b)) {
        (false, false) => {
            // As an integer that orders like the numbers: negative ones descend with their magnitude.
            let key = |bits: u32| (bits as i32) ^ ((bits as i32 >> 31) as u32 >> 1) as i32;
            if prefer(key(a), key(b)) { a } else { b }
        }
        (true, true) => F32.nan,
        _ if nans == Nans::Propagate => F32.nan,
        (true, false) => b,
        (false, true) => a,
    }
}

/// The lesser; -0 is less than +0 (tested).
pub fn min(a: u32, b: u32, nans: Nans) -> u32 {
    pick(a, b, nans, |a, b| a <= b)
}

/// The greater; +0 is greater than -0 (tested).
pub fn max(a: u32, b: u32, nans: Nans) -> u32 {
    pick(a, b, nans, |a, b| a >= b)
}

/// Limits a result: the greater of it and the low bound, then the lesser of that and the high one, so that NaN becomes
/// the low bound (tested).
pub fn clamp(value: u32, clamp: Clamp) -> u32 {
    const MINUS_ONE: u32 = 0xbf80_0000;
    let (low, high) = match clamp {
        Clamp::None => return value,
        Clamp::Clamp0Inf => (0, F32.infinity),
        Clamp::ClampM1_1 => (MINUS_ONE, F32.one),
        Clamp::Clamp0_1 => (0, F32.one),
    };
    min(max(value, low, Nans::Suppress), high, Nans::Suppress)
}

/// What `FLUSH` changes. v9 has no such instruction; later architectures do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flush {
    /// Subnormals become zeros of their sign.
    pub subnormals: bool,
    /// Infinities become the greatest finite numbers.
    pub infinities: bool,
    /// NaN becomes +0.
    pub nans: bool,
}

/// Replaces special values (tested).
pub fn flush(bits: u32, what: Flush) -> u32 {
    let sign = bits & F32.sign;
    match F32.unpack(bits) {
        Number::Nan if what.nans => 0,
        Number::Nan => F32.nan,
        Number::Infinity(_) if what.infinities => sign | (F32.infinity - 1),
        _ if what.subnormals => flush_subnormal(bits),
        _ => bits,
    }
}

/// A subnormal becomes a zero of its sign.
pub fn flush_subnormal(bits: u32) -> u32 {
    if F32.is_subnormal(bits) { bits & F32.sign } else { bits }
}

/// `a · 2^b`, rounded once; zeros, infinities and NaNs stay (documented; the modes for infinities of later
/// architectures do not exist on v9).
pub fn ldexp(a: u32, b: i32, rounding: Rounding) -> u32 {
    match F32.unpack(a) {
        Number::Nan => F32.nan,
        Number::Infinity(_) => a,
        Number::Finite(value) => F32.pack(value.scaled(b), rounding),
    }
}

/// How `FMA_RSCALE` treats a product with zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg(test)]
pub enum ZeroProduct {
    /// As IEEE 754: zero times infinity is NaN.
    Ieee,
    /// Zero times anything is zero, also infinity and NaN.
    Zero,
    /// When either factor is zero the product is the first factor.
    Left,
}

/// `(a · b + c) · 2^d`, rounded once to the nearest (relied on in sequences; the special products are documented).
#[cfg(test)]
pub fn fma_rscale(a: u32, b: u32, c: u32, d: i32, zero: ZeroProduct) -> u32 {
    let special = zero != ZeroProduct::Ieee && (F32.is_zero(a) || F32.is_zero(b));
    if !special {
        return F32.fused(a, b, c, d, Rounding::NearestEven);
    }
    let product = if zero == ZeroProduct::Left { a } else { (a ^ b) & F32.sign };
    F32.fused(product, F32.one, c, d, Rounding::NearestEven)
}

/// Brings the magnitude of a normal number into [0.75, 1.5); zeros, subnormals, infinities and NaNs stay (tested).
pub fn reduce(bits: u32) -> u32 {
    let magnitude = bits & (F32.sign - 1);
    if !(0x0080_0000..F32.infinity).contains(&magnitude) {
        return bits;
    }
    let fraction = magnitude & 0x007f_ffff;
    // The highest bit of the fraction says whether the mantissa is at least 1.5.
    let exponent = if fraction & 0x0040_0000 != 0 { 126 } else { 127 };
    bits & F32.sign | exponent << 23 | fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clamp_orders_zeros_and_swallows_nan() {
        assert_eq!(clamp(0x8000_0000, Clamp::Clamp0_1), 0);
        assert_eq!(clamp(0x7fc0_0000, Clamp::ClampM1_1), 0xbf80_0000);
        assert_eq!(clamp(0x7f80_0000, Clamp::Clamp0Inf), 0x7f80_0000);
        assert_eq!(clamp(0x7fc0_0001, Clamp::None), 0x7fc0_0001);
    }

    #[test]
    fn special_products_keep_their_promise() {
        let (zero, inf, one) = (0, F32.infinity, F32.one);
        assert_eq!(fma_rscale(zero, inf, one, 0, ZeroProduct::Ieee), F32.nan);
        assert_eq!(fma_rscale(zero, inf, one, 1, ZeroProduct::Zero), 0x4000_0000);
        assert_eq!(fma_rscale(inf, zero, one, 0, ZeroProduct::Left), inf);
        assert_eq!(fma_rscale(F32.nan, zero, one, 0, ZeroProduct::Zero), one);
        assert_eq!(fma_rscale(one, one, one, -150, ZeroProduct::Ieee), 1);
        assert_eq!(fma_rscale(one, one, one, i32::MIN, ZeroProduct::Ieee), 0);
        assert_eq!(fma_rscale(one, one, one, i32::MAX, ZeroProduct::Ieee), inf);
    }

    #[test]
    fn ldexp_rounds_into_the_subnormals_once() {
        assert_eq!(ldexp(0x3fff_ffff, -127, Rounding::NearestEven), 0x0080_0000);
        assert_eq!(ldexp(0x3fff_ffff, -127, Rounding::Zero), 0x007f_ffff);
        assert_eq!(ldexp(0x3f80_0000, 128, Rounding::Zero), 0x7f7f_ffff);
    }
}
