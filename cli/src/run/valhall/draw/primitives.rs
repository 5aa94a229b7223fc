//! Assembles vertices into primitives.

use isaforge_compiler::diagnostic::Diagnostics;
use isaforge_compiler::source::Spanned;
use isaforge_runtime::valhall::host::{Line, Point, Primitive, Triangle};

use super::launch::PrimitiveName;
use crate::run::launch::Float;
use crate::run::valhall::resources::{floats, mistake};

/// The maximum number of primitives.
const MAX_PRIMITIVES: usize = 4096;

/// A primitive and the indices of its vertices.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The primitive.
    pub primitive: Primitive,
    /// The indices of its vertices: one for a point, two for a line, three for a triangle.
    pub vertices: [usize; 3],
}

/// Assembles vertices into primitives. Points have the given size.
pub fn primitives(
    given: &Spanned<Vec<Vec<Float>>>,
    name: PrimitiveName,
    point_size: Option<&Spanned<Float>>,
    out: &mut Diagnostics,
) -> Vec<Drawn> {
    let vertex = |vertex: &Vec<Float>| {
        let place = <[f32; 2]>::try_from(floats(vertex)).ok();
        place.filter(|place| place.iter().all(|number| number.is_finite()))
    };
    let Some(vertices) = given.iter().map(vertex).collect::<Option<Vec<[f32; 2]>>>() else {
        mistake(given.span, "a vertex has two numbers, x and y, both finite", out);
        return Vec::new();
    };
    let size = point_size.map_or(1.0, |size| size.value.0);
    if let Some(given) = point_size.filter(|_| !(size > 0.0 && size.is_finite())) {
        mistake(given.span, "the size of a point is greater than 0", out);
        return Vec::new();
    }
    let count = vertices.len();
    // The number of vertices per primitive, and the distance between the first vertices of consecutive ones.
    let (needs, step) = match name {
        PrimitiveName::Points => (1, 1),
        PrimitiveName::Lines => (2, 2),
        PrimitiveName::LineStrip => (2, 1),
        PrimitiveName::Triangles => (3, 3),
        PrimitiveName::TriangleStrip => (3, 1),
    };
    let number = (count + step).checked_sub(needs).map_or(0, |rest| rest / step);
    let whole = number > 0 && (number - 1) * step + needs == count;
    if !whole || number > MAX_PRIMITIVES {
        let what = name.as_str();
        mistake(given.span, format!("{count} vertices make no whole {what}, or more than {MAX_PRIMITIVES}"), out);
        return Vec::new();
    }
    let drawn = |number: usize| {
        let first = number * step;
        let at = |index: usize| vertices[first + index];
        // In a strip, every other triangle has the opposite winding.
        let turned = matches!(name, PrimitiveName::TriangleStrip) && number % 2 == 1;
        match needs {
            1 => Drawn { primitive: Primitive::Point(Point { place: at(0), size }), vertices: [first; 3] },
            2 => Drawn { primitive: Primitive::Line(Line([at(0), at(1)])), vertices: [first, first + 1, first + 1] },
            _ => {
                let order = if turned { [1, 0, 2] } else { [0, 1, 2] };
                let primitive = Primitive::Triangle(Triangle(order.map(at)));
                Drawn { primitive, vertices: order.map(|index| first + index) }
            }
        }
    };
    (0..number).map(drawn).collect()
}
