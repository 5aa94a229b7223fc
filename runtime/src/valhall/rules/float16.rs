//! Half-precision arithmetic, each operation rounded once.

use super::float32::{self, Nans};
use super::rounding::{Exact, F16, Number, Rounding};
use isaforge_valhall::Clamp;

/// The same number in single precision. Exact, subnormals included; a NaN keeps its sign and payload (tested).
pub fn widen(half: u16) -> u32 {
    let sign = u32::from(half & 0x8000) << 16;
    let magnitude = u32::from(half & 0x7fff);
    match magnitude >> 10 {
        0 => sign | (magnitude as f32 * f32::from_bits(0x3380_0000)).to_bits(),
        31 => sign | 0x7f80_0000 | (magnitude & 0x3ff) << 13,
        _ => sign | ((magnitude << 13) + 0x3800_0000),
    }
}

/// Single precision to half precision, rounded once; a result too large follows IEEE 754 (tested).
pub fn narrow(bits: u32, rounding: Rounding) -> u16 {
    let half = match super::rounding::F32.unpack(bits) {
        Number::Nan => F16.nan,
        Number::Infinity(negative) => F16.infinity | if negative { F16.sign } else { 0 },
        Number::Finite(value) => F16.pack(value, rounding),
    };
    half as u16
}

/// Double precision to half precision, to the nearest.
pub fn narrow_double(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { F16.sign } else { 0 };
    let bits = match value {
        _ if value.is_nan() => F16.nan,
        _ if value.is_infinite() => sign | F16.infinity,
        _ => F16.pack(Exact::double(value), Rounding::NearestEven),
    };
    bits as u16
}

/// `a + b` (tested within the rounding).
pub fn add(a: u16, b: u16) -> u16 {
    F16.add(a.into(), b.into(), Rounding::NearestEven) as u16
}

/// `a · 2^b`, rounded once; see [`float32::ldexp`].
pub fn ldexp(a: u16, b: i32, rounding: Rounding) -> u16 {
    // Exact in single precision, if the scale is kept to what a half can still feel.
    narrow(float32::ldexp(widen(a), b.clamp(-60, 60), Rounding::NearestEven), rounding)
}

/// The lesser; see [`float32::min`].
pub fn min(a: u16, b: u16, nans: Nans) -> u16 {
    exactly(float32::min(widen(a), widen(b), nans))
}

/// The greater; see [`float32::max`].
pub fn max(a: u16, b: u16, nans: Nans) -> u16 {
    exactly(float32::max(widen(a), widen(b), nans))
}

/// Limits a result; see [`float32::clamp`].
pub fn clamp(value: u16, clamp: Clamp) -> u16 {
    if clamp == Clamp::None { value } else { exactly(float32::clamp(widen(value), clamp)) }
}

/// Narrows a number that half precision holds.
fn exactly(bits: u32) -> u16 {
    narrow(bits, Rounding::NearestEven)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widening_is_exact() {
        for half in 0..=0xffffu16 {
            let wide = f32::from_bits(widen(half));
            let reference = half::f16::from_bits(half);
            assert!(wide.is_nan() && reference.is_nan() || wide.to_bits() == reference.to_f32_const().to_bits());
        }
    }

    #[test]
    fn narrowing_agrees_with_a_known_implementation() {
        for bits in (0..u32::MAX - 0x1_0000).step_by(0xfff1) {
            let ours = narrow(bits, Rounding::NearestEven);
            let theirs = half::f16::from_f32_const(f32::from_bits(bits));
            assert!(theirs.is_nan() && F16.is_nan(ours.into()) || ours == theirs.to_bits(), "{bits:08x}");
        }
    }
}
