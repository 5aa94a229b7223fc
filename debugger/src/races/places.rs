//! Lines of memory whose accesses may race.

use isaforge_runtime::machine::{Accesses, Pattern, Strided, StridedWarp};

use super::indices::Indices;
use super::{LINE_BYTES, Races};

/// The number of lines that are kept side by side.
const LINES: u64 = u64::BITS as u64;
/// The most bytes that are added. More of them are races all over a program, which are soon found among all accesses.
const MAX_BYTES: u64 = 4 * Races::MAX_REPEATED;

/// Lines of memory, or all of it. Those of workgroup memory are the same for all workgroups.
#[derive(Debug)]
pub(super) struct Places {
    /// The index of the lines at each address in `lines`.
    pages: Indices,
    /// The lines as bits.
    lines: Vec<u64>,
    /// The first byte and the last.
    bounds: [u64; 2],
    /// The number of bytes that may still be added, or `None` once these are all places.
    left: Option<u64>,
}

impl Default for Places {
    fn default() -> Self {
        Places { pages: Indices::default(), lines: Vec::new(), bounds: [u64::MAX, 0], left: Some(MAX_BYTES) }
    }
}

impl Places {
    /// Adds the lines around some bytes.
    #[cold]
    pub(super) fn add(&mut self, [start, end]: [u64; 2]) {
        self.left = self.left.and_then(|left| left.checked_sub(end.saturating_sub(start).max(4)));
        if self.are_all() || start >= end {
            return;
        }
        let [first, last] = [start, end - 1].map(|address| address / LINE_BYTES);
        let [before, after] = self.bounds;
        self.bounds = [before.min(first * LINE_BYTES), after.max(last * LINE_BYTES + (LINE_BYTES - 1))];
        for line in first..=last {
            let key = [0, line / LINES];
            let page = self.pages.get(key).unwrap_or_else(|| {
                self.lines.push(0);
                self.pages.insert(key)
            });
            self.lines[page as usize] |= 1 << (line % LINES);
        }
    }

    /// Adds all memory.
    pub(super) fn add_all(&mut self) {
        self.left = None;
    }

    /// Whether it is all memory.
    pub(super) fn are_all(&self) -> bool {
        self.left.is_none()
    }

    /// Whether there are none.
    pub(super) fn are_none(&self) -> bool {
        self.left == Some(MAX_BYTES)
    }

    /// Returns the lanes that access these places.
    pub(super) fn lanes(&self, accesses: &Accesses<'_>) -> u64 {
        let &Accesses { size, lanes, addresses, .. } = accesses;
        let (more, [first, last]) = (u64::from(size).saturating_sub(1), self.bounds);
        let first = first.saturating_sub(more);
        let is_near = |start: &u64| start.wrapping_sub(first) <= last.saturating_sub(first);
        // Most are elsewhere. Without a branch for each, this is fast.
        if !addresses.iter().fold(false, |any, start| any | is_near(start)) {
            return 0;
        }
        let is_here = |start: u64| self.contains(start) || self.contains(start.saturating_add(more));
        let lane = |(lane, start): (usize, &u64)| u64::from(is_near(start) && is_here(*start)) << lane;
        lanes & addresses.iter().take(64).enumerate().fold(0, |all, at| all | lane(at))
    }

    /// Whether these accesses may be to places here.
    pub(super) fn may_contain(&self, strided: &Strided<'_>) -> bool {
        let columns = strided.warps.iter().map(|warp| warp.column).max().unwrap_or(0);
        strided.patterns.iter().any(|pattern| {
            let &Pattern { start, size, lane, column, stride, .. } = pattern;
            let within = u64::from(column) * u64::from(columns) + u64::from(lane) * StridedWarp::LANES as u64;
            let further = (u64::from(stride) * u64::from(strided.times)).saturating_add(within + u64::from(size));
            let end = start.checked_add(further);
            end.is_none_or(|end| end > self.bounds[0] && start <= self.bounds[1])
        })
    }

    fn contains(&self, address: u64) -> bool {
        let line = address / LINE_BYTES;
        let page = self.pages.find([0, line / LINES]);
        page.is_some_and(|page| self.lines[page as usize] >> (line % LINES) & 1 != 0)
    }
}
