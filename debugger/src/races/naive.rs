//! A detector for tests: it compares each access to all earlier ones to the same word.

use std::collections::{BTreeSet, HashMap};

use isaforge_runtime::Memory;
use isaforge_runtime::machine::{AccessKind, AccessObserver, Accesses};

use super::touch::TOUCHES;

/// An access of some lanes of a warp to some bytes of a word.
#[derive(Clone, Copy)]
struct Touch {
    warp: u64,
    lanes: u64,
    group: u64,
    epoch: u32,
    pc: u64,
    kind: AccessKind,
    bytes: u8,
    /// Whether a later one of the same threads and kind took its place.
    is_replaced: bool,
}

/// What raced, if atomics order nothing.
#[derive(Default)]
pub(super) struct Naive {
    epochs: HashMap<u64, u32>,
    /// The accesses to each word: of global memory, or of that of a group.
    words: HashMap<(Option<u64>, u64), Vec<Touch>>,
    /// As [`super::Races::count`].
    pub count: u64,
    /// The instructions of each race, the lower first.
    pub pairs: BTreeSet<[u64; 2]>,
    /// Whether [`super::Races`] may have dropped accesses: it keeps some for each word, and one load by several lanes
    /// of a warp stands for later ones of its group.
    pub is_crowded: bool,
    /// Whether there were atomics, which may order other accesses.
    pub has_atomics: bool,
}

impl Naive {
    fn touch(&mut self, key: (Option<u64>, u64), touch: Touch) {
        let known = self.words.entry(key).or_default();
        for old in &*known {
            let is_thread = old.warp == touch.warp && old.lanes == touch.lanes && touch.lanes.is_power_of_two();
            let is_ordered = old.group == touch.group && old.epoch != touch.epoch;
            let kinds = [old.kind, touch.kind];
            let peaceful = kinds == [AccessKind::Load; 2] || kinds == [AccessKind::Atomic; 2];
            if !is_thread && !is_ordered && !peaceful && old.bytes & touch.bytes != 0 {
                self.count += u64::from(!old.is_replaced);
                self.pairs.insert([old.pc.min(touch.pc), old.pc.max(touch.pc)]);
            }
        }
        let stands_for = |old: &Touch| {
            let is_alike = (old.kind, old.group, old.epoch) == (touch.kind, touch.group, touch.epoch);
            is_alike && touch.kind == AccessKind::Load && !old.lanes.is_power_of_two()
        };
        self.is_crowded |= known.iter().any(stands_for);
        for old in known.iter_mut() {
            old.is_replaced |= (old.warp, old.lanes, old.kind) == (touch.warp, touch.lanes, touch.kind);
        }
        known.push(touch);
        self.is_crowded |= known.iter().filter(|old| !old.is_replaced).count() > TOUCHES;
    }
}

impl AccessObserver for Naive {
    fn accesses(&mut self, accesses: &Accesses<'_>) {
        let &Accesses { warp, group, pc, kind, size, lanes, addresses, .. } = accesses;
        let epoch = self.epochs.get(&group).copied().unwrap_or(0);
        self.has_atomics |= kind == AccessKind::Atomic;
        let lanes: Vec<usize> = (0..addresses.len()).filter(|lane| lanes >> lane & 1 != 0).collect();
        let mut starts: Vec<u64> = Vec::new();
        for start in lanes.iter().map(|lane| addresses[*lane]) {
            if !starts.contains(&start) {
                starts.push(start);
            }
        }
        for start in starts {
            let lanes = lanes.iter().filter(|lane| addresses[**lane] == start).fold(0, |all, lane| all | 1 << lane);
            let memory = Memory::RESERVED.contains(&start).then_some(group);
            let end = start + u64::from(size);
            for word in start / 4..end.div_ceil(4) {
                let bytes = (0..4).filter(|byte| (start..end).contains(&(word * 4 + byte)));
                let bytes = bytes.fold(0, |bytes, byte| bytes | 1 << byte);
                if kind == AccessKind::Store && !u64::is_power_of_two(lanes) {
                    self.count += u64::from(lanes.count_ones()) - 1;
                    self.pairs.insert([pc; 2]);
                }
                let touch = Touch { warp, lanes, group, epoch, pc, kind, bytes, is_replaced: false };
                self.touch((memory, word), touch);
            }
        }
    }

    fn barrier(&mut self, group: u64) {
        *self.epochs.entry(group).or_default() += 1;
    }
}
