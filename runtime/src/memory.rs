//! The memory of programs: regions of bytes at 64-bit addresses.

use thiserror::Error;

use crate::guarded::Guarded;

/// The reason why a region cannot be mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MapError {
    /// The region has no bytes.
    #[error("the region at {base:#x} is empty")]
    Empty {
        /// The first address of the region.
        base: u64,
    },
    /// The region would extend beyond the last address.
    #[error("a region of {len} bytes at {base:#x} ends beyond the last address")]
    Wraps {
        /// The first address of the region.
        base: u64,
        /// The number of bytes of the region.
        len: usize,
    },
    /// The region overlaps another one.
    #[error("a region of {len} bytes at {base:#x} overlaps the one at {other:#x}")]
    Overlaps {
        /// The first address of the region.
        base: u64,
        /// The number of bytes of the region.
        len: usize,
        /// The first address of the other region.
        other: u64,
    },
    /// The region overlaps the addresses that the runtime keeps for scratch memory, [`Memory::RESERVED`].
    #[error("a region of {len} bytes at {base:#x} lies in the addresses of workgroup and thread memory")]
    Reserved {
        /// The first address of the region.
        base: u64,
        /// The number of bytes of the region.
        len: usize,
    },
    /// All regions together would be larger than [`Memory::MAX_BYTES`].
    #[error("a region of {len} bytes makes memory larger than {max} bytes")]
    TooLarge {
        /// The number of bytes of the region.
        len: usize,
        /// The maximum number of bytes of all regions together.
        max: usize,
    },
}

/// The reason why an access to memory fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MemoryFault {
    /// No region holds the first byte.
    #[error("nothing is mapped at {address:#x} ({size} bytes wanted)")]
    Unmapped {
        /// The address of the access.
        address: u64,
        /// The number of bytes to read or write.
        size: usize,
    },
    /// The access begins in a region and extends beyond its end.
    #[error("{size} bytes at {address:#x} reach beyond the region, which ends at {end:#x}")]
    Straddles {
        /// The address of the access.
        address: u64,
        /// The number of bytes to read or write.
        size: usize,
        /// The first address after the region.
        end: u64,
    },
}

/// The number of bytes that are compared together: slices are compared much faster than bytes one by one.
const BLOCK: usize = 4096;

/// A contiguous range of mapped bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Region {
    base: u64,
    bytes: Guarded<u8>,
}

/// Regions of bytes at 64-bit addresses, little-endian. Accesses may be unaligned but must lie in one region.
///
/// Where machine code may access it, each region lies between guard pages of its own; see [`Guarded`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// In ascending order, without overlap.
    regions: Vec<Region>,
    total: usize,
}

impl Memory {
    /// The maximum number of bytes of all regions together: 1 GiB.
    pub const MAX_BYTES: usize = 1 << 30;

    /// Addresses that cannot be mapped: the runtime places workgroup memory and thread memory there.
    pub const RESERVED: std::ops::Range<u64> = 0xffff_0000_0000_0000..0xffff_ffff_0000_0000;

    /// Creates memory without regions.
    pub fn new() -> Self {
        Memory::default()
    }

    /// Maps a region that begins at `base` and holds `bytes`.
    ///
    /// # Errors
    /// When the region is empty, wraps around, overlaps another or the [reserved](Memory::RESERVED) addresses, or makes
    /// memory larger than [`Memory::MAX_BYTES`].
    pub fn map(&mut self, base: u64, bytes: impl Into<Vec<u8>>) -> Result<(), MapError> {
        let bytes = bytes.into();
        let len = bytes.len();
        if len == 0 {
            return Err(MapError::Empty { base });
        }
        let last = base.checked_add(len as u64 - 1).ok_or(MapError::Wraps { base, len })?;
        if base < Self::RESERVED.end && last >= Self::RESERVED.start {
            return Err(MapError::Reserved { base, len });
        }
        let at = self.regions.partition_point(|r| r.base < base);
        let before = at.checked_sub(1).and_then(|i| self.regions.get(i)).filter(|r| r.last() >= base);
        let after = self.regions.get(at).filter(|r| r.base <= last);
        if let Some(other) = before.or(after) {
            return Err(MapError::Overlaps { base, len, other: other.base });
        }
        if len > Self::MAX_BYTES - self.total {
            return Err(MapError::TooLarge { len, max: Self::MAX_BYTES });
        }
        self.total += len;
        self.regions.insert(at, Region { base, bytes: bytes.into() });
        Ok(())
    }

