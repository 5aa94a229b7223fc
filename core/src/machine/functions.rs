//! Intrinsics that need the system's math library: logarithms, trigonometry, gamma.
//!
//! Hardware approximates these functions. Here they are computed in double precision and rounded to single; every NaN
//! result is the positive quiet NaN.

use std::f64::consts::FRAC_PI_2;

use crate::semantics::{Class, Intrinsic, Type};

/// Computes the bits of a float from those of another.
pub type Function = fn(u32) -> u32;

/// Finds the function of this module for an intrinsic by its name. It must take one `f32` and return one.
pub fn function(intrinsic: &Intrinsic) -> Option<Function> {
    let single = Type { class: Class::Float, bits: 32, lanes: 1 };
    if intrinsic.parameters != [single] || intrinsic.result != Some(single) {
        return None;
    }
    Some(match intrinsic.name {
        "log2" => log2,
        "exp2" => exp2,
        "srgb_encode" => srgb_encode,
        "srgb_decode" => srgb_decode,
        "sine_by_x" => sine_by_x,
        "arctangent_by_x" => arctangent_by_x,
        "reduce_sine" => reduce_sine,
        "reduce_cosine" => reduce_cosine,
        _ => return None,
    })
}

fn wide(bits: u32) -> f64 {
    f32::from_bits(bits).into()
}

fn rounded(x: f64) -> u32 {
    let x = x as f32;
    if x.is_nan() { f32::NAN.to_bits() & 0x7fff_ffff } else { x.to_bits() }
}

/// The logarithm to base 2; -infinity for both zeros.
pub fn log2(bits: u32) -> u32 {
    let x = wide(bits);
    if x == 0.0 { f32::NEG_INFINITY.to_bits() } else { rounded(x.log2()) }
}

/// Two to the power of a number.
pub fn exp2(bits: u32) -> u32 {
    rounded(wide(bits).exp2())
}

/// From linear to sRGB.
pub fn srgb_encode(bits: u32) -> u32 {
    let x = wide(bits);
    rounded(if x > 0.003_130_8 { 1.055 * x.powf(1.0 / 2.4) - 0.055 } else { 12.92 * x })
}

/// From sRGB to linear.
pub fn srgb_decode(bits: u32) -> u32 {
    let x = wide(bits);
    rounded(if x > 0.040_45 { ((x + 0.055) / 1.055).powf(2.4) } else { x / 12.92 })
}

/// `sin(x * pi / 2) / x`; `pi / 2` where the exponent is below 103.
pub fn sine_by_x(bits: u32) -> u32 {
    if bits >> 23 & 0xff < 103 {
        return (FRAC_PI_2 as f32).to_bits();
    }
    let x = wide(bits);
    rounded((x * FRAC_PI_2).sin() / x)
}

/// `atan(x) / x`; 1 below 0x39c00000.
pub fn arctangent_by_x(bits: u32) -> u32 {
    if bits & 0x7fff_ffff < 0x39c0_0000 {
        return 1.0f32.to_bits();
    }
    let x = wide(bits);
    rounded(x.atan() / x)
}

/// The angle in -1 to 1 quarter turns whose sine is the sine of an angle in radians.
pub fn reduce_sine(bits: u32) -> u32 {
    rounded(wide(bits).sin().asin() / FRAC_PI_2)
}

/// The angle in -1 to 1 quarter turns whose sine is the cosine of an angle in radians.
pub fn reduce_cosine(bits: u32) -> u32 {
    rounded(wide(bits).cos().asin() / FRAC_PI_2)
}
