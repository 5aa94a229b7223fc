//! Functions that the hardware has and that no source describes. Each is a choice of ours, made so that the sequences it
//! is named after come out right; nobody should expect the hardware's bits.
//!
//! The tables of the hardware are coarse, and how coarse is not known. Where a table approximates a function, the
//! function itself is given here, rounded once: whatever corrects the table afterwards has nothing left to correct.

use super::float32::result;
use super::rounding::F32;
use super::special::{Mantissa, mantissa_f32};

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
}