    /// Returns the bytes of the region that begins at `base`. `None` when no region begins there.
    pub fn region(&self, base: u64) -> Option<&[u8]> {
        let at = self.regions.binary_search_by_key(&base, |r| r.base).ok()?;
        self.regions.get(at).map(|r| &*r.bytes)
    }

    /// Removes the region that begins at `base` and returns its bytes. `None` when no region begins there.
    pub fn unmap(&mut self, base: u64) -> Option<Vec<u8>> {
        let at = self.regions.binary_search_by_key(&base, |r| r.base).ok()?;
        let region = self.regions.remove(at);
        self.total -= region.bytes.len();
        Some(region.bytes.to_vec())
    }

    /// Fills `into` with the bytes from `address` onwards.
    ///
    /// # Errors
    /// When no region holds all of them.
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        let region = self.at(address).and_then(|i| self.regions.get(i));
        let region = region.ok_or(MemoryFault::Unmapped { address, size: into.len() })?;
        into.copy_from_slice(within(&region.bytes, region.base, address, into.len()).map(|r| &region.bytes[r])?);
        Ok(())
    }

    /// Overwrites the bytes from `address` onwards.
    ///
    /// # Errors
    /// When no region holds all of them; nothing is written then.
    pub fn write(&mut self, address: u64, from: &[u8]) -> Result<(), MemoryFault> {
        let region = self.at(address).and_then(|i| self.regions.get_mut(i));
        let region = region.ok_or(MemoryFault::Unmapped { address, size: from.len() })?;
        let range = within(&region.bytes, region.base, address, from.len())?;
        region.bytes[range].copy_from_slice(from);
        Ok(())
    }

    /// Copies the bytes of `other` that differ from `before`. All three have the same regions.
    pub(crate) fn merge(&mut self, before: &Memory, other: &Memory) {
        for ((region, before), other) in self.regions.iter_mut().zip(&before.regions).zip(&other.regions) {
            let blocks = region.bytes.chunks_mut(BLOCK).zip(before.bytes.chunks(BLOCK)).zip(other.bytes.chunks(BLOCK));
            for ((block, before), other) in blocks.filter(|((_, before), other)| before != other) {
                for ((byte, before), other) in block.iter_mut().zip(before).zip(other) {
                    *byte = if before == other { *byte } else { *other };
                }
            }
        }
    }

    /// Finds the first address at which two memories with the same regions differ, and both bytes there.
    pub(crate) fn first_difference(&self, other: &Memory) -> Option<(u64, u8, u8)> {
        self.regions.iter().zip(&other.regions).find_map(|(one, other)| {
            let mut blocks = one.bytes.chunks(BLOCK).zip(other.bytes.chunks(BLOCK)).enumerate();
            let (block, (one_block, other_block)) = blocks.find(|(_, (one, other))| one != other)?;
            let mut bytes = one_block.iter().zip(other_block).enumerate();
            let (offset, (one_byte, other_byte)) = bytes.find(|(_, (one, other))| one != other)?;
            Some((one.base + (block * BLOCK + offset) as u64, *one_byte, *other_byte))
        })
    }

    /// Returns the index, first address and number of bytes of the region that holds `address`.
    #[inline]
    pub(crate) fn window(&self, address: u64) -> Option<(usize, u64, usize)> {
        let at = self.at(address)?;
        let region = self.regions.get(at)?;
        Some((at, region.base, region.bytes.len()))
    }

    /// The first address and the number of bytes of each region.
    pub(crate) fn regions(&self) -> impl Iterator<Item = (u64, usize)> {
        self.regions.iter().map(|region| (region.base, region.bytes.len()))
    }

    /// Returns the bytes of a region, by its index.
    #[inline]
    pub(crate) fn bytes(&self, region: usize) -> Option<&[u8]> {
        self.regions.get(region).map(|region| &*region.bytes)
    }

    /// Returns the bytes of a region for writing, by its index.
    #[inline]
    pub(crate) fn bytes_mut(&mut self, region: usize) -> Option<&mut [u8]> {
        self.regions.get_mut(region).map(|region| &mut *region.bytes)
    }

    /// Returns the index of the region that holds `address`.
    fn at(&self, address: u64) -> Option<usize> {
        let at = self.regions.partition_point(|r| r.base <= address).checked_sub(1)?;
        (self.regions.get(at)?.last() >= address).then_some(at)
    }
}

