//! Detects data races: two threads access the same bytes of memory, at least one of them writes, and no barrier or
//! atomic orders the accesses.
//!
//! The last accesses to each word of memory are recorded. Two accesses are ordered if
//!
//! - they are by the same thread, or both are atomic,
//! - their threads share barriers, and their workgroup has passed one in between, or
//! - the first warp executes an atomic after its access, and the second executes a later atomic before its own access.
//!   A barrier between an access and an atomic extends the atomic of one warp to its whole workgroup.
//!
//! Acquiring or releasing a lock counts as an atomic. An atomic orders accesses whatever its address: every reported
//! race is real, but not every race is reported. Nor are those of other orders of execution: an atomic orders accesses
//! as they come in this run, and engines run warps and workgroups in orders of their own. Memory use is bounded: the
//! last three accesses are kept per word, the last atomics per warp and workgroup, and only the first [`Races::WORDS`]
//! words and [`Races::WARPS`] warps that access memory.
//!
//! Most accesses are to a whole line of memory, one word by each lane of a warp. As long as a line is only accessed
//! like that, its words share their record.
//!
//! Most programs have no races, and for most of those less information shows it: the ranges of regular accesses, and
//! for each word that scattered accesses reach, which thread did so, or that several did, and how. So a program first
//! runs while only these are compared, and runs again only if some accesses may race, with all records of the lines of
//! memory where they are. If these are many, the first run ends early.
//!
//! - `suspects`, `ranges`, `shadow`: compares ranges of memory, and words that scattered accesses reach
//! - `places`: lines of memory whose accesses may race
//! - `order`: warps, workgroups, and what orders their accesses
//! - `touch`: records of accesses
//! - `indices`: numbers for pages, warps and workgroups

mod indices;
#[cfg(test)]
mod naive;
mod order;
mod places;
mod ranges;
mod shadow;
mod suspects;
mod touch;

use std::fmt;

use isaforge_runtime::machine::{AccessKind, AccessObserver, Accesses, Machine, Strided};
use isaforge_runtime::{Deadline, Execution};

use indices::{Indices, memory, spread};
use order::Order;
use places::Places;
use suspects::Suspects;
use touch::{Lanes, Line, TOUCHES, Touch, Touches};

/// The number of words in a line, and of lines that are recorded side by side.
const LINE: usize = 16;
const LINES: usize = 8;
/// The bytes of a line, and of all lines side by side.
const LINE_BYTES: u64 = 4 * LINE as u64;
const PAGE_BYTES: u64 = LINES as u64 * LINE_BYTES;
/// The lanes that access a whole line.
const WHOLE: u64 = (1 << LINE) - 1;

/// One of the two accesses of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The index of the thread in the whole launch.
    pub thread: [u32; 3],
    /// The address of the instruction.
    pub pc: u64,
    /// The kind of access.
    pub kind: AccessKind,
}

/// Two accesses that are not ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The address space, if it has a memory of its own.
    pub space: Option<&'static str>,
    /// The address of the first byte that both access.
    pub address: u64,
    /// The accesses, in the order of this run.
    pub sides: [Side; 2],
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.thread;
        let does = match self.kind {
            AccessKind::Load => "loads",
            AccessKind::Store => "stores",
            AccessKind::Atomic => "updates",
        };
        write!(f, "({x},{y},{z}) {does}")
    }
}

/// Detects races while a program runs.
#[derive(Debug, Default)]
pub struct Races {
    /// One race for each pair of instructions, at most [`Races::MAX_FOUND`].
    pub found: Vec<Race>,
    /// The number of pairs of accesses found to race. There may be more, since not all accesses are kept.
    pub count: u64,
    /// Whether some accesses were not tracked for lack of space.
    pub partial: bool,
    /// The number of races found since the last one of a new pair of instructions.
    repeated: u64,
    order: Order,
    /// Where accesses may race, if that is known.
    only: Option<Places>,
    /// The lines at each address, with a space of addresses for each workgroup: an index into `pages`.
    places: Indices,
    pages: Vec<[Line; LINES]>,
    /// The records of the words of lines that are not accessed as a whole.
    words: Vec<[Touches; LINE]>,
    /// The number of lines that were accessed.
    lines: usize,
    /// The address spaces with a memory of their own; those of workgroups are counted from 0, and these from the end.
    spaces: Vec<&'static str>,
}

impl Races {
    /// The maximum number of races that are kept.
    pub const MAX_FOUND: usize = 64;
    /// The number of races without any new pair of instructions after which the run ends.
    pub const MAX_REPEATED: u64 = 1 << 16;
    /// The maximum number of words that are tracked, of those that may race.
    pub const WORDS: usize = 1 << 21;
    /// The maximum number of warps that are tracked, of those that access such words.
    pub const WARPS: usize = 1 << 20;

