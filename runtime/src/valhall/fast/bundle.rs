//! Eight warps that advance together.
//!
//! A register is a row of eight columns. All lanes of the bundle that have the lowest program counter execute; a warp of
//! which no lane is there is passed over. Each warp by itself thereby does exactly what it would do alone.
//!
//! - `rows`: the registers
//! - `choose`: the handlers that choose the lanes that go on
//! - `turns`: turns and barriers

mod choose;
mod rows;
mod turns;

use super::code::Code;
use super::column::{blend, from_bits, not, or};
use super::handler::Op;
use super::jit::trace::{EVENTS, Event, Located, What};
use super::memory_view::{Home, MemoryView};
use super::reach::{Patterns, Reached};
use crate::exec::jit::lanes::function::BlockFn;
pub use crate::exec::jit::lanes::row::Row;
use crate::exec::jit::lanes::window::Memory;
use crate::exec::vector::exact::Exact;
use crate::level::Level;
use crate::valhall::group::TURN;
use crate::valhall::step::Fault;
use crate::valhall::warp::{Column, LANES, Warp, lanes};

pub use choose::{Branch, Masks, Part, Schedule};
pub use rows::Rows;

/// Warps of a bundle.
pub const WARPS: usize = 8;

/// Some warps, a bit for each. Which they are is data, so that a loop over them is not unrolled: what is to become vector
/// instructions is the loop over the lanes within.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Warps(u8);

impl Warps {
    /// The warps that have any lanes.
    #[inline(always)]
    fn with(lanes: &[u16; WARPS]) -> Self {
        Warps::which(lanes.map(|lanes| lanes != 0))
    }

    /// The warps for which something holds: bytes of 0 or 1 become adjacent bits in one product.
    #[inline(always)]
    fn which(holds: [bool; WARPS]) -> Self {
        Warps((u64::from_le_bytes(holds.map(u8::from)).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8)
    }

    /// How many there are.
    #[inline(always)]
    fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The warps, in order.
    #[inline(always)]
    pub fn listed(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let warp = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (warp < WARPS).then_some(warp)
        })
    }
}

/// How many lanes there are.
fn count(lanes: &[u16; WARPS]) -> u32 {
    lanes.iter().map(|lanes| lanes.count_ones()).sum()
}

/// The program counter of lanes that have ended, or that have to wait.
pub const PARKED: u32 = u32::MAX;

/// How the threads of a launch are numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    /// Workgroups along each axis.
    pub groups: [u32; 3],
    /// Threads of a workgroup along each axis.
    pub size: [u32; 3],
    /// Workgroups of a dispatch: they follow one another along x.
    pub together: u32,
}

/// What follows a dispatch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ahead {
    pub grid: Grid,
    /// How many dispatches may be executed at once, this one and those behind it in the same row; 0 where it goes alone.
    pub most: u32,
    /// How many were.
    pub done: u32,
}

