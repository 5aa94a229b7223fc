//! Memory: regions of bytes at addresses.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt::{self, Debug};
use core::ops::{Deref, DerefMut, Range};
use core::sync::atomic::{AtomicUsize, Ordering};

/// The purpose of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To read data.
    Read,
    /// To write data.
    Write,
    /// To fetch an instruction.
    Fetch,
}

/// Why an access failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryFault {
    /// No region contains all of the bytes.
    Unmapped,
    /// The region is not writable.
    ReadOnly,
}

/// Why a region cannot be mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapError {
    /// It ends beyond the last address.
    TooHigh,
    /// It overlaps the region that starts at this address.
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

/// Byte-addressed little-endian memory.
///
/// # Examples
///
/// ```
/// use isaforge_core::machine::Memory;
///
/// let mut memory = Memory::default();
/// memory.map(0x1000, vec![1, 2, 3, 4], true)?;
/// assert_eq!(memory.read(0x1000, 4), Ok(0x0403_0201));
/// assert!(memory.read(0x1002, 4).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Memory {
    /// In ascending order; none is empty.
    regions: Vec<Region>,
    /// The instruction cache whose numbers the regions hold; 0 if none.
    cache: usize,
    /// Identifies the instructions fetched so far: another number whenever some of them may have changed.
    version: usize,
}

/// A copy may change on its own, so nothing derived from the instructions of the original applies to it.
impl Clone for Memory {
    fn clone(&self) -> Self {
        let copy = |region: &Region| Region::new(region.base, region.bytes.clone(), region.writable);
        Memory { regions: self.regions.iter().map(copy).collect(), cache: 0, version: unique() }
    }
}

/// Returns another number each time, never 0.
pub(super) fn unique() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Consecutive bytes of memory with the same access rights.
#[derive(Debug)]
pub struct Span<'a> {
    /// The address of the first byte.
    pub base: u64,
    /// The bytes.
    pub bytes: SpanBytes<'a>,
}

