//! The readers of launch files of the built-in sets.

use super::launched::Launches;
use super::{usc, user_defined, valhall, vpu};
use crate::builtin::Builtin;

/// Each with the name of its set. The others read files with the keys of `--spec`.
static ALL: [(&str, &Launches); 3] =
    [("valhall", &valhall::LAUNCHES), ("vpu", &vpu::LAUNCHES), ("usc", &usc::LAUNCHES)];

/// The reader of a set's launch files; `None` if its programs cannot be run.
pub fn of(set: &Builtin) -> Option<&'static Launches> {
    let own = ALL.iter().find(|(name, _)| *name == set.name).map(|(_, launches)| *launches);
    own.or_else(|| (set.semantics.is_some() && set.hardware.is_some()).then_some(&user_defined::LAUNCHES))
}

#[cfg(test)]
mod tests {
    use crate::builtin;

    #[test]
    fn every_set_that_has_a_launch_file_has_a_reader_of_it() {
        for set in builtin::ALL {
            assert_eq!(super::of(set).is_some(), set.launch.is_some(), "{}", set.name);
        }
    }
}
