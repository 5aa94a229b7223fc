//! Conversions between formats, and to and from integers.

use super::exact::{Class, classify, pack, round_shift};
use super::format::{Format, Round};
use crate::bits::ones;

/// Converts `a` to another format. A NaN becomes quiet and keeps its sign and as many high bits of its payload as fit.
///
/// # Examples
///
/// ```
/// use isaforge_core::float::{Format, Round, convert};
///
/// assert_eq!(convert(Format::F32, Format::F16, u64::from(1.5f32.to_bits()), Round::NearestEven), 0x3e00);
/// ```
#[inline]
pub fn convert(from: Format, to: Format, a: u64, r: Round) -> u64 {
    match (from, to, r) {
        (Format::F16, Format::F32, _) if !from.is_nan(a) => return f16_to_f32(a as u16).to_bits().into(),
        (Format::F32, Format::F16, Round::NearestEven) if !from.is_nan(a) => {
            return f32_to_f16(f32::from_bits(a as u32)).into();
        }
        _ => {}
    }
    let negative = from.is_negative(a);
    match classify(from, a) {
        Class::Finite { significand, exponent } => pack(to, negative, significand, exponent, r),
        Class::Zero => to.zero(negative),
        Class::Infinite => to.infinity() | to.zero(negative),
        Class::Nan => {
            // Align the payload to the top of a 64-bit word.
            let payload = a << (64 - from.fraction_bits());
            to.quiet(to.infinity() | to.zero(negative) | payload >> (64 - to.fraction_bits()))
        }
    }
}

/// Converts a half-precision number or infinity exactly. A NaN gives some NaN.
#[inline]
pub(super) fn f16_to_f32(a: u16) -> f32 {
    let sign = u32::from(a & 0x8000) << 16;
    let magnitude = u32::from(a & 0x7fff);
    let bits = match magnitude {
        0 => 0,
        // Subnormal: shift the leading bit to the position of the implicit bit, and lower the exponent by the shift.
        1..0x400 => {
            let shift = magnitude.leading_zeros() - 8;
            (magnitude << shift) + ((125 - shift) << 23)
        }
        0x400..0x7c00 => (magnitude << 13) + ((127 - 15) << 23),
        _ => (magnitude << 13) | 0x7f80_0000,
    };
    f32::from_bits(sign | bits)
}

/// Rounds a number or infinity to the nearest half, ties to even.
#[inline]
pub(super) fn f32_to_f16(a: f32) -> u16 {
    let bits = a.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    let rounded = match magnitude {
        // Below the smallest normal half: round to a multiple of the smallest subnormal.
        0..0x3880_0000 => {
            let significand = (magnitude & 0x007f_ffff) | 0x0080_0000;
            let shift = 126 - (magnitude >> 23);
            round_shift(false, significand.into(), shift, Round::NearestEven) as u32
        }
        // Adds just under half a unit in the last place, and one more if that place is odd. A carry goes into the
        // exponent, up to infinity.
        0x3880_0000..0x4780_0000 => {
            let odd = (magnitude >> 13) & 1;
            (magnitude - ((127 - 15) << 23) + 0xfff + odd) >> 13
        }
        _ => 0x7c00,
    };
    sign | rounded as u16
}

/// Rounds `a` to an integer in the same format. A zero result keeps the sign of `a`.
#[inline]
pub fn round_to_integral(f: Format, a: u64, r: Round) -> u64 {
    match classify(f, a) {
        Class::Finite { significand, exponent } if exponent < 0 => {
            let negative = f.is_negative(a);
            match round_shift(negative, significand, exponent.unsigned_abs(), r) {
                0 => f.zero(negative),
                integer => pack(f, negative, integer, 0, r),
            }
        }
        Class::Nan => f.quiet(a),
        _ => a & f.mask(),
    }
}

/// Rounds `a` to an integer of `bits` bits, in two's complement. A result out of range saturates, and a NaN gives 0.
/// `bits` is clamped to 1 to 64.
///
/// # Examples
///
/// ```
/// use isaforge_core::float::{Format, Round, to_int};
///
/// assert_eq!(to_int(Format::F32, u64::from(2.75f32.to_bits()), 32, true, Round::Zero), 2);
/// ```
#[inline]
pub fn to_int(f: Format, a: u64, bits: u32, signed: bool, r: Round) -> u64 {
    let bits = bits.clamp(1, 64);
    let negative = f.is_negative(a);
    let magnitude = match classify(f, a) {
        Class::Zero | Class::Nan => return 0,
        Class::Infinite => u64::MAX,
        Class::Finite { significand, exponent } if exponent < 0 => {
            round_shift(negative, significand, exponent.unsigned_abs(), r)
        }
        Class::Finite { significand, exponent } if exponent as u32 <= significand.leading_zeros() => {
            significand << exponent
        }
        Class::Finite { .. } => u64::MAX,
    };
    let limit = match (signed, negative) {
        (true, true) => 1 << (bits - 1),
        (true, false) => ones(bits - 1),
        (false, true) => 0,
        (false, false) => ones(bits),
    };
    let magnitude = magnitude.min(limit);
    (if negative { magnitude.wrapping_neg() } else { magnitude }) & ones(bits)
}

/// Converts the integer in the low `bits` bits of `value` to the format, rounded. Zero gives +0. `bits` is clamped to 1
/// to 64.
#[inline]
pub fn from_int(f: Format, value: u64, bits: u32, signed: bool, r: Round) -> u64 {
    let bits = bits.clamp(1, 64);
    let value = value & ones(bits);
    let negative = signed && value >> (bits - 1) == 1;
    let magnitude = if negative { value.wrapping_neg() & ones(bits) } else { value };
    if magnitude == 0 { 0 } else { pack(f, negative, magnitude, 0, r) }
}
