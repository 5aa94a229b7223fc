//! Scaled products, mantissas, exponents and tables: the parts of the transcendental sequences.

use super::super::rules::float32;
use super::super::rules::rounding::{F32, Rounding};
use super::super::rules::{chosen, float16, special as scalar};
use super::convert::direction;
use super::float::{narrow, result, signed, widen};
use super::half::both;
use super::rule::{Rule, rules};

const SIGN: u32 = 1 << 31;

/// What a product with zero is, as a const parameter.
pub mod zero {
    /// As IEEE 754.
    pub const IEEE: u32 = 0;
    /// Zero, with the sign of the product.
    pub const ZERO: u32 = 1;
    /// The first factor.
    pub const LEFT: u32 = 2;
}

/// `(a · b + c) · 2^d` with the low `BITS` of `d`; signs of the first three in the first number.
pub struct FmaScaled<const ZERO: u32, const BITS: u32>;

impl<const ZERO: u32, const BITS: u32> Rule for FmaScaled<ZERO, BITS> {
    const SOURCES: usize = 4;
    #[inline(always)]
    fn lane([a, b, c, d]: [u32; 4], [signs, _]: [u32; 2]) -> u32 {
        let (a, b, c) = (signed(a, 0, signs, SIGN), signed(b, 1, signs, SIGN), signed(c, 2, signs, SIGN));
        let power = (d << (32 - BITS)) as i32 >> (32 - BITS);
        let special = ZERO != zero::IEEE && ((a << 1 == 0) | (b << 1 == 0));
        let instead = if ZERO == zero::LEFT { a } else { (a ^ b) & SIGN };
        // The product is exact in double precision. The sum is rounded to the odd neighbour, which leaves the last rounding
        // what it needs to know.
        let product = if special { double(instead) } else { double(a) * double(b) };
        let c = double(c);
        let sum = product + c;
        let back = sum - product;
        let error = (product - (sum - back)) + (c - back);
        let bits = sum.to_bits();
        let inexact = error.abs() > 0.0;
        let away = (error > 0.0) == (sum > 0.0);
        let odd = if away { bits | 1 } else { bits.wrapping_sub(1) | 1 };
        let sum = f64::from_bits(if inexact && bits & 1 == 0 { odd } else { bits });
        // Beyond this, single precision has long over- or underflowed, and double precision has not.
        let scale = f64::from_bits(((power.clamp(-450, 450) + 1023) as u64) << 52);
        result((sum * scale) as f32)
    }
}

#[inline(always)]
fn double(bits: u32) -> f64 {
    f64::from(f32::from_bits(bits))
}

/// The ranges of mantissas, as const parameters.
pub mod range {
    /// [0.5, 1) and a power of 2.
    pub const HALF: u32 = 0;
    /// [0.25, 1) and a power of 4.
    pub const ROOT: u32 = 1;
    /// [0.75, 1.5) and a power of 2.
    pub const LOG: u32 = 2;
}

/// The mantissa and the exponent; see `rules::special::Mantissa`.
#[inline(always)]
fn split<const RANGE: u32>(bits: u32) -> (u32, u32) {
    let magnitude = bits & !SIGN;
    let subnormal = magnitude < 0x0080_0000;
    let raised = (f32::from_bits(magnitude) * 16_777_216.0).to_bits();
    let normal = if subnormal { raised } else { magnitude };
    let fraction = normal & 0x007f_ffff;
    let power = (normal >> 23) as i32 - if subnormal { 150 } else { 126 };
    let root = (power + 1) >> 1;
    let upper = RANGE == range::HALF || fraction & 0x0040_0000 != 0;
    let (field, exponent) = match RANGE {
        range::ROOT => (126 + power - 2 * root, root),
        _ if upper => (126, power),
        _ => (127, power - 1),
    };
    let special = (magnitude == 0) | (magnitude >= F32.infinity) | (RANGE == range::LOG && subnormal);
    let mantissa = if special { bits } else { bits & SIGN | (field as u32) << 23 | fraction };
    (if magnitude > F32.infinity { F32.nan } else { mantissa }, if special { 0 } else { exponent as u32 })
}

/// The mantissa.
pub struct Mantissa<const RANGE: u32>;
/// The exponent, an integer.
pub struct Exponent<const RANGE: u32>;

