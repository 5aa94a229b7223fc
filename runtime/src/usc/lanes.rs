//! Lanes: a register of all instances of a task, and sets of instances.

/// The most instances of a task.
pub const LANES: usize = 32;

/// A register of every instance of a task.
pub type Column = [u32; LANES];

/// A set of instances, a bit each.
pub type Mask = u32;

/// The same value for every instance.
#[inline(always)]
pub fn splat(value: u32) -> Column {
    [value; LANES]
}

/// One operand.
#[inline(always)]
pub fn map(a: &Column, f: impl Fn(u32) -> u32) -> Column {
    std::array::from_fn(|i| f(a[i]))
}

/// Two operands.
#[inline(always)]
pub fn zip(a: &Column, b: &Column, f: impl Fn(u32, u32) -> u32) -> Column {
    std::array::from_fn(|i| f(a[i], b[i]))
}

/// Three operands.
#[inline(always)]
pub fn zip3(a: &Column, b: &Column, c: &Column, f: impl Fn(u32, u32, u32) -> u32) -> Column {
    std::array::from_fn(|i| f(a[i], b[i], c[i]))
}

/// The instances for which `f` holds.
#[inline(always)]
pub fn holds(a: &Column, b: &Column, f: impl Fn(u32, u32) -> bool) -> Mask {
    let mut mask = 0;
    for i in 0..LANES {
        mask |= u32::from(f(a[i], b[i])) << i;
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
