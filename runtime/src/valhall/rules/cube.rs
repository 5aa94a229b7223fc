//! Cube maps: the face that a direction points at and the coordinates on it.

use super::rounding::F32;

const MAGNITUDE: u32 = 0x7fff_ffff;

/// `face << 29 | infinite << 16`, where the faces are +X, -X, +Y, -Y, +Z, -Z. Z wins ties, then Y; -0 is positive; with
/// a NaN the face is +Z and nothing is infinite (tested).
pub fn face(x: u32, y: u32, z: u32) -> u32 {
    if [x, y, z].into_iter().any(|c| F32.is_nan(c)) {
        return 4 << 29;
    }
    let (ax, ay, az) = (x & MAGNITUDE, y & MAGNITUDE, z & MAGNITUDE);
    let negative = |c: u32| u32::from(c > F32.sign);
    let face = if az >= ax && az >= ay {
        4 + negative(z)
    } else if ay >= ax {
        2 + negative(y)
    } else {
        negative(x)
    };
    let infinite = ax.max(ay).max(az) == F32.infinity;
    face << 29 | u32::from(infinite) << 16
}

/// The horizontal coordinate on a face, from z and x, with the sign that OpenGL gives it (relied on). Faces 6 and 7 do
/// not exist and count as +Z and -Z (ours).
pub fn horizontal(z: u32, x: u32, face: u32) -> u32 {
    match face >> 29 {
        0 => z ^ F32.sign,
        1 => z,
        2..=4 | 6 => x,
        _ => x ^ F32.sign,
    }
}

/// The vertical coordinate on a face, from y and z; as [`horizontal`].
pub fn vertical(y: u32, z: u32, face: u32) -> u32 {
    match face >> 29 {
        2 => z,
        3 => z ^ F32.sign,
        _ => y ^ F32.sign,
    }
}
