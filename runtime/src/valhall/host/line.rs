//! Lines: the pixels that they cover and the values along them.

use std::ops::Range;

use super::triangle::{Triangle, cross};
use super::varying::Plane;

/// A line between two window positions, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line(pub [[f32; 2]; 2]);

/// The normals of the sides of a diamond.
const NORMALS: [[f64; 2]; 4] = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
/// The corners of the diamond, relative to its centre.
const CORNERS: [[f64; 2]; 4] = [[0.5, 0.0], [-0.5, 0.0], [0.0, 0.5], [0.0, -0.5]];

impl Line {
    fn ends(&self) -> [[f64; 2]; 2] {
        self.0.map(|end| end.map(f64::from))
    }

    /// The columns and rows of pixels that bound the line.
    pub fn within(&self) -> [Range<u32>; 2] {
        [0, 1].map(|axis| {
            let [a, b] = self.0.map(|end| end[axis]);
            // The casts saturate.
            (a.min(b) - 1.0).floor() as u32..(a.max(b) + 1.0).ceil() as u32
        })
    }

    /// Whether a line exits the diamond around the centre of a pixel: the diamond-exit rule, by which lines are drawn
    /// if pixels have one sample. Lines that continue each other therefore share no pixel. A point on a side of the
    /// diamond is treated as if the line were shifted by a tiny distance to the left, and by a much tinier one
    /// downwards.
    pub fn leaves(&self, pixel: [u32; 2]) -> bool {
        let centre = pixel.map(|n| f64::from(n) + 0.5);
        let [from, to] = self.ends().map(|end| [end[0] - centre[0], end[1] - centre[1]]);
        // Whether a point is beyond a side of the diamond.
        let beyond = |[x, y]: [f64; 2], [right, up]: [f64; 2]| {
            let distance = right * x + up * y;
            distance > 0.5 || distance == 0.5 && right < 0.0
        };
        let passes_by = NORMALS.iter().any(|&side| beyond(from, side) && beyond(to, side));
        let ends_within = !NORMALS.iter().any(|&side| beyond(to, side));
        let [right, up] = [to[0] - from[0], to[1] - from[1]];
        // Whether a corner is to the left of the line.
        let is_left = |corner: &[f64; 2]| {
            let side = cross(from, to, *corner);
            side > 0.0 || side == 0.0 && (up < 0.0 || up == 0.0 && right > 0.0)
        };
        let left = CORNERS.iter().filter(|corner| is_left(corner)).count();
        !passes_by && !ends_within && (1..4).contains(&left)
    }

    /// The rectangle of width 1 around a line, as two triangles, by which lines are drawn if pixels have several
    /// samples. A line without length has an empty rectangle.
    pub fn rectangle(&self) -> [Triangle; 2] {
        let [from, to] = self.ends();
        let [right, up] = [to[0] - from[0], to[1] - from[1]];
        let length = right.hypot(up);
        let aside = if length > 0.0 { [-up / length / 2.0, right / length / 2.0] } else { [0.0; 2] };
        let corner = |end: [f64; 2], side: f64| [0, 1].map(|axis| (end[axis] + side * aside[axis]) as f32);
        let [a, b, c, d] = [corner(from, -1.0), corner(to, -1.0), corner(to, 1.0), corner(from, 1.0)];
        [Triangle([a, b, c]), Triangle([a, c, d])]
    }