/// The bytes of a [`Span`].
#[derive(Debug)]
pub enum SpanBytes<'a> {
    /// They are not writable, or contain instructions that have been fetched.
    Read(&'a [u8]),
    /// They are writable and contain no instructions that have been fetched.
    Write(&'a mut [u8]),
}

impl SpanBytes<'_> {
    /// The number of bytes.
    pub fn len(&self) -> usize {
        match self {
            SpanBytes::Read(bytes) => bytes.len(),
            SpanBytes::Write(bytes) => bytes.len(),
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Backing storage of a memory region.
pub trait Bytes: Debug + Send + Sync {
    /// The bytes, to read.
    fn bytes(&self) -> &[u8];

    /// The same bytes, to write.
    fn bytes_mut(&mut self) -> &mut [u8];

    /// A copy of the bytes in storage of its own.
    fn copy(&self) -> Box<dyn Bytes>;
}

impl Bytes for Vec<u8> {
    fn bytes(&self) -> &[u8] {
        self
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        self
    }

    fn copy(&self) -> Box<dyn Bytes> {
        Box::new(self.clone())
    }
}

/// The storage of a region.
#[derive(Debug)]
struct Content(Box<dyn Bytes>);

impl Clone for Content {
    fn clone(&self) -> Self {
        Content(self.0.copy())
    }
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.bytes()
    }
}

impl DerefMut for Content {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.0.bytes_mut()
    }
}

/// The little-endian number that at most 8 bytes are.
fn number(bytes: &[u8]) -> u64 {
    match *bytes {
        [a] => a.into(),
        [a, b] => u16::from_le_bytes([a, b]).into(),
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
        _ => {
            let mut value = [0; 8];
            value.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            u64::from_le_bytes(value)
        }
    }
}

/// The bytes of an access that lie within a region.
pub(super) fn within(base: u64, len: usize, address: u64, size: u64) -> Option<Range<usize>> {
    let start = usize::try_from(address.checked_sub(base)?).ok()?;
    let end = start.checked_add(usize::try_from(size).ok()?)?;
    (end <= len).then_some(start..end)
}

#[derive(Debug)]
struct Region {
    base: u64,
    bytes: Content,
    writable: bool,
    /// For each possible start of an instruction, one plus its number in the instruction cache, or 0 if it is not
    /// cached. Empty until an instruction is fetched from the region.
    code: Vec<u32>,
    /// The alignment of instructions in bytes, relative to the base.
    unit: usize,
    /// The range of offsets that contains all cached instructions.
    extent: Range<usize>,
    /// The length of the longest of them, in bytes.
    longest: usize,
}

impl Memory {
    /// Maps bytes at an address.
    ///
    /// # Errors
    /// When the region overlaps another one or ends beyond the last address. It is not mapped then.
    pub fn map(&mut self, base: u64, bytes: Vec<u8>, writable: bool) -> Result<(), MapError> {
        self.map_bytes(base, Box::new(bytes), writable)
    }

    /// As [`Memory::map`], for bytes that are not in a vector.
    ///
    /// # Errors
    /// Those of [`Memory::map`].
    pub fn map_bytes(&mut self, base: u64, bytes: Box<dyn Bytes>, writable: bool) -> Result<(), MapError> {
        let bytes = Content(bytes);
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
        self.regions.insert(at, Region::new(base, bytes, writable));
        Ok(())
    }

    /// Whether no region is mapped.
    pub fn is_empty(&self) -> bool {
        self.regions.is_empty()
    }

    /// The region that contains `size` bytes from an address, and the offset of the first of them.
    fn find(&self, address: u64, size: u64) -> Option<(usize, usize)> {
        let at = self.regions.partition_point(|region| region.base <= address).checked_sub(1)?;
        let region = &self.regions[at];
        within(region.base, region.bytes.len(), address, size).map(|range| (at, range.start))
    }

    /// `size` bytes from an address. An empty range is valid at any address.
    pub fn bytes(&self, address: u64, size: u64) -> Option<&[u8]> {
        if size == 0 {
            return Some(&[]);
        }
        let (at, offset) = self.find(address, size)?;
        self.regions[at].bytes.get(offset..offset + size as usize)
    }

    /// Up to `most` bytes from an address, limited by the end of its region.
    pub(super) fn bytes_at(&self, address: u64, most: u64) -> Option<&[u8]> {
        let (at, offset) = self.find(address, 1)?;
        let rest = self.regions[at].bytes.get(offset..)?;
        Some(&rest[..rest.len().min(most as usize)])
    }

    /// Reads a little-endian number of `size` bytes, at most 8.
    ///
    /// # Errors
    /// When the bytes are not mapped.
    pub fn read(&self, address: u64, size: u64) -> Result<u64, MemoryFault> {
        self.bytes(address, size).map(number).ok_or(MemoryFault::Unmapped)
    }

    /// The region that contains an address: its base and its bytes.
    pub(super) fn region(&self, address: u64) -> Option<(u64, &[u8])> {
        let (at, _) = self.find(address, 1)?;
        self.regions.get(at).map(|region| (region.base, &*region.bytes))
    }

    /// The same to write, if that is allowed and no instructions were fetched from the region.
    pub(super) fn region_mut(&mut self, address: u64) -> Option<(u64, &mut [u8])> {
        let (at, _) = self.find(address, 1)?;
        let region = self.regions.get_mut(at).filter(|region| region.writable && region.code.is_empty())?;
        Some((region.base, &mut *region.bytes))
    }

    /// Writes the low `size` bytes of a number, at most 8.
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
        if !region.code.is_empty() && region.forget(offset, size) {
            self.version = unique();
        }
        Ok(())
    }

    /// Reads a number of `size` bytes, at most 8. Unmapped bytes are zero.
    pub fn read_open(&self, address: u64, size: u64) -> u64 {
        self.read(address, size).unwrap_or_else(|_| {
            let byte = |k: u64| self.read(address.wrapping_add(k), 1).unwrap_or(0);
            (0..size.min(8)).fold(0, |value, k| value | byte(k) << (8 * k))
        })
    }

    /// Writes the low `size` bytes of a number, at most 8, where they are mapped and writable.
    pub fn write_open(&mut self, address: u64, size: u64, value: u64) {
        if self.write(address, size, value).is_err() {
            for k in 0..size.min(8) {
                // Bytes past the end are discarded.
                let _ = self.write(address.wrapping_add(k), 1, value >> (8 * k) & 0xff);
            }
        }
    }

    /// A number that changes whenever instructions that had been fetched may have changed. Anything derived from
    /// instructions must be rebuilt then. It also tells memories apart: a copy has another number.
    pub fn code_version(&self) -> usize {
        self.version
    }

    /// All mapped bytes, in ascending order. A writable region from which instructions have been fetched is split: the
    /// part that contains them is read-only here, since their users would not notice a change.
    pub fn spans(&mut self) -> impl Iterator<Item = Span<'_>> {
        self.regions.iter_mut().flat_map(Region::spans).flatten()
    }

    /// The number that an instruction cache gave the instruction at an address. `None` if it has not cached it.
    pub(super) fn instruction(&self, cache: usize, address: u64) -> Option<usize> {
        if self.cache != cache {
            return None;
        }
        let (at, offset) = self.find(address, 1)?;
        let region = &self.regions[at];
        let known = *region.code.get(offset / region.unit)?;
        (known as usize).checked_sub(1)
    }

    /// Records the number that an instruction cache gave the instruction at an address: its length, and its number.
    pub(super) fn keep_instruction(&mut self, cache: usize, address: u64, unit: u64, (length, number): (u64, usize)) {
        if self.cache != cache {
            if self.cache != 0 {
                self.forget_instructions();
            }
            self.cache = cache;
        }
        let Some((at, offset)) = self.find(address, 1) else { return };
        let region = &mut self.regions[at];
        if region.code.is_empty() {
            region.unit = unit.max(1) as usize;
            region.code.resize(region.bytes.len() / region.unit + 1, 0);
            region.extent = offset..offset;
        }
        let end = offset.saturating_add(length as usize);
        region.extent = region.extent.start.min(offset)..region.extent.end.max(end);
        region.longest = region.longest.max(length as usize);
        // An instruction whose number does not fit is not cached.
        if let (Some(slot), Ok(number)) = (region.code.get_mut(offset / region.unit), u32::try_from(number + 1)) {
            *slot = number;
        }
    }

    /// Invalidates all cached instructions.
    pub(super) fn forget_instructions(&mut self) {
        self.version = unique();
        self.regions.iter_mut().for_each(|region| region.code.clear());
    }
}

