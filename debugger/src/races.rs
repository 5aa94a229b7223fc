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
//! race is real, but not every race is reported. Memory use is bounded: the last three accesses are kept per word, the
//! last atomics per warp and workgroup, and only the first [`Races::WORDS`] words and [`Races::WARPS`] warps that
//! access memory.
//!
//! Most accesses are to a whole line of memory, one word by each lane of a warp. As long as a line is only accessed
//! like that, its words share their record.
//!
//! Most programs have no races, and for most of those the ranges of their accesses show it. So a program first runs
//! while ranges are compared, and a second time, word by word, if that is not enough.
//!
//! - `suspects`: compares ranges
//! - `order`: warps, workgroups, and what orders their accesses

mod order;
mod suspects;

use std::collections::{HashMap, HashSet};
use std::fmt;

use isaforge_runtime::machine::{AccessKind, AccessObserver, Accesses, Machine};
use isaforge_runtime::{Deadline, Execution, Memory};

use order::Order;
use suspects::Suspects;

/// The number of accesses kept per word.
const TOUCHES: usize = 3;
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

/// The threads that make an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lanes {
    /// Lane `n` accesses word `n` of the line.
    Line,
    /// These lanes access the same word.
    Word(u64),
}

/// An access to a word, or to each word of a line.
#[derive(Clone, Copy, Debug)]
struct Touch {
    /// The warp, as an index into [`Races::warps`].
    warp: u32,
    /// The number of barriers that the workgroup had passed.
    epoch: u32,
    /// The number of atomics that all warps had executed before.
    clock: u64,
    lanes: Lanes,
    pc: u64,
    kind: AccessKind,
    /// The accessed bytes of the word, as bits.
    bytes: u8,
}

/// The last accesses, the most recent last.
type Touches = [Option<Touch>; TOUCHES];

/// What is known of a line of memory.
#[derive(Debug, Default)]
struct Line {
    /// The accesses to all of its words at once.
    whole: Touches,
    /// The accesses to each word, once there were others.
    words: Option<Box<[Touches; LINE]>>,
}

impl Line {
    fn is_untouched(&self) -> bool {
        self.words.is_none() && self.whole.iter().all(Option::is_none)
    }

    /// Returns the accesses to each word, which have their own record from now on.
    fn words(&mut self) -> &mut [Touches; LINE] {
        self.words.get_or_insert_with(|| {
            let mut words = Box::new([Touches::default(); LINE]);
            for (word, touches) in words.iter_mut().enumerate() {
                for (touch, whole) in touches.iter_mut().zip(&self.whole) {
                    *touch = whole.map(|touch| touch.of_word(word));
                }
            }
            words
        })
    }
}

/// Detects races while a program runs.
#[derive(Debug, Default)]
pub struct Races {
    /// One race for each pair of instructions, at most [`Races::MAX_FOUND`].
    pub found: Vec<Race>,
    /// The number of pairs of accesses that raced.
    pub count: u64,
    /// Whether some accesses were not tracked for lack of space.
    pub partial: bool,
    pairs: HashSet<(u64, u64)>,
    order: Order,
    /// The lines at each address, with a space of addresses for each workgroup: an index into `pages`.
    places: HashMap<(u64, u64), u32>,
    pages: Vec<[Line; LINES]>,
    /// The number of lines that were accessed.
    lines: usize,
    /// The place that was accessed last.
    last: Option<((u64, u64), u32)>,
    /// The address spaces with a memory of their own; those of workgroups are counted from 0, and these from the end.
    spaces: Vec<&'static str>,
}

impl Lanes {
    /// Whether one thread accesses each word.
    fn is_one(self) -> bool {
        match self {
            Lanes::Line => true,
            Lanes::Word(lanes) => lanes.is_power_of_two(),
        }
    }
}

impl Touch {
    /// Whether both are by the same thread, at each word.
    fn is_by_thread_of(&self, other: &Touch) -> bool {
        self.warp == other.warp && self.lanes == other.lanes && self.lanes.is_one()
    }

