//! Program memory, and why words are not instructions.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use isaforge_core::decode::lookup;
use isaforge_vpu::{Branch, Instruction, decode};

use crate::exec::program_cache::ProgramCache;
use crate::exec::vector::code::Code;
use crate::level::Level;
use crate::vpu::bind::Rows;
use crate::vpu::error::SetupError;
use crate::vpu::instructions::{Instructions, PROGRAM};
use crate::vpu::op::{Interacts, Op};
use crate::vpu::side::Side;
use crate::vpu::side::lanes::{Groups, PART};
use crate::vpu::side::sequence::{Sequence, Sequences};
use crate::vpu::tiles::TileSize;

/// What the code of a program depends on: its words, the size of tiles, and the level, which is `None` for the
/// reference.
type Key = (Box<[u64]>, TileSize, Option<Level>);

static PROGRAMS: ProgramCache<Key, Program> = ProgramCache::new();

/// Program memory: the words, and their instructions ready to run.
pub(crate) struct Program {
    pub words: [u64; PROGRAM],
    instructions: Instructions,
    /// The contents of the constant rows.
    pub constants: Vec<u64>,
    /// The registers of a group's bank that its operations on rows read, bit 0 for the first.
    pub globals: u32,
    /// How groups that run it at the same time may interact.
    pub interacts: Interacts,
    tile_size: TileSize,
    /// The code for groups side by side, and its sequences, created when first needed.
    together: OnceLock<(Side, Sequences)>,
}

impl Program {
    /// Loads a program. The remaining words are 0, which is Exit.
    pub(crate) fn load(words: &[u64], tile_size: TileSize, level: Option<Level>) -> Result<Arc<Self>, SetupError> {
        match words.len() {
            0..=PROGRAM => Ok(Program::kept(words, tile_size, level)),
            many => Err(SetupError::Program(many)),
        }
    }

    /// Returns the same program for the engine of another level, which may compile it differently.
    pub(crate) fn at(&self, level: Option<Level>) -> Arc<Self> {
        Program::kept(&self.words, self.tile_size, level)
    }

    /// Returns a program that an earlier machine may have loaded as well.
    fn kept(words: &[u64], tile_size: TileSize, level: Option<Level>) -> Arc<Self> {
        let len = words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
        let words = words.get(..len).unwrap_or_default();
        let is_wanted = |key: &Key| (&*key.0, key.1, key.2) == (words, tile_size, level);
        let new = || ((words.into(), tile_size, level), Program::new(words, tile_size));
        PROGRAMS.find_or_lower(is_wanted, words.len(), new)
    }

    /// Decodes the words of a program, as many as there are in program memory.
    pub(crate) fn new(words: &[u64], tile_size: TileSize) -> Self {
        let mut program = Program {
            words: [0; PROGRAM],
            instructions: Instructions { ops: vec![Op::new(0)], places: [0; PROGRAM] },
            constants: Vec::new(),
            globals: 0,
            interacts: Interacts::Nobody,
            tile_size,
            together: OnceLock::new(),
        };
        let mut known = HashMap::from([(0, 0)]);
        let Instructions { ops, places } = &mut program.instructions;
        let memory = program.words.iter_mut().zip(places);
        for ((at, place), word) in memory.zip(words) {
            *at = *word;
            *place = *known.entry(*word).or_insert_with(|| {
                ops.push(Op::new(*word));
                (ops.len() - 1) as u16
            });
        }
        // A word that is not an instruction stops all groups, and how far each has come then depends on their order.
        let interacts = ops.iter().map(|op| op.as_ref().map_or(Interacts::Anyone, Op::interacts));
        program.interacts = interacts.max().unwrap_or(Interacts::Nobody);
        let steady = ops.iter().flatten().all(|op| !op.spawns);
        for op in ops.iter_mut().flatten() {
            let places = op.places.clone();
            let constants = &mut program.constants;
            op.cover(&mut Rows {
                places: &places,
                constants,
                tile_size,
                steady,
                together: false,
                settles_pending: false,
            });
            program.globals |= op.globals;
        }
        program
    }