impl Region {
    /// A region from which no instruction has been fetched.
    fn new(base: u64, bytes: Content, writable: bool) -> Region {
        Region { base, bytes, writable, code: Vec::new(), unit: 1, extent: 0..0, longest: 0 }
    }

    /// Invalidates the instructions that overlap changed bytes. Returns whether there were any.
    fn forget(&mut self, offset: usize, size: usize) -> bool {
        // Instructions are aligned to the unit, but the base need not be.
        let from = (self.unit - (self.base % self.unit as u64) as usize) % self.unit;
        let first = (offset + 1).saturating_sub(self.longest + from).div_ceil(self.unit);
        let last = ((offset + size).saturating_sub(1 + from) / self.unit).min(self.code.len() - 1);
        let Some(known) = self.code.get_mut(first..=last) else { return false };
        let any = known.iter().any(|number| *number != 0);
        known.fill(0);
        any
    }

    /// The bytes below, in and above the instructions; empty parts are omitted.
    fn spans(&mut self) -> [Option<Span<'_>>; 3] {
        let base = self.base;
        if !self.writable {
            return [Some(Span { base, bytes: SpanBytes::Read(&self.bytes) }), None, None];
        }
        let (from, to) = match self.code.is_empty() {
            true => (0, 0),
            false => (self.extent.start, self.extent.end.min(self.bytes.len())),
        };
        let (below, rest) = self.bytes.split_at_mut(from);
        let (code, above) = rest.split_at_mut(to - from);
        let spans = [
            Span { base, bytes: SpanBytes::Write(below) },
            Span { base: base.wrapping_add(from as u64), bytes: SpanBytes::Read(code) },
            Span { base: base.wrapping_add(to as u64), bytes: SpanBytes::Write(above) },
        ];
        spans.map(|span| (!span.bytes.is_empty()).then_some(span))
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

    #[test]
    fn beyond_the_end_of_open_memory_zeros_are_read_and_writes_are_lost() {
        let mut memory = Memory::default();
        memory.map(0, vec![1, 2, 3], true).unwrap();
        assert_eq!((memory.read_open(2, 4), memory.read_open(8, 8), memory.read_open(u64::MAX, 2)), (3, 0, 0x100));
        memory.write_open(1, 8, 0x0807_0605);
        assert_eq!(memory.bytes(0, 3), Some(&[1, 5, 6][..]));
    }

    #[test]
    fn spans_part_where_instructions_were_fetched() {
        let mut memory = Memory::default();
        memory.map(0x100, vec![0; 32], true).unwrap();
        memory.map(0x200, vec![0; 8], false).unwrap();
        let spans = |memory: &mut Memory| -> Vec<(u64, usize, bool)> {
            let of = |span: Span<'_>| (span.base, span.bytes.len(), matches!(span.bytes, SpanBytes::Write(_)));
            memory.spans().map(of).collect()
        };
        assert_eq!(spans(&mut memory), [(0x100, 32, true), (0x200, 8, false)]);
        memory.keep_instruction(1, 0x108, 4, (4, 0));
        memory.keep_instruction(1, 0x110, 4, (4, 1));
        assert_eq!(spans(&mut memory), [(0x100, 8, true), (0x108, 12, false), (0x114, 12, true), (0x200, 8, false)]);
        // A store beside the instructions, or between them, changes none of them.
        for address in [0x107, 0x10c, 0x114] {
            memory.write(address, 1, 0).unwrap();
        }
        let before = memory.code_version();
        assert_eq!((memory.instruction(1, 0x110), memory.instruction(2, 0x110)), (Some(1), None));
        memory.write(0x10f, 2, 0).unwrap();
        assert_ne!(memory.code_version(), before);
        assert_eq!((memory.instruction(1, 0x110), memory.instruction(1, 0x108)), (None, Some(0)));
        // A copy is another memory, whose instructions are cached anew.
        let copy = memory.clone();
        assert_ne!(copy.code_version(), memory.code_version());
        assert_eq!(copy.instruction(1, 0x108), None);
    }
}
