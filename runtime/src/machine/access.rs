//! The memory accesses of a run.

use std::fmt;
use std::ops::ControlFlow;

use super::{At, Machine, Observer, Timed, View};
use crate::deadline::Deadline;

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The lane.
    pub lane: u8,
    /// The size in bytes. If an instruction makes several accesses, the size of this one. An atomic of 0 bytes acquires
    /// or releases a lock.
    pub size: u8,
    /// The address of the first byte.
    pub address: u64,
    /// Whether it loads, stores, or does both at once.
    pub kind: AccessKind,
    /// The address space, if it has a memory of its own, which [`View::space_memory`](super::View::space_memory) reads.
    pub space: Option<&'static str>,
    /// The value that it leaves in memory, if it writes at most eight bytes.
    pub stored: Option<u64>,
}

impl Access {
    /// Whether it stores: an atomic whose comparison fails does not.
    pub fn stores(&self) -> bool {
        self.kind == AccessKind::Store || self.kind == AccessKind::Atomic && self.stored.is_some()
    }
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessKind {
    /// A load.
    Load,
    /// A store.
    Store,
    /// A load and a store with no other access between them.
    Atomic,
}

/// The accesses of one kind and size that the lanes of a warp make with an instruction.
#[derive(Clone, Copy)]
pub struct Accesses<'a> {
    /// The warp, as in [`At::warp`].
    pub warp: u64,
    /// Its group, as in [`View::group`].
    pub group: u64,
    /// The instruction, as in [`At::pc`].
    pub pc: u64,
    /// Whether they load, store, or do both at once.
    pub kind: AccessKind,
    /// The size of each in bytes, as in [`Access::size`].
    pub size: u8,
    /// The address space, as in [`Access::space`].
    pub space: Option<&'static str>,
    /// The lanes that make an access, bit 0 for lane 0.
    pub lanes: u64,
    /// The address of the first byte that each lane accesses. Those of other lanes are unspecified.
    pub addresses: &'a [u64],
    /// Returns the thread of a lane, as [`View::thread`] does.
    pub thread: &'a dyn Fn(usize) -> [u32; 3],
}

impl fmt::Debug for Accesses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Accesses { warp, group, pc, kind, size, space, lanes, addresses, .. } = self;
        f.debug_struct("Accesses")
            .field("warp", warp)
            .field("group", group)
            .field("pc", pc)
            .field("kind", kind)
            .field("size", size)
            .field("space", space)
            .field("lanes", lanes)
            .field("addresses", addresses)
            .finish_non_exhaustive()
    }
}

/// Accesses of several warps at regular distances, repeated a number of times.
#[derive(Clone, Copy)]
pub struct Strided<'a> {
    /// The accesses of each repetition, in order.
    pub patterns: &'a [Pattern],
    /// The warps.
    pub warps: &'a [StridedWarp],
    /// The number of repetitions.
    pub times: u32,
    /// Returns the thread of a lane, given the index of its warp in `warps`.
    pub thread: &'a dyn Fn(usize, usize) -> [u32; 3],
}

/// The accesses that an instruction makes at regular distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The instruction, as in [`At::pc`].
    pub pc: u64,
    /// Whether they load, store, or do both at once.
    pub kind: AccessKind,
    /// The size of each in bytes.
    pub size: u8,
    /// The address of lane 0 of column 0 in the first repetition.
    pub start: u64,
    /// The bytes from one lane of a warp to the next.
    pub lane: u32,
    /// The bytes from one column to the next.
    pub column: u32,
    /// The bytes from one repetition to the next.
    pub stride: u32,
}

/// A warp that makes accesses at regular distances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StridedWarp {
    /// Its column.
    pub column: u8,
    /// The lanes that make accesses, bit 0 for lane 0.
    pub lanes: u16,
    /// The warp, as in [`At::warp`].
    pub warp: u64,
    /// Its group, as in [`View::group`].
    pub group: u64,
}

impl fmt::Debug for Strided<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Strided { patterns, warps, times, .. } = self;
        let mut debug = f.debug_struct("Strided");
        debug.field("patterns", patterns).field("warps", warps).field("times", times).finish_non_exhaustive()
    }
}