    /// Returns the access to one word of an access to a line.
    fn of_word(self, word: usize) -> Self {
        match self.lanes {
            Lanes::Line => Touch { lanes: Lanes::Word(1 << word), ..self },
            Lanes::Word(_) => self,
        }
    }
}

impl Races {
    /// The maximum number of races that are kept.
    pub const MAX_FOUND: usize = 64;
    /// The maximum number of words that are tracked.
    pub const WORDS: usize = 1 << 21;
    /// The maximum number of warps that are tracked.
    pub const WARPS: usize = 1 << 20;

    /// Runs a program, and detects its races. If that takes two runs, the first one gets half of the time.
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
        if is_over && suspects.are_clear() { ended } else { machine.run_accesses(self, execution, until) }
    }

    /// Returns the index of the lines around an address. `None` if too many lines are tracked.
    fn page(&mut self, space: u64, address: u64) -> Option<usize> {
        let key = (space, address / PAGE_BYTES);
        if let Some((_, index)) = self.last.filter(|(last, _)| *last == key) {
            return Some(index as usize);
        }
        let index = match self.places.get(&key) {
            Some(index) => *index,
            None if self.lines >= Self::WORDS / LINE => return None,
            None => {
                self.pages.push(Default::default());
                let index = self.pages.len() as u32 - 1;
                self.places.insert(key, index);
                index
            }
        };
        self.last = Some((key, index));
        Some(index as usize)
    }

    /// Records an access to a word, or to all words of a line.
    fn touch(&mut self, space: u64, address: u64, touch: Touch) {
        let line = (address / LINE_BYTES) as usize % LINES;
        let Some(page) = self.page(space, address) else {
            self.partial = true;
            return;
        };
        let mut found = Found { order: &self.order, count: 0, races: Vec::new() };
        let known = &mut self.pages[page][line];
        self.lines += usize::from(known.is_untouched());
        match &mut known.words {
            None if touch.lanes == Lanes::Line => found.add(&mut known.whole, touch, address, LINE as u64),
            Some(words) if touch.lanes == Lanes::Line => {
                for (word, touches) in words.iter_mut().enumerate() {
                    found.add(touches, touch.of_word(word), address + 4 * word as u64, 1);
                }
            }
            _ => found.add(&mut known.words()[(address / 4) as usize % LINE], touch, address, 1),
        }
        let Found { count, races, .. } = found;
        self.count += count;
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

    fn keep(&mut self, space: u64, race: Race) {
        let name = usize::try_from(u64::MAX - space).ok().and_then(|index| self.spaces.get(index));
        let race = Race { space: name.copied(), ..race };
        let [one, other] = race.sides.map(|side| side.pc);
        if self.found.len() < Self::MAX_FOUND && self.pairs.insert((one.min(other), one.max(other))) {
            self.found.push(race);
        }
    }
}

/// The races of an access.
struct Found<'a> {
    order: &'a Order,
    count: u64,
    races: Vec<Race>,
}

