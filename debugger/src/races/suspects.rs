//! Finds programs that cannot have races from the ranges of memory that they access.

use std::collections::HashMap;

use isaforge_core::bits::ones;
use isaforge_runtime::Memory;
use isaforge_runtime::machine::{AccessKind, AccessObserver, Accesses, Pattern, Strided, StridedWarp};

/// The maximum number of ranges kept for one memory.
const MAX_RANGES: usize = 1 << 20;
/// The most groups that are kept.
const GROUPS: usize = 1 << 18;
/// The most bytes between loads that are compared as one range.
const NEAR: u64 = 1 << 12;
/// The last lane of a warp that makes accesses at regular distances.
const LAST: u32 = StridedWarp::LANES as u32 - 1;
/// The most comparisons for each range.
const WORK: usize = 64;

/// Whether a program may have races: two ranges overlap, at least one of them is written, and nothing shows that each
/// byte is accessed by one thread only, or that a barrier separates the accesses.
///
/// The memory of a workgroup is compared at each of its barriers, and global memory at the end.
#[derive(Debug, Default)]
pub(super) struct Suspects {
    /// Whether some accesses may race.
    found: bool,
    global: Ranges,
    groups: Vec<Group>,
    /// The index of each group, and the group that was accessed last.
    numbers: HashMap<u64, usize>,
    last: Option<(u64, usize)>,
    /// The patterns of an event, as memory that is used again.
    wide: Vec<Wide>,
}

/// What is known of a group.
#[derive(Debug, Default)]
struct Group {
    /// The number of barriers passed.
    epoch: u32,
    /// The accesses to its own memory since the last of them.
    own: Ranges,
}

/// Bytes that some threads access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Range {
    start: u64,
    end: u64,
    kind: AccessKind,
    group: u64,
    epoch: u32,
    /// Which thread accesses which byte; `None` if several may access the same.
    owners: Option<Owners>,
    /// Its parts, if there are gaps between them.
    parts: Parts,
}

/// Parts of a range at regular distances: of warps, and of repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Parts {
    warps: u8,
    /// The bytes that a warp may access.
    width: u32,
    /// The number of further repetitions, and the bytes from one to the next.
    more: u32,
    stride: u32,
}

impl Parts {
    const ONE: Self = Parts { warps: 1, width: 0, more: 0, stride: 0 };

    fn count(self) -> u64 {
        (u64::from(self.more) + 1) * u64::from(self.warps)
    }
}

/// The threads at regular distances: lane 0 of each warp is at an address, and the next warp is further by a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Owners {
    warp: u64,
    /// Whether there is only this warp.
    alone: bool,
    address: u64,
    lane: u64,
    column: u64,
}

impl Owners {
    /// Returns the owners of what one lane accesses: as if the other lanes accessed the words around, or the bytes
    /// around if these are more.
    fn of_one(self, address: u64, lane: u32, size: u64) -> Self {
        let step = size.max(4);
        Owners { address: address.wrapping_sub(step.wrapping_mul(lane.into())), lane: step, ..self }
    }

    /// Whether the same thread accesses each byte that both contain.
    fn agree(&self, other: &Self) -> bool {
        let (one, other) = if self.alone { (other, self) } else { (self, other) };
        // The warps of one, continued to the first one of the other.
        let ahead = one.column.wrapping_mul(other.warp.wrapping_sub(one.warp));
        let same = if one.alone { one.warp == other.warp } else { other.alone || one.column == other.column };
        same && one.lane == other.lane && one.address.wrapping_add(ahead) == other.address
    }
}

