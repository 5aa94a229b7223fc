//! A program, lowered once before it runs: a list of handlers for every word, and what follows it.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use isaforge_valhall::{Instruction, Opcode, dispatch};

use super::super::observe::traffic;
use super::super::program::{After, Program, Slot};
use super::bundle::{Row, Schedule, WARPS};
use super::handler::{Fields, Op, handler};
use super::lower::Lowering;
use crate::level::Level;
use crate::observe::Traffic;

/// Rows behind the registers that handlers find in every bundle.
pub mod row {
    /// General registers.
    pub const REGISTERS: u32 = 64;
    /// Two for each source.
    pub const SCRATCH: u32 = REGISTERS;
    /// Two for a result before it is put in its place.
    pub const RESULT: u32 = SCRATCH + 8;
    /// The number of the lane.
    pub const LANE: u32 = RESULT + 2;
    /// The number of the warp in its workgroup.
    pub const WARP: u32 = LANE + 1;
    /// The address of the thread's own memory, in two rows.
    pub const THREAD: u32 = WARP + 1;
    /// Words that are the same in all lanes.
    pub const CONSTANTS: u32 = THREAD + 2;
}

/// What happens after the handlers of a word.
#[derive(Clone, Copy, Debug)]
pub enum Exit {
    /// The next word.
    Next,
    /// The active lanes end.
    End,
    /// They go to another word.
    Jump(u32),
    /// Some of them go to another word: the last handler says which.
    Branch(u32),
    /// They wait for the workgroup.
    Barrier,
    /// The word has no handlers: the reference executes it on these registers.
    Step(u64),
    /// It is no instruction that can be executed.
    Refused,
}

/// A lowered program.
#[derive(Debug)]
pub struct Code<'a> {
    /// What it was lowered from.
    pub program: &'a Program<'a>,
    ops: Vec<Op>,
    /// Where the handlers of each word begin, and of the one behind the last.
    starts: Vec<u32>,
    exits: Vec<Exit>,
    /// For each word the end of the run of words from there on, all but the last of which are followed by the next.
    runs: Vec<u32>,
    constants: Vec<u32>,
    /// Registers that the program names.
    pub registers: u64,
    /// Whether what warps do depends on their order: then it is the reference's.
    pub ordered: bool,
    /// Chooses the lanes that go on.
    pub schedule: Op,
}

impl<'a> Code<'a> {
    /// Lowers a compute program for a processor and for the uniforms of a launch.
    pub fn new(program: &'a Program<'a>, uniforms: &'a [u32], warps: u32, level: Level) -> Self {
        Code::lower(program, Lowering::new(level, uniforms, warps, program.slots.len() as u32), level, false)
    }

    /// Lowers a fragment program. Memory is left to the reference, which knows what helper lanes do with it.
    pub fn drawing(program: &'a Program<'a>, uniforms: &'a [u32], framebuffer_size: u64, level: Level) -> Self {
        let mut lowering = Lowering::new(level, uniforms, 1, program.slots.len() as u32);
        lowering.framebuffer_size = framebuffer_size;
        Code::lower(program, lowering, level, true)
    }