    /// Runs a program, and detects its races. If that takes two runs, the first one gets half of the time. A program
    /// that [only repeats](Self::only_repeats) its races does not run to its end.
    ///
    /// # Errors
    /// As [`Machine::run_accesses`], after the races up to there were detected.
    pub fn find(
        &mut self,
        machine: &(impl Machine + ?Sized),
        execution: Execution,
        until: Deadline,
    ) -> Result<(), String> {
        let mut suspects = Suspects::default();
        let ended = machine.run_accesses(&mut suspects, execution, until.halfway());
        let is_over = ended.is_ok() || until.is_none();
        self.only = is_over.then(|| suspects.places()).filter(|places| !places.are_all());
        if self.only.as_ref().is_some_and(Places::are_none) {
            return ended;
        }
        machine.run_accesses(self, execution, until)
    }

    /// Whether the last [`Races::MAX_REPEATED`] races were all of known pairs of instructions.
    pub fn only_repeats(&self) -> bool {
        self.repeated >= Self::MAX_REPEATED
    }

    /// Returns the index of the lines around an address. `None` if too many lines are tracked.
    fn page(&mut self, space: u64, address: u64) -> Option<usize> {
        let key = [space, address / PAGE_BYTES];
        let index = match self.places.get(key) {
            Some(index) => index,
            None if self.lines >= Self::WORDS / LINE => return None,
            None => {
                self.pages.push(Default::default());
                self.places.insert(key)
            }
        };
        Some(index as usize)
    }

    /// Records an access to a word, or to all words of a line.
    fn touch(&mut self, space: u64, address: u64, touch: Touch) {
        let line = (address / LINE_BYTES) as usize % LINES;
        let Some(page) = self.page(space, address) else {
            self.partial = true;
            return;
        };
        let mut found = Found { order: &self.order, known: &self.found, count: 0, compared: 0, races: Vec::new() };
        let known = &mut self.pages[page][line];
        self.lines += usize::from(known.is_untouched());
        if touch.lanes != Lanes::LINE {
            found.add(&mut known.words(&mut self.words)[(address / 4) as usize % LINE], touch, address, 1);
        } else if known.words.is_none() {
            found.add(&mut known.whole, touch, address, LINE as u64);
        } else {
            for (word, touches) in known.words(&mut self.words).iter_mut().enumerate() {
                found.add(touches, touch.of_word(word), address + 4 * word as u64, 1);
            }
        }
        let Found { count, races, .. } = found;
        self.add(count);
        races.into_iter().for_each(|race| self.keep(space, race));
    }

    /// The number of an address space with a memory of its own.
    fn space(&mut self, name: &'static str) -> u64 {
        let known = self.spaces.iter().position(|known| *known == name);
        let index = known.unwrap_or_else(|| {
            self.spaces.push(name);
            self.spaces.len() - 1
        });
        u64::MAX - index as u64
    }

    /// Counts races, which are of known pairs of instructions until one of them is kept.
    fn add(&mut self, count: u64) {
        self.count += count;
        self.repeated += count;
    }

    fn keep(&mut self, space: u64, race: Race) {
        let name = usize::try_from(u64::MAX - space).ok().and_then(|index| self.spaces.get(index));
        let race = Race { space: name.copied(), ..race };
        if is_new(&self.found, race.sides.map(|side| side.pc)) {
            self.found.push(race);
            self.repeated = 0;
        }
    }
}

/// Whether a race of two instructions is to be kept.
fn is_new(found: &[Race], [one, other]: [u64; 2]) -> bool {
    let is_same = |[first, second]: [u64; 2]| [first, second] == [one, other] || [second, first] == [one, other];
    found.len() < Races::MAX_FOUND && !found.iter().any(|race| is_same(race.sides.map(|side| side.pc)))
}

/// The races of an access.
struct Found<'a> {
    order: &'a Order,
    /// The races that are kept already.
    known: &'a [Race],
    count: u64,
    /// The number of races that were compared to those.
    compared: usize,
    races: Vec<Race>,
}

