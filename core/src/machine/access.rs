//! The memory accesses of an executing instruction.

use core::ops::Range;

use super::environment::Running;
use super::host::{Host, Touched};
use super::memory::{Access, Memory, MemoryFault, within};
use super::trap::Reason;
use crate::bits::ones;
use crate::semantics::evaluate::Column;

impl<const L: usize, H: Host<L>> Running<'_, L, H> {
    /// The lanes of a mask, each with its address.
    pub(super) fn lanes(&self, address: &Column<L>, mask: u64) -> impl Iterator<Item = (usize, u64)> + use<L, H> {
        let address = *address;
        (0..L).filter(move |lane| mask >> lane & 1 != 0).map(move |lane| (lane, address[lane]))
    }

    fn check(&self, access: Access, address: u64, size: u64) -> Result<(), Reason> {
        if self.tables.2.aligned && !address.is_multiple_of(size.max(1)) {
            return Err(Reason::Misaligned { access, address, size });
        }
        Ok(())
    }

    /// The memory of an address space, and whether accesses past its end are allowed.
    fn memory_of(&mut self, space: u16) -> (&mut Memory, bool) {
        let known = self.tables.2.spaces.iter().zip(self.spaces.iter_mut());
        match known.into_iter().find(|(known, _)| known.space == space) {
            Some((known, memory)) => (memory, known.open),
            None => (self.memory, false),
        }
    }

    /// An address space if it has a memory of its own.
    pub(super) fn own(&self, space: u16) -> Option<u16> {
        self.tables.2.spaces.iter().any(|known| known.space == space).then_some(space)
    }

    pub(super) fn load_one(&mut self, space: u16, address: u64, size: u64) -> Result<u64, Reason> {
        self.check(Access::Read, address, size)?;
        let value = match self.memory_of(space) {
            (memory, true) => memory.read_open(address, size),
            (memory, false) => memory.read(address, size).map_err(no_access(Access::Read, address, size))?,
        };
        self.touch(|| Touched::Loaded(address, size as u8, value));
        Ok(value)
    }

    pub(super) fn store_one(&mut self, space: u16, address: u64, size: u64, value: u64) -> Result<(), Reason> {
        self.check(Access::Write, address, size)?;
        match self.memory_of(space) {
            (memory, true) => memory.write_open(address, size, value),
            (memory, false) => memory.write(address, size, value).map_err(no_access(Access::Write, address, size))?,
        }
        self.touch(|| Touched::Stored(address, size as u8, value));
        Ok(())
    }

    /// Reads numbers of `size` bytes, in ascending order of lanes.
    pub(super) fn load_lanes(
        &mut self,
        space: u16,
        size: u64,
        address: &Column<L>,
        mask: u64,
    ) -> Result<Column<L>, Reason> {
        let (own, mut value) = (self.own(space), [0; L]);
        let rest = match size {
            1 => self.load_quickly(space, address, mask, &mut value, u8::from_le_bytes),
            2 => self.load_quickly(space, address, mask, &mut value, u16::from_le_bytes),
            4 => self.load_quickly(space, address, mask, &mut value, u32::from_le_bytes),
            8 => self.load_quickly(space, address, mask, &mut value, u64::from_le_bytes),
            _ => mask,
        };
        for (lane, address) in self.lanes(address, rest) {
            self.touch(|| Touched::By(lane as u8, false, own));
            value[lane] = self.load_one(space, address, size)?;
        }
        Ok(value)
    }

    /// Writes the low `size` bytes of numbers, in ascending order of lanes.
    pub(super) fn store_lanes(
        &mut self,
        space: u16,
        size: u64,
        address: &Column<L>,
        value: &Column<L>,
        mask: u64,
    ) -> Result<(), Reason> {
        let own = self.own(space);
        let rest = match size {
            1 => self.store_quickly(space, address, mask, value, |value| [value as u8]),
            2 => self.store_quickly(space, address, mask, value, |value| (value as u16).to_le_bytes()),
            4 => self.store_quickly(space, address, mask, value, |value| (value as u32).to_le_bytes()),
            8 => self.store_quickly(space, address, mask, value, u64::to_le_bytes),
            _ => mask,
        };
        for (lane, address) in self.lanes(address, rest) {
            self.touch(|| Touched::By(lane as u8, false, own));
            self.store_one(space, address, size, value[lane])?;
        }
        Ok(())
    }

    /// The memory of an address space, if lanes may access its regions directly: nobody observes them, and accesses past
    /// its end trap.
    fn direct(&mut self, space: u16) -> Option<&mut Memory> {
        if L == 1 || self.touched.is_some() {
            return None;
        }
        let (memory, is_open) = self.memory_of(space);
        (!is_open).then_some(memory)
    }

    /// Reads numbers in ascending order of lanes, region by region. Returns the lanes from the first on whose access
    /// may trap.
    fn load_quickly<N: Into<u64>, const SIZE: usize>(
        &mut self,
        space: u16,
        address: &Column<L>,
        mut mask: u64,
        value: &mut Column<L>,
        number: impl Fn([u8; SIZE]) -> N,
    ) -> u64 {
        let aligned = self.tables.2.aligned;
        let Some(memory) = self.direct(space) else { return mask };
        while let Some(first) = address.get(mask.trailing_zeros() as usize)
            && let Some((base, bytes)) = memory.region(*first)
        {
            if let Some(range) = contiguous(base, bytes.len(), (address, SIZE), mask, aligned)
                && let Some(bytes) = bytes.get(range)
            {
                value.iter_mut().zip(bytes.as_chunks().0).for_each(|(value, bytes)| *value = number(*bytes).into());
                return 0;
            }
            let before = mask;
            while let Some(address) = address.get(mask.trailing_zeros() as usize)
                && let Some(range) = place(base, bytes.len(), (*address, SIZE), aligned)
                && let Some(bytes) = bytes.get(range).and_then(<[u8]>::first_chunk)
            {
                value[mask.trailing_zeros() as usize] = number(*bytes).into();
                mask &= mask - 1;
            }
            if mask == before {
                break;
            }
        }
        mask
    }

    /// Writes numbers in ascending order of lanes, region by region. Returns the lanes from the first on whose access
    /// may trap or change instructions.
    fn store_quickly<const SIZE: usize>(
        &mut self,
        space: u16,
        address: &Column<L>,
        mut mask: u64,
        value: &Column<L>,
        bytes_of: impl Fn(u64) -> [u8; SIZE],
    ) -> u64 {
        let aligned = self.tables.2.aligned;
        let Some(memory) = self.direct(space) else { return mask };
        while let Some(first) = address.get(mask.trailing_zeros() as usize)
            && let Some((base, bytes)) = memory.region_mut(*first)
        {
            if let Some(range) = contiguous(base, bytes.len(), (address, SIZE), mask, aligned)
                && let Some(bytes) = bytes.get_mut(range)
            {
                bytes.as_chunks_mut().0.iter_mut().zip(value).for_each(|(bytes, value)| *bytes = bytes_of(*value));
                return 0;
            }
            let before = mask;
            while let Some(address) = address.get(mask.trailing_zeros() as usize)
                && let Some(range) = place(base, bytes.len(), (*address, SIZE), aligned)
                && let Some(bytes) = bytes.get_mut(range).and_then(<[u8]>::first_chunk_mut)
            {
                *bytes = bytes_of(value[mask.trailing_zeros() as usize]);
                mask &= mask - 1;
            }
            if mask == before {
                break;
            }
        }
        mask
    }
}

