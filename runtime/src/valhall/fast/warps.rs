//! Sets of the warps of a bundle.

use crate::bits::members;

/// The warps of a bundle.
pub const WARPS: usize = 8;

/// A set of warps, as bits. The set is run-time data, so that a loop over it is not unrolled: the loop over the lanes
/// within should be vectorized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Warps(pub u8);

impl Warps {
    /// Returns the warps that have any lanes.
    #[inline(always)]
    pub fn with(lanes: &[u16; WARPS]) -> Self {
        Warps::which(lanes.map(|lanes| lanes != 0))
    }

    /// Returns the warps for which something holds: a single product moves bytes of 0 or 1 to adjacent bits.
    #[inline(always)]
    pub fn which(holds: [bool; WARPS]) -> Self {
        Warps((u64::from_le_bytes(holds.map(u8::from)).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8)
    }

    /// Returns the number of warps.
    #[inline(always)]
    pub fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Iterates over the warps in order.
    #[inline(always)]
    pub fn listed(self) -> impl Iterator<Item = usize> {
        members(self.0)
    }
}

/// Returns the number of lanes.
pub fn count(lanes: &[u16; WARPS]) -> u32 {
    lanes.iter().map(|lanes| lanes.count_ones()).sum()
}

/// Lanes of a bundle, with what is derived from them.
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    /// The lanes of each warp, as bits.
    pub of: [u16; WARPS],
    /// The warps that have any.
    pub warps: Warps,
    /// The number of lanes.
    pub count: u32,
}

impl Lanes {
    pub fn new(of: [u16; WARPS]) -> Self {
        Lanes { of, warps: Warps::with(&of), count: count(&of) }
    }
}

/// The program counter of lanes that have ended, or that must wait.
pub const PARKED: u32 = u32::MAX;
