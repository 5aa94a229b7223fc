//! Values that cross from lane to lane of a warp.

use isaforge_valhall::{InactiveResult, SubgroupSize};

/// How many lanes a subgroup has.
pub fn size(subgroup: SubgroupSize) -> usize {
    match subgroup {
        SubgroupSize::Subgroup2 => 2,
        SubgroupSize::Subgroup4 => 4,
        SubgroupSize::Subgroup8 => 8,
        SubgroupSize::Subgroup16 => 16,
    }
}

/// What is read from a lane that is inactive or does not exist (documented).
pub fn inactive(result: InactiveResult) -> u32 {
    match result {
        InactiveResult::Zero => 0,
        InactiveResult::Umax => 0xffff_ffff,
        InactiveResult::I1 => 1,
        InactiveResult::V2i1 => 0x0001_0001,
        InactiveResult::Smin => 0x8000_0000,
        InactiveResult::Smax => 0x7fff_ffff,
        InactiveResult::V2smin => 0x8000_8000,
        InactiveResult::V2smax => 0x7fff_7fff,
        InactiveResult::V4smin => 0x8080_8080,
        InactiveResult::V4smax => 0x7f7f_7f7f,
        InactiveResult::F1 => 0x3f80_0000,
        InactiveResult::V2f1 => 0x3c00_3c00,
        InactiveResult::Infn => 0xff80_0000,
        InactiveResult::Inf => 0x7f80_0000,
        InactiveResult::V2infn => 0xfc00_fc00,
        InactiveResult::V2inf => 0x7c00_7c00,
    }
}
