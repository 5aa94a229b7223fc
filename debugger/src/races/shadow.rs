//! Finds out whether scattered accesses may race, word by word.

use isaforge_runtime::machine::{AccessKind, Accesses};

use super::indices::{Indices, memory};
use super::places::Places;

/// The number of words that are recorded side by side, and their bytes.
const WORDS: usize = 512;
const BYTES: u64 = 4 * WORDS as u64;
/// The most words that are recorded, at eight bytes each.
const MAX_WORDS: usize = 1 << 23;
/// The most warps, and the most barriers of a group, whose number a [`Word`] can hold.
const MAX_WARPS: usize = 1 << 25;
const MAX_EPOCH: u32 = 1 << 26;

/// The kinds of some accesses, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds(u32);

impl Kinds {
    pub(super) const fn of(kind: AccessKind) -> Self {
        Kinds(1 << kind as u32)
    }

    pub(super) fn and(self, other: Self) -> Self {
        Kinds(self.0 | other.0)
    }

    /// Whether accesses of different threads never race, if they are of these kinds: all load, or all are atomic.
    pub(super) fn are_peaceful(self) -> bool {
        [Kinds(0), Kinds::of(AccessKind::Load), Kinds::of(AccessKind::Atomic)].contains(&self)
    }
}

/// What is known of a word: which threads have accessed it, and how. As long as these are threads of one group, also
/// when.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    /// The thread that has accessed it in its last epoch, [`SEVERAL`] with the group of several threads, or [`ALL`]
    /// if these are of different groups.
    by: u32,
    /// The kinds of accesses in the last epoch in the lowest three bits, of those before in the next ones, and the
    /// epoch: the number of barriers that the group had passed.
    state: u32,
}

const SEVERAL: u32 = 1 << 31;
const ALL: u32 = u32::MAX;

impl Word {
    fn new(by: u32, epoch: u32, before: Kinds, now: Kinds) -> Self {
        Word { by, state: epoch << 6 | before.0 << 3 | now.0 }
    }

    fn now(self) -> Kinds {
        Kinds(self.state & 7)
    }

    fn before(self) -> Kinds {
        Kinds(self.state >> 3 & 7)
    }

    fn epoch(self) -> u32 {
        self.state >> 6
    }

    /// Adds an access; `is_own` says that the word is in the memory of its group. Returns whether it may race.
    #[inline(always)]
    fn add(&mut self, thread: u32, access: &Access, groups: &[u32], is_own: bool) -> bool {
        let &Access { group, epoch, kinds } = access;
        if !is_own && self.by != thread && self.state != 0 && self.group(groups) != Some(group) {
            let all = self.before().and(self.now()).and(kinds);
            *self = Word::new(ALL, 0, Kinds(0), all);
            return !all.are_peaceful();
        }
        // Whether other threads have accessed it since the last barrier is hard to predict. Compilers turn comparisons
        // into branches here, so there are masks of all bits or none.
        let is_now = all_bits_if_negative((self.epoch() ^ epoch).wrapping_sub(1));
        let now = self.now().0 & is_now;
        let before = self.before().0 | self.now().0 & !is_now;
        let differs = self.by ^ thread;
        let is_several = all_bits_if_negative((differs | differs.wrapping_neg()) & now.wrapping_neg());
        let by = thread ^ (thread ^ (SEVERAL | group)) & is_several;
        let now = Kinds(now).and(kinds);
        *self = Word::new(by, epoch, Kinds(before), now);
        is_several != 0 && !now.are_peaceful()
    }

    /// The group of all threads that have accessed the word, if it is one, by the group of each warp.
    fn group(self, groups: &[u32]) -> Option<u32> {
        match self.by {
            ALL => None,
            by if by & SEVERAL != 0 => Some(by & !SEVERAL),
            thread => groups.get(thread as usize / 64).copied(),
        }
    }
}

#[inline(always)]
fn all_bits_if_negative(number: u32) -> u32 {
    (number.cast_signed() >> 31).cast_unsigned()
}

/// An access to be compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// The group, by an index, and the number of barriers that it has passed.
    pub group: u32,
    pub epoch: u32,
    pub kinds: Kinds,
}

/// The words of all memories that scattered accesses have reached.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    /// The place in `words` of each page: of global memory, and of the memory of each group.
    pages: Indices,
    words: Vec<Word>,
    /// The index of each warp, and the group of each.
    warps: Indices,
    groups: Vec<u32>,
}