impl Range {
    /// Passes the parts to a function. They may contain what inactive lanes would access.
    fn each(&self, mut then: impl FnMut(Range)) {
        let &Range { start, end, owners, parts: Parts { warps, width, more, stride }, .. } = self;
        // The range of the first repetition.
        let end = end - u64::from(more) * u64::from(stride);
        for repetition in 0..=more {
            let distance = u64::from(repetition) * u64::from(stride);
            let owners = owners.map(|owners| Owners { address: owners.address.wrapping_add(distance), ..owners });
            match owners {
                Some(Owners { warp, address, lane, column, .. }) if warps > 1 => {
                    for index in 0..u64::from(warps) {
                        let address = address.wrapping_add(column * index);
                        let owners = Some(Owners { warp: warp + index, alone: true, address, lane, column: 0 });
                        let (start, end) = (address, address.saturating_add(width.into()));
                        then(Range { start, end, owners, parts: Parts::ONE, ..*self });
                    }
                }
                _ => then(Range { start: start + distance, end: end + distance, owners, parts: Parts::ONE, ..*self }),
            }
        }
    }

    /// Whether two overlapping ranges may be accessed at once by different threads, one of which writes.
    fn may_race(&self, other: &Self) -> bool {
        let is_ordered = self.group == other.group && self.epoch != other.epoch;
        let is_owned = self.owners.zip(other.owners).is_some_and(|(one, other)| one.agree(&other));
        !is_ordered && !is_owned
    }

    /// Whether the same range may race with this one: lanes of another warp may store to it.
    fn may_race_with_its_like(&self) -> bool {
        self.kind == AccessKind::Store && self.owners.is_none()
    }
}

/// Ranges of one memory.
#[derive(Debug, Default)]
struct Ranges {
    ranges: Vec<Range>,
    /// The number of ranges at which repeated ones are dropped.
    full: usize,
    /// Whether there are loads, stores and atomics.
    kinds: [bool; 3],
    /// The first byte that is written, and the one after the last.
    written: Option<[u64; 2]>,
}

impl Ranges {
    /// Adds a range. Returns whether there are too many, or some of them may race.
    fn add(&mut self, range: Range) -> bool {
        if self.ranges.last() == Some(&range) {
            return range.may_race_with_its_like();
        }
        self.kinds[range.kind as usize] = true;
        if range.kind != AccessKind::Load {
            let [start, end] = self.written.unwrap_or([range.start, range.end]);
            self.written = Some([start.min(range.start), end.max(range.end)]);
        }
        if self.ranges.len() > self.full {
            if sort(&mut self.ranges) {
                return true;
            }
            self.full = (2 * self.ranges.len()).max(1 << 16);
        }
        self.ranges.push(range);
        self.ranges.len() > MAX_RANGES
    }

    /// Forgets all ranges. Returns whether some of them may have raced.
    fn clear(&mut self) -> bool {
        let [loads, stores, atomics] = std::mem::take(&mut self.kinds);
        let written = self.written.take().filter(|_| stores || loads && atomics);
        let may_race = written.is_some_and(|[start, end]| {
            let mut near = Vec::new();
            for range in &self.ranges {
                if range.start < end && range.end > start {
                    if near.len() as u64 + range.parts.count() > MAX_RANGES as u64 {
                        return true;
                    }
                    range.each(|part| near.push(part));
                }
            }
            near.len() > 1 && overlap(&mut near)
        });
        self.ranges.clear();
        may_race
    }
}

/// Sorts ranges, each of which is kept once. Returns whether some that are the same may race.
fn sort(ranges: &mut Vec<Range>) -> bool {
    ranges.sort_unstable();
    let may_race = ranges.windows(2).any(|pair| pair[0] == pair[1] && pair[0].may_race_with_its_like());
    ranges.dedup();
    may_race
}

/// Whether some ranges may race. Sorts them.
fn overlap(ranges: &mut Vec<Range>) -> bool {
    if sort(ranges) {
        return true;
    }
    let mut work = WORK * (ranges.len() + WORK);
    // The ranges before that may reach the current one.
    let mut open: [Vec<Range>; 3] = Default::default();
    for range in &*ranges {
        for (kind, before) in [AccessKind::Load, AccessKind::Store, AccessKind::Atomic].into_iter().zip(&mut open) {
            if kind == range.kind && kind != AccessKind::Store {
                continue;
            }
            let Some(less) = usize::checked_sub(work, before.len()) else { return true };
            work = less;
            before.retain(|other| other.end > range.start);
            if before.iter().any(|other| range.may_race(other)) {
                return true;
            }
        }
        open[range.kind as usize].push(*range);
    }
    false
}

