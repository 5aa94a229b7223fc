//! What orders accesses: barriers and atomics.

use std::collections::VecDeque;

use isaforge_runtime::machine::{AccessKind, Accesses};

use super::indices::Indices;
use super::touch::{Lanes, Touch};
use super::{LINE, Race, Races, Side};

/// The number of atomics kept per warp, and of barriers and atomics kept per workgroup.
const KEPT: usize = 16;

#[derive(Debug)]
struct Warp {
    /// The thread of each lane.
    threads: Box<[[u32; 3]]>,
    /// The times at which it executed atomics.
    atomics: VecDeque<u64>,
    /// The last of them.
    acquired: u64,
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
    /// The group of each warp, as an index into `groups`.
    warp_groups: Vec<u32>,
    groups: Vec<Group>,
    warp_numbers: Indices,
    group_numbers: Indices,
    /// The addresses of instructions that access memory.
    pcs: Vec<u64>,
    pc_numbers: Indices,
    /// Several lanes that have accessed the same word at once.
    masks: Vec<u64>,
    mask_numbers: Indices,
    /// The number of atomics so far.
    clock: u64,
}

impl Order {
    /// Returns the index of a warp. `None` if there are too many of them.
    fn warp(&mut self, accesses: &Accesses<'_>) -> Option<u32> {
        let number = [0, accesses.warp];
        if let Some(index) = self.warp_numbers.get(number) {
            return Some(index);
        }
        if self.warps.len() >= Races::WARPS {
            return None;
        }
        let group = self.group(accesses.group);
        let threads = (0..accesses.addresses.len()).map(accesses.thread).collect();
        self.warps.push(Warp { threads, atomics: VecDeque::new(), acquired: 0 });
        self.warp_groups.push(group);
        Some(self.warp_numbers.insert(number))
    }

    /// Returns the index of a group. There are no more of them than warps.
    fn group(&mut self, number: u64) -> u32 {
        self.group_numbers.of(number, || self.groups.push(Group::default()))
    }

    fn warp_at(&self, touch: &Touch) -> &Warp {
        &self.warps[touch.warp as usize]
    }

    /// Returns the group of the warp that makes an access.
    pub(super) fn group_of(&self, touch: &Touch) -> u32 {
        self.warp_groups[touch.warp as usize]
    }

    /// Returns the access of one lane of each word. `None` if there are too many warps, instructions or atomics.
    pub(super) fn touch(&mut self, accesses: &Accesses<'_>) -> Option<Touch> {
        let warp = self.warp(accesses)?;
        let epoch = self.groups[self.warp_groups[warp as usize] as usize].epoch;
        let site = self.pc_numbers.of(accesses.pc, || self.pcs.push(accesses.pc));
        let clock = u32::try_from(self.clock).ok()?;
        (site < Touch::SITES).then(|| Touch::new([warp, epoch, clock], site, accesses.kind))
    }

    /// Returns the number of lanes that access the same word.
    pub(super) fn lanes(&mut self, lanes: u64) -> Lanes {
        if lanes.is_power_of_two() {
            return Lanes(lanes.trailing_zeros());
        }
        Lanes(Lanes::SEVERAL + self.mask_numbers.of(lanes, || self.masks.push(lanes)))
    }

    /// Returns the address of the instruction of an access.
    pub(super) fn pc(&self, touch: &Touch) -> u64 {
        self.pcs[touch.site() as usize]
    }

    /// Whether there were any atomics.
    pub(super) fn has_atomics(&self) -> bool {
        self.clock != 0
    }

    /// Records an atomic of a warp.
    pub(super) fn atomic(&mut self, warp: u32) {
        self.clock += 1;
        let group = self.warp_groups[warp as usize];
        let warp = &mut self.warps[warp as usize];
        warp.acquired = self.clock;
        keep(&mut warp.atomics, self.clock);
        keep(&mut self.groups[group as usize].atomics, self.clock);
    }

    /// Records that the warps of a group have met at a barrier.
    pub(super) fn barrier(&mut self, group: u64) {
        // The barriers of groups that have not accessed memory order nothing.
        let Some(index) = self.group_numbers.get([0, group]) else { return };
        let group = &mut self.groups[index as usize];
        group.epoch += 1;
        group.acquired = group.atomics.back().copied().unwrap_or(group.acquired);
        keep(&mut group.barriers, (group.epoch, self.clock));
    }

    /// Whether the second access follows the first one in every schedule.
    #[inline(always)]
    pub(super) fn in_order(&self, first: &Touch, second: &Touch) -> bool {
        first.is_by_thread_of(second)
            || [first.kind(), second.kind()] == [AccessKind::Atomic; 2]
            || first.epoch != second.epoch && self.group_of(first) == self.group_of(second)
            || self.clock != 0 && self.are_ordered_by_atomics(first, second)
    }

    #[inline(never)]
    fn are_ordered_by_atomics(&self, first: &Touch, second: &Touch) -> bool {
        let groups = [first, second].map(|touch| self.group_of(touch));
        let [one, other] = [first, second].map(|touch| self.warp_at(touch));
        let [from, to] = groups.map(|group| &self.groups[group as usize]);
        let acquired = other.acquired.max(to.acquired);
        let clock = u64::from(first.clock);
        if acquired <= clock + 1 {
            return false;
        }
        let own = next(&one.atomics, clock);
        let group = from.barriers.iter().find(|(epoch, _)| *epoch > first.epoch);
        let group = group.and_then(|barrier| next(&from.atomics, barrier.1));
        // One atomic of a warp does not order its own lanes.
        [own, group].into_iter().flatten().any(|released| released < acquired)
    }

    /// Returns the race of two accesses to bytes of the word at `address`, as one of two different threads.
    pub(super) fn race(&self, first: &Touch, second: &Touch, address: u64) -> Race {
        let lanes = [first, second].map(|touch| match touch.lanes {
            Lanes::LINE => 1 << ((address / 4) as usize % LINE),
            Lanes(lane) if lane < Lanes::SEVERAL => 1 << lane,
            Lanes(several) => self.masks[(several - Lanes::SEVERAL) as usize],
        });
        let lowest = |lanes: u64| lanes.trailing_zeros() as usize;
        let [mut one, mut other] = lanes.map(lowest);
        if first.warp == second.warp && one == other {
            let rest = lanes.map(|lanes| lanes & lanes.wrapping_sub(1));
            (one, other) = if rest[1] != 0 { (one, lowest(rest[1])) } else { (lowest(rest[0]), other) };
        }
        let side = |touch: &Touch, lane: usize| {
            let thread = self.warp_at(touch).threads.get(lane).copied().unwrap_or_default();
            Side { thread, pc: self.pc(touch), kind: touch.kind() }
        };
        let address = address + u64::from((first.bytes() & second.bytes()).trailing_zeros() % 4);
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