impl Found<'_> {
    /// Whether a load races with nothing so far, and earlier loads race with whatever it will race with: those by two
    /// threads of the same workgroup since its last barrier, when there are no atomics.
    fn is_covered(&self, known: &Touches, touch: &Touch) -> bool {
        if self.order.has_atomics() || touch.kind != AccessKind::Load {
            return false;
        }
        let group = self.order.group_of(touch);
        let is_alike = |old: &&Touch| {
            old.kind == AccessKind::Load
                && old.epoch == touch.epoch
                && touch.bytes & !old.bytes == 0
                && self.order.group_of(old) == group
        };
        let mut alike = known.iter().flatten().filter(is_alike);
        let Some(first) = alike.next() else { return false };
        (!first.lanes.is_one() || alike.any(|other| !other.is_by_thread_of(first)))
            && known.iter().flatten().all(|old| old.kind == AccessKind::Load || self.order.in_order(old, touch))
    }

    /// Compares an access to the earlier ones, and records it.
    fn add(&mut self, known: &mut Touches, touch: Touch, address: u64, words: u64) {
        if self.is_covered(known, &touch) {
            return;
        }
        for other in known.iter().flatten() {
            let writes = other.kind != AccessKind::Load || touch.kind != AccessKind::Load;
            if writes && other.bytes & touch.bytes != 0 && !self.order.in_order(other, &touch) {
                self.count += words;
                if self.races.len() < LINE {
                    self.races.push(self.order.race(other, &touch, address));
                }
            }
        }
        // Replace an access of the same threads and kind, or else one that is ordered with this one, or else the
        // oldest.
        let same = |old: &Option<Touch>| {
            old.is_some_and(|old| old.warp == touch.warp && old.lanes == touch.lanes && old.kind == touch.kind)
        };
        let past = |old: &Option<Touch>| {
            old.is_none_or(|old| old.bytes & !touch.bytes == 0 && self.order.in_order(&old, &touch))
        };
        let place = known.iter().position(same).or_else(|| known.iter().position(past)).unwrap_or(0);
        for later in place + 1..TOUCHES {
            known[later - 1] = known[later];
        }
        known[TOUCHES - 1] = Some(touch);
    }
}

impl AccessObserver for Races {
    fn accesses(&mut self, accesses: &Accesses<'_>) {
        let &Accesses { kind, size, lanes, addresses, pc, .. } = accesses;
        let Some(warp) = self.order.warp(accesses) else {
            self.partial = true;
            return;
        };
        let (epoch, clock) = self.order.now(warp);
        let space = accesses.space.map(|name| self.space(name));
        // Reserved addresses refer to separate memory in each workgroup.
        let space = |address: u64| match space {
            Some(space) => space,
            None if Memory::RESERVED.contains(&address) => accesses.group.wrapping_add(1),
            None => 0,
        };
        let touch = |lanes: Lanes, bytes: u8| Touch { warp, epoch, clock, lanes, pc, kind, bytes };
        let first = addresses.get(lanes.trailing_zeros() as usize).copied().unwrap_or(0);
        if is_line(accesses) {
            self.touch(space(first), first, touch(Lanes::Line, 0xf));
        } else if size > 0 {
            let mut left = lanes;
            while left != 0 {
                // The lanes that access the same words.
                let start = addresses.get(left.trailing_zeros() as usize).copied().unwrap_or_default();
                let alike = |all: u64, (lane, address): (usize, &u64)| all | u64::from(*address == start) << lane;
                let lanes = left & addresses.iter().take(64).enumerate().fold(1 << left.trailing_zeros(), alike);
                left &= !lanes;
                let end = start.saturating_add(size.into());
                for word in start / 4..end.div_ceil(4) {
                    let inside = |byte: &u64| (start..end).contains(&(word * 4 + byte));
                    let bytes = (0..4).filter(inside).fold(0, |bytes, byte| bytes | 1 << byte);
                    let touch = touch(Lanes::Word(lanes), bytes);
                    if kind == AccessKind::Store && !touch.lanes.is_one() {
                        // These lanes store to the same word at once.
                        self.count += u64::from(lanes.count_ones()) - 1;
                        self.keep(space(start), self.order.race(&touch, &touch, word * 4));
                    }
                    self.touch(space(start), word * 4, touch);
                }
            }
        }
        if kind == AccessKind::Atomic {
            self.order.atomic(warp);
        }
    }

    fn barrier(&mut self, group: u64) {
        self.order.barrier(group);
    }
}

/// Whether each lane accesses one word of a line.
fn is_line(accesses: &Accesses<'_>) -> bool {
    let Accesses { size, lanes, addresses, .. } = *accesses;
    let Some([first, rest @ ..]) = addresses.get(..LINE) else { return false };
    let follows = |(word, address): (usize, &u64)| *address == first.wrapping_add(4 * (word as u64 + 1));
    size == 4 && lanes == WHOLE && first % LINE_BYTES == 0 && rest.iter().enumerate().all(follows)
}