impl<const RANGE: u32> Rule for Mantissa<RANGE> {
    const SOURCES: usize = 1;
    #[inline(always)]
    fn lane([a, ..]: [u32; 4], _: [u32; 2]) -> u32 {
        split::<RANGE>(a).0
    }
}

impl<const RANGE: u32> Rule for Exponent<RANGE> {
    const SOURCES: usize = 1;
    #[inline(always)]
    fn lane([a, ..]: [u32; 4], _: [u32; 2]) -> u32 {
        split::<RANGE>(a).1
    }
}

/// The sine of the steps of a quarter of the circle, of π/32 each.
static SINES: [u32; 17] = [
    0x0000_0000,
    0x3dc8_bd36,
    0x3e47_c5c2,
    0x3e94_a031,
    0x3ec3_ef15,
    0x3ef1_5aea,
    0x3f0e_39da,
    0x3f22_6799,
    0x3f35_04f3,
    0x3f45_e403,
    0x3f54_db31,
    0x3f61_c598,
    0x3f6c_835e,
    0x3f74_fa0b,
    0x3f7b_14be,
    0x3f7e_c46d,
    0x3f80_0000,
];

#[inline(always)]
fn sine(step: u32) -> u32 {
    let within = if step & 16 == 0 { step & 15 } else { 16 - (step & 15) };
    let value = SINES[within as usize % SINES.len()];
    if (step & 32 == 0) | (within == 0) { value } else { value | SIGN }
}

// Polynomials in double precision for functions that the reference asks the host for. Rounded to single precision they are
// the same; a test of all fractions holds them to that.

/// `a₀ + x · (a₁ + x · (a₂ + …))`.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: &[f64; N]) -> f64 {
    let mut sum = 0.0;
    for index in 0..N {
        sum = x.mul_add(sum, coefficients[N - 1 - index]);
    }
    sum
}

/// Of `2^(x + 1/2)`.
const POWERS: [f64; 13] = {
    let mut powers = [std::f64::consts::SQRT_2; 13];
    let mut index = 1;
    while index < powers.len() {
        powers[index] = powers[index - 1] * std::f64::consts::LN_2 / index as f64;
        index += 1;
    }
    powers
};

/// `2^(a / 2^24)`, where the second source does not say something else.
#[inline(always)]
fn exponential(a: u32, special: u32) -> u32 {
    let fraction = f64::from((a & 0x00ff_ffff) as i32 - 0x0080_0000) * (1.0 / 16_777_216.0);
    let scale = f64::from_bits((((a as i32 >> 24) + 1023) as u64) << 52);
    let power = ((polynomial(fraction, &POWERS) * scale) as f32).to_bits();
    let power = if power < 0x0080_0000 { 0 } else { power };
    let magnitude = special & !SIGN;
    let infinite = if special > SIGN { 0 } else { F32.infinity };
    let number = if magnitude == F32.infinity { infinite } else { power };
    if magnitude > F32.infinity { F32.nan } else { number }
}

/// Of `atanh(√x) / √x`.
const INVERSES: [f64; 11] = {
    let mut inverses = [1.0; 11];
    let mut index = 1;
    while index < inverses.len() {
        inverses[index] = 1.0 / (2 * index + 1) as f64;
        index += 1;
    }
    inverses
};

/// `log2(r) / (r - 1)` with `r` as `rules::float32::reduce` makes it.
#[inline(always)]
fn log_slope(a: u32) -> u32 {
    let magnitude = a & !SIGN;
    let subnormal = magnitude < 0x0080_0000;
    let raised = (f32::from_bits(magnitude) * 16_777_216.0).to_bits();
    let bits = if subnormal { raised } else { magnitude };
    let fraction = bits & 0x007f_ffff;
    let lower = fraction & 0x0040_0000 == 0;
    let reduced = double(if lower { 127 << 23 } else { 126 << 23 } | fraction);
    let ratio = (reduced - 1.0) / (reduced + 1.0);
    let slope = polynomial(ratio * ratio, &INVERSES) * (2.0 * std::f64::consts::LOG2_E) / (reduced + 1.0);
    // A subnormal is not reduced, and the difference to 1 is -1.
    let power = (bits >> 23) as i32 - if lower { 151 } else { 150 };
    let whole = -(reduced - 1.0).mul_add(slope, f64::from(power));
    let value = (if subnormal { whole } else { slope } as f32).to_bits();
    let number = if (magnitude == 0) | (a == F32.infinity) { F32.infinity } else { value };
    if (magnitude > F32.infinity) | (a > SIGN) { F32.nan } else { number }
}

