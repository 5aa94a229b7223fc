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

    /// The run of bytes that holds an address which all lanes of a workgroup see alike, and where it begins.
    #[inline]
    pub fn window(&self, group: usize, address: u64) -> Option<(u64, &[u8])> {
        if Memory::RESERVED.contains(&address) {
            let shared = self.shared.get(group * self.shared_bytes..(group + 1) * self.shared_bytes)?;
            return (address < space::THREADS).then_some((space::WORKGROUP, shared));
        }
        self.memory.window(address)
    }

    /// As [`World::window`], to write.
    #[inline]
    pub fn window_mut(&mut self, group: usize, address: u64) -> Option<(u64, &mut [u8])> {
        if Memory::RESERVED.contains(&address) {
            let shared = self.shared.get_mut(group * self.shared_bytes..(group + 1) * self.shared_bytes)?;
            return (address < space::THREADS).then_some((space::WORKGROUP, shared));
        }
        self.memory.window_mut(address)
    }
}