impl Suspects {
    /// Whether the program cannot have races, after it has ended.
    pub(super) fn are_clear(&mut self) -> bool {
        let own = self.groups.iter_mut().map(|group| &mut group.own);
        !self.found && !own.chain([&mut self.global]).any(Ranges::clear)
    }

    /// Returns the index of a group.
    fn group(&mut self, number: u64) -> usize {
        match self.last {
            Some((last, index)) if last == number => index,
            _ => {
                let index = *self.numbers.entry(number).or_insert_with(|| {
                    self.groups.push(Group::default());
                    self.groups.len() - 1
                });
                self.last = Some((number, index));
                index
            }
        }
    }

    /// Adds a range in the current epoch of its group.
    fn add(&mut self, mut range: Range) {
        let index = self.group(range.group);
        let known = &mut self.groups[index];
        let ranges = match Memory::RESERVED.contains(&range.start) {
            true => &mut known.own,
            false => {
                range.epoch = known.epoch;
                &mut self.global
            }
        };
        self.found |= ranges.add(range) || self.groups.len() > GROUPS;
    }

    /// Adds what some warps access, which are consecutive. If `is_full`, all of their lanes do.
    fn warps(&mut self, pattern: &Wide, warps: &[StridedWarp], is_full: bool, more: u32) {
        let Some(first) = warps.first() else { return };
        let &Wide { kind, size, start, lane, column, stride, .. } = pattern;
        let address = |warp: &StridedWarp| start.wrapping_add(column * u64::from(warp.column));
        let at = |warp: &StridedWarp, at: u32| address(warp).saturating_add(lane * u64::from(at));
        let bounds = |warp: &StridedWarp| {
            let [first, last] = [warp.lanes.trailing_zeros(), warp.lanes.checked_ilog2().unwrap_or(0)];
            [at(warp, first), at(warp, last)]
        };
        let [least, last] = match warps {
            [.., last] if is_full => [address(first), at(last, LAST)],
            _ => {
                let wider = |[least, last]: [u64; 2], [first, end]: [u64; 2]| [least.min(first), last.max(end)];
                warps.iter().map(bounds).fold(bounds(first), wider)
            }
        };
        let (start, end, width) = (least, last.saturating_add(size), pattern.width());
        let alone = warps.len() == 1;
        let owners = Owners { warp: first.warp, alone, address: address(first), lane, column };
        let owners = if lane >= size && (alone || column >= width) {
            Some(owners)
        } else if alone && first.lanes.is_power_of_two() {
            Some(owners.of_one(start, first.lanes.trailing_zeros(), size))
        } else {
            None
        };
        let more = if stride == 0 { 0 } else { more };
        // Otherwise different threads access the same bytes in turn.
        let repeats_apart = owners.is_some() && u64::from(stride) >= end.saturating_sub(start);
        let owners = owners.filter(|_| more == 0 || repeats_apart);
        let all = end.checked_add(u64::from(more) * u64::from(stride));
        if all.is_none() || kind == AccessKind::Store && owners.is_none() {
            self.found = true;
            return;
        }
        let (more, stride) = if repeats_apart { (more, stride) } else { (0, 0) };
        let apart = owners.is_some() && column > width;
        let warps = if apart { warps.iter().map(|warp| warp.column - first.column + 1).max().unwrap_or(1) } else { 1 };
        let parts = Parts { warps, width: width as u32, more, stride };
        self.add(Range { start, end: all.unwrap_or(end), kind, group: first.group, epoch: 0, owners, parts });
    }
}

/// Accesses at regular distances, like a [`Pattern`].
#[derive(Clone, Copy, Debug)]
struct Wide {
    kind: AccessKind,
    size: u64,
    start: u64,
    lane: u64,
    column: u64,
    stride: u32,
    /// Whether several threads load each byte.
    shared: bool,
}

impl From<&Pattern> for Wide {
    fn from(pattern: &Pattern) -> Self {
        let &Pattern { kind, size, start, lane, column, stride, .. } = pattern;
        let (size, lane, column) = (size.into(), lane.into(), column.into());
        let mut wide = Wide { kind, size, start, lane, column, stride, shared: false };
        wide.shared = kind == AccessKind::Load && (lane < size || column < wide.width());
        wide
    }
}

