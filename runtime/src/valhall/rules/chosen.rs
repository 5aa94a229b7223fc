//! Functions that the hardware has and that no source describes. Each is a choice of ours, made so that the sequences it
//! is named after come out right; nobody should expect the hardware's bits.
//!
//! The tables of the hardware are coarse, and how coarse is not known. Where a table approximates a function, the
//! function itself is given here, rounded once: whatever corrects the table afterwards has nothing left to correct.

use super::float32::result;
use super::rounding::{F32, Format, Number};
use super::special::{Mantissa, mantissa_f32};

/// `FPCLASS`: the class of a number as one set bit, in the order of LLVM's `is.fpclass`: signalling NaN, quiet NaN,
/// negative infinity, normal, subnormal, zero, then positive zero, subnormal, normal, infinity.
fn class(format: &Format, bits: u32) -> u32 {
    let negative = bits & format.sign != 0;
    // How far from zero, from 0 for zero itself to 3 for infinity.
    let size = match format.unpack(bits) {
        Number::Nan => return if bits & format.quiet() == 0 { 1 } else { 2 },
        Number::Infinity(_) => 3,
        Number::Finite(value) if value.significand == 0 => 0,
        Number::Finite(_) if format.is_subnormal(bits) => 1,
        Number::Finite(_) => 2,
    };
    1 << if negative { 5 - size } else { 6 + size }
}

/// The class of an f32.
pub fn class_f32(bits: u32) -> u32 {
    class(&F32, bits)
}

/// The class of an f16.
pub fn class_f16(half: u16) -> u16 {
    class(&super::rounding::F16, half.into()) as u16
}

/// `FRCP_APPROX`: `1 / m` for the mantissa `m` in [0.5, 1) that `FREXPM` gives. Mesa's compiler for the preceding
/// architecture relies on that much.
pub fn reciprocal_of_mantissa(a: u32) -> u32 {
    result(1.0 / f32::from_bits(mantissa_f32(a, Mantissa::Half)))
}

/// `FRSQ_APPROX`: `1 / √m` for the mantissa `m` in [0.25, 1) that `FREXPM.sqrt` gives (documented so far); the infinity
/// of a zero has its sign.
pub fn root_of_mantissa(a: u32) -> u32 {
    let mantissa = mantissa_f32(a, Mantissa::Root);
    if F32.is_zero(mantissa) {
        return mantissa | F32.infinity;
    }
    result((1.0 / f64::from(f32::from_bits(mantissa)).sqrt()) as f32)
}

/// `FLOG_TABLE`: `1 / m` for the mantissa `m` in [0.75, 1.5) that `FREXPM.log` gives, the first of the table's modes on
/// the preceding architecture and the one that a word without a mode would mean.
pub fn reciprocal_of_log_mantissa(a: u32) -> u32 {
    result(1.0 / f32::from_bits(mantissa_f32(a, Mantissa::Log)))
}

/// `FEXP_TABLE`: 2 to the power of the low four bits, as sixteenths. Mesa's compiler for the preceding architecture
/// relies on that much.
pub fn exp_table(a: u32) -> u32 {
    result((f64::from(a & 15) / 16.0).exp2() as f32)
}

/// `FSINCOS_OFFSET`: the angle at which `FSIN_TABLE` and `FCOS_TABLE` are taken, the low six bits times π/32.
pub fn sincos_offset(a: u32) -> u32 {
    result((f64::from(a & 63) * (std::f64::consts::PI / 32.0)) as f32)
}

/// A direction `(x, y)` brought near to the eighth of the circle above the positive x axis.
struct Octant {
    /// The lesser magnitude over the greater, to the next sixteenth.
    slope: f64,
    /// The signs and which magnitude is greater: bit 0 for negative x, bit 1 for negative y, bit 2 for `|y| > |x|`.
    code: u32,
}

impl Octant {
    /// `None` when a coordinate is NaN. Two zeros lie in the direction 0, two infinities on a diagonal.
    fn new(y: u32, x: u32) -> Option<Octant> {
        if F32.is_nan(y) || F32.is_nan(x) {
            return None;
        }
        let magnitude = |bits: u32| bits & (F32.sign - 1);
        let steep = magnitude(y) > magnitude(x);
        let code = x >> 31 | (y >> 31) << 1 | u32::from(steep) << 2;
        let value = |bits: u32| f64::from(f32::from_bits(magnitude(bits)));
        let (less, more) = if steep { (value(x), value(y)) } else { (value(y), value(x)) };
        let slope = match (less, more) {
            _ if more == 0.0 => 0.0,
            _ if less.is_infinite() => 1.0,
            _ => (less / more * 16.0).round() / 16.0,
        };
        Some(Octant { slope, code })
    }
}

/// `FATAN_ASSIST(y, x)`: the octant in the low half (bit 0: x is negative, bit 1: y is negative, bit 2: `|y| > |x|`), and
/// in the high one, as f16, the lesser magnitude over the greater, rounded to sixteenths. With a NaN the half is NaN.
pub fn atan_assist(y: u32, x: u32) -> u32 {
    match Octant::new(y, x) {
        None => super::rounding::F16.nan << 16,
        // Sixteenths up to 1 are exact in half precision.
        Some(octant) => u32::from(super::float16::narrow_double(octant.slope)) << 16 | octant.code,
    }
}