    /// Returns the plane with these values at the ends, constant across the line. `None` when the line has no length.
    pub fn plane(&self, values: [f32; 2]) -> Option<Plane> {
        let [from, to] = self.ends();
        let [right, up] = [to[0] - from[0], to[1] - from[1]];
        let square = right * right + up * up;
        if square == 0.0 || !square.is_finite() {
            return None;
        }
        let [first, last] = values.map(f64::from);
        let [dx, dy] = [right, up].map(|part| (last - first) * part / square);
        let origin = first - dx * from[0] - dy * from[1];
        Some(Plane { origin: origin as f32, dx: dx as f32, dy: dy as f32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pixels that a line covers.
    fn drawn(from: [f32; 2], to: [f32; 2]) -> Vec<[u32; 2]> {
        let line = Line([from, to]);
        let [columns, rows] = line.within();
        let all = rows.flat_map(|y| columns.clone().map(move |x| [x, y]));
        all.filter(|pixel| line.leaves(*pixel)).collect()
    }

    #[test]
    fn a_line_is_drawn_where_it_leaves_diamonds() {
        // The last pixel belongs to the line that continues from there.
        assert_eq!(drawn([0.5, 0.5], [3.5, 0.5]), [[0, 0], [1, 0], [2, 0]]);
        assert_eq!(drawn([3.5, 0.5], [0.5, 0.5]), [[1, 0], [2, 0], [3, 0]]);
        assert_eq!(drawn([0.5, 0.5], [0.5, 2.5]), [[0, 0], [0, 1]]);
        assert_eq!(drawn([0.5, 0.5], [2.5, 2.5]), [[0, 0], [1, 1]]);
        assert_eq!(drawn([0.5, 0.5], [4.5, 2.5]).len(), 4);
        // The line begins and ends in one diamond, or touches none.
        assert_eq!(drawn([0.4, 0.5], [0.6, 0.5]), [[0; 2]; 0]);
        assert_eq!(drawn([0.9, 0.9], [1.1, 1.1]), [[0; 2]; 0]);
        assert_eq!(drawn([1.0, 1.0], [1.0, 1.0]), [[0; 2]; 0]);
        // Between two rows it covers the lower one, between two columns the left one.
        assert_eq!(drawn([0.5, 1.0], [3.5, 1.0]), [[0, 0], [1, 0], [2, 0]]);
        assert_eq!(drawn([1.0, 0.5], [1.0, 2.5]), [[0, 0], [0, 1]]);
        assert_eq!(drawn([f32::NAN, 0.0], [4.0, 4.0]), [[0; 2]; 0]);
    }

    #[test]
    fn lines_that_follow_one_another_share_no_pixel() {
        let mut random = isaforge_core::sample::Random(11);
        for _ in 0..200 {
            // Many of these are on sides and corners of diamonds.
            let mut place = || [(); 2].map(|()| random.below(48) as f32 / 4.0);
            let [from, between, to] = [place(), place(), place()];
            // Three collinear points: `from`, `between`, and one beyond it.
            let beyond = [0, 1].map(|axis| between[axis] + (between[axis] - from[axis]) * 0.5);
            let [first, second, whole] = [drawn(from, between), drawn(between, beyond), drawn(from, beyond)];
            assert!(first.iter().all(|pixel| !second.contains(pixel)), "{from:?} {between:?} {beyond:?}");
            let mut both = [first, second].concat();
            both.sort_unstable_by_key(|&[x, y]| [y, x]);
            assert_eq!(both, whole, "{from:?} {between:?} {beyond:?}");
            // One pixel for each column or row of the longer direction, give or take one at the ends.
            let longer = [0, 1].map(|axis| (to[axis] - from[axis]).abs()).into_iter().fold(0.0, f32::max);
            let count = drawn(from, to).len() as f32;
            assert!((count - longer).abs() <= 1.0, "{from:?} {to:?}: {count}");
        }
    }

    #[test]
    fn values_change_along_a_line() {
        let plane = Line([[1.0, 1.0], [5.0, 1.0]]).plane([2.0, 10.0]).unwrap();
        assert_eq!([plane.at(1.0, 1.0), plane.at(3.0, 7.0), plane.at(5.0, 1.0)], [2.0, 6.0, 10.0]);
        assert_eq!(Line([[1.0, 1.0]; 2]).plane([0.0; 2]), None);
    }

    #[test]
    fn a_line_with_a_width_is_a_rectangle() {
        let [first, second] = Line([[1.0, 2.0], [5.0, 2.0]]).rectangle();
        let covers = |x, y| first.covers([x, y]) || second.covers([x, y]);
        assert!(covers(1.5, 1.6) && covers(4.9, 2.4) && !covers(0.9, 2.0) && !covers(3.0, 2.6));
        let [first, second] = Line([[1.0, 2.0]; 2]).rectangle();
        assert!(!first.covers([1.0, 2.0]) && !second.covers([1.0, 2.0]));
    }
}
