//! The preloaded registers of threads. The specification assigns names to registers; this defines the values.

use std::sync::LazyLock;

use isaforge_valhall::semantics::SEMANTICS;

/// The value of a register at the start of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// x and y of the position in the workgroup.
    LocalXy,
    /// z of the position in the workgroup.
    LocalZ,
    /// The position of the workgroup along an axis.
    Group(usize),
    /// The position among all threads along an axis.
    Global(usize),
    /// The index of a vertex.
    Vertex,
    /// The index of the instance.
    Instance,
    /// Whether the back face of a primitive is seen.
    Back,
    /// x and y of the pixel.
    Pixel,
    /// The covered samples of the pixel, the first in bit 0.
    Coverage,
}

/// Values by their names in the specification.
const NAMES: [(&str, Value); 15] = [
    ("local_xy", Value::LocalXy),
    ("local_z", Value::LocalZ),
    ("group_x", Value::Group(0)),
    ("group_y", Value::Group(1)),
    ("group_z", Value::Group(2)),
    ("global_x", Value::Global(0)),
    ("global_y", Value::Global(1)),
    ("global_z", Value::Global(2)),
    ("vertex_internal", Value::Vertex),
    ("vertex", Value::Vertex),
    ("instance", Value::Instance),
    ("back", Value::Back),
    ("pixel", Value::Pixel),
    ("coverage", Value::Coverage),
    ("sample", Value::Coverage),
];

/// Registers and their values.
type Values = LazyLock<Vec<(usize, Value)>>;

/// The preloads of compute programs.
pub(super) static COMPUTE: Values = LazyLock::new(|| values("compute"));
/// The preloads of vertex programs.
pub(super) static VERTEX: Values = LazyLock::new(|| values("vertex"));
/// The preloads of fragment programs.
pub(super) static FRAGMENT: Values = LazyLock::new(|| values("fragment"));

fn values(program: &str) -> Vec<(usize, Value)> {
    let preload = SEMANTICS.preloads.iter().find(|preload| preload.name == program);
    let values = preload.into_iter().flat_map(|preload| preload.values.iter().zip(usize::from(preload.first)..));
    let known = |name: &str| NAMES.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    values.filter_map(|((name, _), register)| Some((register, known(name)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_knows_all_values_that_the_specification_names() {
        assert_eq!(COMPUTE.first(), Some(&(55, Value::LocalXy)));
        for (preload, found) in SEMANTICS.preloads.iter().zip([&COMPUTE, &VERTEX, &FRAGMENT]) {
            assert_eq!(preload.values.len(), found.len(), "{}", preload.name);
        }
    }
}
