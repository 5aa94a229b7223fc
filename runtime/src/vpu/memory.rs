//! External memory: bytes that all cores of a machine share.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// The maximum size of external memory in bytes: 256 MiB.
pub const MAX_MEMORY: usize = 256 << 20;

const LINES: usize = 256;
const LINE_SHIFT: u32 = 6;

/// External memory. Reads past its end give 0 and writes there are dropped, byte by byte.
///
/// Words are atomic so that each core may run on its own thread; all accesses are relaxed, since programs synchronise
/// only through atomic updates of single words.
#[derive(Debug)]
pub struct Memory {
    words: Box<[AtomicU64]>,
    len: usize,
    /// The lines in the L2 cache, by index: the number of each line plus 1. They affect only latency.
    lines: Box<[AtomicU32]>,
}

impl Clone for Memory {
    fn clone(&self) -> Self {
        Memory::with_bytes(&self.bytes(), self.len)
    }
}

impl Memory {
    /// Creates `len` zero bytes, at most [`MAX_MEMORY`].
    pub fn new(len: usize) -> Self {
        let len = len.min(MAX_MEMORY);
        let words = (0..len.div_ceil(8)).map(|_| AtomicU64::new(0)).collect();
        Memory { words, len, lines: (0..LINES).map(|_| AtomicU32::new(0)).collect() }
    }

    /// Creates `len` bytes of memory that start with the given bytes.
    pub fn with_bytes(bytes: &[u8], len: usize) -> Self {
        let memory = Memory::new(len.max(bytes.len()));
        memory.write(0, bytes);
        memory
    }

    /// The size in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the memory is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies bytes to memory; bytes past its end are dropped.
    pub fn write(&self, address: usize, bytes: &[u8]) {
        for (i, byte) in bytes.iter().enumerate() {
            let at = address.saturating_add(i);
            if at < self.len {
                let shift = at % 8 * 8;
                let word = &self.words[at / 8];
                word.store(word.load(Relaxed) & !(0xff << shift) | u64::from(*byte) << shift, Relaxed);
            }
        }
    }

    /// Returns `count` bytes from `address`, with zeros past the end; at most [`MAX_MEMORY`] bytes.
    pub fn read(&self, address: usize, count: usize) -> Vec<u8> {
        (0..count.min(MAX_MEMORY)).map(|i| self.byte(address.saturating_add(i))).collect()
    }

    /// Returns all bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.read(0, self.len)
    }

    fn byte(&self, at: usize) -> u8 {
        self.words.get(at / 8).map_or(0, |w| (w.load(Relaxed) >> (at % 8 * 8)) as u8)
    }

    /// Whether `width` bytes from `address` are all within memory.
    pub(crate) fn holds(&self, address: u32, width: usize) -> bool {
        address as usize + width <= self.len
    }

    pub(crate) fn load(&self, address: u32) -> u64 {
        self.words.get(address as usize / 8).map_or(0, |w| w.load(Relaxed))
    }

    /// Returns a mask of the bytes of a word that exist.
    fn mask(&self, index: usize) -> u64 {
        match self.len.saturating_sub(index * 8) {
            0 => 0,
            n @ 1..8 => (1 << (n * 8)) - 1,
            _ => u64::MAX,
        }
    }

    pub(crate) fn store(&self, address: u32, value: u64) {
        let index = address as usize / 8;
        if let Some(word) = self.words.get(index) {
            word.store(value & self.mask(index), Relaxed);
        }
    }

    /// Replaces a word by a function of it. Returns the old word.
    pub(crate) fn update(&self, address: u32, f: impl Fn(u64) -> u64) -> u64 {
        let index = address as usize / 8;
        let mask = self.mask(index);
        match self.words.get(index) {
            Some(word) => word.update(Relaxed, Relaxed, |old| f(old) & mask),
            None => 0,
        }
    }

    /// Brings the line of an address into the cache. Returns whether it was there already.
    pub(crate) fn cached(&self, address: u32) -> bool {
        let line = (address >> LINE_SHIFT) + 1;
        self.lines[line as usize % LINES].swap(line, Relaxed) == line
    }

    /// Drops the line of an address from the cache.
    pub(crate) fn uncache(&self, address: u32) {
        let line = (address >> LINE_SHIFT) + 1;
        let _ = self.lines[line as usize % LINES].compare_exchange(line, 0, Relaxed, Relaxed);
    }
}
