//! Points: squares around a position.

use std::ops::Range;

/// A square around a window position, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The centre.
    pub place: [f32; 2],
    /// The length of its sides, greater than 0.
    pub size: f32,
}

impl Point {
    /// The columns and rows of pixels that bound the point.
    pub fn within(&self) -> [Range<u32>; 2] {
        self.place.map(|middle| {
            // The casts saturate.
            let half = self.size / 2.0;
            (middle - half).floor() as u32..(middle + half).ceil() as u32
        })
    }

    /// Whether the point covers a position. A position on an edge shared by two squares belongs to one of them.
    pub fn covers(&self, place: [f64; 2]) -> bool {
        let half = f64::from(self.size) / 2.0;
        (0..2).all(|axis| (-half..half).contains(&(place[axis] - f64::from(self.place[axis]))))
    }

    /// Returns a position relative to the square, from 0 to 1 rightwards and downwards.
    pub fn place_of(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        let [left, bottom] = [x - self.place[0], y - self.place[1]].map(|distance| distance / self.size);
        [0.5 + left, 0.5 - bottom]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_covers_the_centres_in_its_square() {
        let covered = |point: Point| {
            let [columns, rows] = point.within();
            let all = rows.flat_map(|y| columns.clone().map(move |x| [x, y]));
            all.filter(|pixel| point.covers(pixel.map(|n| f64::from(n) + 0.5))).collect::<Vec<_>>()
        };
        assert_eq!(covered(Point { place: [3.5, 2.5], size: 1.0 }), [[3, 2]]);
        // At the corner of four pixels it covers the one below and to the left.
        assert_eq!(covered(Point { place: [3.0, 2.0], size: 1.0 }), [[2, 1]]);
        assert_eq!(covered(Point { place: [3.0, 2.0], size: 2.0 }), [[2, 1], [3, 1], [2, 2], [3, 2]]);
        assert_eq!(covered(Point { place: [0.0, 0.0], size: 2.0 }), [[0, 0]]);
        assert_eq!(covered(Point { place: [3.5, 2.5], size: 0.5 }), [[3, 2]]);
        assert_eq!(covered(Point { place: [3.1, 2.1], size: 0.5 }), [[0; 2]; 0]);
        assert_eq!(covered(Point { place: [f32::NAN, 0.0], size: 4.0 }), [[0; 2]; 0]);
    }

    #[test]
    fn places_in_a_point_begin_above_on_the_left() {
        let point = Point { place: [4.0, 4.0], size: 8.0 };
        assert_eq!(point.place_of([0.0, 8.0]), [0.0, 0.0]);
        assert_eq!(point.place_of([6.0, 0.0]), [0.75, 1.0]);
    }
}
