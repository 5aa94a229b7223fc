//! Detects data races: two threads access the same bytes of memory, at least one of them writes, and no barrier or
//! atomic orders the accesses.
//!
//! The last accesses to each word of memory are recorded. Two accesses are ordered if
//!
//! - they are by the same thread, or both are atomic,
//! - their threads share barriers, and their workgroup has passed one in between, or
//! - the first thread executes an atomic after its access, and the second executes a later atomic before its own
//!   access. A barrier between an access and an atomic extends the atomic of one thread to its whole workgroup.
//!
//! Acquiring or releasing a lock counts as an atomic of all threads of the warp. An atomic orders accesses whatever its
//! address: every reported race is real, but not every race is reported. Memory use is bounded: the last three accesses
//! are kept per word, the last atomics per thread and workgroup, and only the first [`Races::WORDS`] words that are
//! accessed.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::ops::ControlFlow;

use isaforge_runtime::Memory;
use isaforge_runtime::machine::{Access, AccessKind, Observer, View};

/// The number of accesses kept per word.
const TOUCHES: usize = 3;
/// The number of atomics kept per thread, and of barriers and atomics kept per workgroup.
const KEPT: usize = 16;

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
    /// The address of the word.
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

#[derive(Clone, Copy, Debug)]
struct Touch {
    id: u64,
    group: u64,
    epoch: u32,
    /// The number of atomics that all threads had executed before.
    clock: u64,
    bytes: u8,
    side: Side,
}

#[derive(Debug, Default)]
struct Group {
    /// The number of barriers passed.
    epoch: u32,
    /// The clock at the last barriers, with the epoch that each started.
    barriers: VecDeque<(u32, u64)>,
    /// The times at which its threads executed atomics.
    atomics: VecDeque<u64>,
    /// The last atomic of its threads before the last barrier.
    acquired: u64,
}

/// Detects races while a program runs.
#[derive(Debug, Default)]
pub struct Races {
    /// One race for each pair of instructions, at most [`Races::MOST`].
    pub found: Vec<Race>,
    /// The number of pairs of accesses that raced.
    pub count: u64,
    /// Whether some words were not tracked for lack of space.
    pub partial: bool,
    pairs: HashSet<(u64, u64)>,
    words: HashMap<(u64, u64), [Option<Touch>; TOUCHES]>,
    threads: HashMap<u64, VecDeque<u64>>,
    groups: HashMap<u64, Group>,
    clock: u64,
}

impl Races {
    /// The maximum number of races that are kept.
    pub const MOST: usize = 64;
    /// The maximum number of words that are tracked.
    pub const WORDS: usize = 1 << 21;

    /// Whether the second access follows the first one in every schedule.
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
            let barrier = group.barriers.iter().find(|(epoch, _)| *epoch > first.epoch)?;
            next(&group.atomics, barrier.1)
        });
        [own, group].into_iter().flatten().any(|released| released <= acquired)
    }

    fn touch(&mut self, view: &dyn View, access: &Access) {
        let (at, group) = (view.at(), view.group());
        let lane = usize::from(access.lane);
        let id = at.warp << 6 | lane as u64;
        let side = Side { thread: view.thread(lane), pc: at.pc, kind: access.kind };
        // Reserved addresses refer to separate memory in each workgroup.
        let space = if Memory::RESERVED.contains(&access.address) { group.wrapping_add(1) } else { 0 };
        let epoch = self.groups.get(&group).map_or(0, |group| group.epoch);
        let (first, end) = (access.address, access.address.saturating_add(access.size.into()));
        // Locks do not access memory.
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
            // Replace an access of the same thread and kind, or else one that is ordered with this one, or else the
            // oldest.
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

/// The first time after a clock. If that time may have been dropped, assumes the earliest possible one.
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