impl Found<'_> {
    /// Whether a load races with nothing so far, and earlier loads race with whatever it will race with: those by two
    /// threads of the same workgroup since its last barrier, when there are no atomics.
    fn is_covered(&self, known: &[Touch], touch: &Touch) -> bool {
        if self.order.has_atomics() || touch.kind() != AccessKind::Load {
            return false;
        }
        let group = self.order.group_of(touch);
        let is_alike = |old: &&Touch| {
            old.kind() == AccessKind::Load
                && old.epoch == touch.epoch
                && touch.bytes() & !old.bytes() == 0
                && self.order.group_of(old) == group
        };
        let mut alike = known.iter().filter(is_alike);
        let Some(first) = alike.next() else { return false };
        (!first.lanes.is_one() || alike.any(|other| !other.is_by_thread_of(first)))
            && known.iter().all(|old| old.kind() == AccessKind::Load || self.order.in_order(old, touch))
    }

    /// Compares an access to the earlier ones, and records it.
    fn add(&mut self, touches: &mut Touches, touch: Touch, address: u64, words: u64) {
        let known = touches.all();
        if self.is_covered(known, &touch) {
            return;
        }
        // Replace an access of the same threads and kind, or else one that is ordered with this one if there is no
        // room, or else the oldest.
        let (mut same, mut past) = (None, None);
        for (place, other) in known.iter().enumerate() {
            let is_ordered = self.order.in_order(other, &touch);
            let writes = other.kind() != AccessKind::Load || touch.kind() != AccessKind::Load;
            if writes && !is_ordered && other.bytes() & touch.bytes() != 0 {
                self.count += words;
                if self.compared < LINE && is_new(self.known, [other, &touch].map(|side| self.order.pc(side))) {
                    self.races.push(self.order.race(other, &touch, address));
                }
                self.compared += 1;
            }
            if (other.warp, other.lanes, other.kind()) == (touch.warp, touch.lanes, touch.kind()) {
                same = same.or(Some(place));
            }
            if is_ordered && other.bytes() & !touch.bytes() == 0 {
                past = past.or(Some(place));
            }
        }
        let past = past.filter(|_| known.len() == TOUCHES);
        touches.replace(same.or(past), touch);
    }
}

impl AccessObserver for Races {
    fn accesses(&mut self, accesses: &Accesses<'_>) {
        let lanes = self.only.as_ref().map_or(accesses.lanes, |only| only.lanes(accesses));
        let accesses = &Accesses { lanes, ..*accesses };
        let &Accesses { kind, size, addresses, .. } = accesses;
        // Atomics order accesses to other memory, too.
        if lanes == 0 && kind != AccessKind::Atomic {
            return;
        }
        let Some(touch) = self.order.touch(accesses) else {
            self.partial = true;
            return;
        };
        let space = accesses.space.map(|name| self.space(name));
        let space = |address: u64| space.unwrap_or_else(|| memory(address, accesses.group));
        let first = addresses.get(lanes.trailing_zeros() as usize).copied().unwrap_or(0);
        if is_line(accesses) {
            self.touch(space(first), first, touch);
        } else if size > 0 {
            let mut left = lanes;
            let repeat = may_repeat(accesses);
            while left != 0 {
                // The lanes that access the same words.
                let start = addresses.get(left.trailing_zeros() as usize).copied().unwrap_or_default();
                let alike = |all: u64, (lane, address): (usize, &u64)| all | u64::from(*address == start) << lane;
                let further = if repeat { &addresses[..addresses.len().min(64)] } else { &[] };
                let lanes = left & further.iter().enumerate().fold(1 << left.trailing_zeros(), alike);
                left &= !lanes;
                let several = self.order.lanes(lanes);
                let end = start.saturating_add(size.into());
                for word in start / 4..end.div_ceil(4) {
                    let inside = |byte: &u64| (start..end).contains(&(word * 4 + byte));
                    let bytes = (0..4).filter(inside).fold(0, |bytes, byte| bytes | 1 << byte);
                    let touch = touch.by(several, bytes);
                    if kind == AccessKind::Store && !several.is_one() {
                        // These lanes store to the same word at once.
                        self.add(u64::from(lanes.count_ones()) - 1);
                        self.keep(space(start), self.order.race(&touch, &touch, word * 4));
                    }
                    self.touch(space(start), word * 4, touch);
                }
            }
        }
        if kind == AccessKind::Atomic {
            self.order.atomic(touch.warp);
        }
    }

    fn strided(&mut self, strided: &Strided<'_>) {
        let orders = strided.patterns.iter().any(|pattern| pattern.kind == AccessKind::Atomic);
        if orders || self.only.as_ref().is_none_or(|only| only.may_contain(strided)) {
            strided.each(|accesses| self.accesses(accesses));
        }
    }

    fn barrier(&mut self, group: u64) {
        self.order.barrier(group);
    }

    fn is_done(&self) -> bool {
        self.only_repeats()
    }
}

/// Whether each lane accesses one word of a line.
fn is_line(accesses: &Accesses<'_>) -> bool {
    let Accesses { size, lanes, addresses, .. } = *accesses;
    let Some([first, rest @ ..]) = addresses.get(..LINE) else { return false };
    let follows = |(word, address): (usize, &u64)| *address == first.wrapping_add(4 * (word as u64 + 1));
    size == 4 && lanes == WHOLE && first % LINE_BYTES == 0 && rest.iter().enumerate().all(follows)
}

/// Whether several lanes may access the same address.
fn may_repeat(accesses: &Accesses<'_>) -> bool {
    let Accesses { lanes, addresses, .. } = *accesses;
    let mut seen = [0u64; 16];
    let mut left = lanes;
    while left != 0 {
        let hash = spread(addresses.get(left.trailing_zeros() as usize).copied().unwrap_or_default(), 10);
        let bit = 1 << (hash % 64);
        if seen[hash / 64] & bit != 0 {
            return true;
        }
        seen[hash / 64] |= bit;
        left &= left - 1;
    }
    false
}
