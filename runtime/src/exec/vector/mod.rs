//! Semantics graphs as operations on rows of lanes.
//!
//! A shape is covered once with [`Micro`](handler::Micro) operations; each reads and writes rows, for all lanes of all
//! members of a bundle. A row has a slot of 32 or 64 bits for each lane.
//!
//! ```text
//! Shape ──select (a Binder locates operands)──▶ Code ──run──▶ rows; effects: Environment
//! ```
//!
//! - [`handler`]: operations on rows; compiles their handlers for every processor and for AVX2
//! - [`rule`]: the computations of handlers, and those of bits; [`integer`]; [`number`], [`half`], [`float`]: floats of
//!   all widths, of 16 bits, of 32 bits; [`wide`]: the same on values in two rows; [`warp`]: operations across lanes;
//!   [`exact`] computes everything else by its definition
//! - [`effect`]: the effects that an environment performs: loads, stores, branches, intrinsics
//! - [`code`]: operations and effects in order, and their execution
//! - [`mod@select`] covers a shape: chooses the handler of each node, and the row of its value
//! - [`cleanup`] removes copies and unread values
//! - [`hoist`]: hoists computations that give the same value each time out of the code
//! - [`native`]: compiles consecutive operations to machine code
//!
//! # The layout of values in slots
//! Integers and floats are in the low bits of a slot, with components from the lowest bit up, and zeros above.
//! Booleans are masks: a single one fills the slot, each of `n` fills its `n`th part, with ones where it is true.
//! With slots of 32 bits, wider values take two rows, for their low and their high words.

mod cleanup;
pub(crate) mod code;
pub(crate) mod effect;
pub(crate) mod exact;
mod float;
mod half;
pub(crate) mod handler;
pub(crate) mod hoist;
mod integer;
pub(crate) mod native;
mod number;
mod rule;
pub(crate) mod select;
#[cfg(all(test, feature = "vpu"))]
mod tests;
mod warp;
mod wide;

/// The bundles of a machine.
pub(crate) trait Family<const K: usize>: 'static {
    /// The bits of a lane in a row: 32 or 64.
    const SLOT: u32;
    /// The parts of a row, of `K` words each: as many as handlers compute at a time.
    const PARTS: usize;
    /// Whether each part is a warp. Then its lanes may read from one another, and [`Member::put`] keeps the content
    /// of inactive lanes. Otherwise the row of active lanes defines which lanes are active.
    const WARPS: bool = false;
    /// Whether all parts together are one warp, so that lanes of any of them may read from one another. Operations that
    /// do so must be executed for all parts.
    const WARP: bool = false;
    /// The lanes that execute an instruction together, with their rows: a warp, a task, a group.
    type Member<'m>: Member<K>;
}

/// Lanes with rows.
pub(crate) trait Member<const K: usize> {
    /// Returns a part of a row.
    fn part(&self, row: u16, part: usize) -> &[u64; K];
    /// Returns a part of a row for writing.
    fn part_mut(&mut self, row: u16, part: usize) -> &mut [u64; K];
    /// Writes a part of a row; with `keep`, inactive lanes keep their content.
    #[inline(always)]
    fn put(&mut self, row: u16, part: usize, values: &[u64; K], keep: bool) {
        let _ = keep;
        *self.part_mut(row, part) = *values;
    }
    /// Whether any lanes of a part execute.
    #[inline(always)]
    fn is_busy(&self, part: usize) -> bool {
        let _ = part;
        true
    }
    /// Returns the active lanes of a part that is a warp, bit 0 for the first.
    fn active(&self, part: usize) -> u64 {
        let _ = part;
        0
    }
    /// Returns a set of lanes that the machine keeps as bits, bit 0 for lane 0.
    fn set(&self, number: u16) -> u64;
    /// Changes such a set for the lanes in `of`.
    fn change_set(&mut self, number: u16, lanes: u64, of: u64);
}

/// Returns the slot of a lane.
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

/// Returns the mask in a slot for `parts` booleans, given as bits.
pub(crate) fn mask_of(bits: u64, parts: u8, slot: u32) -> u64 {
    let width = slot / u32::from(parts.max(1));
    let ones = isaforge_core::bits::ones(width);
    (0..u32::from(parts)).filter(|i| bits >> i & 1 != 0).fold(0, |mask, i| mask | ones << (width * i))
}

/// Returns the bits of the booleans in a slot's mask.
pub(crate) fn bits_of(mask: u64, parts: u8, slot: u32) -> u64 {
    let width = slot / u32::from(parts.max(1));
    (0..u32::from(parts)).fold(0, |bits, i| bits | (mask >> (width * i) & 1) << i)
}
