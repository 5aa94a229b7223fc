//! Points: squares around a place.

use std::ops::Range;

/// A square around a place in the window, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Its middle.
    pub place: [f32; 2],
    /// How long its sides are, greater than 0.
    pub size: f32,
}

impl Point {
    /// The columns and the rows of pixels in which it may cover some.
    pub fn within(&self) -> [Range<u32>; 2] {
        self.place.map(|middle| {
            // Numbers that are no place saturate.
            let half = self.size / 2.0;
            (middle - half).floor() as u32..(middle + half).ceil() as u32
        })
    }

    /// Whether it covers a place. One on an edge that two squares share belongs to one of them.
    pub fn covers(&self, place: [f64; 2]) -> bool {
        let half = f64::from(self.size) / 2.0;
        (0..2).all(|axis| (-half..half).contains(&(place[axis] - f64::from(self.place[axis]))))
    }

    /// Where in the square a place is, from 0 to 1 rightwards and downwards.
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
        // In the corner of four pixels it is the one above and to the right.
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
