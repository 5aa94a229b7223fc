//! What a bundle shares with others: memory, and the scratch memory of its workgroups and threads.

use crate::memory::Memory;

use super::super::host::Host;
use super::super::space::{self, Space, THREAD_BYTES};
use super::super::warp::LANES;

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
pub struct World<'a> {
    /// Mapped memory.
    pub memory: &'a mut Memory,
    /// The memories of the workgroups that run together, one after another.
    pub shared: &'a mut [u8],
    /// Bytes of each of them.
    pub shared_bytes: usize,
    /// The memories of the threads of these workgroups; empty when the program does not use any.
    pub private: &'a mut [u8],
    /// Warps of a workgroup.
    pub warps: usize,
    /// Everything that is named, not addressed.
    pub host: &'a mut dyn Host,
}

impl World<'_> {
    /// Memory as one warp sees it.
    pub fn space(&mut self, home: Home) -> Space<'_> {
        let shared = home.group * self.shared_bytes..(home.group + 1) * self.shared_bytes;
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

    /// The run of bytes that holds an address which all lanes of a workgroup see alike.
    #[inline]
    pub fn window(&self, group: usize, address: u64) -> Option<Window> {
        if Memory::RESERVED.contains(&address) {
            let there = address < space::THREADS && (group + 1) * self.shared_bytes <= self.shared.len();
            return there.then_some(Window {
                base: space::WORKGROUP,
                len: self.shared_bytes,
                place: Place::Shared(group),
            });
        }
        let (region, base, len) = self.memory.window(address)?;
        Some(Window { base, len, place: Place::Region(region) })
    }

    /// The bytes of a window.
    #[inline(always)]
    pub fn bytes(&self, window: Window) -> &[u8] {
        match window.place {
            Place::Region(region) => self.memory.bytes(region),
            Place::Shared(group) => self.shared.get(group * self.shared_bytes..(group + 1) * self.shared_bytes),
        }
        .unwrap_or_default()
    }

    /// As [`World::bytes`], to write.
    #[inline(always)]
    pub fn bytes_mut(&mut self, window: Window) -> &mut [u8] {
        match window.place {
            Place::Region(region) => self.memory.bytes_mut(region),
            Place::Shared(group) => self.shared.get_mut(group * self.shared_bytes..(group + 1) * self.shared_bytes),
        }
        .unwrap_or_default()
    }
}

/// A run of bytes that several lanes see alike: a region of memory, or the memory of a workgroup.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    base: u64,
    len: usize,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Region(usize),
    Shared(usize),
}

impl Window {
    /// Where `size` bytes at an address lie in the window, if they do for threads of a workgroup.
    #[inline(always)]
    pub fn span(&self, group: usize, address: u64, size: usize) -> Option<std::ops::Range<usize>> {
        if matches!(self.place, Place::Shared(other) if other != group) {
            return None;
        }
        let start = usize::try_from(address.checked_sub(self.base)?).ok()?;
        let end = start.checked_add(size)?;
        (end <= self.len).then_some(start..end)
    }
}
