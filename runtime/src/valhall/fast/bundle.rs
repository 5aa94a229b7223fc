//! Eight warps that advance in lockstep.
//!
//! A register is a row of eight columns. All lanes of the bundle with the lowest program counter execute; a warp that
//! has none of these lanes is skipped. So each warp does exactly what it would do alone.
//!
//! - `rows`: the registers
//! - `lanes`: where lanes are, from their start to their end
//! - `turns`: turns and barriers

mod lanes;
pub mod rows;
mod turns;

use std::sync::Arc;

use isaforge_core::semantics::evaluate::each;

use super::column::{blend, from_bits, holds};
use super::exit::Taken;
use super::grid::{Grid, Home};
use super::message::Message;
use super::pattern::{Patterns, Reached};
use super::row;
use super::trace::{EVENTS, Event};
use crate::exec::jit::lanes::function::BlockFn;
pub use crate::exec::jit::lanes::row::Row;
use crate::exec::jit::lanes::window::Memory;
use crate::exec::vector::handler::Exact;
use crate::level::Level;
use crate::valhall::step::Fault;
use crate::valhall::warp::{Column, LANES, Warp};

use super::warps::{Lanes, Warps};
pub use super::warps::{PARKED, WARPS};
use rows::Rows;

/// The dispatches that follow the current one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ahead {
    pub grid: Grid,
    /// The most dispatches that may be executed at once, including this one and later ones of the same row; 0 if it
    /// runs alone.
    pub most: u32,
    /// The number that was executed.
    pub done: u32,
}

/// The state of eight warps.
#[derive(Debug)]
pub struct Bundle {
    /// The registers, followed by the rows that [`Code`](super::code::Code) defines.
    pub rows: Rows,
    /// The positions of warps; those that do not exist have no live lanes.
    pub homes: [Home; WARPS],
    /// The workgroup of all warps, if there is only one.
    pub only_group: Option<usize>,
    /// The word that each lane executes next; out of date for the active lanes, which are at `pc`.
    pub(super) pcs: Row<WARPS>,
    /// The lanes that have not ended.
    pub live: [u16; WARPS],
    /// The lanes that exist.
    pub threads: [u16; WARPS],
    /// The lanes that execute the current instruction.
    pub active: [u16; WARPS],
    /// The warps with active lanes.
    pub(super) busy: Warps,
    /// Ones in the active lanes, for handlers; machine code uses the bits. Out of date until [`Bundle::prepare`] is
    /// called.
    pub(super) masks: Row<WARPS>,
    pub(super) has_masks: bool,
    pub(super) active_threads: u32,
    /// Whether every live lane is active and most warps are present: then whole rows may be written.
    pub(super) whole: bool,
    /// The current word.
    pub pc: u32,
    /// The lowest word above `pc` at which other lanes wait to join.
    pub others: u32,
    /// The warps that may run now.
    pub chosen: u8,
    /// The warps that wait at a barrier.
    pub at_barrier: u8,
    /// The instructions that each warp has executed in its turn, without the last ones: `since` for each active warp.
    pub turns: [u32; WARPS],
    since: u32,
    /// The same for turns that have ended at barriers since the warps were chosen, and the maximum of them.
    before: [u32; WARPS],
    most_before: u32,
    /// The value of `since` at which the first active warp has used up its turn.
    room: u32,
    /// The fault of a handler, with its warp.
    pub fault: Option<(usize, Fault)>,
    /// The outcome of the last branch.
    pub(super) taken: Taken,
    /// The lanes that jump, if not all do.
    pub(super) jumps: [u16; WARPS],
    /// The pattern of addresses that was requested last.
    pub reached: Option<Reached>,
    /// The patterns of registers that have not been written since.
    pub patterns: Patterns,
    /// The lanes that exist when all warps start together, and their number.
    entry: ([u16; WARPS], u32),
    /// The word of all live lanes, if they are active and nothing has been executed since. Their program counters may
    /// be out of date.
    together: Option<u32>,
    /// The split of all live lanes by a branch, as long as no other branch has split them further.
    pub(super) parted: Option<Parted>,
    /// Whether it contains all threads of its workgroups, so that their barriers wait for no other bundle.
    pub is_closed: bool,
    /// The dispatches that it may execute at once.
    pub ahead: Ahead,
    /// The values that `Begin` adds in each warp.
    pub firsts: [u32; WARPS],
    /// The additional state of warps in a fragment program.
    pub quads: Option<Box<Quads>>,
    /// The table that operations on rows look up.
    pub exact: Vec<Exact>,
    /// The rows of stores with many words.
    pub stored: Vec<u16>,
    /// The calls of intrinsics.
    pub messages: Arc<[Message]>,
    /// A warp that executes instructions for others, created when first needed.
    pub scratch: Option<Box<Warp>>,
    /// The level that the program was lowered for.
    pub level: Level,
    /// The trace of what is executed, while it is recorded.
    pub trace: Option<Vec<Event>>,
}

/// The state of warps in a fragment program that does not change; what changes is in rows.
#[derive(Clone, Debug, Default)]
pub struct Quads {
    /// The pixels of each warp: their columns and their rows.
    pub pixels: [[Column; WARPS]; 2],
    /// The samples that are covered.
    pub covered: [Column<u16>; WARPS],
    /// The number of samples of a pixel.
    pub samples: u32,
}

