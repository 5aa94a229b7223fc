//! Ranges of memory that threads access, and whether they may race.

use isaforge_runtime::machine::AccessKind;

use super::places::Places;
use super::shadow::{Access, Kinds, Shadow, pages};

/// The maximum number of ranges kept for one memory.
const MAX_RANGES: usize = 1 << 20;
/// The most pages of scattered accesses that are compared to ranges.
const MAX_PAGES: u64 = 1 << 18;
/// The number that no group has, for accesses of several groups or epochs.
const NO_GROUP: u64 = u64::MAX;
/// The most comparisons for each range.
const WORK: usize = 64;

/// Bytes that some threads access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Range {
    pub start: u64,
    pub end: u64,
    pub kind: AccessKind,
    pub group: u64,
    pub epoch: u32,
    /// Which thread accesses which byte; `None` if several may access the same.
    pub owners: Option<Owners>,
    /// Its parts, if there are gaps between them.
    pub parts: Parts,
}

/// Parts of a range at regular distances: of warps, and of repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Parts {
    pub warps: u8,
    /// The bytes that a warp may access.
    pub width: u32,
    /// The number of further repetitions, and the bytes from one to the next.
    pub more: u32,
    pub stride: u32,
}

impl Parts {
    pub(super) const ONE: Self = Parts { warps: 1, width: 0, more: 0, stride: 0 };

    fn count(self) -> u64 {
        (u64::from(self.more) + 1) * u64::from(self.warps)
    }
}

/// The threads at regular distances: lane 0 of each warp is at an address, and the next warp is further by a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Owners {
    pub warp: u64,
    /// Whether there is only this warp.
    pub alone: bool,
    pub address: u64,
    pub lane: u64,
    pub column: u64,
}

impl Owners {
    /// Returns the owners of what one lane accesses: as if the other lanes accessed the words around, or the bytes
    /// around if these are more.
    pub(super) fn of_one(self, address: u64, lane: u32, size: u64) -> Self {
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

    /// Returns the number of the warp and the lane that access an address of a part, if that is one thread.
    fn owner(&self, at: u64) -> Option<(u64, u64)> {
        let Owners { warp, alone, address, lane, column } = self.owners?;
        let distance = at.checked_sub(address)?;
        let (warp, distance) = match distance.checked_div(column).filter(|_| !alone) {
            Some(further) => (warp + further, distance % column),
            None => (warp, distance),
        };
        Some((warp, distance.checked_div(lane)?))
    }

    /// Whether two overlapping ranges may be accessed at once by different threads, one of which writes.
    fn may_race(&self, other: &Self) -> bool {
        let is_ordered = self.group == other.group && self.epoch != other.epoch;
        let is_owned = self.owners.zip(other.owners).is_some_and(|(one, other)| one.agree(&other));
        !is_ordered && !is_owned
    }

    /// Adds its places if the same range may race with this one: lanes of another warp may store to it.
    fn repeat(&self, places: &mut Places) {
        if self.kind == AccessKind::Store && self.owners.is_none() {
            places.add([self.start, self.end]);
        }
    }
}

/// Ranges of one memory.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    ranges: Vec<Range>,
    /// The number of ranges at which repeated ones are dropped.
    full: usize,
    /// Whether there are loads, stores and atomics.
    kinds: [bool; 3],
    /// The first byte that is written, and the one after the last.
    written: Option<[u64; 2]>,
    /// The range around all scattered atomics: they rarely share memory with other accesses.
    updated: Option<Range>,
    /// The first byte of other scattered accesses, the one after the last, and their kinds.
    scattered: Option<([u64; 2], Kinds)>,
}

impl Ranges {
    /// Adds a range, and the places where it may race with its like: all if there are too many ranges.
    pub(super) fn add(&mut self, range: Range, places: &mut Places) {
        if self.ranges.last() == Some(&range) {
            return range.repeat(places);
        }
        self.kinds[range.kind as usize] = true;
        if range.kind != AccessKind::Load {
            self.written = Some(around(self.written, [range.start, range.end]));
        }
        if self.ranges.len() > self.full {
            sort(&mut self.ranges, places);
            self.full = (2 * self.ranges.len()).max(1 << 16);
        }
        self.ranges.push(range);
        if self.ranges.len() > MAX_RANGES {
            places.add_all();
        }
    }

