//! Columns, which hold a register of all instances of a task, and sets of instances.

use crate::exec::jit::lanes::row::{self, Row};

/// The maximum number of instances of a task.
pub const LANES: usize = 32;

/// A register of all instances of a task.
pub type Column = [u32; LANES];

/// The number of columns in [`Rows`]: a power of two, so that a number is brought into range without a branch.
pub const ROWS: usize = 1024;

/// Unused rows. Without them, the same columns of several tasks would compete for the same sets of a cache.
const GAP: usize = 9;

/// The columns of a task.
#[derive(Clone, Debug)]
pub struct Rows([Row<COLUMNS>; ROWS + GAP]);

/// The number of host vectors that form a column.
const COLUMNS: usize = LANES / row::LANES;

impl Rows {
    /// Creates columns of zeros.
    pub fn new() -> Box<Rows> {
        Box::new(Rows([Row::splat(0); ROWS + GAP]))
    }

    /// Returns a column. Numbers from 1024 on, which do not occur, select the last one.
    #[inline(always)]
    pub fn at(&self, number: u16) -> &Column {
        bytemuck::must_cast_ref(&self.0[usize::from(number).min(ROWS - 1)].0)
    }

    /// Returns a column for writing.
    #[inline(always)]
    pub fn at_mut(&mut self, number: u16) -> &mut Column {
        bytemuck::must_cast_mut(&mut self.0[usize::from(number).min(ROWS - 1)].0)
    }

    /// Returns all columns, for machine code.
    pub fn all_mut(&mut self) -> &mut [Row<COLUMNS>] {
        &mut self.0
    }

    /// Returns a part of a column, of `K` words.
    #[inline(always)]
    pub fn part<const K: usize>(&self, number: u16, part: usize) -> &[u64; K] {
        let words: &[u64; LANES / 2] = bytemuck::cast_ref(&self.0[usize::from(number).min(ROWS - 1)].0);
        &words.as_chunks().0[part % (LANES / 2 / K)]
    }

    /// Returns a part of a column for writing.
    #[inline(always)]
    pub fn part_mut<const K: usize>(&mut self, number: u16, part: usize) -> &mut [u64; K] {
        let words: &mut [u64; LANES / 2] = bytemuck::cast_mut(&mut self.0[usize::from(number).min(ROWS - 1)].0);
        &mut words.as_chunks_mut().0[part % (LANES / 2 / K)]
    }
}

/// A set of instances, with one bit for each.
pub type Mask = u32;

/// The same value for every instance.
#[inline(always)]
pub fn splat(value: u32) -> Column {
    [value; LANES]
}

/// Copies `from` to `to` for the instances in `mask`.
#[inline(always)]
pub fn blend(to: &mut Column, from: &Column, mask: Mask) {
    for i in 0..LANES {
        let keep = (mask >> i & 1).wrapping_sub(1);
        to[i] = (to[i] & keep) | (from[i] & !keep);
    }
}

/// The instances of a set, from the lowest.
pub fn each(mask: Mask) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |i| mask >> i & 1 != 0)
}
