//! IEEE 754 arithmetic on bit patterns: the single definition of the float operations in semantics.
//!
//! Every function is correctly rounded (the real result, rounded once), total, and gives the same bits on every host. A
//! value is in the low bits of a `u64`, as many as its [`Format`] has; higher bits are ignored in operands and zero in
//! results. Subnormal numbers are not flushed. Overflow and underflow follow the rounding mode.
//!
//! If an operand is NaN, the result is the first NaN operand made quiet, with its sign and payload. An invalid
//! operation (`inf - inf`, `0 * inf`, `0 / 0`, `inf / inf`, the root of a negative number) gives [`Format::quiet_nan`].
//!
//! - `format`: formats and rounding modes
//! - `exact`: the definition, in integers: unpack, compute, round once
//! - `host`: the same results from the processor's own arithmetic, where the two provably agree
//! - `convert`: conversions between formats, and to and from integers
//! - `order`: comparison, minimum and maximum

mod convert;
mod exact;
mod format;
mod host;
mod order;
#[cfg(test)]
mod tests;

pub use convert::{convert, from_int, round_to_integral, to_int};
pub use format::{Format, Round};
pub use order::{compare, max, min};

use exact::Op;

#[inline(always)]
fn arithmetic(op: Op, f: Format, a: u64, b: u64, r: Round) -> u64 {
    match host::arithmetic(op, f, a, b, r) {
        Some(result) => result,
        None => exact::arithmetic(op, f, a, b, r),
    }
}

/// `a + b`. An exact zero sum of operands of opposite sign is +0, or -0 for [`Round::Down`].
///
/// # Examples
///
/// ```
/// use isaforge_core::float::{Format, Round, add};
///
/// let bits = |value: f32| u64::from(value.to_bits());
/// assert_eq!(add(Format::F32, bits(0.5), bits(0.25), Round::NearestEven), bits(0.75));
/// ```
#[inline]
pub fn add(f: Format, a: u64, b: u64, r: Round) -> u64 {
    arithmetic(Op::Add, f, a, b, r)
}

/// `a - b`. Same as [`add`] with the sign of `b` flipped, except that a NaN keeps its sign.
#[inline]
pub fn sub(f: Format, a: u64, b: u64, r: Round) -> u64 {
    arithmetic(Op::Sub, f, a, b, r)
}

/// `a * b`.
#[inline]
pub fn mul(f: Format, a: u64, b: u64, r: Round) -> u64 {
    arithmetic(Op::Mul, f, a, b, r)
}

/// `a / b`. A nonzero finite number divided by zero is an infinity.
#[inline]
pub fn div(f: Format, a: u64, b: u64, r: Round) -> u64 {
    arithmetic(Op::Div, f, a, b, r)
}

/// `a * b + c`, rounded once. `0 * inf + c` is `c`, made quiet, if `c` is NaN.
///
/// # Examples
///
/// ```
/// use isaforge_core::float::{Format, Round, fma};
///
/// // 1.5 * 2 + 0.25 in half precision, rounded once.
/// assert_eq!(fma(Format::F16, 0x3e00, 0x4000, 0x3400, Round::NearestEven), 0x4280);
/// ```
#[inline]
pub fn fma(f: Format, a: u64, b: u64, c: u64, r: Round) -> u64 {
    fma_scaled(f, a, b, c, 0, r)
}

/// `(a * b + c) * 2^exponent`, rounded once.
#[inline]
pub fn fma_scaled(f: Format, a: u64, b: u64, c: u64, exponent: i64, r: Round) -> u64 {
    let scale = exact::scale(exponent);
    match host::fma_scaled(f, a, b, c, scale, r) {
        Some(result) => result,
        None => exact::fma_scaled(f, a, b, c, scale, r),
    }
}

/// The square root of `a`. The root of -0 is -0.
#[inline]
pub fn sqrt(f: Format, a: u64, r: Round) -> u64 {
    exact::sqrt(f, a, r)
}

/// `a * 2^exponent`, rounded once.
#[inline]
pub fn ldexp(f: Format, a: u64, exponent: i64, r: Round) -> u64 {
    exact::ldexp(f, a, exact::scale(exponent), r)
}

/// `a` with its sign flipped. This includes NaNs, which are otherwise unchanged.
#[inline]
pub fn neg(f: Format, a: u64) -> u64 {
    (a ^ f.sign()) & f.mask()
}

/// `a` with its sign cleared. This includes NaNs, which are otherwise unchanged.
#[inline]
pub fn abs(f: Format, a: u64) -> u64 {
    f.magnitude(a)
}
