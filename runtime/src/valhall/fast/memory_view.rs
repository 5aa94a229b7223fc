//! What a bundle shares with others: memory, and the scratch memory of its workgroups and threads.

use std::ops::Range;

use crate::memory::Memory;

use super::bundle::Bundle;
use super::handler::prefetch;
use super::jit::trace::Located;
use super::touched::Touched;
use crate::valhall::host::Host;
use crate::valhall::space::{self, Space, THREAD_BYTES};
use crate::valhall::warp::{LANES, lanes};

/// Where the warp of a bundle belongs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Home {
    /// Its workgroup, counted among those that run together.
    pub group: usize,
    /// Its number in the workgroup.
    pub number: usize,
}

/// Memory as a bundle sees it.
#[derive(Debug)]
pub struct MemoryView<'a> {
    /// Mapped memory.
    pub memory: &'a mut Memory,
    /// The memories of the workgroups that run together, one after another, with the margin on both sides.
    pub shared: &'a mut [u8],
    /// Bytes that nobody has: machine code reads them, and writes back what it has read, for lanes that are not active.
    pub margin: usize,
    /// Bytes of each of them.
    pub shared_bytes: usize,
    /// The memories of the threads of these workgroups; empty when the program does not use any.
    pub private: &'a mut [u8],
    /// Warps of a workgroup.
    pub warps: usize,
    /// Where instructions found bytes.
    pub recent: &'a mut Recent,
    /// Everything that is named, not addressed.
    pub host: &'a mut dyn Host,
    /// Where atomics change memory, if somebody wants to know.
    pub touched: Option<&'a mut Touched>,
}

/// What launches have outside of their own memories.
#[derive(Debug)]
pub struct Outside<'a> {
    /// Mapped memory.
    pub memory: &'a mut Memory,
    /// Everything that is named, not addressed.
    pub host: &'a mut dyn Host,
    /// Where atomics change memory, if somebody wants to know.
    pub touched: Option<&'a mut Touched>,
}

impl<'a> Outside<'a> {
    pub fn new(memory: &'a mut Memory, host: &'a mut dyn Host) -> Self {
        Outside { memory, host, touched: None }
    }
}

/// Lanes whose places are noted one by one, at most.
const FEW: u64 = 16;

/// Bytes that are enough of a margin for words near those of active lanes.
pub const MARGIN: usize = 1 << 12;

