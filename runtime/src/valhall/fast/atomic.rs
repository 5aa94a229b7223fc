//! Atomics: lanes one after another, as the reference executes them.

use isaforge_core::semantics::{AtomicOp, Type};

use super::access::{holds, number};
use super::bundle::Bundle;
use super::memory_view::{Home, MemoryView};
use crate::valhall::step::Fault;
use crate::valhall::warp::{LANES, lanes};

/// An atomic on a word, or on two.
#[derive(Clone, Copy, Debug)]
pub struct Atomic {
    pub op: AtomicOp,
    /// What memory holds.
    pub ty: Type,
    /// The rows of the address.
    pub address: [u16; 2],
    /// The rows of the operand.
    pub value: [u16; 2],
    /// The rows of what memory has to hold for anything to happen.
    pub expected: Option<[u16; 2]>,
    /// The rows that get what memory held.
    pub to: Option<[u16; 2]>,
    /// The row of its condition, or none.
    pub when: Option<u16>,
    /// The word of the program.
    pub pc: u32,
}

impl Atomic {
    /// The atomic with its rows replaced.
    #[inline]
    pub fn moved(&self, place: impl Fn(u16) -> u16) -> Self {
        let rows = |rows: [u16; 2]| rows.map(&place);
        Atomic {
            address: rows(self.address),
            value: rows(self.value),
            expected: self.expected.map(rows),
            to: self.to.map(rows),
            when: self.when.map(&place),
            ..*self
        }
    }

    /// Executes it for the active lanes; false when it left a fault in the bundle.
    #[inline(never)]
    pub fn run(&self, bundle: &mut Bundle, view: &mut MemoryView<'_>) -> bool {
        for warp in bundle.busy() {
            if let Err(fault) = self.warp(bundle, view, warp) {
                bundle.fault = Some((warp, fault));
                return false;
            }
        }
        true
    }

    fn warp(&self, bundle: &mut Bundle, view: &mut MemoryView<'_>, warp: usize) -> Result<(), Fault> {
        let column = |row: u16| &bundle.rows[usize::from(row)].0[warp];
        let pair = |rows: [u16; 2]| {
            let [low, high] = rows.map(column);
            move |lane: usize| u64::from(high[lane]) << 32 | u64::from(low[lane])
        };
        let active = bundle.active[warp] & self.when.map_or(u16::MAX, |row| holds(column(row)));
        let (home, places, values) = (bundle.homes[warp], pair(self.address), pair(self.value));
        let before = match (self.op, self.expected.map(pair)) {
            // What counters do; all others go by their definition.
            (AtomicOp::Add, None) if self.ty == Type::U32 => {
                self.each::<4>(view, home, active, places, |lane, old| old.wrapping_add(values(lane)))?
            }
            (op, expected) => {
                let mask = self.ty.mask();
                let new = |lane: usize, old: u64| match &expected {
                    Some(expected) if expected(lane) & mask != old => old,
                    _ => op.apply(self.ty, old, values(lane) & mask),
                };
                match self.ty.size() {
                    64 => self.each::<8>(view, home, active, places, new)?,
                    _ => self.each::<4>(view, home, active, places, new)?,
                }
            }
        };
        if let Some([low, high]) = self.to {
            bundle.rows[usize::from(low)].0[warp] = before.map(|old| old as u32);
            if self.ty.size() > 32 {
                bundle.rows[usize::from(high)].0[warp] = before.map(|old| (old >> 32) as u32);
            }
        }
        Ok(())
    }

    /// Changes `SIZE` bytes of memory where each lane is; what they held before.
    #[inline(always)]
    fn each<const SIZE: usize>(
        &self,
        view: &mut MemoryView<'_>,
        home: Home,
        active: u16,
        places: impl Fn(usize) -> u64,
        new: impl Fn(usize, u64) -> u64,
    ) -> Result<[u64; LANES], Fault> {
        let (mut before, mut left) = ([0; LANES], active);
        let mut change = |lane: usize, bytes: &mut [u8; SIZE]| {
            before[lane] = number(bytes);
            bytes.copy_from_slice(&new(lane, before[lane]).to_le_bytes()[..SIZE]);
        };
        let first = places(active.trailing_zeros() as usize % LANES);
        if let Some((base, bytes)) = view.around_mut(self.pc, home.group, first, SIZE) {
            left = 0;
            for lane in 0..LANES {
                if active >> lane & 1 == 0 {
                    continue;
                }
                let start = usize::try_from(places(lane).wrapping_sub(base)).unwrap_or(usize::MAX);
                let Some(bytes) = bytes.get_mut(start..).and_then(|bytes| bytes.first_chunk_mut()) else {
                    left = active & u16::MAX << lane;
                    break;
                };
                change(lane, bytes);
            }
        }
        // From the first on that is elsewhere.
        for lane in lanes(left) {
            let (mut bytes, mut space) = ([0; SIZE], view.space(home));
            let fault = |fault| Fault::Memory { lane, fault };
            space.read(lane, places(lane), &mut bytes).map_err(fault)?;
            change(lane, &mut bytes);
            space.write(lane, places(lane), &bytes).map_err(fault)?;
        }
        Ok(before)
    }
}
