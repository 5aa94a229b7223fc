//! IEEE binary16 on the lanes of a group.
//!
//! Sums, products and quotients are computed in binary32 and rounded once more. That gives the correctly rounded binary16
//! result: binary32 has 24 bits of precision, two more than twice the 11 of binary16, which makes the double rounding
//! harmless for normal results; products and denormal sums are exact in binary32, and a quotient of two 11-bit numbers
//! cannot lie closer to a midpoint of the denormal grid than 2⁻²², which binary32 resolves.

use half::f16;
use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};

/// The four components of four threads, thread by thread: component `c` of thread `t` is lane `4 * t + c`.
pub type Lanes = [u16; 16];

/// The NaN that arithmetic makes (Q01).
pub const NAN: u16 = 0x7e00;
/// 1.0.
pub const ONE: u16 = 0x3c00;

pub(crate) fn widen(lanes: &Lanes) -> [f32; 16] {
    let mut wide = [0.0; 16];
    lanes.reinterpret_cast::<f16>().convert_to_f32_slice(&mut wide);
    wide
}

/// Rounds to nearest even; every NaN becomes [`NAN`].
pub(crate) fn narrow(wide: &[f32; 16]) -> Lanes {
    let mut lanes = [0; 16];
    lanes.reinterpret_cast_mut::<f16>().convert_from_f32_slice(wide);
    for lane in &mut lanes {
        if *lane & 0x7fff > 0x7c00 {
            *lane = NAN;
        }
    }
    lanes
}

fn each(a: &Lanes, b: &Lanes, f: impl Fn(f32, f32) -> f32) -> Lanes {
    let (a, b) = (widen(a), widen(b));
    let mut result = [0.0; 16];
    for i in 0..16 {
        result[i] = f(a[i], b[i]);
    }
    narrow(&result)
}

/// `a + b`.
pub fn add(a: &Lanes, b: &Lanes) -> Lanes {
    each(a, b, |a, b| a + b)
}

/// `a * b`.
pub fn multiply(a: &Lanes, b: &Lanes) -> Lanes {
    each(a, b, |a, b| a * b)
}

/// `a / b` in component X of every thread, `a * b` in the others.
pub fn divide(a: &Lanes, b: &Lanes) -> Lanes {
    let (a, b) = (widen(a), widen(b));
    let mut result = [0.0; 16];
    for i in 0..16 {
        result[i] = a[i] * b[i];
    }
    for i in [0, 4, 8, 12] {
        result[i] = a[i] / b[i];
    }
    narrow(&result)
}

/// Signed integers as binary16.
pub fn from_integers(a: &Lanes) -> Lanes {
    let mut wide = [0.0; 16];
    for i in 0..16 {
        wide[i] = f32::from(a[i] as i16);
    }
    narrow(&wide)
}

/// Signed integers, rounded towards zero, saturating; NaN gives 0.
pub fn to_integers(a: &Lanes) -> Lanes {
    let wide = widen(a);
    // The cast has exactly these rules.
    core::array::from_fn(|i| wide[i] as i16 as u16)
}

/// `n / 31` as binary16, for the channels of RGB1555.
pub(crate) fn channel(n: u16) -> u16 {
    f16::from_f32(f32::from(n & 31) / 31.0).to_bits()
}