impl Quads {
    /// Takes over the pixels of a warp.
    pub fn set(&mut self, warp: usize, of: &Warp) {
        for (axis, pixels) in self.pixels.iter_mut().enumerate() {
            pixels[warp] = each(&of.pixels, |pixel| pixel[axis]);
        }
        self.covered[warp] = of.covered;
        self.samples = of.samples;
    }

    /// Returns the pixels of a warp.
    pub fn pixels(&self, warp: usize) -> Column<[u32; 2]> {
        std::array::from_fn(|lane| self.pixels.map(|pixels| pixels[warp][lane]))
    }
}

/// The split of all live lanes: the inactive ones wait at one word, and can join there without a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parted {
    /// The number of live lanes before.
    pub(super) threads: u32,
    /// The word, as long as the program counters of the waiting lanes are out of date.
    pub(super) waits: Option<u32>,
}

impl Bundle {
    /// Creates a bundle without threads, with the rows and the tables of a program.
    pub fn new(rows: Rows, exact: Vec<Exact>, stored: Vec<u16>, messages: Arc<[Message]>, level: Level) -> Self {
        Bundle {
            rows,
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
            exact,
            stored,
            messages,
            scratch: None,
            level,
            trace: None,
        }
    }

    /// Sets the rows of what may change in a fragment program: the helper lanes, and where lanes interpolate.
    pub fn set_quads(&mut self, warp: usize, helpers: u16, places: &Column<[i16; 2]>) {
        self.rows[row::HELPER as usize].0[warp] = from_bits(helpers);
        let place = |[x, y]: [i16; 2]| u32::from(x as u16) | u32::from(y as u16) << 16;
        self.rows[row::PLACE as usize].0[warp] = each(places, place);
    }

    /// Returns what [`Bundle::set_quads`] sets.
    pub fn helpers_and_places(&self, warp: usize) -> (u16, Column<[i16; 2]>) {
        let places = each(&self.rows[row::PLACE as usize].0[warp], |place| [place as i16, (place >> 16) as i16]);
        (holds(&self.rows[row::HELPER as usize].0[warp]), places)
    }

    /// Iterates over the warps that have active lanes, in order.
    #[inline(always)]
    pub fn busy(&self) -> impl Iterator<Item = usize> + use<> {
        self.busy.listed()
    }

    /// Iterates over the workgroups with active lanes, in order.
    pub fn groups(&self) -> impl Iterator<Item = usize> + use<> {
        let (homes, mut last) = (self.homes, None);
        let groups = self.busy().map(move |warp| homes[warp].group);
        groups.filter(move |group| last.replace(*group) != Some(*group))
    }

    /// Returns ones in the active lanes of a warp.
    #[inline(always)]
    pub fn mask(&self, warp: usize) -> &Column {
        &self.masks.0[warp]
    }

    /// Returns ones in the active lanes of all warps.
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

    /// Whether whole rows may be written.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Returns the number of warps with active lanes.
    pub fn busy_count(&self) -> u64 {
        self.busy.count() as u64
    }

    /// Whether any warp has active lanes.
    pub fn is_busy(&self) -> bool {
        self.busy.0 != 0
    }

    /// Returns the number of active lanes.
    pub fn active_threads(&self) -> u64 {
        self.active_threads.into()
    }

    /// Whether all lanes of all warps are active.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.active_threads as usize == WARPS * LANES
    }

    /// Executes machine code for the active lanes, at most `most` times. Returns the number of executions, and the
    /// outcome of a branch at its end in the form that [`Bundle::branch`] takes; `None`, without any effect, if the
    /// memory is not found.
    #[inline(always)]
    pub fn execute(&mut self, machine: &BlockFn, memory: &mut impl Memory, most: u32) -> Option<(u32, [bool; 2])> {
        let busy = self.busy.0.into();
        let (times, found) = machine.run(&mut self.rows, &self.active, busy, &mut self.jumps, memory, most)?;
        Some((times, found.map(|lanes| lanes != 0)))
    }

    /// Executes machine code for the given lanes and their warps, whatever lanes are active. Returns the number of
    /// executions.
    #[inline(always)]
    pub fn execute_as(
        &mut self,
        machine: &BlockFn,
        memory: &mut impl Memory,
        active: &Lanes,
        most: u32,
    ) -> Option<u32> {
        let busy = active.warps.0.into();
        let (times, _) = machine.run(&mut self.rows, &active.of, busy, &mut self.jumps, memory, most)?;
        Some(times)
    }

    /// Makes the given lanes and their warps active, wherever they are.
    pub fn activate(&mut self, active: &Lanes) {
        self.has_masks &= self.active == active.of;
        (self.active, self.busy, self.active_threads) = (active.of, active.warps, active.count);
        self.whole = self.is_full();
    }

    /// Records what was executed.
    #[cold]
    pub fn note(&mut self, event: Event) {
        if let Some(trace) = self.trace.as_mut().filter(|trace| trace.len() < EVENTS) {
            trace.push(event);
        } else {
            self.trace = None;
        }
    }

    /// Records the outcome of a branch: whether some lanes jump, and whether some do not. Returns true if both.
    #[inline(always)]
    pub fn branch(&mut self, some: bool, lacking: bool) -> bool {
        self.taken = if some { Taken::All } else { Taken::None };
        some && lacking
    }

    /// Returns the outcome of the last branch.
    pub fn taken(&self) -> Taken {
        self.taken
    }
}
