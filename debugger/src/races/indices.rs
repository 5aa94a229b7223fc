//! Indices of what was seen, in the order in which it was first seen.

use std::collections::HashMap;

use isaforge_runtime::Memory;

/// A number, such as that of a warp, with another that says what it is a number of.
pub(super) type Key = [u64; 2];

/// The number of indices that are found without a search, as a power of 2.
const RECENT: u32 = 9;

/// The indices of keys.
#[derive(Debug)]
pub(super) struct Indices {
    known: HashMap<Key, u32>,
    /// Keys that were looked up recently, by their hash.
    recent: Box<[(Key, u32)]>,
}

impl Default for Indices {
    fn default() -> Self {
        // No key is all ones.
        Indices { known: HashMap::new(), recent: vec![([u64::MAX; 2], 0); 1 << RECENT].into() }
    }
}

impl Indices {
    /// Returns the index of a key, if it has one.
    #[inline(always)]
    pub(super) fn get(&mut self, key: Key) -> Option<u32> {
        let place = place(key);
        match self.recent[place] {
            (recent, index) if recent == key => Some(index),
            _ => self.search(key, place),
        }
    }

    /// Like [`Indices::get`], but keeps nothing for the next search.
    #[inline(always)]
    pub(super) fn find(&self, key: Key) -> Option<u32> {
        match self.recent[place(key)] {
            (recent, index) if recent == key => Some(index),
            _ => self.known.get(&key).copied(),
        }
    }

    #[inline(never)]
    fn search(&mut self, key: Key, place: usize) -> Option<u32> {
        let index = *self.known.get(&key)?;
        self.recent[place] = (key, index);
        Some(index)
    }

    /// Returns the index of a number among those of one kind. A new one gets the next index, and `add` adds what the
    /// index is for.
    pub(super) fn of(&mut self, number: u64, add: impl FnOnce()) -> u32 {
        self.get([0, number]).unwrap_or_else(|| {
            add();
            self.insert([0, number])
        })
    }

    /// Returns the index that a key without one gets: the next number.
    pub(super) fn insert(&mut self, key: Key) -> u32 {
        let index = self.known.len() as u32;
        self.known.insert(key, index);
        self.recent[place(key)] = (key, index);
        index
    }
}

/// Returns the number of a memory. Reserved addresses refer to separate memory in each workgroup.
pub(super) fn memory(address: u64, group: u64) -> u64 {
    if Memory::RESERVED.contains(&address) { group.wrapping_add(1) } else { 0 }
}

#[inline(always)]
fn place([of, number]: Key) -> usize {
    spread(number.wrapping_add(of << 8), RECENT)
}

/// Returns a hash of some bits, which spreads consecutive numbers.
#[inline(always)]
pub(super) fn spread(number: u64, bits: u32) -> usize {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - bits)) as usize
}
