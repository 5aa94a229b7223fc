//! Memory: regions of bytes at addresses.

use alloc::vec::Vec;
use core::fmt;

/// What an access was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To read data.
    Read,
    /// To write data.
    Write,
    /// To fetch an instruction.
    Fetch,
}

/// Why memory cannot be accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryFault {
    /// No region has all of the bytes.
    Unmapped,
    /// The region is not writable.
    ReadOnly,
}

/// Why a region cannot be mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapError {
    /// It ends beyond the last address.
    TooHigh,
    /// It overlaps the region from this address on.
    Overlaps(u64),
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MapError::TooHigh => f.write_str("the region ends beyond the last address"),
            MapError::Overlaps(base) => write!(f, "the region overlaps the one at {base:#x}"),
        }
    }
}

impl core::error::Error for MapError {}

/// Bytes at addresses, least significant byte first.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// In ascending order, none empty.
    regions: Vec<Region>,
}

#[derive(Clone, Debug)]
struct Region {
    base: u64,
    bytes: Vec<u8>,
    writable: bool,
    /// For each place where an instruction may start, its number in the cache of instructions and one; 0 where none is
    /// known. Empty until an instruction is fetched from the region.
    code: Vec<u32>,
    /// Instructions start at multiples of so many bytes from the base.
    unit: usize,
}

impl Memory {
    /// Maps bytes at an address.
    ///
    /// # Errors
    /// When the region overlaps another one or ends beyond the last address; nothing is mapped then.
    pub fn map(&mut self, base: u64, bytes: Vec<u8>, writable: bool) -> Result<(), MapError> {
        let Some(last) = (bytes.len() as u64).checked_sub(1) else { return Ok(()) };
        let last = base.checked_add(last).ok_or(MapError::TooHigh)?;
        let at = self.regions.partition_point(|region| region.base < base);
        let below = at.checked_sub(1).and_then(|k| self.regions.get(k));
        if let Some(below) = below.filter(|below| base - below.base < below.bytes.len() as u64) {
            return Err(MapError::Overlaps(below.base));
        }
        if let Some(above) = self.regions.get(at).filter(|above| above.base <= last) {
            return Err(MapError::Overlaps(above.base));
        }
        self.regions.insert(at, Region { base, bytes, writable, code: Vec::new(), unit: 1 });
        Ok(())
    }

    /// The region that has all of `size` bytes from an address, and the offset of the first of them.
    fn find(&self, address: u64, size: u64) -> Option<(usize, usize)> {
        let at = self.regions.partition_point(|region| region.base <= address).checked_sub(1)?;
        let region = &self.regions[at];
        let (offset, len) = (address - region.base, region.bytes.len() as u64);
        (offset < len && size <= len - offset).then_some((at, offset as usize))
    }

    /// `size` bytes from an address. No bytes are everywhere.
    pub fn bytes(&self, address: u64, size: u64) -> Option<&[u8]> {
        if size == 0 {
            return Some(&[]);
        }
        let (at, offset) = self.find(address, size)?;
        self.regions[at].bytes.get(offset..offset + size as usize)
    }

    /// At most `most` bytes from an address, as many as there are in its region.
    pub(super) fn bytes_at(&self, address: u64, most: u64) -> Option<&[u8]> {
        let (at, offset) = self.find(address, 1)?;
        let rest = self.regions[at].bytes.get(offset..)?;
        Some(&rest[..rest.len().min(most as usize)])
    }

    /// The number that `size` bytes from an address hold, at most 8 of them.
    ///
    /// # Errors
    /// When they are not mapped.
    pub fn read(&self, address: u64, size: u64) -> Result<u64, MemoryFault> {
        let bytes = self.bytes(address, size).ok_or(MemoryFault::Unmapped)?;
        let mut value = [0; 8];
        value.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        Ok(u64::from_le_bytes(value))
    }

    /// Writes the low `size` bytes of a number, at most 8 of them.
    ///
    /// # Errors
    /// When they are not mapped or not writable.
    pub fn write(&mut self, address: u64, size: u64, value: u64) -> Result<(), MemoryFault> {
        let (at, offset) = self.find(address, size).ok_or(MemoryFault::Unmapped)?;
        let region = &mut self.regions[at];
        if !region.writable {
            return Err(MemoryFault::ReadOnly);
        }
        let bytes = value.to_le_bytes();
        let size = size.min(8) as usize;
        region.bytes[offset..offset + size].copy_from_slice(&bytes[..size]);
        if !region.code.is_empty() {
            region.forget(offset, size);
        }
        Ok(())
    }

    /// The number of the instruction that is known to start at an address, if one is.
    pub(super) fn instruction(&self, address: u64) -> Option<usize> {
        let (at, offset) = self.find(address, 1)?;
        let region = &self.regions[at];
        let known = *region.code.get(offset / region.unit)?;
        (known as usize).checked_sub(1)
    }

    /// Keeps the number of the instruction at an address.
    pub(super) fn keep_instruction(&mut self, address: u64, unit: u64, number: usize) {
        let Some((at, offset)) = self.find(address, 1) else { return };
        let region = &mut self.regions[at];
        if region.code.is_empty() {
            region.unit = unit.max(1) as usize;
            region.code.resize(region.bytes.len() / region.unit + 1, 0);
        }
        // More instructions than a number holds are not kept.
        if let (Some(slot), Ok(number)) = (region.code.get_mut(offset / region.unit), u32::try_from(number + 1)) {
            *slot = number;
        }
    }

    /// Forgets all instructions.
    pub(super) fn forget_instructions(&mut self) {
        self.regions.iter_mut().for_each(|region| region.code.clear());
    }
}

/// Bytes of the longest instruction that the cache holds.
const LONGEST: usize = 32;

impl Region {
    /// Forgets the instructions that overlap bytes which change.
    fn forget(&mut self, offset: usize, size: usize) {
        let first = offset.saturating_sub(LONGEST) / self.unit;
        let last = ((offset + size) / self.unit).min(self.code.len() - 1);
        self.code[first..=last].fill(0);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn regions_do_not_overlap() {
        let mut memory = Memory::default();
        memory.map(16, vec![1; 8], true).unwrap();
        assert_eq!(memory.map(23, vec![0], true), Err(MapError::Overlaps(16)));
        assert_eq!(memory.map(8, vec![0; 9], true), Err(MapError::Overlaps(16)));
        assert_eq!(memory.map(u64::MAX, vec![0; 2], true), Err(MapError::TooHigh));
        memory.map(u64::MAX, vec![7], true).unwrap();
        memory.map(24, vec![2; 8], false).unwrap();
        assert_eq!(memory.read(u64::MAX, 1), Ok(7));
    }

    #[test]
    fn accesses_lie_within_one_region() {
        let mut memory = Memory::default();
        memory.map(16, vec![1, 2, 3, 4], true).unwrap();
        memory.map(20, vec![5; 4], false).unwrap();
        assert_eq!(memory.read(17, 2), Ok(0x0302));
        assert_eq!(memory.read(18, 4), Err(MemoryFault::Unmapped));
        assert_eq!(memory.read(15, 1), Err(MemoryFault::Unmapped));
        assert_eq!(memory.write(20, 4, 0), Err(MemoryFault::ReadOnly));
        memory.write(18, 2, 0xffff_beef).unwrap();
        assert_eq!(memory.bytes(16, 4), Some(&[1, 2, 0xef, 0xbe][..]));
    }
}
