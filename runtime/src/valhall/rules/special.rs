//! Reciprocals, roots, exponentials, logarithms and the tables for sine and cosine.
//!
//! The hardware approximates these within a few units in the last place; here they are computed in double precision and
//! rounded once, so they lie within those bounds and differ from the hardware in last bits.

use super::float16;
use super::float32::{flush_subnormal, reduce, result};
use super::rounding::{F16, F32, Format, Number, Rounding};

fn double(bits: u32) -> f64 {
    f32::from_bits(bits).into()
}

fn single(value: f64) -> u32 {
    result(value as f32)
}

/// `1 / a`; subnormals count as zero, in and out (tested to 1 ulp).
pub fn reciprocal_f32(a: u32) -> u32 {
    flush_subnormal(result(1.0 / f32::from_bits(flush_subnormal(a))))
}

/// `1 / √a`; a subnormal counts as zero, and the infinity of a zero has its sign (tested to 2 ulp).
pub fn reciprocal_root_f32(a: u32) -> u32 {
    let a = flush_subnormal(a);
    if F32.is_zero(a) { a | F32.infinity } else { single(1.0 / double(a).sqrt()) }
}

// Rounding to double first does no harm to the next two: no quotient or root of halves lies that close to a tie.

/// `1 / a`, subnormals kept (tested). On v9 and v10 a result for the high half alone is lost; that is not imitated.
pub fn reciprocal_f16(a: u16) -> u16 {
    float16::narrow_double(1.0 / double(float16::widen(a)))
}

/// `1 / √a`, subnormals kept (relied on).
pub fn reciprocal_root_f16(a: u16) -> u16 {
    if F16.is_zero(a.into()) {
        a | F16.infinity as u16
    } else {
        float16::narrow_double(1.0 / double(float16::widen(a)).sqrt())
    }
}

/// `2^(a / 2^24)` with a signed `a`; a subnormal result is zero. The second source carries what fixed point cannot say:
/// NaN gives NaN, infinities give infinity and zero (tested in a sequence).
pub fn exp2(a: u32, special: u32) -> u32 {
    match F32.unpack(special) {
        Number::Nan => F32.nan,
        Number::Infinity(true) => 0,
        Number::Infinity(false) => F32.infinity,
        Number::Finite(_) => flush_subnormal(single((f64::from(a as i32) / f64::from(1 << 24)).exp2())),
    }
}

/// `log2(r) / (r - 1)` with `r` as [`reduce`] makes it (relied on). Zero and infinity give +infinity, so that the
/// product with `r - 1` has the right one (relied on for zero, ours for infinity); negative numbers and NaN give NaN.
pub fn log_slope(a: u32) -> u32 {
    let reduced = double(reduce(a));
    if F32.is_nan(a) || reduced < 0.0 {
        F32.nan
    } else if F32.is_zero(a) || reduced.is_infinite() {
        F32.infinity
    } else if reduced == 1.0 {
        single(std::f64::consts::LOG2_E)
    } else {
        single(reduced.log2() / (reduced - 1.0))
    }
}

/// The sine of the low six bits times π/32 (documented).
pub fn sine(a: u32) -> u32 {
    // A quarter of the circle, mirrored, so that zeros are exact.
    let step = a & 15;
    let within = if a & 16 == 0 { step } else { 16 - step };
    let value = single((f64::from(within) * (std::f64::consts::PI / 32.0)).sin());
    if a & 32 == 0 || within == 0 { value } else { value | F32.sign }
}

/// The cosine of the low six bits times π/32 (documented).
pub fn cosine(a: u32) -> u32 {
    sine(a.wrapping_add(16))
}

/// Which range `FREXPM` and `FREXPE` bring a mantissa to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mantissa {
    /// [0.5, 1) and a power of 2.
    Half,
    /// [0.25, 1) and a power of 4.
    Root,
    /// [0.75, 1.5) and a power of 2.
    Log,
}

