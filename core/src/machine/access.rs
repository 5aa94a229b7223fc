//! The memory accesses of an executing instruction.

use super::environment::Running;
use super::host::{Host, Touched};
use super::memory::{Access, Memory, MemoryFault, number, within};
use super::trap::Reason;
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
        if L > 1 && own.is_none() && self.touched.is_none() {
            // Lanes often access one region.
            let mut region: (u64, &[u8]) = (0, &[]);
            for (lane, address) in self.lanes(address, mask) {
                self.check(Access::Read, address, size)?;
                let found = within(region.0, region.1.len(), address, size);
                value[lane] = match found.and_then(|range| region.1.get(range)) {
                    Some(bytes) => number(bytes),
                    None => {
                        region = self.memory.region(address).unwrap_or_default();
                        self.memory.read(address, size).map_err(no_access(Access::Read, address, size))?
                    }
                };
            }
            return Ok(value);
        }
        for (lane, address) in self.lanes(address, mask) {
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
        let mut lanes = self.lanes(address, mask).peekable();
        if L > 1 && own.is_none() && self.touched.is_none() && matches!(size, 1..=8) {
            let aligned = self.tables.2.aligned;
            let first = lanes.peek().map_or(0, |(_, address)| *address);
            if let Some((base, region)) = self.memory.region_mut(first) {
                // The lanes that access the region of the first one.
                while let Some((lane, address)) = lanes.peek().copied()
                    && (!aligned || address.is_multiple_of(size))
                    && let Some(bytes) =
                        within(base, region.len(), address, size).and_then(|range| region.get_mut(range))
                {
                    bytes.copy_from_slice(&value[lane].to_le_bytes()[..size as usize]);
                    lanes.next();
                }
            }
        }
        for (lane, address) in lanes {
            self.touch(|| Touched::By(lane as u8, false, own));
            self.store_one(space, address, size, value[lane])?;
        }
        Ok(())
    }
}

pub(super) fn no_access(access: Access, address: u64, size: u64) -> impl FnOnce(MemoryFault) -> Reason {
    move |fault| Reason::Memory { access, fault, address, size }
}
