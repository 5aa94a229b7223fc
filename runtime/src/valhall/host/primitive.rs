//! Primitives: triangles, lines and points, by the rules of OpenGL without smoothing.

use std::ops::Range;

use super::line::Line;
use super::point::Point;
use super::samples;
use super::triangle::Triangle;
use super::varying::Component;

/// A primitive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Primitive {
    /// A square around a vertex.
    Point(Point),
    /// A line of width 1 between two vertices.
    Line(Line),
    /// A triangle between three vertices.
    Triangle(Triangle),
}

impl Primitive {
    /// The columns and rows of pixels that bound the primitive.
    pub fn within(&self) -> [Range<u32>; 2] {
        match self {
            Primitive::Point(point) => point.within(),
            Primitive::Line(line) => line.within(),
            Primitive::Triangle(triangle) => triangle.within(),
        }
    }

    /// Whether its back face is seen.
    pub fn is_back(&self) -> bool {
        matches!(self, Primitive::Triangle(triangle) if triangle.is_back())
    }

    /// The samples of a pixel, out of `samples`, that it covers, the first in bit 0.
    pub fn coverage(&self, pixel: [u32; 2], samples: u32) -> u16 {
        let places = samples::places(samples).unwrap_or_default();
        let covered = |covers: &dyn Fn([f64; 2]) -> bool| {
            let place = |within: &[i16; 2]| [0, 1].map(|axis| f64::from(pixel[axis]) + f64::from(within[axis]) / 256.0);
            let covered = places.iter().enumerate().filter(|(_, within)| covers(place(within)));
            covered.fold(0, |mask, (sample, _)| mask | 1 << sample)
        };
        match self {
            Primitive::Point(point) => covered(&|place| point.covers(place)),
            Primitive::Line(line) if samples == 1 => line.leaves(pixel).into(),
            Primitive::Line(line) => {
                let halves = line.rectangle();
                covered(&|place| halves.iter().any(|half| half.covers(place)))
            }
            Primitive::Triangle(triangle) => covered(&|place| triangle.covers(place)),
        }
    }

    /// Creates a component with these values at the vertices; missing values are 0.
    pub fn component(&self, values: impl Fn(usize) -> f32) -> Component {
        let plane = match self {
            Primitive::Point(_) => return Component::Flat(values(0).to_bits()),
            Primitive::Line(line) => line.plane([values(0), values(1)]),
            Primitive::Triangle(triangle) => triangle.plane([values(0), values(1), values(2)]),
        };
        // A primitive without extent covers nothing.
        plane.map_or(Component::Flat(0), Component::Plane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sample_is_covered_by_itself() {
        let triangle = Primitive::Triangle(Triangle([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]));
        // The samples at (3/8, 1/8) and (1/8, 5/8) are below the diagonal.
        assert_eq!(triangle.coverage([0, 0], 4), 0b0101);
        assert_eq!((triangle.coverage([1, 0], 4), triangle.coverage([0, 0], 1)), (0, 0));
        let point = Primitive::Point(Point { place: [1.0, 0.5], size: 1.0 });
        assert_eq!([point.coverage([0, 0], 4), point.coverage([1, 0], 4)], [0b1010, 0b0101]);
        let line = Primitive::Line(Line([[0.0, 0.75], [4.0, 0.75]]));
        assert_eq!([line.coverage([1, 0], 4), line.coverage([1, 1], 4)], [0b1110, 0b0001]);
        assert_eq!([line.coverage([1, 0], 1), line.coverage([1, 1], 1)], [1, 0]);
    }

    #[test]
    fn two_triangles_cover_each_sample_of_a_square_once() {
        let lower = Primitive::Triangle(Triangle([[-1.0, -1.0], [4.0, -1.0], [4.0, 4.0]]));
        let upper = Primitive::Triangle(Triangle([[-1.0, -1.0], [4.0, 4.0], [-1.0, 4.0]]));
        for samples in [1, 2, 4, 8, 16] {
            let all = ((1u32 << samples) - 1) as u16;
            for pixel in [[0, 0], [1, 1], [2, 0], [0, 2], [2, 2]] {
                let [a, b] = [&lower, &upper].map(|triangle| triangle.coverage(pixel, samples));
                assert_eq!((a & b, a | b), (0, all), "{pixel:?} {samples}");
            }
        }
    }
}