/// The state of eight warps.
#[derive(Debug)]
pub struct Bundle {
    /// Registers first, then what [`Code`] puts there.
    pub rows: Rows,
    /// Where warps belong; those that do not exist have no live lanes.
    pub homes: [Home; WARPS],
    /// The workgroup of all of them, if there is but one.
    pub only_group: Option<usize>,
    /// The word that each lane executes next; out of date for the active lanes, which are at `pc`.
    pcs: Row<WARPS>,
    /// Lanes that have not ended.
    pub live: [u16; WARPS],
    /// Lanes that exist.
    pub threads: [u16; WARPS],
    /// Lanes that execute the current instruction.
    pub active: [u16; WARPS],
    /// Warps with active lanes.
    busy: Warps,
    /// Ones in the active lanes, for handlers: machine code has the bits. Out of date until [`Bundle::prepare`] is called.
    masks: Row<WARPS>,
    has_masks: bool,
    active_threads: u32,
    /// Whether every live lane is active and most warps are there: all rows may be written whole then.
    whole: bool,
    /// The current word.
    pub pc: u32,
    /// The least word above `pc` at which other lanes wait to be joined.
    pub others: u32,
    /// Warps that may run now.
    pub chosen: u8,
    /// Warps that wait at a barrier.
    pub at_barrier: u8,
    /// Instructions that each warp executed in its turn, but for the last ones: `since` for each active warp.
    pub turns: [u32; WARPS],
    since: u32,
    /// The same in the turns that have ended at barriers since the warps were chosen, and the most of them.
    before: [u32; WARPS],
    most_before: u32,
    /// The value of `since` at which the first active warp has had its turn.
    room: u32,
    /// What a handler reports: the warp and what is wrong.
    pub fault: Option<(usize, Fault)>,
    /// What the last branch found: the lanes that jump.
    taken: Taken,
    /// The lanes that jump, where not all do.
    jumps: [u16; WARPS],
    /// Where the lanes access memory, as was last asked.
    pub reached: Option<Reached>,
    /// The same, for registers that have not been written since.
    pub patterns: Patterns,
    /// The lanes that exist when all warps begin together, and how many there are.
    entry: ([u16; WARPS], u32),
    /// The word where all live lanes are, if they are active and nothing has been executed since. Their program counters may
    /// be out of date.
    together: Option<u32>,
    /// What a branch did that parted all live lanes, as long as no more branches have.
    parted: Option<Parted>,
    /// Whether all threads of its workgroups are in it: their barriers wait for nobody else.
    pub is_closed: bool,
    /// The dispatches that it may execute at once.
    pub ahead: Ahead,
    /// What [`Begin`](super::run::Begin) adds in each warp.
    pub firsts: [u32; WARPS],
    /// What warps of a fragment program have besides.
    pub quads: Option<Box<[Quads; WARPS]>>,
    /// What operations on rows look up.
    pub exact: Vec<Exact>,
    /// The rows of stores with many words.
    pub stored: Vec<u16>,
    /// What the program was lowered for.
    pub level: Level,
    /// What is executed, where that is to be written down and can be.
    pub trace: Option<Vec<Event>>,
}

/// What a warp of a fragment program has besides its registers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quads {
    pub helpers: u16,
    pub pixels: Column<[u32; 2]>,
    pub places: Column<[i16; 2]>,
    pub covered: Column<u16>,
    pub samples: u32,
}

impl Quads {
    /// What a warp has.
    pub fn of(warp: &Warp) -> Self {
        let &Warp { helpers, pixels, places, covered, samples, .. } = warp;
        Quads { helpers, pixels, places, covered, samples }
    }

    /// Lets a warp have it for an instruction.
    pub fn enter(&self, warp: &mut Warp) {
        warp.draws = true;
        (warp.helpers, warp.pixels, warp.places) = (self.helpers, self.pixels, self.places);
        (warp.covered, warp.samples) = (self.covered, self.samples);
    }

    /// Takes it back. Pixels stay where they are.
    pub fn leave(&mut self, warp: &Warp) {
        (self.helpers, self.places) = (warp.helpers, warp.places);
    }
}

/// How all live lanes were parted: those that are not active wait at one word, and are joined there without looking for them.
#[derive(Clone, Copy, Debug)]
struct Parted {
    /// How many lanes there were.
    threads: u32,
    /// The word, as long as the program counters of those that wait are out of date.
    waits: Option<u32>,
}

/// Which active lanes take a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// None.
    None,
    /// All.
    All,
    /// Some. The active lanes are now those that go on at this word.
    Some(u32),
}

impl Bundle {
    /// A bundle without threads.
    pub fn new(code: &Code<'_>) -> Self {
        Bundle {
            rows: code.rows(),
            homes: [Home::default(); WARPS],
            only_group: Some(Home::default().group),
            pcs: Row::splat(PARKED),
            live: [0; WARPS],
            threads: [0; WARPS],
            active: [0; WARPS],
            busy: Warps::default(),
            masks: Row::splat(0),
            has_masks: false,
            active_threads: 0,
            whole: false,
            pc: 0,
            others: PARKED,
            chosen: 0,
            at_barrier: 0,
            turns: [0; WARPS],
            since: 0,
            before: [0; WARPS],
            most_before: 0,
            room: 0,
            fault: None,
            taken: Taken::None,
            jumps: [0; WARPS],
            reached: None,
            patterns: Patterns::default(),
            entry: ([0; WARPS], 0),
            together: None,
            parted: None,
            is_closed: false,
            ahead: Ahead::default(),
            firsts: [0; WARPS],
            quads: None,
            exact: code.exact.clone(),
            stored: code.stored.clone(),
            level: code.level,
            trace: None,
        }
    }

