//! The definition of the arithmetic: unpack numbers to integers, compute, and round once.

use super::format::{Format, Round};

/// An operation that every host provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Add,
    Sub,
    Mul,
    Div,
}

/// An unpacked number.
#[derive(Clone, Copy)]
pub(super) enum Class {
    Zero,
    Infinite,
    Nan,
    /// `significand * 2^exponent`, where `significand` is less than 2^53 and not zero.
    Finite {
        significand: u64,
        exponent: i32,
    },
}

/// Unpacks the magnitude of `a`; its sign is [`Format::is_negative`].
#[inline]
pub(super) fn classify(f: Format, a: u64) -> Class {
    let magnitude = f.magnitude(a);
    if magnitude >= f.infinity() {
        return if magnitude == f.infinity() { Class::Infinite } else { Class::Nan };
    }
    if magnitude == 0 {
        return Class::Zero;
    }
    let field = (magnitude >> f.fraction_bits()) as i32;
    let least = 1 - f.bias() - f.fraction_bits() as i32;
    if field == 0 {
        return Class::Finite { significand: magnitude, exponent: least };
    }
    let leading = 1 << f.fraction_bits();
    Class::Finite { significand: (magnitude & (leading - 1)) | leading, exponent: least + field - 1 }
}

/// Clamps a scale to a range in which sums with it cannot overflow. The result has the same effect on every number as
/// `exponent`: numbers and sums of products lie between 2^-2200 and 2^2200.
#[inline]
pub(super) fn scale(exponent: i64) -> i32 {
    exponent.clamp(-100_000, 100_000) as i32
}

/// `value >> count`, with the lowest bit set if a set bit was shifted out, so that later rounding takes it into
/// account.
#[inline]
fn shift_sticky(value: u128, count: u32) -> u128 {
    if count >= 128 {
        return (value != 0) as u128;
    }
    let kept = value >> count;
    kept | (kept << count != value) as u128
}

/// `significand / 2^count`, rounded to an integer. `negative` is the sign of the number.
#[inline]
pub(super) fn round_shift(negative: bool, significand: u64, count: u32, r: Round) -> u64 {
    // For larger counts, only the sticky bit remains.
    let (significand, count) = match count {
        0 => return significand,
        1..=62 => (significand, count),
        _ => (shift_sticky(significand.into(), count - 62) as u64, 62),
    };
    let kept = significand >> count;
    let lost = significand & ((1 << count) - 1);
    let half = 1 << (count - 1);
    let up = match r {
        Round::NearestEven => lost > half || (lost == half && kept & 1 == 1),
        Round::Away => lost >= half,
        Round::Up => !negative && lost != 0,
        Round::Down => negative && lost != 0,
        Round::Zero => false,
    };
    kept + up as u64
}

/// `significand * 2^exponent`, rounded to the format. The significand must not be zero. Its lowest bit may be sticky if
/// it has at least two bits more than the format.
#[inline]
pub(super) fn pack(f: Format, negative: bool, significand: u64, exponent: i32, r: Round) -> u64 {
    let zeros = significand.leading_zeros();
    let significand = significand << zeros;
    // The biased exponent of the leading bit.
    let field = exponent - zeros as i32 + 63 + f.bias();
    if field > 2 * f.bias() {
        return f.overflow(negative, r);
    }
    let excess = 63 - f.fraction_bits();
    let magnitude = if field >= 1 {
        // The leading bit of `rounded` adds the 1 subtracted here; a carry out of the fraction adds another, up to
        // infinity.
        let rounded = round_shift(negative, significand, excess, r);
        (((field - 1) as u64) << f.fraction_bits()) + rounded
    } else {
        round_shift(negative, significand, excess + (1 - field) as u32, r)
    };
    magnitude | f.zero(negative)
}

/// [`pack`] for a longer significand.
#[inline]
fn pack_long(f: Format, negative: bool, significand: u128, exponent: i32, r: Round) -> u64 {
    let excess = 64u32.saturating_sub(significand.leading_zeros());
    pack(f, negative, shift_sticky(significand, excess) as u64, exponent + excess as i32, r)
}

