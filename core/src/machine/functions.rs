//! Intrinsics that need the system's math library: logarithms, trigonometry, gamma.
//!
//! Hardware approximates these functions. Here they are computed in double precision and rounded to single; every NaN
//! result is the positive quiet NaN.

use std::f64::consts::FRAC_PI_2;

use crate::semantics::{Class, Intrinsic, Type};

/// Computes the bits of a float from those of another.
pub type Function = fn(u32) -> u32;

/// Finds the function for an intrinsic by its name. It must take one `f32` and return one.
///
/// | name | result |
/// |---|---|
/// | `log2` | the base-2 logarithm; -infinity for both zeros |
/// | `exp2` | two to the power of `x` |
/// | `srgb_encode`, `srgb_decode` | linear to sRGB, and back |
/// | `sine_by_x` | `sin(x * pi / 2) / x`; `pi / 2` where the exponent is below 103 |
/// | `arctangent_by_x` | `atan(x) / x`; 1 below 0x39c00000 |
/// | `reduce_sine`, `reduce_cosine` | the angle in -1 to 1 quarter turns whose sine is the sine, or the cosine, of an angle in radians |
pub fn function(intrinsic: &Intrinsic) -> Option<Function> {
    let single = Type { class: Class::Float, bits: 32, lanes: 1 };
    if intrinsic.parameters != [single] || intrinsic.result != Some(single) {
        return None;
    }
    Some(match intrinsic.name {
        "log2" => logarithm,
        "exp2" => power,
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

fn logarithm(bits: u32) -> u32 {
    let x = wide(bits);
    if x == 0.0 { f32::NEG_INFINITY.to_bits() } else { rounded(x.log2()) }
}

fn power(bits: u32) -> u32 {
    rounded(wide(bits).exp2())
}

fn srgb_encode(bits: u32) -> u32 {
    let x = wide(bits);
    rounded(if x > 0.003_130_8 { 1.055 * x.powf(1.0 / 2.4) - 0.055 } else { 12.92 * x })
}

fn srgb_decode(bits: u32) -> u32 {
    let x = wide(bits);
    rounded(if x > 0.040_45 { ((x + 0.055) / 1.055).powf(2.4) } else { x / 12.92 })
}

fn sine_by_x(bits: u32) -> u32 {
    if bits >> 23 & 0xff < 103 {
        return (FRAC_PI_2 as f32).to_bits();
    }
    let x = wide(bits);
    rounded((x * FRAC_PI_2).sin() / x)
}

fn arctangent_by_x(bits: u32) -> u32 {
    if bits & 0x7fff_ffff < 0x39c0_0000 {
        return 1.0f32.to_bits();
    }
    let x = wide(bits);
    rounded(x.atan() / x)
}

fn reduce_sine(bits: u32) -> u32 {
    rounded(wide(bits).sin().asin() / FRAC_PI_2)
}

fn reduce_cosine(bits: u32) -> u32 {
    rounded(wide(bits).cos().asin() / FRAC_PI_2)
}
