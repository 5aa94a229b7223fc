//! Patterns of addresses.

use super::row;
use super::warps::WARPS;
use crate::valhall::warp::LANES;

/// A pattern of addresses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reached {
    /// The address of the first lane.
    pub start: u64,
    /// Whether the lanes of a warp access contiguous words. Otherwise all have the same address.
    pub contiguous: bool,
    /// The bytes from one warp to the next.
    pub column: u32,
}

/// Whether some lane may have another high word than the first.
#[inline(always)]
pub fn wraps_around(first: u32, lane: u32, column: u32) -> bool {
    first > u32::MAX - (WARPS as u32 * column + LANES as u32 * lane)
}

/// The patterns of registers that were determined since the registers were last written, by the first of the pair.
#[derive(Clone, Debug)]
pub struct Patterns {
    /// The registers whose pattern is known, as bits.
    known: u64,
    reached: [Reached; row::REGISTERS as usize],
}

impl Default for Patterns {
    fn default() -> Self {
        Patterns { known: 0, reached: [Reached::default(); row::REGISTERS as usize] }
    }
}

impl Patterns {
    /// Returns the pattern of two rows, if it is known.
    #[inline(always)]
    pub fn get(&self, rows: [u32; 2]) -> Option<&Reached> {
        let is_known = rows[1] == rows[0] + 1 && self.known.checked_shr(rows[0]).is_some_and(|bits| bits & 1 != 0);
        if is_known { self.reached.get(rows[0] as usize) } else { None }
    }

    /// Records the pattern of two rows.
    pub fn put(&mut self, rows: [u32; 2], reached: Reached) {
        if rows[1] == rows[0] + 1
            && let Some(place) = self.reached.get_mut(rows[0] as usize)
        {
            *place = reached;
            self.known |= 1 << rows[0];
        }
    }

    /// Updates the patterns after registers were written, given as bits; the pairs in `moved` were increased by a
    /// constant, `times` times.
    #[inline(always)]
    pub fn wrote(&mut self, registers: u64, moved: &[(u32, u64)], times: u32) {
        let mut known = self.known & !(registers | registers >> 1);
        for &(row, by) in moved.iter().filter(|(row, _)| self.known >> row & 1 != 0) {
            let Reached { start, contiguous, column } = &mut self.reached[row as usize];
            *start = start.wrapping_add(by.wrapping_mul(times.into()));
            known |= u64::from(!wraps_around(*start as u32, if *contiguous { 4 } else { 0 }, *column)) << row;
        }
        self.known = known;
    }

    /// Forgets all patterns, because any registers may have been written.
    #[inline(always)]
    pub fn forget(&mut self) {
        self.known = 0;
    }
}