// Single precision holds a quotient of halves well enough to be rounded once more, double precision a root; a test of all
// halves holds them to that.

#[inline(always)]
fn reciprocal_half([a]: [u32; 1]) -> u32 {
    narrow((1.0 / f32::from_bits(widen(a))).to_bits())
}

#[inline(always)]
fn reciprocal_root_half([a]: [u32; 1]) -> u32 {
    let root = (1.0 / f64::from(f32::from_bits(widen(a))).sqrt()) as f32;
    if a & 0x7fff == 0 { a | 0x7c00 } else { narrow(root.to_bits()) }
}

#[inline(always)]
fn mantissa_range(number: u32) -> scalar::Mantissa {
    match number {
        range::HALF => scalar::Mantissa::Half,
        range::ROOT => scalar::Mantissa::Root,
        _ => scalar::Mantissa::Log,
    }
}

/// `FPCLASS` of a half.
fn class_half([a]: [u32; 1]) -> u32 {
    chosen::class_f16(a as u16).into()
}

rules! {
    ReciprocalHalves(a; _) both!(a; reciprocal_half);
    ReciprocalRootHalves(a; _) both!(a; reciprocal_root_half);
    Exponential(a, b; _) exponential(a, b);
    LogSlope(a; _) log_slope(a);
    Sine(a; _) sine(a);
    Cosine(a; _) sine(a.wrapping_add(16));
}

// What follows is rare, or a function of the host: these rules are those of the reference, a lane after another.

rules! {
    /// Scaled by a power of two; the direction of rounding is in the first number.
    Scaled(a, b; n) float32::ldexp(a, b as i32, rounding(n[0]));
    /// The same on halves.
    ScaledHalves(a, b; n) {
        let low = float16::ldexp(a as u16, (b as i16).into(), rounding(n[0]));
        let high = float16::ldexp((a >> 16) as u16, ((b >> 16) as i16).into(), rounding(n[0]));
        u32::from(low) | u32::from(high) << 16
    };
    /// The range is in the first number.
    MantissaHalves(a; n) {
        let range = mantissa_range(n[0]);
        let (low, high) = (scalar::mantissa_f16(a as u16, range), scalar::mantissa_f16((a >> 16) as u16, range));
        u32::from(low) | u32::from(high) << 16
    };
    /// The same.
    ExponentHalves(a; n) {
        let range = mantissa_range(n[0]);
        let (low, high) = (scalar::exponent_f16(a as u16, range), scalar::exponent_f16((a >> 16) as u16, range));
        u32::from(low) | u32::from(high) << 16
    };
    MantissaReciprocal(a; _) chosen::reciprocal_of_mantissa(a);
    MantissaRoot(a; _) chosen::root_of_mantissa(a);
    LogReciprocal(a; _) chosen::reciprocal_of_log_mantissa(a);
    ExponentialTable(a; _) chosen::exp_table(a);
    Angle(a; _) chosen::sincos_offset(a);
    ArcTangentTable(y, x; _) chosen::atan_table(y, x);
    ArcTangentAssist(y, x; _) chosen::atan_assist(y, x);
    Class(a; _) chosen::class_f32(a);
    ClassHalves(a; _) both!(a; class_half);
}

