//! The pure intrinsics, functions of one float: logarithms, trigonometry, gamma.
//!
//! The hardware approximates; here results are those of 64-bit arithmetic, rounded to 32 bits. The special cases are those
//! of the reference.

use std::f64::consts::FRAC_PI_2;

use isaforge_usc::RedType;

use crate::usc::float::NAN;

#[inline]
fn rounded(x: f64) -> u32 {
    let x = x as f32;
    // Every NaN that these functions give is positive.
    if x.is_nan() { NAN } else { x.to_bits() }
}

/// `log2(x)`; of either zero -infinity, of anything below a NaN.
pub fn logarithm(bits: u32) -> u32 {
    let x = f64::from(f32::from_bits(bits));
    if x == 0.0 { f32::NEG_INFINITY.to_bits() } else { rounded(x.log2()) }
}

/// `2^x`.
pub fn power(bits: u32) -> u32 {
    rounded(f64::from(f32::from_bits(bits)).exp2())
}

/// Linear to sRGB.
pub fn compress(bits: u32) -> u32 {
    let x = f64::from(f32::from_bits(bits));
    rounded(if x > 0.003_130_8 { 1.055 * x.powf(1.0 / 2.4) - 0.055 } else { 12.92 * x })
}

/// sRGB to linear.
pub fn expand(bits: u32) -> u32 {
    let x = f64::from(f32::from_bits(bits));
    rounded(if x > 0.040_45 { ((x + 0.055) / 1.055).powf(2.4) } else { x / 12.92 })
}

/// `sin(x * pi / 2) / x` for x in [-1, 1]; pi / 2 where the exponent is below 103.
pub fn sine_by_x(bits: u32) -> u32 {
    if bits >> 23 & 0xff < 103 {
        return (FRAC_PI_2 as f32).to_bits();
    }
    let x = f64::from(f32::from_bits(bits));
    rounded((x * FRAC_PI_2).sin() / x)
}

/// `atan(x) / x` for x in [-1, 1]; 1 below 0x39c00000.
pub fn arctangent_by_x(bits: u32) -> u32 {
    if bits & 0x7fff_ffff < 0x39c0_0000 {
        return 1.0f32.to_bits();
    }
    let x = f64::from(f32::from_bits(bits));
    rounded(x.atan() / x)
}

/// The angle in [-1, 1] quarter turns whose sine is the sine, or the cosine, of an angle in radians.
///
/// The hardware reduces in two parts and as many iterations as the angle needs. Here the first part has the result, exact
/// for every finite angle, and hands it on.
pub fn reduce(kind: RedType, bits: u32) -> u32 {
    let x = f64::from(f32::from_bits(bits));
    let value = match kind {
        RedType::Sin => x.sin(),
        RedType::Cos => x.cos(),
    };
    rounded(value.asin() / FRAC_PI_2)
}
