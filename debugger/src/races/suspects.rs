//! Finds memory that cannot have races from the ranges of memory that programs access. Scattered accesses are compared
//! word by word.

use isaforge_core::bits::ones;
use isaforge_runtime::Memory;
use isaforge_runtime::machine::{AccessKind, AccessObserver, Accesses, Pattern, Strided, StridedWarp};

use super::indices::Indices;
use super::places::Places;
use super::ranges::{Owners, Parts, Range, Ranges};
use super::shadow::{Access, Kinds, Shadow};

/// The number of ranges in one memory from which on other accesses count as scattered.
const MANY_RANGES: usize = 1 << 16;
/// The most groups that are kept.
const GROUPS: usize = 1 << 18;
/// The most bytes between loads that are compared as one range.
const NEAR: u64 = 1 << 12;
/// The most bytes from one lane to the next in accesses that are not scattered.
const FAR: u64 = 1 << 10;
/// The last lane of a warp that makes accesses at regular distances.
const LAST: u32 = StridedWarp::LANES as u32 - 1;

/// Where a program may have races: two ranges overlap, at least one of them is written, and nothing shows that each
/// byte is accessed by one thread only, or that a barrier separates the accesses.
///
/// The memory of a workgroup is compared at each of its barriers, and global memory at the end.
#[derive(Debug, Default)]
pub(super) struct Suspects {
    /// Where some accesses may race.
    places: Places,
    global: Ranges,
    groups: Vec<Group>,
    /// The index of each group.
    numbers: Indices,
    /// Scattered accesses.
    shadow: Shadow,
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

impl Suspects {
    /// Returns where the program may have races, after it has ended.
    pub(super) fn places(mut self) -> Places {
        for index in 0..self.groups.len() {
            self.clear_own(index);
        }
        let Suspects { mut places, mut shadow, groups, mut numbers, mut global, .. } = self;
        global.settle(&mut places);
        let access = |range: &Range| Access {
            group: numbers.get([0, range.group]).unwrap_or(groups.len() as u32),
            epoch: range.epoch,
            kinds: Kinds::of(range.kind),
        };
        global.meet(&mut shadow, &mut places, access);
        global.clear(&mut places);
        places
    }

    /// Compares the accesses to the memory of a group since its last barrier, and forgets them.
    fn clear_own(&mut self, index: usize) {
        let Group { epoch, own } = &mut self.groups[index];
        let access = |range: &Range| Access { group: index as u32, epoch: *epoch, kinds: Kinds::of(range.kind) };
        own.settle(&mut self.places);
        own.meet(&mut self.shadow, &mut self.places, access);
        own.clear(&mut self.places);
    }

    /// Returns the index of a group.
    fn group(&mut self, number: u64) -> usize {
        let index = self.numbers.of(number, || {
            self.groups.push(Group::default());
            if self.groups.len() > GROUPS {
                self.places.add_all();
            }
        });
        index as usize
    }

    /// Returns the memory of a range, which gets the current epoch of its group, by an index, and where accesses may
    /// race.
    fn ranges(&mut self, index: usize, range: &mut Range) -> (&mut Ranges, &mut Places) {
        let known = &mut self.groups[index];
        let ranges = match Memory::RESERVED.contains(&range.start) {
            true => &mut known.own,
            false => {
                range.epoch = known.epoch;
                &mut self.global
            }
        };
        (ranges, &mut self.places)
    }

    /// Adds a range in the current epoch of its group.
    fn add(&mut self, index: usize, mut range: Range) {
        let (ranges, places) = self.ranges(index, &mut range);
        ranges.add(range, places);
    }

    /// Whether a memory has more ranges than accesses at regular distances would give: further ones are unlikely to
    /// repeat them.
    fn are_many(&self, index: usize, address: u64) -> bool {
        let ranges = if Memory::RESERVED.contains(&address) { &self.groups[index].own } else { &self.global };
        ranges.len() > MANY_RANGES
    }