impl Shadow {
    /// Adds the accesses of a warp, and the places where they may race. Returns the bounds of the bytes, or `None` if
    /// there is too much to be recorded.
    pub(super) fn add(&mut self, accesses: &Accesses<'_>, access: &Access, places: &mut Places) -> Option<[u64; 2]> {
        let warp = self.warp(accesses.warp, access.group).filter(|_| access.epoch < MAX_EPOCH)?;
        let Shadow { pages, words, groups, .. } = self;
        let more = u64::from(accesses.size).saturating_sub(1);
        let (mut least, mut most) = (u64::MAX, 0);
        // The number of the last page, and its words. A page belongs to one memory.
        let (mut last, mut page, mut is_own): (u64, &mut [Word], bool) = (u64::MAX, &mut [], false);
        let mut left = accesses.lanes;
        while left != 0 {
            let lane = left.trailing_zeros();
            left &= left - 1;
            let start = accesses.addresses[lane as usize];
            (least, most) = (least.min(start), most.max(start));
            let mut word = start / 4;
            let end = start.saturating_add(more) / 4;
            loop {
                let number = word / WORDS as u64;
                if last != number {
                    (page, is_own) = page_of(pages, words, [start, number], access)?;
                    last = number;
                }
                if page[word as usize % WORDS].add(warp << 6 | lane, access, groups, is_own) {
                    places.add([word * 4, (word * 4).saturating_add(4)]);
                }
                if word == end {
                    break;
                }
                word += 1;
            }
        }
        Some([least, most.saturating_add(more).saturating_add(1)])
    }

    /// Returns the index of a warp. `None` if there are too many.
    fn warp(&mut self, number: u64, group: u32) -> Option<u32> {
        if let Some(warp) = self.warps.get([0, number]) {
            return Some(warp);
        }
        (self.groups.len() < MAX_WARPS).then(|| {
            self.groups.push(group);
            self.warps.insert([0, number])
        })
    }

    /// Adds the places where accesses to some bytes in a row may race with those here. `owner` returns the number of
    /// the warp and the lane that access an address; without it, any threads do.
    pub(super) fn meet(
        &mut self,
        [start, end]: [u64; 2],
        access: &Access,
        owner: impl Fn(u64) -> Option<(u64, u64)>,
        places: &mut Places,
    ) {
        let memory = memory(start, access.group.into());
        let (mut at, last) = (start / 4, end.div_ceil(4));
        while at < last {
            let next = (at / WORDS as u64 + 1) * WORDS as u64;
            let Some(page) = self.pages.get([memory, at / WORDS as u64]) else {
                at = next;
                continue;
            };
            let first = page as usize * WORDS + at as usize % WORDS;
            let words = &self.words[first..][..(last.min(next) - at) as usize];
            // A barrier has separated what one workgroup did before. Without a branch for each word, this is fast.
            if memory == 0 || words.iter().fold(false, |any, word| any | (word.epoch() >= access.epoch)) {
                for (known, word) in words.iter().zip(at..) {
                    if known.state != 0 && self.clashes(*known, access, || single(&owner, word * 4)) {
                        places.add([word * 4, (word * 4).saturating_add(4)]);
                    }
                }
            }
            at = next;
        }
    }

    /// Whether an access may race with those to a word, whichever came first.
    #[inline(always)]
    fn clashes(&self, word: Word, access: &Access, owner: impl Fn() -> Option<(u64, u64)>) -> bool {
        let before = word.before();
        if before.and(word.now()).and(access.kinds).are_peaceful() {
            return false;
        }
        let is_first = before == Kinds::default();
        let is_ordered = access.epoch > word.epoch() || access.epoch < word.epoch() && is_first;
        if is_ordered && word.group(&self.groups) == Some(access.group) {
            return false;
        }
        let is_thread = |(warp, lane): (u64, u64)| {
            self.warps.find([0, warp]).is_some_and(|warp| u64::from(word.by) == u64::from(warp) << 6 | lane)
        };
        !is_first || !owner().is_some_and(is_thread)
    }
}

/// Returns the words of a page of the memory at an address, and whether that is the group's own. `None` if there are
/// too many.
#[inline(never)]
fn page_of<'w>(
    pages: &mut Indices,
    words: &'w mut Vec<Word>,
    [address, number]: [u64; 2],
    access: &Access,
) -> Option<(&'w mut [Word], bool)> {
    let memory = memory(address, access.group.into());
    let page = match pages.get([memory, number]) {
        Some(page) => page,
        None if words.len() >= MAX_WORDS => return None,
        None => {
            words.resize(words.len() + WORDS, Word::default());
            pages.insert([memory, number])
        }
    };
    let words = words.get_mut(page as usize * WORDS..)?.get_mut(..WORDS)?;
    Some((words, memory != 0))
}

/// Returns the owner of a word, if it is the same for all of its bytes.
fn single(owner: impl Fn(u64) -> Option<(u64, u64)>, address: u64) -> Option<(u64, u64)> {
    owner(address).filter(|first| owner(address + 3) == Some(*first))
}

/// The number of pages that a range of bytes touches.
pub(super) fn pages([start, end]: [u64; 2]) -> u64 {
    end.saturating_sub(start) / BYTES + 1
}
