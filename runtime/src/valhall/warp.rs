//! Sixteen lanes that execute together.

use isaforge_valhall::Register;

use super::launch::Origin;
use crate::machine::Access;

/// The number of lanes of a warp.
pub(super) const LANES: usize = 16;

/// One value for each lane.
pub(super) type Column<T = u32> = [T; LANES];

/// The state of sixteen threads. A register is stored as a column, so that an instruction works on neighbouring words.
#[derive(Clone, Debug)]
pub(super) struct Warp {
    pub registers: Box<[Column; Register::COUNT]>,
    /// The word that each lane executes next.
    pub pcs: Column,
    /// Lanes that have not ended.
    pub live: u16,
    /// Lanes that exist.
    pub threads: u16,
    /// Lanes that execute the current instruction.
    pub active: u16,
    /// The word of the current instruction.
    pub pc: u32,
    /// The lowest word above `pc` at which other lanes wait.
    pub others: u32,
    /// Whether it waits at the barrier at `pc`.
    pub at_barrier: bool,
    /// Whether it runs a fragment program.
    pub draws: bool,
    /// Helper lanes of a fragment program: they execute only for their neighbours, and have no visible effects.
    pub helpers: u16,
    /// The pixel of each lane of a fragment program.
    pub pixels: Column<[u32; 2]>,
    /// The position within its pixel at which each lane last interpolated: the distance from the corner in 1/256 pixel.
    pub places: Column<[i16; 2]>,
    /// The covered samples of each pixel, and the number of samples of a pixel.
    pub covered: Column<u16>,
    pub samples: u32,
    /// The accesses of the current instruction, if they are observed.
    pub accesses: Option<Vec<Access>>,
}

/// Warps that are workgroups of their own, one after the other.
pub(super) trait Warps {
    /// The threads of a warp.
    type Origin: Origin;

    /// Makes a warp the next one and sets the registers that it starts with; the others stay. `None` when there are no
    /// more.
    fn next(&mut self, warp: &mut Warp) -> Option<Self::Origin>;
}

impl Warp {
    /// Creates a warp of the lanes in `threads`, at the first word and with all registers 0.
    pub fn new(threads: u16) -> Self {
        Warp {
            registers: Box::new([[0; LANES]; Register::COUNT]),
            pcs: [0; LANES],
            live: threads,
            threads,
            active: threads,
            pc: 0,
            others: u32::MAX,
            at_barrier: false,
            draws: false,
            helpers: 0,
            pixels: [[0; 2]; LANES],
            places: [[128; 2]; LANES],
            covered: [0; LANES],
            samples: 1,
            accesses: None,
        }
    }

    /// Makes it a new warp of the lanes in `threads`, at a word. Its registers stay.
    pub fn restart(&mut self, threads: u16, pc: u32) {
        self.pcs = [pc; LANES];
        (self.live, self.threads, self.active) = (threads, threads, threads);
        (self.pc, self.others, self.at_barrier) = (0, u32::MAX, false);
        (self.draws, self.helpers, self.samples) = (false, 0, 1);
        (self.pixels, self.places, self.covered) = ([[0; 2]; LANES], [[128; 2]; LANES], [0; LANES]);
        self.accesses = None;
    }

    /// Selects the lanes that execute next: those with the lowest program counter.
    pub fn schedule(&mut self) {
        let live = |lane: &usize| self.live >> lane & 1 != 0;
        let pcs = || (0..LANES).filter(live).map(|lane| self.pcs[lane]);
        let pc = pcs().min().unwrap_or(0);
        let others = pcs().filter(|&other| other != pc).min().unwrap_or(u32::MAX);
        let active = (0..LANES).filter(live).filter(|&l| self.pcs[l] == pc).fold(0, |mask, lane| mask | 1 << lane);
        (self.pc, self.others, self.active) = (pc, others, active);
    }

    /// Moves the active lanes to `pc`.
    pub fn go(&mut self, pc: u32) {
        for lane in lanes(self.active) {
            self.pcs[lane] = pc;
        }
    }

    /// Ends the active lanes.
    pub fn end(&mut self) {
        self.live &= !self.active;
    }
}

/// The mask of the lanes for which something holds.
#[inline(always)]
pub(super) fn mask_of(holds: impl Fn(usize) -> bool) -> u16 {
    (0..LANES).fold(0, |mask, lane| mask | u16::from(holds(lane)) << lane)
}

/// The lanes of a mask, in ascending order.
pub(super) fn lanes(mask: u16) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}
