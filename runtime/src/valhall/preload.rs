//! What threads find in registers at their start. Which register holds what the specification says; this says what that is.

use std::sync::LazyLock;

use isaforge_valhall::semantics::SEMANTICS;

/// What a register holds at the start of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// x and y of the place in the workgroup.
    LocalXy,
    /// z of that place.
    LocalZ,
    /// The workgroup along an axis.
    Group(usize),
    /// The place among all threads along an axis.
    Global(usize),
    /// The number of a vertex.
    Vertex,
    /// The instance of a vertex.
    Instance,
    /// Whether a primitive is seen from its back.
    Back,
    /// x and y of a pixel.
    Pixel,
    /// The samples of a pixel that are covered, the first in bit 0.
    Coverage,
}

/// Values by the names of the specification.
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

/// Registers and what they hold.
type Values = LazyLock<Vec<(usize, Value)>>;

/// What threads of workgroups find.
pub(super) static COMPUTE: Values = LazyLock::new(|| values("compute"));
/// What vertices find.
pub(super) static VERTEX: Values = LazyLock::new(|| values("vertex"));
/// What fragments find.
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