impl Wide {
    /// Returns the bytes from the first to the last one that a warp may access.
    fn width(&self) -> u64 {
        u64::from(LAST) * self.lane + self.size
    }

    /// Extends loads by others nearby, if several threads load each byte anyway. Returns whether it contains them.
    fn includes(&mut self, other: &Wide) -> bool {
        let is_alike = (self.lane, self.column, self.stride) == (other.lane, other.column, other.stride);
        let near = self.shared && other.shared && is_alike && self.start.abs_diff(other.start) < NEAR;
        if near {
            let end = |wide: &Wide| wide.start.saturating_add(wide.size);
            let last = end(self).max(end(other));
            self.start = self.start.min(other.start);
            self.size = last - self.start;
        }
        near
    }
}

impl AccessObserver for Suspects {
    fn accesses(&mut self, accesses: &Accesses<'_>) {
        let &Accesses { warp, group, kind, size, mut lanes, addresses, .. } = accesses;
        lanes &= ones(addresses.len() as u32);
        if self.found || lanes == 0 || size == 0 {
            return;
        }
        // Ranges are those of the common memory.
        if accesses.space.is_some() {
            self.found = true;
            return;
        }
        let [first, last] = [lanes.trailing_zeros(), lanes.ilog2()];
        let listed =
            || (first..=last).filter(|lane| lanes >> lane & 1 != 0).map(|lane| (lane, addresses[lane as usize]));
        let [start, end] = [first, last].map(|lane| addresses[lane as usize]);
        let owners = Owners { warp, alone: true, address: start, lane: 0, column: 0 };
        let (rest, further) = (last - first, end.wrapping_sub(start));
        let lane = if rest == 0 { 0 } else { further / u64::from(rest) };
        let is_regular =
            start <= end && listed().all(|(at, address)| address == start.wrapping_add(lane * u64::from(at - first)));
        let (mut least, mut most) = (start, end);
        let owners = if rest == 0 {
            Some(owners.of_one(start, first, size.into()))
        } else if is_regular {
            let address = start.wrapping_sub(lane * u64::from(first));
            Some(Owners { address, lane, ..owners }).filter(|_| lane >= size.into())
        } else {
            (least, most) = listed().fold((least, most), |(least, most), (_, at)| (least.min(at), most.max(at)));
            None
        };
        if kind == AccessKind::Store && owners.is_none() {
            let mut all: Vec<u64> = listed().map(|(_, address)| address).collect();
            all.sort_unstable();
            self.found |= all.windows(2).any(|pair| pair[1] - pair[0] < size.into());
        }
        let (start, end) = (least, most.saturating_add(size.into()));
        self.add(Range { start, end, kind, group, epoch: 0, owners, parts: Parts::ONE });
    }

    fn strided(&mut self, strided: &Strided<'_>) {
        let &Strided { patterns, warps, times, .. } = strided;
        let Some(first) = warps.first().filter(|_| !self.found && times > 0) else { return };
        let follows = |warp: &StridedWarp| {
            warp.group == first.group && warp.warp.wrapping_sub(first.warp) == u64::from(warp.column - first.column)
        };
        let together = if warps.iter().all(follows) { warps.len() } else { 1 };
        let is_full = warps.iter().all(|warp| warp.lanes == u16::MAX);
        let mut wide = std::mem::take(&mut self.wide);
        for pattern in patterns.iter().map(Wide::from) {
            if !wide.iter_mut().any(|before| before.includes(&pattern)) {
                wide.push(pattern);
            }
        }
        for pattern in wide.drain(..) {
            for warps in warps.chunks(together) {
                self.warps(&pattern, warps, is_full, times - 1);
            }
        }
        self.wide = wide;
    }

    fn barrier(&mut self, group: u64) {
        let index = self.group(group);
        let group = &mut self.groups[index];
        group.epoch += 1;
        self.found |= group.own.clear();
    }
}

#[cfg(test)]
mod tests;
