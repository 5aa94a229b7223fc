//! The memory that a bundle shares with others: global memory, and the memories of its workgroups and threads.

use std::ops::Range;

use crate::machine::AccessObserver;
use crate::memory::Memory;

use super::grid::Home;
use super::log::Log;
use super::prefetch::prefetch;
use super::touched::Touched;
use crate::valhall::host::Host;
use crate::valhall::space::{self, Space, THREAD_BYTES};
use crate::valhall::warp::LANES;

/// Memory as a bundle accesses it.
#[derive(Debug)]
pub struct MemoryView<'a> {
    /// Mapped memory.
    pub memory: &'a mut Memory,
    /// The memories of the workgroups that run together, contiguous, with a margin on both sides.
    pub shared: &'a mut [u8],
    /// The bytes of a margin, which belong to no workgroup: for inactive lanes, machine code reads them and writes
    /// them back.
    pub margin: usize,
    /// The bytes of each workgroup's memory.
    pub shared_bytes: usize,
    /// The memories of the threads of these workgroups; empty if the program does not use them.
    pub private: &'a mut [u8],
    /// The number of warps of a workgroup.
    pub warps: usize,
    /// The most recent locations of each instruction.
    pub recent: &'a mut Recent,
    /// Everything that is named instead of addressed.
    pub host: &'a mut dyn Host,
    /// Records where atomics change memory, if requested.
    pub touched: Option<&'a mut Touched>,
    /// Records accesses, if they are observed.
    pub log: Option<Log<'a>>,
}

/// What launches use besides their own memories.
pub struct Outside<'a> {
    /// Mapped memory.
    pub memory: &'a mut Memory,
    /// Everything that is named instead of addressed.
    pub host: &'a mut dyn Host,
    /// Records where atomics change memory, if requested.
    pub touched: Option<&'a mut Touched>,
    /// Observes accesses, for programs that were lowered for it.
    pub accesses: Option<&'a mut dyn AccessObserver>,
}

impl<'a> Outside<'a> {
    pub fn new(memory: &'a mut Memory, host: &'a mut dyn Host) -> Self {
        Outside { memory, host, touched: None, accesses: None }
    }

    /// Whether the run may end, because its observer needs to see nothing more.
    pub fn is_done(&self) -> bool {
        self.accesses.as_ref().is_some_and(|observer| observer.is_done())
    }
}

/// The bytes of a margin that suffices for words near those of active lanes.
pub const MARGIN: usize = 1 << 12;

