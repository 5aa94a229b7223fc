//! Everything that a warp can access: mapped memory, workgroup memory, thread memory, and the host.

use std::sync::LazyLock;

use crate::memory::{Memory, MemoryFault, within};

use super::host::{Host, samples};
use super::warp::LANES;

/// The first address of workgroup memory.
pub(super) const WORKGROUP: u64 = Memory::RESERVED.start;
/// The address of the memory of a workgroup's first thread.
pub(super) const THREADS: u64 = WORKGROUP + (1 << 40);
/// The address of the sample positions: x and y of each sample as 16 bits, in 1/256 pixel.
const SAMPLES: u64 = THREADS + (1 << 40);
/// The number of samples that a program can name. Those that a pixel does not have are at its centre.
const NAMED: usize = 32;
/// The sample positions for 1, 2, 4, 8 and 16 samples a pixel, as consecutive lists.
static PLACES: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let lists = (0..5).map(|power| 1 << power);
    let places = lists.flat_map(|samples| (0..NAMED as u32).map(move |sample| samples::place(samples, sample)));
    places.flatten().flat_map(i16::to_le_bytes).collect()
});

/// The address of the sample positions of pixels with `samples` samples.
pub(super) fn sample_places(samples: u32) -> u64 {
    SAMPLES + u64::from(samples.max(1).ilog2().min(4)) * (4 * NAMED) as u64
}

/// The bytes of memory that each thread has.
pub(super) const THREAD_BYTES: usize = 4096;

/// The address of the memory of a thread, by its index in the workgroup.
pub(super) fn thread_address(thread: usize) -> u64 {
    THREADS + (thread * THREAD_BYTES) as u64
}

/// Memory and host as seen by the lanes of one warp.
#[derive(Debug)]
pub(super) struct Space<'a> {
    pub memory: &'a mut Memory,
    /// Workgroup memory.
    pub shared: &'a mut [u8],
    /// The memory of all threads of the workgroup, in order; empty if the program does not use it.
    pub private: &'a mut [u8],
    /// The index of the first lane's thread in the workgroup.
    pub first_thread: usize,
    /// Access to resources that are named rather than addressed.
    pub host: &'a mut dyn Host,
}

impl Space<'_> {
    /// Borrows the space for a shorter time.
    pub fn reborrow(&mut self) -> Space<'_> {
        Space {
            memory: self.memory,
            shared: self.shared,
            private: self.private,
            first_thread: self.first_thread,
            host: self.host,
        }
    }

    /// The address of workgroup memory.
    pub fn workgroup_pointer(&self) -> u64 {
        WORKGROUP
    }

    /// The address of the thread memory of a lane.
    pub fn thread_pointer(&self, lane: usize) -> u64 {
        thread_address(self.first_thread + lane % LANES)
    }

    /// Borrows the space for reading.
    #[inline]
    pub fn view(&self) -> SpaceView<'_> {
        let Space { memory, shared, private, first_thread, .. } = self;
        SpaceView { memory, shared, private, first_thread: *first_thread }
    }

    /// Reads memory for a lane.
    #[inline]
    pub fn read(&self, lane: usize, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        self.view().read(lane, address, into)
    }

    /// Checks that a lane can write `len` bytes, which must be at most 60.
    pub fn check(&self, lane: usize, address: u64, len: usize) -> Result<(), MemoryFault> {
        match address {
            address if !Memory::RESERVED.contains(&address) => self.memory.read(address, &mut [0; 60][..len.min(60)]),
            ..THREADS => within(self.shared, WORKGROUP, address, len).map(drop),
            _ => {
                let (bytes, base) = self.own(lane);
                within(bytes, base, address, len).map(drop)
            }
        }
    }

    /// Writes memory for a lane.
    pub fn write(&mut self, lane: usize, address: u64, from: &[u8]) -> Result<(), MemoryFault> {
        if !Memory::RESERVED.contains(&address) {
            return self.memory.write(address, from);
        }
        if address < THREADS {
            let range = within(self.shared, WORKGROUP, address, from.len())?;
            self.shared[range].copy_from_slice(from);
            return Ok(());
        }
        let (bytes, base) = self.own(lane);
        let range = within(bytes, base, address, from.len())?;
        // `own` begins at this offset in the memory of all threads, and `range` lies within it.
        let start = (base - THREADS) as usize;
        self.private[start + range.start..start + range.end].copy_from_slice(from);
        Ok(())
    }

    fn own(&self, lane: usize) -> (&[u8], u64) {
        self.view().own(lane)
    }
}

/// Memory as seen by the lanes of a warp: mapped memory, workgroup memory and thread memory.
#[derive(Clone, Copy, Debug)]
pub struct SpaceView<'a> {
    memory: &'a Memory,
    shared: &'a [u8],
    private: &'a [u8],
    /// The index of the first lane's thread in the workgroup.
    pub first_thread: usize,
}

impl<'a> SpaceView<'a> {
    /// Fills `into` with memory as a lane sees it.
    ///
    /// # Errors
    /// When the bytes are not mapped.
    pub fn read(self, lane: usize, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        if !Memory::RESERVED.contains(&address) {
            return self.memory.read(address, into);
        }
        let (bytes, base) = match address {
            ..THREADS => (self.shared, WORKGROUP),
            THREADS..SAMPLES => self.own(lane),
            SAMPLES.. => (&PLACES[..], SAMPLES),
        };
        into.copy_from_slice(within(bytes, base, address, into.len()).map(|range| &bytes[range])?);
        Ok(())
    }

    /// Returns the memory of a lane's thread and its address. A thread cannot access the memory of another.
    fn own(self, lane: usize) -> (&'a [u8], u64) {
        let base = thread_address(self.first_thread + lane % LANES);
        let start = (base - THREADS) as usize;
        (self.private.get(start..start + THREAD_BYTES).unwrap_or_default(), base)
    }
}