/// A nonzero number `significand * 2^exponent`, where `significand` is less than 2^106.
#[derive(Clone, Copy)]
struct Term {
    negative: bool,
    significand: u128,
    exponent: i32,
}

impl Term {
    /// The same number with bit 125 as its leading bit.
    fn normalize(self) -> Term {
        let shift = self.significand.leading_zeros() - 2;
        Term { significand: self.significand << shift, exponent: self.exponent - shift as i32, ..self }
    }
}

/// `(x + y) * 2^scale`, rounded once.
fn sum(f: Format, x: Term, y: Term, scale: i32, r: Round) -> u64 {
    let (x, y) = (x.normalize(), y.normalize());
    let (large, small) = if (x.exponent, x.significand) >= (y.exponent, y.significand) { (x, y) } else { (y, x) };
    // Bits are lost only when the exponents differ by at least 20, and then the result has more than 120 bits. The
    // sticky bit lies below all bits of the larger operand, so it is still a sticky bit after the addition or
    // subtraction.
    let aligned = shift_sticky(small.significand, (large.exponent - small.exponent) as u32);
    let significand = match large.negative == small.negative {
        true => large.significand + aligned,
        false => large.significand - aligned,
    };
    if significand == 0 {
        return f.zero(r.zero_is_negative());
    }
    pack_long(f, large.negative, significand, large.exponent + scale, r)
}

/// The sum, difference, product or quotient.
pub(super) fn arithmetic(op: Op, f: Format, a: u64, b: u64, r: Round) -> u64 {
    if f.is_nan(a) || f.is_nan(b) {
        return f.quiet(if f.is_nan(a) { a } else { b });
    }
    match op {
        Op::Add => add(f, a, b, r),
        Op::Sub => add(f, a, b ^ f.sign(), r),
        Op::Mul => multiply(f, a, b, r),
        Op::Div => divide(f, a, b, r),
    }
}

fn add(f: Format, a: u64, b: u64, r: Round) -> u64 {
    let term = |bits, significand: u64, exponent| Term {
        negative: f.is_negative(bits),
        significand: significand.into(),
        exponent,
    };
    match (classify(f, a), classify(f, b)) {
        (Class::Finite { significand: m, exponent: p }, Class::Finite { significand: n, exponent: q }) => {
            sum(f, term(a, m, p), term(b, n, q), 0, r)
        }
        (Class::Zero, Class::Zero) => zeros(f, f.is_negative(a), f.is_negative(b), r),
        (Class::Infinite, Class::Infinite) if f.is_negative(a) != f.is_negative(b) => f.quiet_nan(),
        (Class::Infinite, _) | (_, Class::Zero) => a & f.mask(),
        _ => b & f.mask(),
    }
}

/// The sum of two zeros.
fn zeros(f: Format, a: bool, b: bool, r: Round) -> u64 {
    f.zero(if a == b { a } else { r.zero_is_negative() })
}

fn multiply(f: Format, a: u64, b: u64, r: Round) -> u64 {
    let negative = f.is_negative(a) != f.is_negative(b);
    match (classify(f, a), classify(f, b)) {
        (Class::Finite { significand: m, exponent: p }, Class::Finite { significand: n, exponent: q }) => {
            pack_long(f, negative, u128::from(m) * u128::from(n), p + q, r)
        }
        (Class::Infinite, Class::Zero) | (Class::Zero, Class::Infinite) => f.quiet_nan(),
        (Class::Infinite, _) | (_, Class::Infinite) => f.infinity() | f.zero(negative),
        _ => f.zero(negative),
    }
}

