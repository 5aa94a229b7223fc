//! Triangles: the pixels that they cover and the values between their corners.

use std::ops::Range;

use super::varying::Plane;

/// Three corners in the window, in pixels. The front face is seen if they are in counter-clockwise order, y upwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangle(pub [[f32; 2]; 3]);

impl Triangle {
    /// Twice its area; negative if the back face is seen.
    fn area(&self) -> f64 {
        let [a, b, c] = self.corners();
        cross(a, b, c)
    }

    fn corners(&self) -> [[f64; 2]; 3] {
        self.0.map(|corner| corner.map(f64::from))
    }

    /// Whether its back face is seen.
    pub fn is_back(&self) -> bool {
        self.area() < 0.0
    }

    /// The columns and rows of pixels that bound the triangle.
    pub fn within(&self) -> [Range<u32>; 2] {
        [0, 1].map(|axis| {
            let places = self.0.map(|corner| corner[axis]);
            // The casts saturate.
            let least = places.into_iter().fold(f32::INFINITY, f32::min).floor() as u32;
            least..places.into_iter().fold(0.0, f32::max).ceil() as u32
        })
    }

    /// Whether the triangle covers a position. A position on an edge shared by two triangles belongs to one of them.
    pub fn covers(&self, place: [f64; 2]) -> bool {
        let [a, mut b, mut c] = self.corners();
        if self.is_back() {
            std::mem::swap(&mut b, &mut c);
        }
        let inside = |from: [f64; 2], to: [f64; 2]| {
            let side = cross(from, to, place);
            // Positions on the left and top edges belong to the triangle.
            let left = to[1] < from[1];
            let top = to[1] == from[1] && to[0] < from[0];
            side > 0.0 || side == 0.0 && (left || top)
        };
        // A triangle without area has no inside.
        self.area() != 0.0 && inside(a, b) && inside(b, c) && inside(c, a)
    }

    /// Returns the plane with these values at the corners. `None` when the corners are collinear.
    pub fn plane(&self, values: [f32; 3]) -> Option<Plane> {
        let [a, b, c] = self.corners();
        let [u, v, w] = values.map(f64::from);
        let area = self.area();
        if area == 0.0 || !area.is_finite() {
            return None;
        }
        let dx = ((v - u) * (c[1] - a[1]) - (w - u) * (b[1] - a[1])) / area;
        let dy = ((w - u) * (b[0] - a[0]) - (v - u) * (c[0] - a[0])) / area;
        Some(Plane { origin: (u - dx * a[0] - dy * a[1]) as f32, dx: dx as f32, dy: dy as f32 })
    }
}

/// Twice the area of the triangle formed by an edge and a point; positive if the point is to its left.
pub(super) fn cross(from: [f64; 2], to: [f64; 2], point: [f64; 2]) -> f64 {
    (to[0] - from[0]) * (point[1] - from[1]) - (to[1] - from[1]) * (point[0] - from[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_triangles_cover_each_pixel_of_a_square_once() {
        // The diagonal passes through the centres of pixels.
        let lower = Triangle([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0]]);
        let upper = Triangle([[0.0, 0.0], [0.0, 4.0], [4.0, 4.0]]);
        assert!(!lower.is_back() && upper.is_back());
        for y in 0..6u32 {
            for x in 0..6u32 {
                let centre = [x, y].map(|n| f64::from(n) + 0.5);
                let times = u32::from(lower.covers(centre)) + u32::from(upper.covers(centre));
                assert_eq!(times, u32::from(x < 4 && y < 4), "({x}, {y})");
            }
        }
        assert!(!Triangle([[0.0, 0.0], [2.0, 2.0], [4.0, 4.0]]).covers([1.5, 1.5]));
        assert_eq!(lower.within(), [0..4, 0..4]);
        assert_eq!(Triangle([[2.5, -7.0], [9.25, 3.0], [1e30, 0.5]]).within(), [2..u32::MAX, 0..3]);
        assert_eq!(Triangle([[-9.0, -7.0], [-2.0, -3.0], [-1.0, -1.0]]).within(), [0..0, 0..0]);
    }

    #[test]
    fn a_plane_has_the_values_of_the_corners() {
        let triangle = Triangle([[1.0, 2.0], [9.0, 2.0], [3.0, 10.0]]);
        let plane = triangle.plane([5.0, 21.0, 1.0]).unwrap();
        assert_eq!([plane.at(1.0, 2.0), plane.at(9.0, 2.0), plane.at(3.0, 10.0)], [5.0, 21.0, 1.0]);
        assert_eq!(Triangle([[0.0, 0.0], [2.0, 2.0], [4.0, 4.0]]).plane([0.0; 3]), None);
    }
}
