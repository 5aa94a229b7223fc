//! Executes one word on a given state, for tests that compare engines.
//!
//! The state consists of plain numbers and shows nothing of how instructions are executed, so the same cases can be
//! given to any engine.

use crate::level::Level;
use crate::vpu::error::{Misuse, Wait};
use crate::vpu::exec::{Outcome, execute as run};
use crate::vpu::group::{Group, Registers, Start, THREADS, components, row, word};
use crate::vpu::memory::Memory;
use crate::vpu::program::{Program, refusal};
use crate::vpu::tiles::{TILE_BUFFERS, Tile, TileSize};
use crate::vpu::world::{BANKS, Bank, Outside, Palette, World};

/// A group about to execute a word, and everything that it can observe.
#[derive(Clone, Debug)]
pub struct State {
    /// The registers and flags of the group.
    pub registers: Registers,
    /// The address of the word.
    pub pc: u16,
    /// Threads that have not ended, bit 0 for thread 0.
    pub living: u8,
    /// Threads that are not masked.
    pub active: u8,
    /// The position of thread 0 on the screen; x is a multiple of 4.
    pub position: (u16, u16),
    /// The global bank that it reads.
    pub bank: u8,
    /// The bank reserved for the next launch.
    pub reserved: Option<u8>,
    /// Threads with a result pending.
    pub pending: u8,
    /// The pending results.
    pub results: [[u16; 4]; THREADS],
    /// The cycle from which on the results are available.
    pub ready: u64,
    /// The current cycle; `None` when cycles are not counted and loads complete at once.
    pub clock: Option<u64>,
    /// The global banks, [`BANKS`] of them.
    pub banks: Vec<Bank>,
    /// The number of groups and jobs that hold each bank.
    pub holders: [u32; BANKS],
    /// Groups that wait to become active.
    pub queue: Vec<Launched>,
    /// The size of the tile buffers.
    pub tile_size: TileSize,
    /// The tile buffers, each of that size.
    pub tiles: [Tile; TILE_BUFFERS],
    /// The palettes.
    pub palettes: Box<[Palette; 2]>,
    /// External memory.
    pub memory: Memory,
    /// The misuse so far, which changed no result.
    pub warnings: Vec<Misuse>,
}

/// A group that waits to become active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launched {
    /// The address at which it starts.
    pub entry: u16,
    /// Its position.
    pub position: (u16, u16),
    /// The threads that start alive.
    pub living: u8,
    /// Its bank.
    pub bank: u8,
}

/// How the group continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// With the next word or the target of a branch, at [`State::pc`].
    Word,
    /// With the same word, once it can issue.
    Same(Wait),
    /// Not at all, since its last thread has ended.
    Ended,
}

/// Executes a word: by operations on rows, with the instructions of a level of the processor, or by the evaluator.
///
/// # Errors
/// When the word is not an instruction; the state is unchanged then.
pub fn execute(level: Option<Level>, word: u64, state: &mut State) -> Result<Next, String> {
    if let Some(reason) = refusal(word) {
        return Err(reason);
    }
    let program = Program::new(&[word], state.tile_size);
    let (mut group, mut world) = take(state, level, &program.constants);
    let out = Outside { memory: &state.memory, palettes: &state.palettes, clock: state.clock };
    let op = program.op(0);
    let outcome = run(op, &mut group, &mut world, out, None);
    give_back(state, &group, world);
    Ok(match outcome {
        Outcome::Next => {
            state.pc = (state.pc + 1) & 1023;
            Next::Word
        }
        Outcome::Jumped => Next::Word,
        Outcome::Stalled(wait) => Next::Same(wait),
        Outcome::Ended => Next::Ended,
        Outcome::Invalid => return Err(String::new()),
    })
}

fn take(state: &mut State, level: Option<Level>, constants: &[u64]) -> (Box<Group>, World) {
    let start = Start {
        entry: state.pc,
        x: state.position.0,
        y: state.position.1,
        living: state.living,
        bank: state.bank,
        registers: Some(Box::new(state.registers.clone())),
    };
    let mut group = Group::new(start, 0, constants);
    group.active = state.active & state.living;
    group.reserved = state.reserved;
    (group.pending, group.ready) = (state.pending, state.ready);
    *group.row_mut(row::RESULT) = state.results.map(word);
    let mut world = World::new(state.tile_size, 0, level);
    world.banks = std::mem::take(&mut state.banks);
    world.banks.resize(BANKS, [[0; 4]; 32]);
    world.holders = state.holders;
    std::mem::swap(&mut world.tiles, &mut state.tiles);
    world.queue = state.queue.drain(..).map(|launched| launched.start()).collect();
    (group, world)
}

fn give_back(state: &mut State, group: &Group, world: World) {
    state.registers = group.registers();
    (state.pc, state.living, state.active) = (group.pc, group.living, group.active);
    (state.reserved, state.pending, state.ready) = (group.reserved, group.pending, group.ready);
    state.results = group.row(row::RESULT).map(components);
    (state.banks, state.holders, state.tiles) = (world.banks, world.holders, world.tiles);
    state.queue = world.queue.iter().map(Launched::of).collect();
    state.warnings.extend(world.warnings.keys().map(|(misuse, _)| *misuse));
}

impl Launched {
    fn start(self) -> Start {
        let Launched { entry, position: (x, y), living, bank } = self;
        Start { entry, x, y, living, bank, registers: None }
    }

    fn of(start: &Start) -> Self {
        let Start { entry, x, y, living, bank, .. } = *start;
        Launched { entry, position: (x, y), living, bank }
    }
}