    fn lower(program: &'a Program<'a>, mut lowering: Lowering<'a>, level: Level, draws: bool) -> Self {
        let mut starts = Vec::with_capacity(program.slots.len() + 1);
        let mut exits = Vec::with_capacity(program.slots.len());
        let (mut registers, mut ordered) = (0, false);
        for (pc, slot) in program.slots.iter().enumerate() {
            starts.push(lowering.ops.len() as u32);
            exits.push(match slot {
                Slot::Ready(instruction, after) => {
                    let addresses = traffic(*instruction) != Traffic::default();
                    ordered |= changes_in_turn(*instruction) || draws && changes(*instruction);
                    lowering.begin(pc as u32, *after == After::End);
                    let handled = if draws && addresses { None } else { dispatch(*instruction, &mut lowering).0 };
                    match lowering.finish(handled) {
                        Exit::Step(_) => Exit::Step(used(*instruction)),
                        exit => exit,
                    }
                }
                Slot::Undecodable(_) | Slot::Register(_) => Exit::Refused,
            });
        }
        starts.push(lowering.ops.len() as u32);
        for exit in &exits {
            registers |= if let Exit::Step(used) = exit { *used } else { 0 };
        }
        registers |= lowering.registers;
        let mut runs: Vec<u32> = (0..exits.len() as u32).collect();
        for pc in (0..exits.len()).rev() {
            match exits[pc] {
                Exit::Next => runs[pc] = runs.get(pc + 1).copied().unwrap_or(pc as u32 + 1),
                Exit::Jump(_) | Exit::Branch(_) => runs[pc] = pc as u32 + 1,
                _ => {}
            }
        }
        let schedule = handler::<Schedule>(level).with(Fields::default());
        let Lowering { ops, constants, .. } = lowering;
        Code { program, ops, starts, exits, runs, constants: constants.words, registers, ordered, schedule }
    }

    /// The rows of a new bundle.
    pub fn rows(&self) -> Box<[Row]> {
        let mut rows = vec![Row::splat(0); row::CONSTANTS as usize];
        rows[row::LANE as usize] = Row([std::array::from_fn(|lane| lane as u32); WARPS]);
        rows.extend(self.constants.iter().map(|&word| Row::splat(word)));
        rows.into()
    }

    /// The handlers of some words.
    pub fn ops(&self, words: std::ops::Range<usize>) -> &[Op] {
        let at = |pc: usize| self.starts.get(pc).map_or(self.ops.len(), |&start| start as usize);
        self.ops.get(at(words.start)..at(words.end)).unwrap_or_default()
    }

    /// What follows a word; nothing behind the last.
    pub fn exit(&self, pc: usize) -> Option<Exit> {
        self.exits.get(pc).copied()
    }

    /// The end of the run of words from `pc` on which are executed by handlers alone: the last may jump. There is no
    /// such run where the end is `pc`.
    pub fn run(&self, pc: usize) -> usize {
        self.runs.get(pc).map_or(pc, |&end| end as usize)
    }
}

/// The registers that an instruction names, and those after them: pairs need not say that they are.
fn used(instruction: Instruction) -> u64 {
    let all = instruction.reads().chain(instruction.writes()).filter(|used| used.bank == 0);
    let named = all.fold(0u64, |mask, used| {
        let run = u64::MAX.checked_shr(64 - u32::from(used.count.min(64))).unwrap_or(0);
        mask | run.checked_shl(used.first.into()).unwrap_or(0)
    });
    named | named << 1
}

/// Whether an instruction changes memory.
fn changes(instruction: Instruction) -> bool {
    traffic(instruction).written > 0 || instruction.opcode() == Opcode::StCvt
}

/// Whether an instruction changes memory in a way that depends on what others did before.
fn changes_in_turn(instruction: Instruction) -> bool {
    matches!(
        instruction.opcode(),
        Opcode::AtomI32
            | Opcode::AtomI64
            | Opcode::Atom1ReturnI32
            | Opcode::Atom1ReturnI64
            | Opcode::AtomReturnI32
            | Opcode::AtomReturnI64
    )
}

/// Words that handlers read as rows, each of them once.
#[derive(Debug, Default)]
pub struct Constants {
    words: Vec<u32>,
    rows: HashMap<u32, u32, BuildHasherDefault<Spread>>,
}

impl Constants {
    /// The row that holds a word in all lanes.
    pub fn row(&mut self, word: u32) -> u32 {
        let Constants { words, rows } = self;
        *rows.entry(word).or_insert_with(|| {
            words.push(word);
            row::CONSTANTS + (words.len() as u32 - 1)
        })
    }
}

/// Spreads a word by one multiplication. There are few different words, for uniforms and constants are few.
#[derive(Debug, Default)]
pub struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(byte.into());
        }
    }

    fn write_u32(&mut self, word: u32) {
        self.0 = (self.0 ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }
}
