//! Conversions in every direction of rounding.

use super::super::rules::rounding::F32;
use super::float::{narrow, widen};
use super::half::both;
use super::rule::Rule;

const SIGN: u32 = 1 << 31;

/// Directions of rounding, as const parameters and numbers.
pub mod direction {
    pub const EVEN: u32 = 0;
    pub const UP: u32 = 1;
    pub const DOWN: u32 = 2;
    pub const ZERO: u32 = 3;
}

#[inline(always)]
fn rounded<const TO: u32>(value: f32) -> f32 {
    match TO {
        direction::EVEN => value.round_ties_even(),
        direction::UP => value.ceil(),
        direction::DOWN => value.floor(),
        _ => value.trunc(),
    }
}

/// An f32 as f16.
#[inline(always)]
fn narrow_to<const TO: u32>(bits: u32) -> u32 {
    if TO == direction::EVEN {
        return narrow(bits);
    }
    let (magnitude, negative) = (bits & !SIGN, bits >> 31 != 0);
    let subnormal = (f32::from_bits(magnitude) * 16_777_216.0) as i32 as u32;
    let normal = magnitude.wrapping_sub(0x3800_0000) >> 13;
    let kept = if magnitude < 0x3880_0000 { subnormal } else { normal }.min(0x7bff);
    let grows = (TO == direction::UP && !negative) || (TO == direction::DOWN && negative);
    let grown = kept + u32::from(grows && widen(kept) != magnitude);
    let signed = bits >> 16 & 0x8000 | if magnitude >= F32.infinity { 0x7c00 } else { grown };
    if magnitude > F32.infinity { 0x7e00 } else { signed }
}

/// An integer that double precision holds as f32.
#[inline(always)]
fn single<const TO: u32>(value: f64) -> u32 {
    let nearest = value as f32;
    let (bits, back) = (nearest.to_bits(), f64::from(nearest));
    // The neighbours of a number that is not zero.
    let (outwards, inwards) = (bits.wrapping_add(1), bits.wrapping_sub(1));
    let negative = value < 0.0;
    match TO {
        direction::UP if back < value => {
            if negative {
                inwards
            } else {
                outwards
            }
        }
        direction::DOWN if back > value => {
            if negative {
                outwards
            } else {
                inwards
            }
        }
        direction::ZERO if back.abs() > value.abs() => inwards,
        _ => bits,
    }
}

macro_rules! directed {
    ($($(#[$doc:meta])* $name:ident<$to:ident>($($source:ident),*) $result:expr;)*) => { $(
        $(#[$doc])*
        pub struct $name<const $to: u32>;
        impl<const $to: u32> Rule for $name<$to> {
            const SOURCES: usize = [$(stringify!($source)),*].len();
            #[inline(always)]
            fn lane(sources: [u32; 4], _: [u32; 2]) -> u32 {
                let [$($source,)* ..] = sources;
                $result
            }
        }
    )* };
}

directed! {
    /// Two f32 as halves.
    Narrow<TO>(a, b) narrow_to::<TO>(a) | narrow_to::<TO>(b) << 16;
    FromSigned<TO>(a) single::<TO>(f64::from(a as i32));
    FromUnsigned<TO>(a) single::<TO>(f64::from(a));
    /// Halves to whole numbers.
    RoundHalves<TO>(a) both!(a; round_half::<TO>);
    /// Halves to integers of their width.
    HalvesToSigned<TO>(a) both!(a; half_to_signed::<TO>);
    HalvesToUnsigned<TO>(a) both!(a; half_to_unsigned::<TO>);
    /// Integers to halves.
    HalvesFromSigned<TO>(a) both!(a; half_from_signed::<TO>);
    HalvesFromUnsigned<TO>(a) both!(a; half_from_unsigned::<TO>);
}

#[inline(always)]
fn round_half<const TO: u32>([half]: [u32; 1]) -> u32 {
    narrow(rounded::<TO>(f32::from_bits(widen(half))).to_bits())
}

#[inline(always)]
fn half_to_signed<const TO: u32>([half]: [u32; 1]) -> u32 {
    (rounded::<TO>(f32::from_bits(widen(half))) as i32).clamp(-0x8000, 0x7fff) as u32 & 0xffff
}

#[inline(always)]
fn half_to_unsigned<const TO: u32>([half]: [u32; 1]) -> u32 {
    (rounded::<TO>(f32::from_bits(widen(half))) as i32).clamp(0, 0xffff) as u32
}

#[inline(always)]
fn half_from_signed<const TO: u32>([half]: [u32; 1]) -> u32 {
    narrow_to::<TO>((i32::from(half as i16) as f32).to_bits())
}

#[inline(always)]
fn half_from_unsigned<const TO: u32>([half]: [u32; 1]) -> u32 {
    narrow_to::<TO>((half as i32 as f32).to_bits())
}

#[cfg(test)]
mod tests {
    use super::super::super::rules::rounding::Rounding;
    use super::super::super::rules::{convert, float16};
    use super::*;

    /// Compares what is done in one direction.
    fn agree<const TO: u32>(rounding: Rounding) {
        for half in 0..=0xffffu16 {
            let word = u32::from(half);
            assert_eq!(round_half::<TO>([word]), u32::from(convert::round_f16(half, rounding)), "{half:04x}");
            assert_eq!(half_to_signed::<TO>([word]), u32::from(convert::f16_to_s16(half, rounding)), "{half:04x}");
            assert_eq!(half_to_unsigned::<TO>([word]), u32::from(convert::f16_to_u16(half, rounding)), "{half:04x}");
            let signed = convert::integer_to_f16((half as i16).into(), rounding);
            assert_eq!(half_from_signed::<TO>([word]), u32::from(signed), "{half}");
            let unsigned = convert::integer_to_f16(half.into(), rounding);
            assert_eq!(half_from_unsigned::<TO>([word]), u32::from(unsigned), "{half}");
            // Every half, its neighbours in single precision, and what lies between it and the next.
            let wide = float16::widen(half);
            for bits in [wide, wide.wrapping_add(1), wide.wrapping_sub(1), wide | 0x1000, wide | 0xfff, wide | 0x1001] {
                let expected = u32::from(float16::narrow(bits, rounding));
                assert_eq!(narrow_to::<TO>(bits), expected, "{bits:08x} {rounding:?}");
            }
        }
        for bits in (0..u32::MAX - 0x1_2345).step_by(0x1_2345).chain([1, SIGN | 1, 0x7fff_ff80, 0x7fff_ffff]) {
            assert_eq!(narrow_to::<TO>(bits), u32::from(float16::narrow(bits, rounding)), "{bits:08x}");
            let signed = bits as i32;
            assert_eq!(single::<TO>(signed.into()), convert::integer_to_f32(signed.into(), rounding), "{signed}");
            assert_eq!(single::<TO>(bits.into()), convert::integer_to_f32(bits.into(), rounding), "{bits}");
        }
    }

    #[test]
    fn every_direction_is_that_of_the_reference() {
        agree::<{ direction::EVEN }>(Rounding::NearestEven);
        agree::<{ direction::UP }>(Rounding::Up);
        agree::<{ direction::DOWN }>(Rounding::Down);
        agree::<{ direction::ZERO }>(Rounding::Zero);
    }
}