    /// Adds the range of scattered atomics.
    pub(super) fn update(&mut self, range: Range) {
        self.updated = Some(self.updated.map_or(range, |known| {
            let is_alike = (known.group, known.epoch) == (range.group, range.epoch);
            let group = if is_alike { range.group } else { NO_GROUP };
            Range { start: known.start.min(range.start), end: known.end.max(range.end), group, ..range }
        }));
    }

    /// Adds the range around all scattered atomics to the others.
    pub(super) fn settle(&mut self, places: &mut Places) {
        if let Some(range) = self.updated.take() {
            self.add(range, places);
        }
    }

    /// The number of ranges.
    pub(super) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Adds the bounds of scattered accesses.
    pub(super) fn scatter(&mut self, bounds: [u64; 2], kinds: Kinds) {
        let (before, known) = self.scattered.unzip();
        self.scattered = Some((around(before, bounds), known.map_or(kinds, |known| known.and(kinds))));
    }

    /// Adds the places where some ranges may race with scattered accesses. `access` describes an access with the kind
    /// of a range.
    pub(super) fn meet(&self, shadow: &mut Shadow, places: &mut Places, mut access: impl FnMut(&Range) -> Access) {
        let Some(([start, end], kinds)) = self.scattered else { return };
        let mut left = MAX_PAGES;
        for range in &self.ranges {
            if range.start >= end || range.end <= start || kinds.and(Kinds::of(range.kind)).are_peaceful() {
                continue;
            }
            if range.parts.count() > left || places.are_all() {
                return places.add_all();
            }
            let access = access(range);
            range.each(|part: Range| {
                let bounds = [part.start.max(start), part.end.min(end)];
                if bounds[0] >= bounds[1] || places.are_all() {
                    return;
                }
                match left.checked_sub(pages(bounds)) {
                    Some(less) => {
                        left = less;
                        shadow.meet(bounds, &access, |address| part.owner(address), places);
                    }
                    None => places.add_all(),
                }
            });
        }
    }

    /// Forgets all ranges. Adds the places where some of them may have raced.
    pub(super) fn clear(&mut self, places: &mut Places) {
        let [loads, stores, atomics] = std::mem::take(&mut self.kinds);
        let written = self.written.take().filter(|_| stores || loads && atomics);
        if let Some([start, end]) = written {
            let ranges = &mut self.ranges;
            ranges.retain(|range| range.start < end && range.end > start);
            let count = ranges.iter().fold(0, |all: u64, range| all.saturating_add(range.parts.count()));
            if count > MAX_RANGES as u64 {
                places.add_all();
            } else if count > ranges.len() as u64 {
                let mut parts = Vec::with_capacity(count as usize);
                ranges.iter().for_each(|range| range.each(|part| parts.push(part)));
                overlap(&mut parts, places);
            } else {
                overlap(ranges, places);
            }
        }
        self.ranges.clear();
        self.scattered = None;
    }
}

/// Extends a range of bytes by another.
fn around(known: Option<[u64; 2]>, [start, end]: [u64; 2]) -> [u64; 2] {
    known.map_or([start, end], |[first, last]| [first.min(start), last.max(end)])
}

/// Sorts ranges, each of which is kept once. Adds the places of those that are the same and may race.
fn sort(ranges: &mut Vec<Range>, places: &mut Places) {
    ranges.sort_unstable();
    ranges.windows(2).filter(|pair| pair[0] == pair[1]).for_each(|pair| pair[0].repeat(places));
    ranges.dedup();
}

/// Sorts ranges, and adds the places where some of them may race.
fn overlap(ranges: &mut Vec<Range>, places: &mut Places) {
    sort(ranges, places);
    if ranges.is_sorted_by(|one, next| one.end <= next.start) {
        return;
    }
    let mut work = WORK * (ranges.len() + WORK);
    // The ranges before that may reach the current one.
    let mut open: [Vec<Range>; 3] = Default::default();
    for range in &*ranges {
        for (kind, before) in [AccessKind::Load, AccessKind::Store, AccessKind::Atomic].into_iter().zip(&mut open) {
            if kind == range.kind && kind != AccessKind::Store {
                continue;
            }
            let Some(less) = usize::checked_sub(work, before.len()).filter(|_| !places.are_all()) else {
                return places.add_all();
            };
            work = less;
            before.retain(|other| other.end > range.start);
            for other in before.iter().filter(|other| range.may_race(other)) {
                places.add([range.start, range.end.min(other.end)]);
            }
        }
        open[range.kind as usize].push(*range);
    }
}