/// The bytes of a region that all lanes access, if each accesses the `size` bytes after those of the lane before it.
fn contiguous<const L: usize>(
    base: u64,
    len: usize,
    (address, size): (&Column<L>, usize),
    mask: u64,
    aligned: bool,
) -> Option<Range<usize>> {
    let first = address[0];
    if mask != ones(L as u32) || aligned && !first.is_multiple_of(size as u64) {
        return None;
    }
    // Without an early exit, the loop is compiled to vector instructions.
    let lanes = address.iter().zip(0..L as u64);
    let differ = lanes.fold(0, |differ, (at, lane)| differ | (at ^ first.wrapping_add(size as u64 * lane)));
    if differ != 0 { None } else { within(base, len, first, (size * L) as u64) }
}

/// The bytes of a region that a lane accesses. `None` if it does not contain all of them, or if they are not aligned.
fn place(base: u64, len: usize, (address, size): (u64, usize), aligned: bool) -> Option<Range<usize>> {
    let size = size as u64;
    within(base, len, address, size).filter(|_| !aligned || address.is_multiple_of(size))
}

pub(super) fn no_access(access: Access, address: u64, size: u64) -> impl FnOnce(MemoryFault) -> Reason {
    move |fault| Reason::Memory { access, fault, address, size }
}