impl Region {
    /// The last address. It does not overflow, since `map` has checked it.
    fn last(&self) -> u64 {
        self.base + (self.bytes.len() as u64 - 1)
    }
}

/// Returns the range of `size` bytes at `address` in `bytes`, which begin at address `base`. The range is valid for
/// `bytes`.
pub(crate) fn within(
    bytes: &[u8],
    base: u64,
    address: u64,
    size: usize,
) -> Result<std::ops::Range<usize>, MemoryFault> {
    let unmapped = MemoryFault::Unmapped { address, size };
    let start = address.checked_sub(base).and_then(|o| usize::try_from(o).ok()).ok_or(unmapped)?;
    if start >= bytes.len() {
        return Err(unmapped);
    }
    if size > bytes.len() - start {
        return Err(MemoryFault::Straddles { address, size, end: base.wrapping_add(bytes.len() as u64) });
    }
    Ok(start..start + size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_must_not_touch_each_other_or_the_reserved_addresses() {
        let mut memory = Memory::new();
        memory.map(0x1000, vec![0; 16]).unwrap();
        memory.map(0x1010, vec![0; 16]).unwrap();
        assert_eq!(memory.map(0x100f, vec![0; 1]), Err(MapError::Overlaps { base: 0x100f, len: 1, other: 0x1000 }));
        assert_eq!(memory.map(0xfff, vec![0; 2]), Err(MapError::Overlaps { base: 0xfff, len: 2, other: 0x1000 }));
        assert_eq!(memory.map(0x1000, vec![0; 1]), Err(MapError::Overlaps { base: 0x1000, len: 1, other: 0x1000 }));
        assert_eq!(memory.map(0x0, vec![]), Err(MapError::Empty { base: 0 }));
        assert_eq!(memory.map(u64::MAX, vec![0; 2]), Err(MapError::Wraps { base: u64::MAX, len: 2 }));
        let base = Memory::RESERVED.start - 1;
        assert_eq!(memory.map(base, vec![0; 2]), Err(MapError::Reserved { base, len: 2 }));
        memory.map(u64::MAX, vec![7]).unwrap();
        let mut byte = [0];
        memory.read(u64::MAX, &mut byte).unwrap();
        assert_eq!(byte, [7]);
    }

    #[test]
    fn an_access_stays_in_its_region() {
        let mut memory = Memory::new();
        memory.map(0x1000, vec![1, 2, 3, 4]).unwrap();
        memory.map(0x1004, vec![5]).unwrap();
        let mut bytes = [0; 4];
        memory.read(0x1000, &mut bytes).unwrap();
        assert_eq!(bytes, [1, 2, 3, 4]);
        let straddles = MemoryFault::Straddles { address: 0x1001, size: 4, end: 0x1004 };
        assert_eq!(memory.read(0x1001, &mut bytes), Err(straddles));
        assert_eq!(memory.write(0x1001, &[9; 4]), Err(straddles));
        assert_eq!(memory.region(0x1000), Some(&[1, 2, 3, 4][..]));
        assert_eq!(memory.read(0x1005, &mut bytes), Err(MemoryFault::Unmapped { address: 0x1005, size: 4 }));
        assert_eq!(memory.read(0, &mut bytes), Err(MemoryFault::Unmapped { address: 0, size: 4 }));
        memory.write(0x1002, &[8, 9]).unwrap();
        assert_eq!(memory.region(0x1000), Some(&[1, 2, 8, 9][..]));
        assert_eq!(memory.region(0x1001), None);
    }

    #[test]
    #[cfg_attr(miri, ignore = "it would take hours to copy a gibibyte")]
    fn memory_has_a_greatest_size() {
        let mut memory = Memory::new();
        memory.map(0, vec![0; Memory::MAX_BYTES - 1]).unwrap();
        let refused = MapError::TooLarge { len: 2, max: Memory::MAX_BYTES };
        assert_eq!(memory.map(1 << 40, vec![0; 2]), Err(refused));
        memory.map(1 << 40, vec![0; 1]).unwrap();
    }
}
