//! Cube maps: directions, faces, and the continuation beyond their edges.

/// The direction of a point on a face. `s` and `t` are 0 and 1 at its edges, and less or more beyond them.
pub(crate) fn direction(face: u32, s: f32, t: f32) -> [f32; 3] {
    let (a, b) = (2.0 * s - 1.0, 2.0 * t - 1.0);
    match face {
        0 => [1.0, -b, -a],
        1 => [-1.0, -b, a],
        2 => [a, 1.0, b],
        3 => [a, -1.0, -b],
        4 => [a, -b, 1.0],
        _ => [-a, -b, -1.0],
    }
}

/// The face that a direction points at: +X, -X, +Y, -Y, +Z, -Z. Ties go to Z, then Y; -0 is positive, and NaN selects
/// +Z.
pub(crate) fn face(direction: [f32; 3]) -> u32 {
    let [x, y, z] = direction.map(f32::abs);
    let negative = |axis: usize| u32::from(direction[axis] < 0.0);
    if direction.iter().any(|coordinate| coordinate.is_nan()) {
        4
    } else if z >= x && z >= y {
        4 + negative(2)
    } else if y >= x {
        2 + negative(1)
    } else {
        negative(0)
    }
}

/// Returns the point where a direction meets the plane of a face. `None` when the direction points away from it.
pub(crate) fn project(face: u32, direction: [f32; 3]) -> Option<[f32; 2]> {
    let [x, y, z] = direction;
    let depth = match face {
        0 => x,
        1 => -x,
        2 => y,
        3 => -y,
        4 => z,
        _ => -z,
    };
    // The signs of the coordinates follow OpenGL. Faces 6 and 7, which do not exist, count as +Z and -Z here.
    let horizontal = match face {
        0 => -z,
        1 => z,
        2..=4 | 6 => x,
        _ => -x,
    };
    let vertical = match face {
        2 => z,
        3 => -z,
        _ => -y,
    };
    let on = |coordinate: f32| coordinate / depth * 0.5 + 0.5;
    (depth > 0.0).then(|| [on(horizontal), on(vertical)])
}

/// Returns the texel at column `i` and row `j` of a face of `n` by `n` texels. One of the two may be one texel beyond
/// the edge, which selects a texel of the adjacent face.
pub(super) fn across(face_number: u32, i: i64, j: i64, n: i64) -> (u32, i64, i64) {
    let inside = |at: i64| (0..n).contains(&at);
    if inside(i) && inside(j) {
        return (face_number, i, j);
    }
    let middle = |at: i64| (at.clamp(-1, n) as f32 + 0.5) / n as f32;
    let towards = direction(face_number, middle(i), middle(j));
    let other = face(towards);
    // This succeeds, since the direction points at this face.
    let [s, t] = project(other, towards).unwrap_or_default();
    let texel = |at: f32| ((at * n as f32).floor() as i64).clamp(0, n - 1);
    (other, texel(s), texel(t))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_on_a_face_has_a_direction_that_meets_it_there() {
        for number in 0..6 {
            for (s, t) in [(0.5, 0.5), (0.125, 0.75), (0.9375, 0.0625)] {
                assert_eq!(face(direction(number, s, t)), number);
                assert_eq!(project(number, direction(number, s, t)), Some([s, t]));
                assert_eq!(project(number ^ 1, direction(number, s, t)), None);
            }
        }
    }

    /// Checks that texels are adjacent by their distance in space.
    #[test]
    fn a_texel_beyond_an_edge_is_the_neighbour_on_the_other_face() {
        let n = 4;
        let centre =
            |face: u32, i: i64, j: i64| direction(face, (i as f32 + 0.5) / n as f32, (j as f32 + 0.5) / n as f32);
        for number in 0..6 {
            for k in 0..n {
                for ((i, j), (near_i, near_j)) in
                    [((-1, k), (0, k)), ((n, k), (n - 1, k)), ((k, -1), (k, 0)), ((k, n), (k, n - 1))]
                {
                    let (other, u, v) = across(number, i, j, n);
                    assert_ne!(other, number);
                    let (a, b) = (centre(number, near_i, near_j), centre(other, u, v));
                    // Both are half a texel away from their shared edge, at the same position along it.
                    let apart: f32 = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum();
                    assert!((apart - 2.0 * 0.25 * 0.25).abs() < 1e-6, "{number} ({i}, {j}): {other} ({u}, {v})");
                }
            }
        }
    }
}
