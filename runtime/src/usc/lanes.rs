//! Lanes: a register of all instances of a task, and sets of instances.

/// The most instances of a task.
pub const LANES: usize = 32;

/// Lanes that operations compute at a time: whole vectors, and few enough that the compiler sees them as such.
pub const HALF: usize = LANES / 2;

/// A register of every instance of a task.
pub type Column = [u32; LANES];

/// How many columns [`Rows`] has: a power of two, so that a number is made one of theirs without a branch.
pub const ROWS: usize = 1024;

/// Rows that nobody uses: with them the same columns of several tasks do not contend for the same places of a cache.
const GAP: usize = 9;

/// A column where vectors of the host begin at their own size.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Row(Column);

/// The columns of a task.
#[derive(Clone, Debug)]
pub struct Rows([Row; ROWS + GAP]);

impl Rows {
    /// All of them 0.
    pub fn new() -> Box<Rows> {
        Box::new(Rows([Row([0; LANES]); ROWS + GAP]))
    }

    /// A column; of numbers from 1024 on, which nobody makes, the last.
    #[inline(always)]
    pub fn at(&self, number: u16) -> &Column {
        &self.0[usize::from(number).min(ROWS - 1)].0
    }

    /// A column to be written.
    #[inline(always)]
    pub fn at_mut(&mut self, number: u16) -> &mut Column {
        &mut self.0[usize::from(number).min(ROWS - 1)].0
    }

    /// Half of a column: 0 the lower, 1 the upper.
    #[inline(always)]
    pub fn half(&self, number: u16, half: usize) -> &[u32; HALF] {
        &self.at(number).as_chunks().0[half % 2]
    }

    /// Half of a column to be written.
    #[inline(always)]
    pub fn half_mut(&mut self, number: u16, half: usize) -> &mut [u32; HALF] {
        &mut self.at_mut(number).as_chunks_mut().0[half % 2]
    }
}

/// A set of instances, a bit each.
pub type Mask = u32;

/// The same value for every instance.
#[inline(always)]
pub fn splat(value: u32) -> Column {
    [value; LANES]
}

/// A bit for each instance.
const BIT: Column = {
    let mut bits = [0; LANES];
    let mut i = 0;
    while i < LANES {
        bits[i] = 1 << i;
        i += 1;
    }
    bits
};

/// The instances for which `f` holds.
#[inline(always)]
pub fn holds(a: &Column, b: &Column, f: impl Fn(u32, u32) -> bool) -> Mask {
    // Whole vectors first: bits one by one would be read from behind stores that have not reached memory.
    let mut bits = [0; LANES];
    for i in 0..LANES {
        bits[i] = if f(a[i], b[i]) { BIT[i] } else { 0 };
    }
    let mut mask = 0;
    for bit in bits {
        mask |= bit;
    }
    mask
}

/// Puts `from` into `to` for the instances in `mask`.
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
