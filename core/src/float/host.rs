//! Results computed with the processor's own arithmetic, which rounds to nearest even. Its NaNs differ between
//! processors, so results that are NaN are left to the definition.

use super::convert::{f16_to_f32, f32_to_f16};
use super::exact::{Class, Op, classify, pack};
use super::format::{Format, Round};

/// Whether the host computes in the precision of the operands: x86 without SSE2 keeps more bits.
const EXACT: bool = !cfg!(all(target_arch = "x86", not(target_feature = "sse2")));

/// The sum, difference, product or quotient. `None` when it is left to the definition.
#[inline(always)]
pub(super) fn arithmetic(op: Op, f: Format, a: u64, b: u64, r: Round) -> Option<u64> {
    if !EXACT {
        return None;
    }
    match (f, r) {
        (Format::F64, Round::NearestEven) => {
            let (x, y) = (f64::from_bits(a), f64::from_bits(b));
            let result = match op {
                Op::Add => x + y,
                Op::Sub => x - y,
                Op::Mul => x * y,
                Op::Div => x / y,
            };
            (!result.is_nan()).then_some(result.to_bits())
        }
        (Format::F64, _) => None,
        (Format::F32, Round::NearestEven) => {
            let result = single(op, f32::from_bits(a as u32), f32::from_bits(b as u32));
            (!result.is_nan()).then_some(result.to_bits().into())
        }
        // 24 bits of precision are at least twice 11 plus 2, so double rounding gives the correct result.
        (Format::F16, Round::NearestEven) => {
            let result = single(op, f16_to_f32(a as u16), f16_to_f32(b as u16));
            (!result.is_nan()).then(|| f32_to_f16(result).into())
        }
        _ => {
            let (x, y) = (widen(f, a), widen(f, b));
            let wide = match op {
                Op::Add => add_to_odd(x, y, r),
                Op::Sub => add_to_odd(x, -y, r),
                // The product has at most 48 bits, so it is exact.
                Op::Mul => x * y,
                // A quotient that is not a 25-bit number differs from every such number by a relative distance of more
                // than 2^-50, so rounding to 53 bits does not produce one.
                Op::Div => x / y,
            };
            narrow(f, wide, 0, r)
        }
    }
}

#[inline(always)]
fn single(op: Op, x: f32, y: f32) -> f32 {
    match op {
        Op::Add => x + y,
        Op::Sub => x - y,
        Op::Mul => x * y,
        Op::Div => x / y,
    }
}

/// `(a * b + c) * 2^scale`. `None` when it is left to the definition.
#[inline]
pub(super) fn fma_scaled(f: Format, a: u64, b: u64, c: u64, scale: i32, r: Round) -> Option<u64> {
    if !EXACT || f == Format::F64 {
        return None;
    }
    // The product has at most 48 bits and is far from both ends of a double's range, so it is exact.
    let wide = add_to_odd(widen(f, a) * widen(f, b), widen(f, c), r);
    if f == Format::F32 && scale == 0 && r == Round::NearestEven {
        return (!wide.is_nan()).then_some((wide as f32).to_bits().into());
    }
    narrow(f, wide, scale, r)
}

/// Converts to a double, exactly.
#[inline(always)]
fn widen(f: Format, a: u64) -> f64 {
    match f {
        Format::F16 => f16_to_f32(a as u16).into(),
        Format::F32 => f32::from_bits(a as u32).into(),
        Format::F64 => f64::from_bits(a),
    }
}

/// A sum of products of singles, rounded to odd: if it is not a double, the neighbour whose last bit is odd. That
/// neighbour is neither a single nor half-way between two singles, and it is on the same side of all of these as the
/// exact sum, so it may be rounded again in any direction. A zero has the sign that `r` requires.
#[inline(always)]
fn add_to_odd(x: f64, y: f64, r: Round) -> f64 {
    let sum = x + y;
    // The exact error of the sum (Knuth's two-sum); none of the steps overflows or underflows. It is NaN if the sum is
    // infinite.
    let other = sum - x;
    let error = (x - (sum - other)) + (y - other);
    if error == 0.0 {
        let negative_zero = sum == 0.0 && r.zero_is_negative() && (x.is_sign_negative() || y.is_sign_negative());
        return if negative_zero { -0.0 } else { sum };
    }
    let bits = sum.to_bits();
    if bits & 1 == 1 || error.is_nan() {
        return sum;
    }
    f64::from_bits(if (error > 0.0) == (sum > 0.0) { bits + 1 } else { bits - 1 })
}

/// Rounds a double to the format. `None` for NaN.
#[inline(always)]
fn narrow(f: Format, wide: f64, scale: i32, r: Round) -> Option<u64> {
    let negative = wide.is_sign_negative();
    match classify(Format::F64, wide.to_bits()) {
        Class::Finite { significand, exponent } => Some(pack(f, negative, significand, exponent + scale, r)),
        Class::Zero => Some(f.zero(negative)),
        Class::Infinite => Some(f.infinity() | f.zero(negative)),
        Class::Nan => None,
    }
}