/// The direction of rounding of a number.
fn rounding(number: u32) -> Rounding {
    match number {
        direction::EVEN => Rounding::NearestEven,
        direction::UP => Rounding::Up,
        direction::DOWN => Rounding::Down,
        _ => Rounding::Zero,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_halves_have_the_reciprocals_of_the_reference() {
        for half in 0..=0xffffu16 {
            assert_eq!(reciprocal_half([half.into()]), u32::from(scalar::reciprocal_f16(half)), "{half:04x}");
            assert_eq!(reciprocal_root_half([half.into()]), u32::from(scalar::reciprocal_root_f16(half)), "{half:04x}");
        }
    }

    #[test]
    fn scaled_products_are_rounded_once() {
        let mut random = isaforge_core::sample::Random(1);
        let mut number = |near: bool| {
            let bits = random.next();
            match bits >> 60 {
                0 => bits as u32 & 0x8000_0000,
                1 => bits as u32 & 0x807f_ffff,
                2 => bits as u32 & 0x8000_0001 | 0x7f80_0000,
                // Few digits, so that sums cancel and ties happen.
                3..8 if near => bits as u32 & 0x80c0_0003 | 0x3f00_0000,
                8..12 if near => bits as u32 & 0x80ff_ffff | 0x3f00_0000,
                _ => bits as u32,
            }
        };
        for round in 0..100_000 {
            let [a, b, c] = [0; 3].map(|_| number(round % 4 != 0));
            // Mostly what brings a result near 1 among the subnormals, beyond them, or beyond the greatest.
            let d = number(false);
            let d = if round % 8 == 0 { d } else { (d as i32 % 160) as u32 };
            for signs in [0, 0b10_01_11] {
                let sources = [0, 1, 2].map(|i| signed([a, b, c][i as usize], i, signs, SIGN));
                let exact = |zero, d: i32| float32::fma_rscale(sources[0], sources[1], sources[2], d, zero);
                let (lane, numbers) = ([a, b, c, d], [signs, 0]);
                let context = || format!("{a:08x} * {b:08x} + {c:08x}, {d:08x}, {signs:b}");
                let (ieee, zero, left) =
                    (float32::ZeroProduct::Ieee, float32::ZeroProduct::Zero, float32::ZeroProduct::Left);
                assert_eq!(
                    FmaScaled::<{ zero::IEEE }, 32>::lane(lane, numbers),
                    exact(ieee, d as i32),
                    "{}",
                    context()
                );
                assert_eq!(
                    FmaScaled::<{ zero::ZERO }, 32>::lane(lane, numbers),
                    exact(zero, d as i32),
                    "{}",
                    context()
                );
                assert_eq!(
                    FmaScaled::<{ zero::LEFT }, 32>::lane(lane, numbers),
                    exact(left, d as i32),
                    "{}",
                    context()
                );
                let short = i32::from(d as i16);
                assert_eq!(FmaScaled::<{ zero::IEEE }, 16>::lane(lane, numbers), exact(ieee, short), "{}", context());
            }
        }
    }

    #[test]
    fn mantissas_and_exponents_are_those_of_the_reference() {
        let ends = [0, 1, 2, 0x003f_ffff, 0x0040_0000, 0x007f_ffff, 0x0080_0000, 0x7f7f_ffff, 0x7f80_0000, 0x7f80_0001];
        for bits in ends.into_iter().flat_map(|end| [end, end | SIGN]).chain((0..u32::MAX - 0x8765).step_by(0x8765)) {
            let of = |range| (scalar::mantissa_f32(bits, range), scalar::exponent_f32(bits, range));
            assert_eq!(split::<{ range::HALF }>(bits), of(scalar::Mantissa::Half), "{bits:08x}");
            assert_eq!(split::<{ range::ROOT }>(bits), of(scalar::Mantissa::Root), "{bits:08x}");
            assert_eq!(split::<{ range::LOG }>(bits), of(scalar::Mantissa::Log), "{bits:08x}");
        }
    }

    #[test]
    fn polynomials_round_as_the_functions_of_the_reference() {
        // All of them take a minute where nothing is optimised.
        let step = if cfg!(debug_assertions) { 251 } else { 1 };
        for fraction in (0..1u32 << 24).step_by(step) {
            for whole in [0, 0x3f, 0x7f, 0x80, 0x81, 0x82, 0xff] {
                let a = whole << 24 | fraction;
                assert_eq!(exponential(a, 0), scalar::exp2(a, 0), "{a:08x}");
            }
            for a in [fraction, fraction | 0x3f00_0000, fraction << 8 | fraction & 0xff] {
                assert_eq!(log_slope(a), scalar::log_slope(a), "{a:08x}");
            }
        }
        for a in [0, 1, 0x3f80_0000, F32.infinity, F32.infinity + 1, F32.nan, 0x7fff_ffff] {
            for a in [a, a | SIGN] {
                assert_eq!(log_slope(a), scalar::log_slope(a), "{a:08x}");
                assert_eq!(exponential(0x0123_4567, a), scalar::exp2(0x0123_4567, a), "{a:08x}");
            }
        }
    }

    #[test]
    fn all_steps_have_the_sines_of_the_reference() {
        for step in 0..128 {
            assert_eq!(sine(step), scalar::sine(step));
        }
    }
}