    /// Adds scattered atomics.
    fn update(&mut self, index: usize, accesses: &Accesses<'_>) {
        let &Accesses { kind, group, size, lanes, addresses, .. } = accesses;
        let (mut start, mut last) = (u64::MAX, 0);
        for (_, &address) in addresses.iter().enumerate().filter(|(lane, _)| lanes >> lane & 1 != 0) {
            (start, last) = (start.min(address), last.max(address));
        }
        if Memory::RESERVED.contains(&start) != Memory::RESERVED.contains(&last) {
            return self.scatter(index, accesses);
        }
        let end = last.saturating_add(size.into());
        let mut range = Range { start, end, kind, group, epoch: 0, owners: None, parts: Parts::ONE };
        self.ranges(index, &mut range).0.update(range);
    }

    /// Adds accesses one by one.
    fn scatter(&mut self, index: usize, accesses: &Accesses<'_>) {
        let Group { epoch, own } = &mut self.groups[index];
        let kinds = Kinds::of(accesses.kind);
        let access = Access { group: index as u32, epoch: *epoch, kinds };
        let Some(bounds) = self.shadow.add(accesses, &access, &mut self.places) else {
            return self.places.add_all();
        };
        let reserved = Memory::RESERVED;
        if bounds[0] < reserved.end && bounds[1] > reserved.start {
            own.scatter(bounds, kinds);
        }
        if bounds[0] < reserved.start || bounds[1] > reserved.end {
            self.global.scatter(bounds, kinds);
        }
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
            return self.places.add_all();
        }
        let (more, stride) = if repeats_apart { (more, stride) } else { (0, 0) };
        let apart = owners.is_some() && column > width;
        let warps = if apart { warps.iter().map(|warp| warp.column - first.column + 1).max().unwrap_or(1) } else { 1 };
        let parts = Parts { warps, width: width as u32, more, stride };
        let index = self.group(first.group);
        self.add(index, Range { start, end: all.unwrap_or(end), kind, group: first.group, epoch: 0, owners, parts });
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
        if self.places.are_all() || lanes == 0 || size == 0 {
            return;
        }
        // Ranges are those of the common memory.
        if accesses.space.is_some() {
            return self.places.add_all();
        }
        let index = self.group(group);
        let [first, last] = [lanes.trailing_zeros(), lanes.ilog2()];
        let listed =
            || (first..=last).filter(|lane| lanes >> lane & 1 != 0).map(|lane| (lane, addresses[lane as usize]));
        let [start, end] = [first, last].map(|lane| addresses[lane as usize]);
        let owners = Owners { warp, alone: true, address: start, lane: 0, column: 0 };
        let (rest, further) = (last - first, end.wrapping_sub(start));
        let lane = if rest == 0 { 0 } else { further / u64::from(rest) };
        let follows = |(at, address): (u32, u64)| address == start.wrapping_add(lane * u64::from(at - first));
        let is_regular = start <= end && lane <= FAR && listed().all(follows);
        if !is_regular && kind == AccessKind::Atomic {
            return self.update(index, &Accesses { lanes, ..*accesses });
        }
        let overlaps = kind == AccessKind::Store && rest != 0 && lane < size.into();
        if !is_regular || overlaps || self.are_many(index, start) {
            return self.scatter(index, &Accesses { lanes, ..*accesses });
        }
        let owners = if rest == 0 {
            Some(owners.of_one(start, first, size.into()))
        } else {
            let address = start.wrapping_sub(lane * u64::from(first));
            Some(Owners { address, lane, ..owners }).filter(|_| lane >= size.into())
        };
        let end = end.saturating_add(size.into());
        self.add(index, Range { start, end, kind, group, epoch: 0, owners, parts: Parts::ONE });
    }

    fn strided(&mut self, strided: &Strided<'_>) {
        let &Strided { patterns, warps, times, .. } = strided;
        let Some(first) = warps.first().filter(|_| !self.places.are_all() && times > 0) else { return };
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
        self.clear_own(index);
        self.groups[index].epoch += 1;
    }

    /// If a workgroup has no races in its own memory, neither have others that do the same.
    fn knows_repeats(&self) -> bool {
        true
    }

    fn is_done(&self) -> bool {
        self.places.are_all()
    }
}

#[cfg(test)]
mod tests;