    /// Returns the instruction at an address; `None` if the word is not an instruction.
    #[inline(always)]
    pub(crate) fn op(&self, pc: u16) -> Option<&Op> {
        self.instructions.op(pc)
    }

    /// Returns its code for groups side by side, if it has one.
    #[inline]
    pub(crate) fn code(&self, pc: u16) -> Option<&Code<PART, Groups>> {
        self.side().code(self.instructions.place(pc))
    }

    /// Returns [`Side::uniform`] of an instruction.
    #[inline]
    pub(crate) fn uniform(&self, pc: u16) -> &[bool] {
        self.side().uniform(self.instructions.place(pc))
    }

    /// Returns the code for groups side by side.
    #[inline]
    pub(crate) fn side(&self) -> &Side {
        &self.together().0
    }

    /// Returns the sequence that begins at an instruction; `None` while that was not reached often.
    #[inline]
    pub(crate) fn sequence(&self, pc: u16, level: Level) -> Option<&Sequence> {
        let (side, sequences) = self.together();
        sequences.at(&self.instructions, side, pc, level)
    }

    #[inline]
    fn together(&self) -> &(Side, Sequences) {
        self.together.get_or_init(|| (Side::new(&self.instructions.ops, self.tile_size), Sequences::new()))
    }

    /// Returns the machine code compiled so far as text.
    pub(crate) fn listing(&self) -> String {
        let Some((side, sequences)) = self.together.get() else { return String::new() };
        side.listing() + &sequences.listing(|pc| self.text(pc))
    }

    pub(crate) fn word(&self, pc: u16) -> u64 {
        self.words[usize::from(pc) % PROGRAM]
    }

    /// Returns the exact text of an instruction.
    pub(crate) fn text(&self, pc: u16) -> String {
        text(self.word(pc))
    }
}

/// Returns the exact text of a word; one that is not an instruction is printed as `.word`.
pub fn text(word: u64) -> String {
    match decode(word) {
        Ok(instruction) => format!("{instruction:#}"),
        Err(_) => format!(".word 0x{word:016x}"),
    }
}

/// Returns why a word is not an instruction, in the wording of the conformance corpus: `undefined opcode 0x2F`, or
/// `reserved bit 11,3 set in the standard layout` with the highest bit first. `None` for an instruction.
pub fn refusal(word: u64) -> Option<String> {
    let error = decode(word).err()?;
    let Ok(form) = lookup(isaforge_vpu::ISA, word) else {
        return Some(format!("undefined opcode 0x{:02X}", word >> 56));
    };
    let info = &isaforge_vpu::ISA.forms[usize::from(form)];
    let wrong = (word ^ info.fixed_value) & info.fixed_mask;
    if wrong == 0 {
        return Some(error.to_string());
    }
    let bits: Vec<String> = (0..64).rev().filter(|bit| wrong >> bit & 1 == 1).map(|bit| bit.to_string()).collect();
    let layout = if form == Branch::OPCODE as u16 { "branch" } else { "standard" };
    Some(format!("reserved bit {} set in the {layout} layout", bits.join(",")))
}

/// Assembles VPU assembly.
///
/// # Errors
/// All errors in the text, in order.
pub fn assemble(text: &str) -> Result<Vec<u64>, Vec<isaforge_core::program::ProgramError>> {
    isaforge_core::program::assemble(isaforge_vpu::ISA, text)
}

/// Disassembles a program; for a word that is not an instruction, the result is the reason.
pub fn disassemble(words: &[u64]) -> Vec<Result<Instruction, String>> {
    words.iter().map(|w| decode(*w).map_err(|e| refusal(*w).unwrap_or_else(|| e.to_string()))).collect()
}