impl StridedWarp {
    /// The number of lanes.
    pub const LANES: usize = u16::BITS as usize;
}

impl Pattern {
    /// Returns the address of lane 0 of a column in a repetition.
    pub fn address(&self, column: u8, repetition: u32) -> u64 {
        let distance = u64::from(self.column) * u64::from(column) + u64::from(self.stride) * u64::from(repetition);
        self.start.wrapping_add(distance)
    }
}

impl Strided<'_> {
    /// Passes the accesses to a function warp by warp.
    pub fn each(&self, mut then: impl FnMut(&Accesses<'_>)) {
        for repetition in 0..self.times {
            for pattern in self.patterns {
                for (index, &StridedWarp { column, lanes, warp, group }) in self.warps.iter().enumerate() {
                    let start = pattern.address(column, repetition);
                    let lane = u64::from(pattern.lane);
                    let addresses: [u64; StridedWarp::LANES] =
                        std::array::from_fn(|at| start.wrapping_add(lane * at as u64));
                    let &Pattern { pc, kind, size, .. } = pattern;
                    let (lanes, addresses, thread) = (lanes.into(), &addresses, &|lane| (self.thread)(index, lane));
                    then(&Accesses { warp, group, pc, kind, size, space: None, lanes, addresses, thread });
                }
            }
        }
    }
}

/// Observes the memory accesses of a run, and the barriers between them.
pub trait AccessObserver {
    /// Lanes of a warp access memory.
    fn accesses(&mut self, accesses: &Accesses<'_>);

    /// Warps access memory at regular distances.
    fn strided(&mut self, strided: &Strided<'_>) {
        strided.each(|accesses| self.accesses(accesses));
    }

    /// The warps of a group (see [`View::group`]) have met at a barrier and continue.
    fn barrier(&mut self, group: u64);

    /// Whether it needs not be told again what workgroups do with their own memory when others have done the same with
    /// theirs. Several barriers between which they do nothing else may be told as one, then.
    fn knows_repeats(&self) -> bool {
        false
    }

    /// Whether it needs to see nothing more: then the run may end early, as if the program had ended.
    fn is_done(&self) -> bool {
        false
    }
}

/// Splits the accesses of an instruction into parts of one kind, size and address space, with at most one access of
/// each lane: the first of them, its lanes as bits, and the address for each of them.
pub(crate) fn parts(accesses: &[Access]) -> impl Iterator<Item = (Access, u64, [u64; 64])> {
    let shared = |access: &Access| (access.kind, access.size, access.space);
    let together = move |one: &Access, next: &Access| shared(one) == shared(next) && one.lane < next.lane;
    accesses.chunk_by(together).map(|part| {
        let (mut lanes, mut addresses) = (0, [0; 64]);
        for access in part {
            let lane = usize::from(access.lane) % 64;
            (lanes, addresses[lane]) = (lanes | 1 << lane, access.address);
        }
        (part[0], lanes, addresses)
    })
}

/// Forwards the accesses and barriers of an observed run.
struct Forward<'a> {
    observer: &'a mut dyn AccessObserver,
    /// The number of lanes of a warp.
    lanes: usize,
}

/// Runs a program as [`Machine::run`] does, and forwards its accesses to memory.
pub(crate) fn forward_accesses(
    machine: &(impl Machine + ?Sized),
    observer: &mut dyn AccessObserver,
    until: Deadline,
) -> Result<(), String> {
    let mut forward = Forward { observer, lanes: machine.lanes().min(64) };
    Timed::run(machine, &mut forward, until)
}

impl Observer for Forward<'_> {
    fn after(&mut self, view: &dyn View) -> ControlFlow<()> {
        let (At { warp, pc, .. }, group) = (view.at(), view.group());
        for (Access { kind, size, space, .. }, lanes, addresses) in parts(view.accesses()) {
            let (addresses, thread) = (&addresses[..self.lanes], &|lane| view.thread(lane));
            self.observer.accesses(&Accesses { warp, group, pc, kind, size, space, lanes, addresses, thread });
        }
        if self.observer.is_done() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn barrier(&mut self, group: u64) {
        self.observer.barrier(group);
    }
}
