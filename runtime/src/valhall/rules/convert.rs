//! Conversions between floats and integers, and rounding to whole floats.

use super::float16;
use super::rounding::{Exact, F16, F32, Format, Number, Rounding};

/// Rounds to an integer and saturates; NaN gives 0 (tested for f32, taken over for f16).
fn to_integer(format: &Format, bits: u32, rounding: Rounding, least: i128, greatest: i128) -> i64 {
    let value = match format.unpack(bits) {
        Number::Nan => 0,
        Number::Infinity(negative) => {
            if negative {
                least
            } else {
                greatest
            }
        }
        Number::Finite(value) => value.to_integer(rounding).clamp(least, greatest),
    };
    // The bounds of every caller fit.
    value as i64
}

/// f32 to a signed integer of 32 bits.
pub fn f32_to_s32(bits: u32, rounding: Rounding) -> u32 {
    to_integer(&F32, bits, rounding, i32::MIN.into(), i32::MAX.into()) as u32
}

/// f32 to an unsigned integer of 32 bits; negative numbers give 0.
pub fn f32_to_u32(bits: u32, rounding: Rounding) -> u32 {
    to_integer(&F32, bits, rounding, 0, u32::MAX.into()) as u32
}

/// f16 to a signed integer of 32 bits.
pub fn f16_to_s32(half: u16, rounding: Rounding) -> u32 {
    to_integer(&F16, half.into(), rounding, i32::MIN.into(), i32::MAX.into()) as u32
}

/// f16 to an unsigned integer of 32 bits.
pub fn f16_to_u32(half: u16, rounding: Rounding) -> u32 {
    to_integer(&F16, half.into(), rounding, 0, u32::MAX.into()) as u32
}

/// f16 to a signed integer of 16 bits.
pub fn f16_to_s16(half: u16, rounding: Rounding) -> u16 {
    to_integer(&F16, half.into(), rounding, i16::MIN.into(), i16::MAX.into()) as u16
}

/// f16 to an unsigned integer of 16 bits.
pub fn f16_to_u16(half: u16, rounding: Rounding) -> u16 {
    to_integer(&F16, half.into(), rounding, 0, u16::MAX.into()) as u16
}

/// An integer to f32, rounded once; 0 gives +0.
pub fn integer_to_f32(value: i64, rounding: Rounding) -> u32 {
    F32.pack(Exact::integer(value.into()), rounding)
}

/// An integer to f16, rounded once; one too large overflows as in IEEE 754.
pub fn integer_to_f16(value: i64, rounding: Rounding) -> u16 {
    F16.pack(Exact::integer(value.into()), rounding) as u16
}

/// The whole number next to a float; zeros and results of zero keep the sign (tested).
fn round(format: &Format, bits: u32, rounding: Rounding) -> u32 {
    match format.unpack(bits) {
        Number::Nan => format.nan,
        Number::Infinity(_) => bits,
        Number::Finite(value) if value.exponent >= 0 => bits,
        Number::Finite(value) => {
            let whole = Exact { negative: value.negative, ..Exact::integer(value.to_integer(rounding)) };
            format.pack(whole, rounding)
        }
    }
}

/// Rounds an f32 to a whole number.
pub fn round_f32(bits: u32, rounding: Rounding) -> u32 {
    round(&F32, bits, rounding)
}

/// Rounds an f16 to a whole number.
pub fn round_f16(half: u16, rounding: Rounding) -> u16 {
    round(&F16, half.into(), rounding) as u16
}

/// f16 to f32, exact; the NaN is the one NaN (tested).
pub fn f16_to_f32(half: u16) -> u32 {
    let wide = float16::widen(half);
    if F32.is_nan(wide) { F32.nan } else { wide }
}
