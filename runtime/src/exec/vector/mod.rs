//! Graphs as operations on rows of lanes.
//!
//! A shape is covered once with [`Micro`](code::Micro) operations; each reads and writes rows, for all lanes of all
//! members of a bundle. A row has a slot of 32 or 64 bits for each lane.
//!
//! ```text
//! Shape ──select (a Binder says where operands are)──▶ Code ──run──▶ rows; effects: Environment
//! ```
//!
//! - [`mod@select`] covers a shape: which handler computes a node, and which row holds it
//! - [`before`]: what codes have in common and need not compute each time
//! - [`native`]: operations that follow one another as machine code
//! - [`tidy`] removes copies and what nobody reads
//! - [`code`]: the operations, and what runs them
//! - [`handler`] compiles a handler once for each level of the processor
//! - [`rule`], [`float`], [`half`]: what handlers compute; [`wide`]: the same on values in two rows; [`warp`]: from lane to
//!   lane; [`exact`] computes the rest by the definition itself
//! - [`effect`]: what an environment does: loads, stores, branches, intrinsics
//!
//! # How values lie in slots
//! Integers and floats lie in the low bits of a slot, components from the lowest on, with zeros above. Booleans are masks:
//! one fills the slot, one of `n` fills the `n`th part of it, with ones where it holds. In slots of 32 bits values that are
//! wider lie in two rows, of their low and of their high words.

pub(crate) mod before;
pub(crate) mod code;
pub(crate) mod effect;
pub(crate) mod exact;
mod float;
mod half;
mod handler;
pub(crate) mod native;
mod rule;
pub(crate) mod select;
#[cfg(all(test, feature = "vpu"))]
mod tests;
mod tidy;
mod warp;
mod wide;

/// The bundles of a machine.
pub(crate) trait Family<const K: usize>: 'static {
    /// Bits of a lane in a row: 32 or 64.
    const SLOT: u32;
    /// Parts of a row, of `K` words each: as many as handlers compute at a time.
    const PARTS: usize;
    /// Whether each part is a warp, whose lanes may read from one another, and whose members keep what was in lanes that
    /// are not active by [`Member::put`]. Elsewhere the row of active lanes says which these are.
    const WARPS: bool = false;
    /// Lanes that execute an instruction together, with their rows: a warp, a task, a group.
    type Member<'m>: Member<K>;
}

/// Lanes with rows.
pub(crate) trait Member<const K: usize> {
    /// A part of a row.
    fn part(&self, row: u16, part: usize) -> &[u64; K];
    /// A part of a row, to be written.
    fn part_mut(&mut self, row: u16, part: usize) -> &mut [u64; K];
    /// Writes a part of a row; with `keep`, what is in lanes that are not active stays.
    #[inline(always)]
    fn put(&mut self, row: u16, part: usize, values: &[u64; K], keep: bool) {
        let _ = keep;
        *self.part_mut(row, part) = *values;
    }
    /// Whether lanes of a part execute.
    #[inline(always)]
    fn is_busy(&self, part: usize) -> bool {
        let _ = part;
        true
    }
    /// The active lanes of a part that is a warp, bit 0 for the first.
    fn active(&self, part: usize) -> u64 {
        let _ = part;
        0
    }
    /// A set of lanes that the machine keeps as bits, bit 0 for lane 0.
    fn set(&self, number: u16) -> u64;
    /// Changes such a set for some lanes.
    fn change_set(&mut self, number: u16, lanes: u64, of: u64);
}

/// The slot of a lane.
#[inline(always)]
fn slot<const K: usize, F: Family<K>>(member: &F::Member<'_>, row: u16, lane: usize) -> u64 {
    if F::SLOT == 64 {
        member.part(row, lane / K)[lane % K]
    } else {
        let words: &[u32] = bytemuck::must_cast_slice(member.part(row, lane / (2 * K)));
        words[lane % (2 * K)].into()
    }
}

/// Sets the slot of a lane.
#[cfg(test)]
#[inline(always)]
fn set_slot<const K: usize, F: Family<K>>(member: &mut F::Member<'_>, row: u16, lane: usize, value: u64) {
    if F::SLOT == 64 {
        member.part_mut(row, lane / K)[lane % K] = value;
    } else {
        let words: &mut [u32] = bytemuck::must_cast_slice_mut(member.part_mut(row, lane / (2 * K)));
        words[lane % (2 * K)] = value as u32;
    }
}

/// A mask of `parts` booleans in a slot, of their bits.
pub(crate) fn mask_of(bits: u64, parts: u8, slot: u32) -> u64 {
    let width = slot / u32::from(parts.max(1));
    let ones = isaforge_core::bits::ones(width);
    (0..u32::from(parts)).filter(|i| bits >> i & 1 != 0).fold(0, |mask, i| mask | ones << (width * i))
}

/// The bits of the booleans that a mask in a slot holds.
pub(crate) fn bits_of(mask: u64, parts: u8, slot: u32) -> u64 {
    let width = slot / u32::from(parts.max(1));
    (0..u32::from(parts)).fold(0, |bits, i| bits | (mask >> (width * i) & 1) << i)
}
