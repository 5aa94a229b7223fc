//! Records memory accesses for an observer.

use std::fmt;

use super::access::places;
use super::bundle::{Bundle, Grid, WARPS};
use super::memory_view::{Home, MemoryView};
use super::reach::Reached;
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

    /// Records the accesses that the active lanes of a bundle made, `times` times.
    pub fn strided(&mut self, bundle: &Bundle, patterns: &[Pattern], times: u32) {
        let grid = &bundle.ahead.grid;
        let (mut warps, mut count) = ([StridedWarp::default(); WARPS], 0);
        let mut last = None;
        for column in bundle.busy() {
            let home = bundle.homes[column];
            let number = match last {
                Some((group, number)) if group == home.group => number,
                _ => {
                    let Some(group) = self.groups.get(home.group) else { continue };
                    group_number(group.id, grid.groups)
                }
            };
            last = Some((home.group, number));
            let warp = warp_number(number, home.number as u64);
            warps[count] = StridedWarp { column: column as u8, lanes: bundle.active[column], warp, group: number };
            count += 1;
        }
        let thread_of = |index: usize, lane: usize| {
            let home = bundle.homes[usize::from(warps[index].column)];
            self.groups.get(home.group).map_or([0; 3], |group| thread(group, home, lane))
        };
        let (warps, thread) = (&warps[..count], &thread_of);
        self.observer.strided(&Strided { patterns, warps, times, thread });
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

    /// Records the accesses of the active lanes.
    #[inline(never)]
    pub fn run(&self, bundle: &Bundle, view: &mut MemoryView<'_>) {
        let Some(log) = &mut view.log else { return };
        for warp in bundle.busy() {
            let (active, places) = places(bundle, warp, self.address, self.when);
            let addresses = places.map(|place| place.wrapping_add_signed(self.offset.into()));
            let alike = Alike { kind: self.kind, size: self.size, lanes: active.into(), addresses: &addresses };
            if active != 0 {
                log.add(&bundle.ahead.grid, bundle.homes[warp], self.pc.into(), &alike);
            }
        }
    }
}