impl MemoryView<'_> {
    /// Where the memory of a workgroup lies.
    #[inline(always)]
    fn of_group(&self, group: usize) -> Range<usize> {
        let start = self.margin + group * self.shared_bytes;
        start..start + self.shared_bytes
    }

    /// The addresses of a workgroup's memory.
    #[inline(always)]
    fn own(&self) -> Range<u64> {
        space::WORKGROUP..space::WORKGROUP + self.shared_bytes as u64
    }

    /// Whether bytes lie in the memory of a workgroup.
    #[inline(always)]
    pub fn is_own(&self, address: u64, size: usize) -> bool {
        let own = self.own();
        own.contains(&address) && size as u64 <= own.end - address
    }

    /// `size` bytes at an address for lanes of a workgroup, of which active lanes access only `accessed`: that is in its memory,
    /// the others may be in the margin.
    #[inline(always)]
    pub fn own_mut(&mut self, group: usize, address: u64, size: usize, accessed: Range<u64>) -> Option<&mut [u8]> {
        let own = self.own();
        if accessed.start < own.start || accessed.end > own.end {
            return None;
        }
        let start = self.place_of(group, address)?;
        self.shared.get_mut(start..)?.get_mut(..size)
    }

    /// Where an address of a workgroup's memory, or near it, lies among the memories of all of them.
    pub fn place_of(&self, group: usize, address: u64) -> Option<usize> {
        let place = (self.of_group(group).start as u64).wrapping_add(address.wrapping_sub(self.own().start));
        usize::try_from(place).ok().filter(|place| *place <= self.shared.len())
    }

    /// Whether there is but one workgroup, whose memory all see.
    #[inline(always)]
    pub fn is_one_group(&self) -> bool {
        self.shared.len() <= self.shared_bytes + 2 * self.margin
    }

    /// Memory as one warp sees it.
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

    /// `size` bytes that all lanes of a workgroup see alike, if there are such bytes at an address; `pc` names who asks.
    #[inline(always)]
    pub fn bytes(&mut self, pc: u32, group: usize, address: u64, size: usize) -> Option<&[u8]> {
        let (place, offset) = self.find(pc, group, address, size)?;
        self.all(place)?.get(offset..)?.get(..size)
    }

    /// As [`MemoryView::bytes`], to write.
    #[inline(always)]
    pub fn bytes_mut(&mut self, pc: u32, group: usize, address: u64, size: usize) -> Option<&mut [u8]> {
        let (place, offset) = self.find(pc, group, address, size)?;
        self.all_mut(place)?.get_mut(offset..)?.get_mut(..size)
    }

    /// As [`MemoryView::bytes`], with all bytes around them and the address of the first.
    #[inline(always)]
    pub fn around(&mut self, pc: u32, group: usize, address: u64, size: usize) -> Option<(u64, &[u8])> {
        let (place, offset) = self.find(pc, group, address, size)?;
        Some((address - offset as u64, self.all(place)?))
    }

    /// As [`MemoryView::around`], to write.
    #[inline(always)]
    pub fn around_mut(&mut self, pc: u32, group: usize, address: u64, size: usize) -> Option<(u64, &mut [u8])> {
        let (place, offset) = self.find(pc, group, address, size)?;
        Some((address - offset as u64, self.all_mut(place)?))
    }

    /// Where the active lanes would access memory at the addresses in two rows, if they are few.
    pub fn places(&self, bundle: &Bundle, [low, high]: [u32; 2]) -> Vec<Located> {
        let mut places = Vec::new();
        if bundle.active_threads() > FEW {
            return places;
        }
        let [low, high] = [low, high].map(|row| bundle.rows[row as usize].0);
        for warp in bundle.busy() {
            for lane in lanes(bundle.active[warp]) {
                let address = u64::from(high[warp][lane]) << 32 | u64::from(low[warp][lane]);
                let own = || self.place_of(bundle.homes[warp].group, address).filter(|_| self.own().contains(&address));
                places.extend(match Memory::RESERVED.contains(&address) {
                    true => own().map(Located::Shared),
                    false => Some(Located::Mapped(address)),
                });
            }
        }
        places
    }

    /// The region that holds `size` bytes of mapped memory, and where in it. They mostly are where others were recently.
    #[inline(always)]
    pub fn find_mapped(&self, recent: &mut Window, address: u64, size: usize) -> Option<(Place, usize)> {
        if Memory::RESERVED.contains(&address) {
            return None;
        }
        if recent.offset(0, address, size).is_none() {
            *recent = self.window(0, address)?;
        }
        Some((recent.place, recent.offset(0, address, size)?))
    }

    /// All bytes of a region, or of a workgroup's memory.
    #[inline(always)]
    pub fn all(&self, place: Place) -> Option<&[u8]> {
        match place {
            Place::Region(region) => self.memory.bytes(region),
            Place::Shared(group) => self.shared.get(self.of_group(group)),
        }
    }

    /// As [`MemoryView::all`], to write.
    #[inline(always)]
    pub fn all_mut(&mut self, place: Place) -> Option<&mut [u8]> {
        match place {
            Place::Region(region) => self.memory.bytes_mut(region),
            Place::Shared(group) => {
                let own = self.of_group(group);
                self.shared.get_mut(own)
            }
        }
    }

    /// As [`MemoryView::bytes`], for instructions that go through memory in even steps: what the next step wants is asked for.
    #[inline(always)]
    pub fn stream(&mut self, pc: u32, group: usize, address: u64, size: usize) -> Option<&[u8]> {
        let last = &mut self.recent.last[pc as usize % RECENT];
        let next = address.wrapping_add(address.wrapping_sub(*last));
        *last = address;
        let (place, offset) = self.find(pc, group, address, size)?;
        let Place::Region(region) = place else { return self.bytes(pc, group, address, size) };
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

    /// The window that holds `size` bytes at an address, and where in it. An instruction mostly stays in its window.
    #[inline(always)]
    fn find(&mut self, pc: u32, group: usize, address: u64, size: usize) -> Option<(Place, usize)> {
        let recent = &self.recent.windows[pc as usize % RECENT];
        if let Some(offset) = recent.offset(group, address, size) {
            return Some((recent.place, offset));
        }
        let window = self.window(group, address)?;
        self.recent.windows[pc as usize % RECENT] = window;
        Some((window.place, window.offset(group, address, size)?))
    }

    /// The window that holds an address.
    #[inline(never)]
    fn window(&self, group: usize, address: u64) -> Option<Window> {
        if Memory::RESERVED.contains(&address) {
            let there = address < space::THREADS && self.of_group(group).end + self.margin <= self.shared.len();
            return there.then_some(Window {
                base: space::WORKGROUP,
                len: self.shared_bytes,
                place: Place::Shared(group),
            });
        }
        let (region, base, len) = self.memory.window(address)?;
        Some(Window { base, len, place: Place::Region(region) })
    }
}

/// Makes all bytes 0. Where there are none the C library may do nothing in hundreds of cycles: by a masked store to an
/// address that is not mapped.
pub fn clear(bytes: &mut [u8]) {
    if !bytes.is_empty() {
        bytes.fill(0);
    }
}

/// For how many instructions it is known where they were last.
const RECENT: usize = 16;

/// Where instructions were last, by their words.
#[derive(Debug, Default)]
pub struct Recent {
    windows: [Window; RECENT],
    last: [u64; RECENT],
}

/// A run of bytes that several lanes see alike: a region of memory, or the memory of a workgroup.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    base: u64,
    len: usize,
    place: Place,
}

impl Default for Window {
    /// Nothing lies in it.
    fn default() -> Self {
        Window { base: 0, len: 0, place: Place::Region(0) }
    }
}

/// What bytes are part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Region(usize),
    Shared(usize),
}

impl Window {
    /// Where in the window `size` bytes at an address begin, if they lie there for threads of a workgroup.
    #[inline(always)]
    pub fn offset(&self, group: usize, address: u64, size: usize) -> Option<usize> {
        if matches!(self.place, Place::Shared(other) if other != group) {
            return None;
        }
        let offset = usize::try_from(address.checked_sub(self.base)?).ok()?;
        (offset <= self.len.checked_sub(size)?).then_some(offset)
    }
}
