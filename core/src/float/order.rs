//! Comparison, minimum and maximum.

use core::cmp::Ordering;

use super::format::Format;

/// Maps a number to an integer with the same order, -0 before +0.
#[inline]
fn rank(f: Format, a: u64) -> i64 {
    let magnitude = f.magnitude(a) as i64;
    if f.is_negative(a) { !magnitude } else { magnitude }
}

/// The result of [`min`] and [`max`] if an operand is NaN: the other operand, or the first made quiet if both are NaN.
#[inline]
fn without_nan(f: Format, a: u64, b: u64) -> Option<u64> {
    match (f.is_nan(a), f.is_nan(b)) {
        (false, false) => None,
        (true, true) => Some(f.quiet(a)),
        (true, false) => Some(b & f.mask()),
        (false, true) => Some(a & f.mask()),
    }
}

/// The smaller operand; -0 is smaller than +0. A number is preferred to a NaN; of two NaNs, the first is returned, made
/// quiet.
#[inline]
pub fn min(f: Format, a: u64, b: u64) -> u64 {
    without_nan(f, a, b).unwrap_or_else(|| f.mask() & if rank(f, b) < rank(f, a) { b } else { a })
}

/// The greater operand; +0 is greater than -0. A number is preferred to a NaN; of two NaNs, the first is returned, made
/// quiet.
#[inline]
pub fn max(f: Format, a: u64, b: u64) -> u64 {
    without_nan(f, a, b).unwrap_or_else(|| f.mask() & if rank(f, b) > rank(f, a) { b } else { a })
}

/// Compares `a` with `b`; zeros are equal whatever their signs. `None` when an operand is NaN.
///
/// # Examples
///
/// ```
/// use core::cmp::Ordering;
/// use isaforge_core::float::{Format, compare};
///
/// assert_eq!(compare(Format::F16, 0x3c00, 0x4000), Some(Ordering::Less));
/// assert_eq!(compare(Format::F16, 0x7e00, 0x4000), None);
/// ```
#[inline]
pub fn compare(f: Format, a: u64, b: u64) -> Option<Ordering> {
    if f.is_nan(a) || f.is_nan(b) {
        return None;
    }
    if f.is_zero(a) && f.is_zero(b) {
        return Some(Ordering::Equal);
    }
    Some(rank(f, a).cmp(&rank(f, b)))
}