fn divide(f: Format, a: u64, b: u64, r: Round) -> u64 {
    let negative = f.is_negative(a) != f.is_negative(b);
    match (classify(f, a), classify(f, b)) {
        (Class::Finite { significand: m, exponent: p }, Class::Finite { significand: n, exponent: q }) => {
            // The dividend has 127 bits and the divisor at most 53, so the quotient has at least 74.
            let shift = m.leading_zeros() + 63;
            let (dividend, divisor) = (u128::from(m) << shift, u128::from(n));
            let quotient = dividend / divisor;
            let inexact = quotient * divisor != dividend;
            pack_long(f, negative, quotient | inexact as u128, p - q - shift as i32, r)
        }
        (Class::Infinite, Class::Infinite) | (Class::Zero, Class::Zero) => f.quiet_nan(),
        (Class::Infinite, _) | (_, Class::Zero) => f.infinity() | f.zero(negative),
        _ => f.zero(negative),
    }
}

/// `(a * b + c) * 2^scale`.
pub(super) fn fma_scaled(f: Format, a: u64, b: u64, c: u64, scale: i32, r: Round) -> u64 {
    if let Some(nan) = [a, b, c].into_iter().find(|&x| f.is_nan(x)) {
        return f.quiet(nan);
    }
    let negative = f.is_negative(a) != f.is_negative(b);
    let product = match (classify(f, a), classify(f, b)) {
        (Class::Infinite, Class::Zero) | (Class::Zero, Class::Infinite) => return f.quiet_nan(),
        (Class::Infinite, _) | (_, Class::Infinite) => {
            let opposite = f.is_infinite(c) && f.is_negative(c) != negative;
            return if opposite { f.quiet_nan() } else { f.infinity() | f.zero(negative) };
        }
        (Class::Finite { significand: m, exponent: p }, Class::Finite { significand: n, exponent: q }) => {
            Some(Term { negative, significand: u128::from(m) * u128::from(n), exponent: p + q })
        }
        _ => None,
    };
    match (product, classify(f, c)) {
        (Some(x), Class::Finite { significand, exponent }) => {
            let y = Term { negative: f.is_negative(c), significand: significand.into(), exponent };
            sum(f, x, y, scale, r)
        }
        (Some(x), Class::Zero) => pack_long(f, x.negative, x.significand, x.exponent + scale, r),
        (None, Class::Zero) => zeros(f, negative, f.is_negative(c), r),
        _ => ldexp(f, c, scale, r),
    }
}

/// `a * 2^scale`.
#[inline]
pub(super) fn ldexp(f: Format, a: u64, scale: i32, r: Round) -> u64 {
    match classify(f, a) {
        Class::Finite { significand, exponent } => pack(f, f.is_negative(a), significand, exponent + scale, r),
        Class::Nan => f.quiet(a),
        Class::Zero | Class::Infinite => a & f.mask(),
    }
}

/// The square root.
pub(super) fn sqrt(f: Format, a: u64, r: Round) -> u64 {
    match classify(f, a) {
        Class::Nan => f.quiet(a),
        Class::Zero => a & f.mask(),
        _ if f.is_negative(a) => f.quiet_nan(),
        Class::Infinite => a & f.mask(),
        Class::Finite { significand, exponent } if f == Format::F64 => {
            // The leading bit is 124 or 125, whichever makes the exponent even, so the root has 63 bits.
            let shift = significand.leading_zeros() + 62;
            let shift = shift - ((exponent - shift as i32) & 1) as u32;
            let radicand = u128::from(significand) << shift;
            let root = radicand.isqrt();
            let inexact = root * root != radicand;
            pack(f, false, root as u64 | inexact as u64, (exponent - shift as i32) / 2, r)
        }
        Class::Finite { significand, exponent } => {
            // As above with half the bits: the root has 31 bits, and the format at most 24.
            let shift = significand.leading_zeros() - 2;
            let shift = shift - ((exponent - shift as i32) & 1) as u32;
            let radicand = significand << shift;
            let root = radicand.isqrt();
            let inexact = root * root != radicand;
            pack(f, false, root | inexact as u64, (exponent - shift as i32) / 2, r)
        }
    }
}