    /// Puts threads into a warp, at the first word.
    pub fn start(&mut self, warp: usize, home: Home, threads: u16) {
        self.part();
        self.patterns.forget();
        self.place_in(warp, home);
        (self.live[warp], self.threads[warp]) = (threads, threads);
        for (lane, pc) in self.pcs.0[warp].iter_mut().enumerate() {
            *pc = if threads >> lane & 1 != 0 { 0 } else { PARKED };
        }
        self.at_barrier &= !(1 << warp);
    }

    /// Says where a warp belongs.
    pub fn place_in(&mut self, warp: usize, home: Home) {
        self.homes[warp] = home;
        let is_only = self.homes.iter().all(|other| other.group == home.group);
        self.only_group = is_only.then_some(home.group);
    }

    /// Says which lanes exist when all warps begin together.
    pub fn set_entry(&mut self, threads: [u16; WARPS]) {
        self.entry = (threads, count(&threads));
    }

    /// Puts all warps at the first word, with all lanes that exist.
    pub fn enter(&mut self) {
        let (threads, count) = self.entry;
        (self.live, self.threads, self.active, self.active_threads) = (threads, threads, threads, count);
        (self.at_barrier, self.together, self.has_masks) = (0, Some(0), false);
        self.patterns.forget();
    }

    /// Whether all live lanes go on together, for [`Bundle::enter`] or a barrier has put them where they are, and all are chosen:
    /// there are no others to choose from then.
    pub fn goes_on(&mut self) -> bool {
        if self.chosen == 0 || self.chosen != self.ready() {
            self.part();
            return false;
        }
        let Some(pc) = self.together.take() else { return false };
        self.join(self.active_threads);
        (self.pc, self.room) = (pc, TURN);
        true
    }

    /// All live lanes become active; `threads` says how many there are.
    fn join(&mut self, threads: u32) {
        (self.active, self.busy, self.has_masks) = (self.live, Warps::with(&self.live), false);
        (self.active_threads, self.whole, self.others) = (threads, self.busy.count() > WARPS / 2, PARKED);
    }

    /// Brings program counters up to date, before lanes are no longer together.
    fn part(&mut self) {
        let Some(pc) = self.together.take() else { return };
        for (pcs, live) in self.pcs.0.iter_mut().zip(self.live) {
            // Nowhere is all ones.
            *pcs = or(&not(&from_bits(live)), &[pc; LANES]);
        }
    }

    /// Brings the masks of the active lanes up to date, before handlers are executed.
    #[inline(always)]
    pub fn prepare(&mut self, masks: &Op, view: &mut MemoryView<'_>) {
        if !self.has_masks {
            masks.run(true, self, view);
        }
    }

    /// The warps that have active lanes, in order.
    #[inline(always)]
    pub fn busy(&self) -> impl Iterator<Item = usize> + use<> {
        self.busy.listed()
    }

    /// Ones in the active lanes of a warp.
    #[inline(always)]
    pub fn mask(&self, warp: usize) -> &Column {
        &self.masks.0[warp]
    }

    /// Ones in the active lanes of all warps.
    #[inline(always)]
    pub fn masks(&self) -> &[Column; WARPS] {
        &self.masks.0
    }

    /// Sets a register of a warp in its active lanes.
    #[inline(always)]
    pub fn set<const WHOLE: bool>(&mut self, row: usize, warp: usize, values: &Column) {
        let column = &mut self.rows[row].0[warp];
        *column = if WHOLE { *values } else { blend(column, values, &self.masks.0[warp]) };
    }

    /// Whether all rows may be written whole.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// How many warps have active lanes.
    pub fn busy_count(&self) -> u64 {
        self.busy.count() as u64
    }

    /// Whether any warp has active lanes.
    pub fn is_busy(&self) -> bool {
        self.busy.0 != 0
    }

    /// How many lanes are active.
    pub fn active_threads(&self) -> u64 {
        self.active_threads.into()
    }

    /// Moves the active lanes to `pc`.
    pub fn go(&mut self, pc: u32) {
        for warp in self.busy() {
            self.pcs.0[warp] = blend(&self.pcs.0[warp], &[pc; LANES], &from_bits(self.active[warp]));
        }
    }

