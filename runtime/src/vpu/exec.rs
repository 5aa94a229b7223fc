//! What one instruction does to a group and its surroundings.

use std::collections::{BTreeMap, VecDeque};

use isaforge_core::semantics::evaluate::{Scratch, evaluate};
use isaforge_vpu::semantics::SEMANTICS;

use crate::vpu::environment::Threads;
use crate::vpu::error::{Misuse, Wait};
use crate::vpu::group::{Group, Start, THREADS};
use crate::vpu::memory::Memory;
use crate::vpu::op::Op;
use crate::vpu::tiles::{TILE_BUFFERS, Tile, TileSize};
use crate::vpu::trace::Sink;

/// Global banks of a core: one for each group of state.
pub const BANKS: usize = 48;
/// Groups that can wait in the queue of a core.
pub const QUEUE: usize = 28;

/// A palette: 256 entries of X, Y, Z, W.
pub type Palette = [[u16; 4]; 256];

/// A global bank: 32 registers of X, Y, Z, W.
pub type Bank = [[u16; 4]; 32];

/// What groups of a core share.
pub(crate) struct World {
    pub banks: Vec<Bank>,
    /// How many groups and jobs hold each bank.
    pub holders: [u32; BANKS],
    pub tile_size: TileSize,
    pub tiles: [Tile; TILE_BUFFERS],
    pub queue: VecDeque<Start>,
    /// By what and where: the first group and how often.
    pub warnings: BTreeMap<(Misuse, u16), (u64, u64)>,
    /// State of the generator that varies latencies; 0 varies nothing.
    pub jitter: u64,
    /// Room for the values of an instruction.
    scratch: Scratch<THREADS>,
}

/// What all cores share, and the time.
#[derive(Clone, Copy)]
pub(crate) struct Outside<'a> {
    pub memory: &'a Memory,
    pub palettes: &'a [Palette; 2],
    /// The cycle; `None` when no one counts and loads complete at once.
    pub clock: Option<u64>,
}

pub(crate) enum Outcome {
    Next,
    /// A branch was taken; the program counter is set.
    Jumped,
    Stalled(Wait),
    /// The last thread has ended.
    Ended,
    Invalid,
}

impl World {
    pub(crate) fn new(tile_size: TileSize, jitter: u64) -> Self {
        World {
            banks: vec![[[0; 4]; 32]; BANKS],
            holders: [0; BANKS],
            tile_size,
            tiles: std::array::from_fn(|_| Tile::new(tile_size)),
            queue: VecDeque::new(),
            warnings: BTreeMap::new(),
            jitter,
            scratch: Scratch::default(),
        }
    }

    #[cold]
    pub(crate) fn warn(&mut self, misuse: Misuse, group: &Group) {
        self.warnings.entry((misuse, group.pc)).or_insert((group.serial, 0)).1 += 1;
    }

    pub(crate) fn release(&mut self, bank: u8) {
        if let Some(holders) = self.holders.get_mut(usize::from(bank)) {
            *holders = holders.saturating_sub(1);
        }
    }

    pub(crate) fn latency(&mut self, base: u64) -> u64 {
        if self.jitter == 0 { base } else { base + self.vary() % 16 }
    }

    /// The next number of the generator: xorshift64, which never reaches 0 from another state.
    pub(crate) fn vary(&mut self) -> u64 {
        self.jitter ^= self.jitter << 13;
        self.jitter ^= self.jitter >> 7;
        self.jitter ^= self.jitter << 17;
        self.jitter
    }
}

/// Executes an instruction, `None` being a word that is none; the program counter moves only for a taken branch.
pub(crate) fn execute<S: Sink>(
    op: Option<&Op>,
    group: &mut Group,
    world: &mut World,
    out: Outside<'_>,
    sink: &mut S,
) -> Outcome {
    let Some(op) = op else { return Outcome::Invalid };
    let mut scratch = std::mem::take(&mut world.scratch);
    let mut threads = Threads::<S>::new(op, group, world, out);
    let result = evaluate(SEMANTICS, &op.shape, &mut scratch, &mut threads);
    let jumped = threads.finish(sink);
    world.scratch = scratch;
    if let Err(wait) = result {
        return Outcome::Stalled(wait);
    }
    if op.spawns && group.reserved.is_none() {
        world.warn(Misuse::SpawnedWriteWithoutBank, group);
    }
    match jumped {
        true => Outcome::Jumped,
        false if op.ends && group.living == 0 => Outcome::Ended,
        false => Outcome::Next,
    }
}
