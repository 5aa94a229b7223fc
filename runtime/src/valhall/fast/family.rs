//! Bundles as operations on rows access them: each part of a row is a warp.

use crate::exec::vector::{Family, Member};

use super::bundle::{Bundle, WARPS};
use super::column::blend;
use crate::valhall::warp::Column;

/// The family of bundles.
#[derive(Debug)]
pub struct Bundles;

/// The number of 64-bit words that hold a warp's column.
const WORDS: usize = 8;

impl Family<WORDS> for Bundles {
    type Member<'m> = Bundle;

    const PARTS: usize = WARPS;
    const SLOT: u32 = 32;
    const WARPS: bool = true;
}

impl Member<WORDS> for Bundle {
    #[inline(always)]
    fn part(&self, row: u16, part: usize) -> &[u64; WORDS] {
        // Columns are aligned more strictly than this needs.
        bytemuck::cast_ref(&self.rows[usize::from(row)].0[part])
    }

    #[inline(always)]
    fn part_mut(&mut self, row: u16, part: usize) -> &mut [u64; WORDS] {
        bytemuck::cast_mut(&mut self.rows[usize::from(row)].0[part])
    }

    #[inline(always)]
    fn put(&mut self, row: u16, part: usize, values: &[u64; WORDS], keep: bool) {
        if !keep || self.is_whole() {
            *self.part_mut(row, part) = *values;
            return;
        }
        let values: &Column = bytemuck::must_cast_ref(values);
        let old = &self.rows[usize::from(row)].0[part];
        self.rows[usize::from(row)].0[part] = blend(old, values, self.mask(part));
    }

    #[inline(always)]
    fn is_busy(&self, part: usize) -> bool {
        self.is_whole() || self.active[part] != 0
    }

    fn active(&self, part: usize) -> u64 {
        self.active[part].into()
    }

    /// Bundles have no sets.
    fn set(&self, _: u16) -> u64 {
        0
    }

    fn change_set(&mut self, _: u16, _: u64, _: u64) {}
}
