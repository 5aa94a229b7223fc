//! Races: two threads touch the same bytes of memory, one of them writes, and no barrier or atomic is between.
//!
//! Each word of memory keeps the last accesses to it. Two accesses are in order if
//!
//! - one thread makes both, or both are atomic,
//! - the threads wait for each other at a barrier, and their group has passed one between, or
//! - the first thread executes an atomic after its access, and the second one before its own, and later than that. A barrier
//!   between an access and an atomic makes the atomic of one thread count for all of its group.
//!
//! Taking a lock or giving it back counts as an atomic of all threads of the warp. An atomic orders whatever its address: what is reported is a race, and not every race is reported. Memory is bounded: of
//! a word three accesses are known, of a thread and of a group the last atomics, and of memory the first
//! [`Races::WORDS`] words that are touched.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::ops::ControlFlow;

use isaforge_runtime::Memory;
use isaforge_runtime::machine::{Access, AccessKind, Observer, View};

/// Accesses to a word that are known.
const TOUCHES: usize = 3;
/// Atomics of a thread, and barriers and atomics of a group, that are known.
const KEPT: usize = 16;

/// One side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The place of the thread in the whole run.
    pub thread: [u32; 3],
    /// The place of the instruction.
    pub pc: u64,
    /// What it does.
    pub kind: AccessKind,
}

/// Two accesses that nothing puts in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The word of memory.
    pub address: u64,
    /// Who came first this time, and who second.
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

#[derive(Clone, Copy, Debug)]
struct Touch {
    id: u64,
    group: u64,
    epoch: u32,
    /// Atomics that all threads had executed before.
    clock: u64,
    bytes: u8,
    side: Side,
}

#[derive(Debug, Default)]
struct Group {
    /// Barriers passed.
    epoch: u32,
    /// The clock at the last of them, by the epoch that began there.
    barriers: VecDeque<(u32, u64)>,
    /// When its threads executed atomics.
    atomics: VecDeque<u64>,
    /// The last atomic of its threads before the last barrier.
    acquired: u64,
}

/// Finds races while a program runs.
#[derive(Debug, Default)]
pub struct Races {
    /// A race for each pair of instructions, at most [`Races::MOST`].
    pub found: Vec<Race>,
    /// How many pairs of accesses raced.
    pub count: u64,
    /// Whether there were more words than can be kept.
    pub partial: bool,
    pairs: HashSet<(u64, u64)>,
    words: HashMap<(u64, u64), [Option<Touch>; TOUCHES]>,
    threads: HashMap<u64, VecDeque<u64>>,
    groups: HashMap<u64, Group>,
    clock: u64,
}

impl Races {
    /// Races that are kept.
    pub const MOST: usize = 64;
    /// Words of memory whose accesses are known.
    pub const WORDS: usize = 1 << 21;

    /// Whether the second access comes after the first one in every order of threads.
    fn in_order(&self, first: &Touch, second: &Touch) -> bool {
        if first.id == second.id || first.side.kind == AccessKind::Atomic && second.side.kind == AccessKind::Atomic {
            return true;
        }
        if first.group == second.group && first.epoch != second.epoch {
            return true;
        }
        let last = self.threads.get(&second.id).and_then(|times| times.back().copied()).unwrap_or(0);
        let acquired = last.max(self.groups.get(&second.group).map_or(0, |group| group.acquired));
        let own = self.threads.get(&first.id).and_then(|times| next(times, first.clock));
        let group = self.groups.get(&first.group).and_then(|group| {
            let behind = group.barriers.iter().find(|(epoch, _)| *epoch > first.epoch)?;
            next(&group.atomics, behind.1)
        });
        [own, group].into_iter().flatten().any(|released| released <= acquired)
    }

    fn touch(&mut self, view: &dyn View, access: &Access) {
        let (at, group) = (view.at(), view.group());
        let lane = usize::from(access.lane);
        let id = at.warp << 6 | lane as u64;
        let side = Side { thread: view.thread(lane), pc: at.pc, kind: access.kind };
        // What is at the same address for each group is another memory for each.
        let space = if Memory::RESERVED.contains(&access.address) { group.wrapping_add(1) } else { 0 };
        let epoch = self.groups.get(&group).map_or(0, |group| group.epoch);
        let (first, end) = (access.address, access.address.saturating_add(access.size.into()));
        // A lock is no memory.
        let words = if access.size == 0 { 0..0 } else { first / 4..end.div_ceil(4) };
        for word in words {
            let inside = |byte: &u64| (first..end).contains(&(word * 4 + byte));
            let bytes = (0..4).filter(inside).fold(0, |bytes, byte| bytes | 1 << byte);
            let touch = Touch { id, group, epoch, clock: self.clock, bytes, side };
            if self.words.len() >= Self::WORDS && !self.words.contains_key(&(space, word)) {
                self.partial = true;
                continue;
            }
            let mut known = self.words.get(&(space, word)).copied().unwrap_or_default();
            for other in known.iter().flatten() {
                let writes = [other.side.kind, access.kind].iter().any(|kind| *kind != AccessKind::Load);
                if writes && other.bytes & bytes != 0 && !self.in_order(other, &touch) {
                    self.count += 1;
                    let pair = (other.side.pc.min(at.pc), other.side.pc.max(at.pc));
                    if self.found.len() < Self::MOST && self.pairs.insert(pair) {
                        self.found.push(Race { address: word * 4, sides: [other.side, side] });
                    }
                }
            }
            // An access takes the place of one of the same sort, then of one that is in order with it, then of the oldest.
            let same = |old: &Option<Touch>| old.is_some_and(|old| old.id == id && old.side.kind == access.kind);
            let past =
                |old: &Option<Touch>| old.is_none_or(|old| old.bytes & !bytes == 0 && self.in_order(&old, &touch));
            let place = known.iter().position(same).or_else(|| known.iter().position(past)).unwrap_or(0);
            known[place..].rotate_left(1);
            known[TOUCHES - 1] = Some(touch);
            self.words.insert((space, word), known);
        }
        if access.kind == AccessKind::Atomic {
            self.clock += 1;
            let clock = self.clock;
            keep(self.threads.entry(id).or_default(), clock);
            keep(&mut self.groups.entry(group).or_default().atomics, clock);
        }
    }
}

/// The first time behind a clock. Where it may have been forgotten it is taken to be the earliest possible.
fn next(times: &VecDeque<u64>, clock: u64) -> Option<u64> {
    match times.front() {
        Some(first) if times.len() == KEPT && *first > clock + 1 => Some(clock + 1),
        _ => times.iter().copied().find(|time| *time > clock),
    }
}

fn keep<T>(times: &mut VecDeque<T>, time: T) {
    if times.len() == KEPT {
        times.pop_front();
    }
    times.push_back(time);
}

impl Observer for Races {
    fn after(&mut self, view: &dyn View) -> ControlFlow<()> {
        for access in view.accesses() {
            self.touch(view, access);
        }
        ControlFlow::Continue(())
    }

    fn barrier(&mut self, group: u64) {
        let clock = self.clock;
        let group = self.groups.entry(group).or_default();
        group.epoch += 1;
        group.acquired = group.atomics.back().copied().unwrap_or(group.acquired);
        keep(&mut group.barriers, (group.epoch, clock));
    }
}