/// `FATAN_TABLE(y, x)`: the angle of the direction that [`atan_assist`] gives, in (-π, π], as f32.
pub fn atan_table(y: u32, x: u32) -> u32 {
    use std::f64::consts::{FRAC_PI_2, PI};
    let Some(Octant { slope, code }) = Octant::new(y, x) else { return F32.nan };
    let angle = slope.atan();
    let angle = if code & 4 == 0 { angle } else { FRAC_PI_2 - angle };
    let angle = if code & 1 == 0 { angle } else { PI - angle };
    result(if code & 2 == 0 { angle as f32 } else { -angle as f32 })
}

#[cfg(test)]
mod tests {
    use super::super::float32::{ZeroProduct, fma_rscale};
    use super::super::special::exponent_f32;
    use super::*;

    const NEGATIVE: u32 = 0x8000_0000;

    fn value(bits: u32) -> f32 {
        f32::from_bits(bits)
    }

    #[test]
    fn every_number_has_one_class() {
        let classes = [
            (0x7f80_0001, 0),
            (0x7fc0_0000, 1),
            (0xff80_0000, 2),
            (0xc000_0000, 3),
            (0x8000_0001, 4),
            (0x8000_0000, 5),
            (0x0000_0000, 6),
            (0x007f_ffff, 7),
            (0x7f7f_ffff, 8),
            (0x7f80_0000, 9),
        ];
        for (bits, class) in classes {
            assert_eq!(class_f32(bits), 1 << class, "{bits:08x}");
        }
        let halves = [0x7c01, 0x7e00, 0xfc00, 0xbc00, 0x8001, 0x8000, 0, 0x3ff, 0x400, 0x7c00];
        for (class, half) in halves.into_iter().enumerate() {
            assert_eq!(class_f16(half), 1 << class, "{half:04x}");
        }
    }

    #[test]
    fn the_sequence_for_a_reciprocal_gives_one() {
        // 1 - m·x, then x + that·x, scaled by the exponent of -a.
        for bits in (0x0080_0000..0x7e00_0000).step_by(0x1_2345) {
            let (m, x) = (mantissa_f32(bits, Mantissa::Half), reciprocal_of_mantissa(bits));
            let rest = fma_rscale(m, x ^ NEGATIVE, F32.one, 0, ZeroProduct::Zero);
            let power = (exponent_f32(bits, Mantissa::Half) as i32).wrapping_neg();
            let found = value(fma_rscale(rest, x, x, power, ZeroProduct::Ieee));
            let exact = 1.0 / f64::from(value(bits));
            assert!((f64::from(found) - exact).abs() <= exact * 1.2e-7, "{bits:08x} {found}");
        }
        assert_eq!([reciprocal_of_mantissa(0), reciprocal_of_mantissa(0xff80_0000)], [F32.infinity, NEGATIVE]);
    }

    #[test]
    fn the_sequence_for_a_root_gives_one() {
        for bits in (0x0080_0000..F32.infinity).step_by(0x1_2345) {
            let (m, x) = (mantissa_f32(bits, Mantissa::Root), root_of_mantissa(bits));
            let square = (value(x) * value(x)).to_bits();
            let rest = fma_rscale(m, square ^ NEGATIVE, F32.one, -1, ZeroProduct::Zero);
            let power = (exponent_f32(bits, Mantissa::Root) as i32).wrapping_neg();
            let found = value(fma_rscale(rest, x, x, power, ZeroProduct::Zero));
            let exact = 1.0 / f64::from(value(bits)).sqrt();
            assert!((f64::from(found) - exact).abs() <= exact * 1.8e-7, "{bits:08x} {found}");
        }
        assert_eq!([root_of_mantissa(NEGATIVE), root_of_mantissa(0xbf80_0000)], [0xff80_0000, F32.nan]);
    }

    #[test]
    fn the_tables_agree_with_what_they_are_tables_of() {
        for bits in (0x0080_0000..F32.infinity).step_by(0x5_4321) {
            let product = value(reciprocal_of_log_mantissa(bits)) * value(mantissa_f32(bits, Mantissa::Log));
            assert!((product - 1.0).abs() < 1.2e-7);
        }
        assert_eq!([exp_table(0), exp_table(0x18)], [F32.one, 2f32.sqrt().to_bits()]);
        for step in 0..128 {
            let angle = f64::from(value(sincos_offset(step)));
            assert!((angle.sin() - f64::from(value(super::super::special::sine(step)))).abs() < 1e-6);
        }
    }

    #[test]
    fn an_arctangent_is_put_together_from_its_parts() {
        let coordinates = [0.0f32, -0.0, 1e-3, -0.3, 0.5, 1.0, -1.0, 7.0, -1e6, f32::MIN_POSITIVE];
        for (y, x) in coordinates.iter().flat_map(|y| coordinates.map(|x| (*y, x))) {
            let (assist, table) = (atan_assist(y.to_bits(), x.to_bits()), value(atan_table(y.to_bits(), x.to_bits())));
            let coarse = f64::from(half::f16::from_bits((assist >> 16) as u16));
            let (less, more) = if assist & 4 == 0 { (y.abs(), x.abs()) } else { (x.abs(), y.abs()) };
            let (less, more) = (f64::from(less), f64::from(more));
            let rest = (less - coarse * more).atan2(more + coarse * less);
            // The rest turns as often as the octant is mirrored.
            let turned = if (assist & 7).count_ones() % 2 == 0 { rest } else { -rest };
            let exact = f64::from(y).atan2(f64::from(x));
            assert!((f64::from(table) + turned - exact).abs() < 1e-6, "{y} {x} {assist:08x} {table}");
        }
        assert_eq!(atan_table(F32.nan, 0), F32.nan);
        assert_eq!(atan_assist(0, F32.nan), 0x7e00_0000);
        assert_eq!(atan_assist(F32.infinity, 0xff80_0000), 0x3c00_0001);
    }
}