impl MemoryView<'_> {
    /// Returns the range of a workgroup's memory in `shared`.
    #[inline(always)]
    fn of_group(&self, group: usize) -> Range<usize> {
        let start = self.margin + group * self.shared_bytes;
        start..start + self.shared_bytes
    }

    /// Returns the addresses of a workgroup's memory.
    #[inline(always)]
    pub(super) fn own(&self) -> Range<u64> {
        space::WORKGROUP..space::WORKGROUP + self.shared_bytes as u64
    }

    /// Whether bytes lie in the memory of a workgroup.
    #[inline(always)]
    pub fn is_own(&self, address: u64, size: usize) -> bool {
        let own = self.own();
        own.contains(&address) && size as u64 <= own.end - address
    }

    /// Returns `size` bytes at an address for the lanes of a workgroup. The active lanes only access `accessed`,
    /// which must be in its memory; the other bytes may be in the margin.
    #[inline(always)]
    pub fn own_mut(&mut self, group: usize, address: u64, size: usize, accessed: Range<u64>) -> Option<&mut [u8]> {
        let own = self.own();
        if accessed.start < own.start || accessed.end > own.end {
            return None;
        }
        let start = self.place_of(group, address)?;
        self.shared.get_mut(start..)?.get_mut(..size)
    }

    /// Returns the offset in `shared` of an address in or near a workgroup's memory.
    pub fn place_of(&self, group: usize, address: u64) -> Option<usize> {
        let place = (self.of_group(group).start as u64).wrapping_add(address.wrapping_sub(self.own().start));
        usize::try_from(place).ok().filter(|place| *place <= self.shared.len())
    }

    /// Whether there is only one workgroup.
    #[inline(always)]
    pub fn is_one_group(&self) -> bool {
        self.shared.len() <= self.shared_bytes + 2 * self.margin
    }

    /// Returns memory as one warp accesses it.
    pub fn space(&mut self, home: Home) -> Space<'_> {
        let shared = self.of_group(home.group);
        let bytes = self.warps * LANES * THREAD_BYTES;
        let private = self.private.get_mut(home.group * bytes..(home.group + 1) * bytes);
        Space {
            memory: self.memory,
            shared: self.shared.get_mut(shared).unwrap_or_default(),
            private: private.unwrap_or_default(),
            first_thread: home.number * LANES,
            host: self.host,
        }
    }

    /// Returns `size` bytes that all lanes of a workgroup share, if they exist at an address; `pc` identifies the
    /// instruction.
    #[inline(always)]
    pub fn bytes(&mut self, pc: u32, group: usize, address: u64, size: usize) -> Option<&[u8]> {
        let (place, offset) = self.find(pc, group, address, size)?;
        self.all(place)?.get(offset..)?.get(..size)
    }

    /// Like [`MemoryView::bytes`], for writing.
    #[inline(always)]
    pub fn bytes_mut(&mut self, pc: u32, group: usize, address: u64, size: usize) -> Option<&mut [u8]> {
        let (place, offset) = self.find(pc, group, address, size)?;
        self.all_mut(place)?.get_mut(offset..)?.get_mut(..size)
    }

    /// Like [`MemoryView::bytes`], but returns all bytes of the region around them, with the address of the first.
    #[inline(always)]
    pub fn around(&mut self, pc: u32, group: usize, address: u64, size: usize) -> Option<(u64, &[u8])> {
        let (place, offset) = self.find(pc, group, address, size)?;
        Some((address - offset as u64, self.all(place)?))
    }

    /// Like [`MemoryView::around`], for writing.
    #[inline(always)]
    pub fn around_mut(&mut self, pc: u32, group: usize, address: u64, size: usize) -> Option<(u64, &mut [u8])> {
        let (place, offset) = self.find(pc, group, address, size)?;
        Some((address - offset as u64, self.all_mut(place)?))
    }

    /// Returns the region that contains `size` bytes of mapped memory, and the offset in it. It is usually the most
    /// recent one.
    #[inline(always)]
    pub fn find_mapped(&self, recent: &mut Window, address: u64, size: usize) -> Option<(Container, usize)> {
        if Memory::RESERVED.contains(&address) {
            return None;
        }
        if recent.offset(0, address, size).is_none() {
            *recent = self.window(0, address)?;
        }
        Some((recent.place, recent.offset(0, address, size)?))
    }

    /// Returns all bytes of a region, or of a workgroup's memory.
    #[inline(always)]
    pub fn all(&self, place: Container) -> Option<&[u8]> {
        match place {
            Container::Region(region) => self.memory.bytes(region),
            Container::Shared(group) => self.shared.get(self.of_group(group)),
        }
    }

    /// Like [`MemoryView::all`], for writing.
    #[inline(always)]
    pub fn all_mut(&mut self, place: Container) -> Option<&mut [u8]> {
        match place {
            Container::Region(region) => self.memory.bytes_mut(region),
            Container::Shared(group) => {
                let own = self.of_group(group);
                self.shared.get_mut(own)
            }
        }
    }

    /// Like [`MemoryView::bytes`], for instructions that access memory at even distances: prefetches the bytes of the
    /// next step.
    #[inline(always)]
    pub fn stream(&mut self, pc: u32, group: usize, address: u64, size: usize) -> Option<&[u8]> {
        let last = &mut self.recent.last[pc as usize % RECENT];
        let next = address.wrapping_add(address.wrapping_sub(*last));
        *last = address;
        let (place, offset) = self.find(pc, group, address, size)?;
        let Container::Region(region) = place else { return self.bytes(pc, group, address, size) };
        let bytes = self.memory.bytes(region)?;
        if next != address
            && let Some(offset) = self.recent.windows[pc as usize % RECENT].offset(group, next, size)
            && let Some(bytes) = bytes.get(offset..).and_then(|bytes| bytes.get(..size))
        {
            for line in bytes.chunks_exact(64) {
                prefetch(line);
            }
        }
        bytes.get(offset..)?.get(..size)
    }

    /// Returns the window that contains `size` bytes at an address, and the offset in it. An instruction usually
    /// stays in its window.
    #[inline(always)]
    fn find(&mut self, pc: u32, group: usize, address: u64, size: usize) -> Option<(Container, usize)> {
        let recent = &self.recent.windows[pc as usize % RECENT];
        if let Some(offset) = recent.offset(group, address, size) {
            return Some((recent.place, offset));
        }
        let window = self.window(group, address)?;
        self.recent.windows[pc as usize % RECENT] = window;
        Some((window.place, window.offset(group, address, size)?))
    }

    /// Returns the window that contains an address.
    #[inline(never)]
    fn window(&self, group: usize, address: u64) -> Option<Window> {
        if Memory::RESERVED.contains(&address) {
            let there = address < space::THREADS && self.of_group(group).end + self.margin <= self.shared.len();
            return there.then_some(Window {
                base: space::WORKGROUP,
                len: self.shared_bytes,
                place: Container::Shared(group),
            });
        }
        let (region, base, len) = self.memory.window(address)?;
        Some(Window { base, len, place: Container::Region(region) })
    }
}

/// A memory location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Located {
    /// An offset in bytes into the memories of the workgroups that run together, including margins.
    Shared(usize),
    /// An address in mapped memory.
    Mapped(u64),
}

/// Sets all bytes to 0. Empty slices are skipped, because the C library may spend hundreds of cycles on a masked
/// store to an address that is not mapped.
pub fn clear(bytes: &mut [u8]) {
    if !bytes.is_empty() {
        bytes.fill(0);
    }
}

/// The number of instructions whose recent locations are kept.
const RECENT: usize = 16;

/// The most recent locations, by the word of the instruction.
#[derive(Debug, Default)]
pub struct Recent {
    windows: [Window; RECENT],
    last: [u64; RECENT],
}

/// A range of bytes that several lanes share: a region of memory, or the memory of a workgroup.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    base: u64,
    len: usize,
    place: Container,
}

impl Default for Window {
    /// An empty window.
    fn default() -> Self {
        Window { base: 0, len: 0, place: Container::Region(0) }
    }
}

/// What contains some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    Region(usize),
    Shared(usize),
}

impl Window {
    /// Returns the offset of `size` bytes at an address in the window, if they lie in it for threads of a workgroup.
    #[inline(always)]
    pub fn offset(&self, group: usize, address: u64, size: usize) -> Option<usize> {
        if matches!(self.place, Container::Shared(other) if other != group) {
            return None;
        }
        let offset = usize::try_from(address.checked_sub(self.base)?).ok()?;
        (offset <= self.len.checked_sub(size)?).then_some(offset)
    }
}
