//! What orders accesses: barriers and atomics.

use std::collections::{HashMap, VecDeque};

use isaforge_runtime::machine::{AccessKind, Accesses};

use super::{LINE, Lanes, Race, Races, Side, Touch};

/// The number of atomics kept per warp, and of barriers and atomics kept per workgroup.
const KEPT: usize = 16;

#[derive(Debug)]
struct Warp {
    /// Its group, as an index into [`Order::groups`].
    group: u32,
    /// The thread of each lane.
    threads: Box<[[u32; 3]]>,
    /// The times at which it executed atomics.
    atomics: VecDeque<u64>,
}

#[derive(Debug, Default)]
struct Group {
    /// The number of barriers passed.
    epoch: u32,
    /// The clock at the last barriers, with the epoch that each started.
    barriers: VecDeque<(u32, u64)>,
    /// The times at which its warps executed atomics.
    atomics: VecDeque<u64>,
    /// The last atomic of its warps before the last barrier.
    acquired: u64,
}

/// What orders accesses.
#[derive(Debug, Default)]
pub(super) struct Order {
    warps: Vec<Warp>,
    groups: Vec<Group>,
    warp_numbers: HashMap<u64, u32>,
    group_numbers: HashMap<u64, u32>,
    /// The warps that made an access recently, by a hash of their number.
    recent: [Option<(u64, u32)>; RECENT],
    /// The number of atomics so far.
    clock: u64,
}

/// The number of warps that are found without a search.
const RECENT: usize = 32;

impl Order {
    /// Returns the index of a warp. `None` if there are too many of them.
    pub(super) fn warp(&mut self, accesses: &Accesses<'_>) -> Option<u32> {
        let number = accesses.warp;
        let place = (number ^ number >> 6) as usize % RECENT;
        if let Some((_, index)) = self.recent[place].filter(|(recent, _)| *recent == number) {
            return Some(index);
        }
        let index = match self.warp_numbers.get(&number) {
            Some(index) => *index,
            None if self.warps.len() >= Races::WARPS => return None,
            None => {
                let group = self.group(accesses.group);
                let threads = (0..accesses.addresses.len()).map(accesses.thread).collect();
                self.warps.push(Warp { group, threads, atomics: VecDeque::new() });
                let index = self.warps.len() as u32 - 1;
                self.warp_numbers.insert(number, index);
                index
            }
        };
        self.recent[place] = Some((number, index));
        Some(index)
    }

    /// Returns the index of a group. There are no more of them than warps.
    fn group(&mut self, number: u64) -> u32 {
        let groups = &mut self.groups;
        *self.group_numbers.entry(number).or_insert_with(|| {
            groups.push(Group::default());
            groups.len() as u32 - 1
        })
    }

    fn warp_at(&self, touch: &Touch) -> &Warp {
        &self.warps[touch.warp as usize]
    }

    /// Returns the group of the warp that makes an access.
    pub(super) fn group_of(&self, touch: &Touch) -> u32 {
        self.warp_at(touch).group
    }

    /// Returns the number of barriers that the workgroup of a warp has passed, and of atomics that all warps have
    /// executed.
    pub(super) fn now(&self, warp: u32) -> (u32, u64) {
        let group = self.warps[warp as usize].group;
        (self.groups[group as usize].epoch, self.clock)
    }

    /// Whether there were any atomics.
    pub(super) fn has_atomics(&self) -> bool {
        self.clock != 0
    }

    /// Records an atomic of a warp.
    pub(super) fn atomic(&mut self, warp: u32) {
        self.clock += 1;
        let warp = &mut self.warps[warp as usize];
        keep(&mut warp.atomics, self.clock);
        keep(&mut self.groups[warp.group as usize].atomics, self.clock);
    }

    /// Records that the warps of a group have met at a barrier.
    pub(super) fn barrier(&mut self, group: u64) {
        // The barriers of groups that have not accessed memory order nothing.
        let Some(index) = self.group_numbers.get(&group) else { return };
        let group = &mut self.groups[*index as usize];
        group.epoch += 1;
        group.acquired = group.atomics.back().copied().unwrap_or(group.acquired);
        keep(&mut group.barriers, (group.epoch, self.clock));
    }

    /// Whether the second access follows the first one in every schedule.
    pub(super) fn in_order(&self, first: &Touch, second: &Touch) -> bool {
        if first.is_by_thread_of(second) || first.kind == AccessKind::Atomic && second.kind == AccessKind::Atomic {
            return true;
        }
        let [one, other] = [first, second].map(|touch| self.warp_at(touch));
        if one.group == other.group && first.epoch != second.epoch {
            return true;
        }
        if self.clock == 0 {
            return false;
        }
        let [from, to] = [one, other].map(|warp| &self.groups[warp.group as usize]);
        let acquired = other.atomics.back().copied().unwrap_or(0).max(to.acquired);
        let own = next(&one.atomics, first.clock);
        let group = from.barriers.iter().find(|(epoch, _)| *epoch > first.epoch);
        let group = group.and_then(|barrier| next(&from.atomics, barrier.1));
        // One atomic of a warp does not order its own lanes.
        [own, group].into_iter().flatten().any(|released| released < acquired)
    }

    /// Returns the race of two accesses to bytes of the word at `address`, as one of two different threads.
    pub(super) fn race(&self, first: &Touch, second: &Touch, address: u64) -> Race {
        let lanes = [first, second].map(|touch| match touch.lanes {
            Lanes::Line => 1 << ((address / 4) as usize % LINE),
            Lanes::Word(lanes) => lanes,
        });
        let lowest = |lanes: u64| lanes.trailing_zeros() as usize;
        let [mut one, mut other] = lanes.map(lowest);
        if first.warp == second.warp && one == other {
            let rest = lanes.map(|lanes| lanes & lanes.wrapping_sub(1));
            (one, other) = if rest[1] != 0 { (one, lowest(rest[1])) } else { (lowest(rest[0]), other) };
        }
        let side = |touch: &Touch, lane: usize| {
            let thread = self.warp_at(touch).threads.get(lane).copied().unwrap_or_default();
            Side { thread, pc: touch.pc, kind: touch.kind }
        };
        let address = address + u64::from((first.bytes & second.bytes).trailing_zeros() % 4);
        Race { space: None, address, sides: [side(first, one), side(second, other)] }
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