    /// Brings the program counters of lanes that wait since all were parted up to date.
    #[inline(always)]
    pub fn write_waiting(&mut self) {
        if let Some(Parted { waits, .. }) = &mut self.parted
            && let Some(pc) = waits.take()
        {
            for (pcs, (live, active)) in self.pcs.0.iter_mut().zip(self.live.iter().zip(&self.active)) {
                *pcs = blend(pcs, &[pc; LANES], &from_bits(live & !active));
            }
        }
    }

    /// The program counters of a warp, where those of lanes that wait [are written](Bundle::write_waiting).
    pub fn pcs(&self, warp: usize) -> &Column {
        debug_assert!(self.parted.is_none_or(|parted| parted.waits.is_none()));
        &self.pcs.0[warp]
    }

    /// As [`Bundle::pcs`], to change.
    pub fn pcs_mut(&mut self, warp: usize) -> &mut Column {
        debug_assert!(self.parted.is_none_or(|parted| parted.waits.is_none()));
        &mut self.pcs.0[warp]
    }

    /// The word that the first live lane of a warp executes next.
    pub fn place(&self, warp: usize) -> u32 {
        if let Some(pc) = self.together {
            return pc;
        }
        let lane = self.live[warp].trailing_zeros() as usize;
        self.pcs(warp).get(lane).copied().unwrap_or(PARKED)
    }

    /// Moves some lanes of a warp.
    pub fn set_pcs(&mut self, warp: usize, which: u16, pc: u32) {
        for lane in lanes(which) {
            self.pcs.0[warp][lane] = pc;
        }
    }

    /// The active lanes end.
    pub fn end(&mut self) {
        self.settle();
        if self.active == self.live {
            // Nobody looks at program counters any more.
            self.live = [0; WARPS];
            return;
        }
        self.go(PARKED);
        for warp in self.busy() {
            self.live[warp] &= !self.active[warp];
        }
    }

    /// A warp and those behind it never run again.
    pub fn drop_from(&mut self, first: usize) {
        self.part();
        self.write_waiting();
        for warp in first..WARPS {
            (self.live[warp], self.active[warp]) = (0, 0);
            self.pcs.0[warp] = [PARKED; LANES];
        }
        self.busy.0 &= ((1u32 << first) - 1) as u8;
        (self.active_threads, self.has_masks) = (count(&self.active), false);
    }

    /// Whether all lanes of all warps are active.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.active_threads as usize == WARPS * LANES
    }

    /// Executes machine code for the active lanes, at most `most` times. Returns how often it was, and what a branch at its
    /// end found, as [`Bundle::branch`] wants it; `None` where it has no memory, and nothing was done.
    #[inline(always)]
    pub fn execute(&mut self, machine: &BlockFn, memory: &mut impl Memory, most: u32) -> Option<(u32, [bool; 2])> {
        let busy = self.busy.0.into();
        let (times, found) = machine.run(&mut self.rows, &self.active, busy, &mut self.jumps, memory, most)?;
        Some((times, found.map(|lanes| lanes != 0)))
    }

    /// Executes machine code for some lanes and their warps, whatever lanes are active. Returns how often it was.
    #[inline(always)]
    pub fn execute_as(
        &mut self,
        machine: &BlockFn,
        memory: &mut impl Memory,
        (active, busy): (&[u16; WARPS], u32),
        most: u32,
    ) -> Option<u32> {
        let (times, _) = machine.run(&mut self.rows, active, busy, &mut self.jumps, memory, most)?;
        Some(times)
    }

    /// Makes some lanes and their warps the active ones, wherever they are.
    pub fn activate(&mut self, active: &[u16; WARPS]) {
        self.has_masks &= self.active == *active;
        (self.active, self.busy, self.active_threads) = (*active, Warps::with(active), count(active));
        self.whole = self.is_full();
    }

    /// Writes down what the active lanes execute.
    #[cold]
    pub fn note(&mut self, what: What, times: u32, places: Vec<Located>) {
        let active = self.active;
        if let Some(trace) = self.trace.as_mut().filter(|trace| trace.len() < EVENTS) {
            trace.push(Event { what, active, times, places });
        } else {
            self.trace = None;
        }
    }

    /// Notes what a branch found: whether some lanes jump, and whether some do not. True when both do.
    #[inline(always)]
    pub fn branch(&mut self, some: bool, lacking: bool) -> bool {
        self.taken = if some { Taken::All } else { Taken::None };
        some && lacking
    }

    /// What the last branch found.
    pub fn taken(&self) -> Taken {
        self.taken
    }
}
