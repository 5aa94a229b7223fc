//! Records memory accesses for an observer.

use std::fmt;

use super::grid::{Grid, Home};
use super::pattern::Reached;
use super::warps::WARPS;
use crate::machine::{Access, AccessKind, AccessObserver, Accesses, Pattern, Strided, StridedWarp, parts};
use crate::valhall::group::{Group, group_number, warp_number};
use crate::valhall::warp::LANES;

/// The observer, and the workgroups of the dispatch.
pub struct Log<'a> {
    pub observer: &'a mut dyn AccessObserver,
    pub groups: &'a [Group],
}

impl fmt::Debug for Log<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("groups", &self.groups).finish_non_exhaustive()
    }
}

/// Accesses of the same kind and size.
struct Alike<'a> {
    kind: AccessKind,
    size: u8,
    lanes: u64,
    addresses: &'a [u64],
}

impl Log<'_> {
    /// Records the accesses that an instruction made for a warp.
    pub fn list(&mut self, grid: &Grid, home: Home, pc: usize, accesses: &[Access]) {
        for (Access { kind, size, .. }, lanes, addresses) in parts(accesses) {
            self.add(grid, home, pc as u64, &Alike { kind, size, lanes, addresses: &addresses });
        }
    }

    #[inline]
    fn add(&mut self, grid: &Grid, home: Home, pc: u64, alike: &Alike<'_>) {
        let Some(group) = self.groups.get(home.group) else { return };
        let number = group_number(group.id, grid.groups);
        let &Alike { kind, size, lanes, addresses } = alike;
        self.observer.accesses(&Accesses {
            warp: warp_number(number, home.number as u64),
            group: number,
            pc,
            kind,
            size,
            space: None,
            lanes,
            addresses,
            thread: &|lane| thread(group, home, lane),
        });
    }

    /// Records the accesses that the active lanes of the busy warps of a bundle made, `times` times.
    pub fn strided(
        &mut self,
        grid: &Grid,
        (homes, active): (&[Home; WARPS], &[u16; WARPS]),
        busy: impl Iterator<Item = usize>,
        patterns: &[Pattern],
        times: u32,
    ) {
        let (mut warps, mut count) = ([StridedWarp::default(); WARPS], 0);
        let mut last = None;
        for column in busy {
            let home = homes[column];
            let number = match last {
                Some((group, number)) if group == home.group => number,
                _ => {
                    let Some(group) = self.groups.get(home.group) else { continue };
                    group_number(group.id, grid.groups)
                }
            };
            last = Some((home.group, number));
            let warp = warp_number(number, home.number as u64);
            warps[count] = StridedWarp { column: column as u8, lanes: active[column], warp, group: number };
            count += 1;
        }
        let thread_of = |index: usize, lane: usize| {
            let home = homes[usize::from(warps[index].column)];
            self.groups.get(home.group).map_or([0; 3], |group| thread(group, home, lane))
        };
        let (warps, thread) = (&warps[..count], &thread_of);
        self.observer.strided(&Strided { patterns, warps, times, thread });
    }

    /// Records the accesses of some lanes of a warp at these addresses.
    #[inline]
    pub fn record(&mut self, grid: &Grid, home: Home, record: &Record, lanes: u16, places: &[u64; LANES]) {
        let &Record { kind, size, offset, pc, .. } = record;
        let addresses = places.map(|place| place.wrapping_add_signed(offset.into()));
        self.add(grid, home, pc.into(), &Alike { kind, size, lanes: lanes.into(), addresses: &addresses });
    }

    /// Records that all warps of a workgroup have met at a barrier.
    pub fn barrier(&mut self, grid: &Grid, group: usize) {
        if let Some(group) = self.groups.get(group) {
            self.observer.barrier(group_number(group.id, grid.groups));
        }
    }
}

/// Returns the thread of a lane of a warp.
fn thread(group: &Group, home: Home, lane: usize) -> [u32; 3] {
    group.global(home.number * LANES + lane % LANES)
}

/// Records the accesses of the operation that follows.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    pub kind: AccessKind,
    pub size: u8,
    /// The rows of the address, and the offset that is added to it.
    pub address: [u16; 2],
    pub offset: i32,
    /// The row of the condition, if there is one.
    pub when: Option<u16>,
    /// The index of the word in the program.
    pub pc: u32,
}

impl Record {
    /// Returns the accesses of lanes whose addresses have a pattern that advances by a stride.
    pub fn pattern(&self, reached: Reached, stride: u32) -> Pattern {
        let &Record { kind, size, offset, pc, .. } = self;
        let (start, lane) = (reached.start.wrapping_add_signed(offset.into()), if reached.contiguous { 4 } else { 0 });
        Pattern { pc: pc.into(), kind, size, start, lane, column: reached.column, stride }
    }
}