impl Mantissa {
    /// The mantissa and the exponent (relied on). Zeros, infinities and NaNs are their own mantissa with exponent 0
    /// (ours); so is a subnormal in `Log`, because `FADD_LSCALE` and `FLOGD` leave it unreduced.
    fn split(self, format: &Format, bits: u32) -> (u32, i32) {
        let value = match format.unpack(bits) {
            Number::Finite(value) if value.significand != 0 => value,
            Number::Nan => return (format.nan, 0),
            _ => return (bits, 0),
        };
        if self == Mantissa::Log && format.is_subnormal(bits) {
            return (bits, 0);
        }
        let length = 128 - value.significand.leading_zeros() as i32;
        // The value is in [0.5, 1) times two to this power.
        let power = value.exponent + length;
        let (by, exponent) = match self {
            Mantissa::Half => (power, power),
            Mantissa::Root => (2 * ((power + 1) >> 1), (power + 1) >> 1),
            // The second highest bit tells 0.75 and more from less.
            Mantissa::Log if length >= 2 && value.significand >> (length - 2) & 1 != 0 => (power, power),
            Mantissa::Log => (power - 1, power - 1),
        };
        (format.pack(value.scaled(-by), Rounding::NearestEven), exponent)
    }
}

/// The mantissa of an f32.
pub fn mantissa_f32(a: u32, range: Mantissa) -> u32 {
    range.split(&F32, a).0
}

/// The exponent of an f32, a signed integer.
pub fn exponent_f32(a: u32, range: Mantissa) -> u32 {
    range.split(&F32, a).1 as u32
}

/// The mantissa of an f16.
pub fn mantissa_f16(a: u16, range: Mantissa) -> u16 {
    range.split(&F16, a.into()).0 as u16
}

/// The exponent of an f16, a signed integer.
pub fn exponent_f16(a: u16, range: Mantissa) -> u16 {
    range.split(&F16, a.into()).1 as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mantissa_times_power_is_the_number() {
        for bits in (1..0x7f80_0000).step_by(0x6543) {
            for (range, base, low, high) in
                [(Mantissa::Half, 2.0, 0.5, 1.0), (Mantissa::Root, 4.0, 0.25, 1.0), (Mantissa::Log, 2.0, 0.75, 1.5)]
            {
                let (mantissa, exponent) = range.split(&F32, bits);
                let mantissa = double(mantissa);
                assert_eq!(mantissa * f64::powi(base, exponent), double(bits), "{bits:08x} {range:?}");
                assert!(mantissa >= low && mantissa < high || range == Mantissa::Log && F32.is_subnormal(bits));
            }
        }
    }

    #[test]
    fn a_logarithm_is_put_together_from_its_parts() {
        for value in [1e-30f32, 0.1, 0.7499999, 0.75, 1.0, 1.0000001, 1.4999999, 1.5, 2.0, 3.0, 10.0, 1e30] {
            let bits = value.to_bits();
            let slope = f32::from_bits(log_slope(bits));
            let rest = f32::from_bits(reduce(bits)) - 1.0;
            let whole = exponent_f32(bits, Mantissa::Log) as i32 as f32;
            let log = slope.mul_add(rest, whole);
            let exact = f64::from(value).log2();
            assert!((f64::from(log) - exact).abs() <= 3e-7 * exact.abs().max(1.0), "{value} {log} {exact}");
        }
    }

    #[test]
    fn sine_and_cosine_go_around_the_circle() {
        for step in 0..64 {
            let angle = f64::from(step) * std::f64::consts::PI / 32.0;
            assert!((double(sine(step)) - angle.sin()).abs() < 1e-7);
            assert!((double(cosine(step)) - angle.cos()).abs() < 1e-7);
        }
        assert_eq!([sine(0), sine(32), cosine(16), cosine(48)], [0; 4]);
        assert_eq!(sine(16), F32.one);
    }

    #[test]
    fn reciprocals_flush_only_in_single_precision() {
        assert_eq!(reciprocal_f32(0x8000_0001), 0xff80_0000);
        assert_eq!(reciprocal_f32(0x7f7f_ffff), 0);
        assert_eq!(reciprocal_root_f32(0xbf80_0000), F32.nan);
        assert_eq!(reciprocal_f16(0x7bff), 0x0100);
        assert_eq!(reciprocal_f16(0x0400), 0x7400);
        assert_eq!(reciprocal_root_f16(0x8000), 0xfc00);
        assert_eq!(reciprocal_root_f16(0x4400), 0x3800);
    }
}
