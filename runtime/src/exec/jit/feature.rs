//! The features of a processor beyond the baseline of x86-64.

/// The instructions that may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// `tzcnt`.
    pub bmi1: bool,
    /// Shifts that do not change the flags or need `cl`.
    pub bmi2: bool,
    /// `lzcnt`.
    pub lzcnt: bool,
    /// `popcnt`.
    pub popcnt: bool,
}

impl Features {
    /// Only the baseline.
    pub const NONE: Features = Features { bmi1: false, bmi2: false, lzcnt: false, popcnt: false };
    /// All known features.
    pub const ALL: Features = Features { bmi1: true, bmi2: true, lzcnt: true, popcnt: true };

    /// Detects the features of this processor.
    pub fn detect() -> Features {
        #[cfg(target_arch = "x86_64")]
        return Features {
            bmi1: is_x86_feature_detected!("bmi1"),
            bmi2: is_x86_feature_detected!("bmi2"),
            lzcnt: is_x86_feature_detected!("lzcnt"),
            popcnt: is_x86_feature_detected!("popcnt"),
        };
        #[cfg(not(target_arch = "x86_64"))]
        Features::NONE
    }
}
