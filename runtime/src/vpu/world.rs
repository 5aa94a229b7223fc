//! What the groups of a core share, and what all cores share.

use std::collections::{BTreeMap, VecDeque};

use isaforge_core::semantics::Type;
use isaforge_core::semantics::evaluate::Scratch;

use crate::level::Level;
use crate::vpu::error::Misuse;
use crate::vpu::group::{Group, Start, THREADS, row, word};
use crate::vpu::memory::Memory;
use crate::vpu::name;
use crate::vpu::op::Op;
use crate::vpu::side::lanes::Lanes;
use crate::vpu::tiles::{TILE_BUFFERS, Tile, TileSize};

/// The global banks of a core.
pub const BANKS: usize = 48;
/// The groups that can wait in the queue of a core.
pub const QUEUE: usize = 28;

/// A palette: 256 entries of X, Y, Z, W.
pub type Palette = [[u16; 4]; 256];

/// A global bank: 32 registers of X, Y, Z, W.
pub type Bank = [[u16; 4]; 32];

/// The state that the groups of a core share.
pub(crate) struct World {
    pub banks: Vec<Bank>,
    /// The number of groups and jobs that hold each bank.
    pub holders: [u32; BANKS],
    pub tile_size: TileSize,
    pub tiles: [Tile; TILE_BUFFERS],
    pub queue: VecDeque<Start>,
    /// For each misuse and instruction: the first group, in the order in which they became active, and the number of
    /// times.
    pub warnings: BTreeMap<(Misuse, u16), (u64, u64)>,
    /// The state of the generator that varies latencies; 0 varies nothing.
    pub jitter: u64,
    /// The level of the processor for operations on rows; `None` if the evaluator executes everything.
    pub level: Option<Level>,
    /// Scratch space for the values of an instruction.
    pub scratch: Scratch<THREADS>,
    /// The rows of groups side by side, with the program's constants.
    pub lanes: Option<Lanes>,
}

/// The state that all cores share, and the time.
#[derive(Clone, Copy)]
pub(crate) struct Outside<'a> {
    pub memory: &'a Memory,
    pub palettes: &'a [Palette; 2],
    /// The current cycle; `None` when cycles are not counted and loads complete at once.
    pub clock: Option<u64>,
}

impl World {
    pub(crate) fn new(tile_size: TileSize, jitter: u64, level: Option<Level>) -> Self {
        World {
            banks: vec![[[0; 4]; 32]; BANKS],
            holders: [0; BANKS],
            tile_size,
            tiles: std::array::from_fn(|_| Tile::new(tile_size)),
            queue: VecDeque::new(),
            warnings: BTreeMap::new(),
            jitter,
            level,
            scratch: Scratch::default(),
            lanes: None,
        }
    }

    /// Copies registers of a group's bank to the rows where operations read them.
    #[inline]
    pub(crate) fn fill_globals(&self, mut globals: u32, group: &mut Group) {
        while globals != 0 {
            let index = globals.trailing_zeros();
            globals &= globals - 1;
            let value = self.banks[usize::from(group.bank)][index as usize];
            *group.row_mut(row::GLOBAL + index as u16) = [word(value); THREADS];
        }
    }

    /// Returns the buffer, the element and the component that a tile address refers to.
    #[inline]
    pub(crate) fn tile_place(&self, address: u64) -> (usize, usize, usize) {
        let element = (address >> 3 & 0xffff) as usize & (self.tile_size.elements() - 1);
        ((address >> 19 & 3) as usize, element, (address >> 1 & 3) as usize)
    }

    /// Loads for a thread from an address of a space.
    #[inline]
    pub(crate) fn load(&self, out: Outside<'_>, space: u16, ty: Type, at: u64) -> u64 {
        let found = match space {
            name::EXTERNAL => out.memory.load(at as u32 & !7),
            name::TILE => {
                let (buffer, element, _) = self.tile_place(at);
                word(self.tiles[buffer].data[element])
            }
            name::PALETTE => word(out.palettes[(at >> 11 & 1) as usize][(at >> 3 & 255) as usize]),
            _ => 0,
        };
        found >> (8 * (at & 7)) & ty.mask()
    }

    #[cold]
    pub(crate) fn warn(&mut self, misuse: Misuse, group: &Group) {
        let (first, count) = self.warnings.entry((misuse, group.pc)).or_insert((group.serial, 0));
        *first = group.serial.min(*first);
        *count += 1;
    }

    /// Warns if an instruction makes a result pending while one is pending already.
    #[inline]
    pub(crate) fn check_pending(&mut self, op: &Op, group: &Group) {
        if op.pends && group.pending & op.active(group) != 0 {
            self.warn(Misuse::PendingLost, group);
        }
    }

    pub(crate) fn release(&mut self, bank: u8) {
        if let Some(holders) = self.holders.get_mut(usize::from(bank)) {
            *holders = holders.saturating_sub(1);
        }
    }

    pub(crate) fn latency(&mut self, base: u64) -> u64 {
        if self.jitter == 0 { base } else { base + self.vary() % 16 }
    }

    /// Returns the next number of the generator: xorshift64, which never reaches 0 from another state.
    pub(crate) fn vary(&mut self) -> u64 {
        self.jitter ^= self.jitter << 13;
        self.jitter ^= self.jitter >> 7;
        self.jitter ^= self.jitter << 17;
        self.jitter
    }
}
