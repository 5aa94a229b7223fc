//! Comparison, minimum and maximum.

use core::cmp::Ordering;

use super::Format;

/// An integer that orders numbers as they are ordered, -0 before +0.
#[inline]
fn rank(f: Format, a: u64) -> i64 {
    let magnitude = f.magnitude(a) as i64;
    if f.is_negative(a) { !magnitude } else { magnitude }
}

/// The operand that [`min`] and [`max`] give when one is NaN: the other one, or the first made quiet if both are.
#[inline]
fn without_nan(f: Format, a: u64, b: u64) -> Option<u64> {
    match (f.is_nan(a), f.is_nan(b)) {
        (false, false) => None,
        (true, true) => Some(f.quiet(a)),
        (true, false) => Some(b & f.mask()),
        (false, true) => Some(a & f.mask()),
    }
}

/// The smaller operand, -0 being smaller than +0. A NaN loses against a number; of two the first is given, made quiet.
#[inline]
pub fn min(f: Format, a: u64, b: u64) -> u64 {
    without_nan(f, a, b).unwrap_or_else(|| f.mask() & if rank(f, b) < rank(f, a) { b } else { a })
}

/// The greater operand, +0 being greater than -0. A NaN loses against a number; of two the first is given, made quiet.
#[inline]
pub fn max(f: Format, a: u64, b: u64) -> u64 {
    without_nan(f, a, b).unwrap_or_else(|| f.mask() & if rank(f, b) > rank(f, a) { b } else { a })
}

/// How `a` compares with `b`, zeros of either sign being equal. Returns `None` if an operand is NaN.
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
