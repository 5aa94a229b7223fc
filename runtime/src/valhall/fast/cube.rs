//! Faces of cube maps: what `rules::cube` says, without branches. Signs of floats are in the first number.

use super::super::rules::rounding::F32;
use super::float::signed;
use super::rule::rules;

const SIGN: u32 = 1 << 31;

#[inline(always)]
fn magnitudes(x: u32, y: u32, z: u32, signs: u32) -> [u32; 3] {
    [signed(x, 0, signs, SIGN) & !SIGN, signed(y, 1, signs, SIGN) & !SIGN, signed(z, 2, signs, SIGN) & !SIGN]
}

#[inline(always)]
fn face(x: u32, y: u32, z: u32, signs: u32) -> u32 {
    let [ax, ay, az] = magnitudes(x, y, z, signs);
    let (x, y, z) = (signed(x, 0, signs, SIGN), signed(y, 1, signs, SIGN), signed(z, 2, signs, SIGN));
    let across = if ay >= ax { 2 + u32::from(y > SIGN) } else { u32::from(x > SIGN) };
    let face = if (az >= ax) & (az >= ay) { 4 + u32::from(z > SIGN) } else { across };
    let greatest = ax.max(ay).max(az);
    let infinite = if greatest == F32.infinity { 1 << 16 } else { 0 };
    if greatest > F32.infinity { 4 << 29 } else { face << 29 | infinite }
}

rules! {
    FaceDivisor(x, y, z; n) {
        let [x, y, z] = magnitudes(x, y, z, n[0]);
        let greatest = x.max(y).max(z);
        let finite = if greatest < 0x0080_0000 { 0x4000_0000 } else { greatest };
        let number = if greatest == F32.infinity { F32.one } else { finite };
        if greatest > F32.infinity { F32.nan } else { number }
    };
    Face(x, y, z; n) face(x, y, z, n[0]);
    /// From z, x and the face.
    Horizontal(z, x, face; n) {
        let (z, x, face) = (signed(z, 0, n[0], SIGN), signed(x, 1, n[0], SIGN), face >> 29);
        let flips = (face == 0) | (face == 5) | (face == 7);
        (if face < 2 { z } else { x }) ^ if flips { SIGN } else { 0 }
    };
    /// From y, z and the face.
    Vertical(y, z, face; n) {
        let (y, z, face) = (signed(y, 0, n[0], SIGN), signed(z, 1, n[0], SIGN), face >> 29);
        (if face >> 1 == 1 { z } else { y }) ^ if face == 2 { 0 } else { SIGN }
    };
}
