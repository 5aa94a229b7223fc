//! What the texts of the specification name and do not define, by name.

use isaforge_core::semantics::evaluate::Column;

use super::environment::Executing;
use crate::valhall::step::Fault;
use crate::valhall::warp::LANES;

/// An intrinsic: the warp, its arguments, the lanes in which it happens.
pub(super) type Intrinsic = fn(&mut Executing<'_, '_>, &[Column<LANES>], u16) -> Result<Column<LANES>, Fault>;

/// All of them.
const INTRINSICS: &[(&str, Intrinsic)] = &[];

/// The intrinsic of a name. `None` where the machine does not have it.
pub(super) fn find(name: &str) -> Option<Intrinsic> {
    INTRINSICS.iter().find(|(known, _)| *known == name).map(|(_, intrinsic)| *intrinsic)
}

/// The fault of a name.
pub(super) fn fault(name: &'static str, lane: usize, datum: u64) -> Fault {
    match name {
        "misaligned" => Fault::Misaligned { lane, address: datum },
        "pixel_index" => Fault::PixelIndex { lane, index: datum as u32 },
        _ => Fault::Unsupported(name),
    }
}

#[cfg(test)]
mod tests {
    use isaforge_valhall::semantics::SEMANTICS;

    use super::*;

    #[test]
    fn the_machine_has_the_intrinsics_of_the_specification_and_no_others() {
        for intrinsic in SEMANTICS.intrinsics {
            assert!(find(intrinsic.name).is_some(), "{}", intrinsic.name);
        }
        for (name, _) in INTRINSICS {
            assert!(SEMANTICS.intrinsics.iter().any(|intrinsic| intrinsic.name == *name), "{name}");
        }
    }
}
