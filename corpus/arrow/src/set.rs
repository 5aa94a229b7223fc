//! An instruction set with what its columns need.

use std::sync::Arc;

use isaforge_analysis as analysis;
use isaforge_core::Tables;
use isaforge_core::decode::{Fast, decode};

use crate::plan::FormPlan;
use crate::registers::Registers;
use crate::views::{Name, Names, Texts};

/// What finds the opcode of a word.
#[derive(Clone, Copy, Debug)]
pub enum Decoder {
    /// The decoder of a generated crate, for many words at once, each as its bytes in the order of memory: the opcode of each,
    /// [`INVALID`] for what is no instruction.
    Generated(fn(&[[u8; 8]], &mut [u16])),
    /// Tables that the compiler made of a specification.
    Tables(Fast),
    /// The tables of the core alone.
    Exact,
}

/// Stands for the opcode of what is no instruction. No set has this many instructions.
pub const INVALID: u16 = u16::MAX;

/// Words that are decoded at once.
pub(crate) const CHUNK: usize = 64;

/// A form of a set: an instruction, or an operation of groups.
#[derive(Clone, Debug)]
pub struct Form {
    /// Its name.
    pub name: &'static str,
    /// A few words on what it does.
    pub title: &'static str,
    /// The unit that executes it, empty where the specification does not say.
    pub unit: &'static str,
    /// Its name as a value of a column.
    pub(crate) view: Name,
}

/// An instruction set.
#[derive(Debug)]
pub struct Set {
    /// Its name.
    pub name: String,
    /// Its tables with what its instructions do, and the names of registers.
    pub analysis: analysis::Set,
    /// Its forms, by opcode.
    pub forms: Vec<Form>,
    decoder: Decoder,
    pub(crate) plans: Vec<FormPlan>,
    /// Where instructions are words.
    pub(crate) registers: Registers,
    pub(crate) flows: [(&'static str, Name); 5],
    pub(crate) texts: Texts,
}

impl Set {
    /// A set by its name and its tables.
    pub fn new(name: &str, analysis: analysis::Set, decoder: Decoder) -> Arc<Set> {
        let mut names = Names::default();
        let mut form = |name: &'static str, title: &'static str, unit: &'static str| Form {
            name,
            title,
            unit,
            view: names.intern(name),
        };
        let forms: Vec<Form> = match analysis.tables {
            Tables::Words(isa) => isa.forms.iter().map(|found| form(found.name.str, found.title, found.unit)).collect(),
            Tables::Groups(isa) => isa.operations.iter().map(|found| form(found.name, found.doc, "")).collect(),
            Tables::Streams(engine) => {
                engine.stream.instructions.iter().map(|found| form(found.name, found.title, "")).collect()
            }
        };
        let (mut plans, mut registers) = (Vec::new(), Registers::default());
        if let Tables::Words(isa) = analysis.tables {
            registers = Registers::new(isa, |register| names.intern(&analysis.name(*register)));
            plans = isa.forms.iter().map(|form| FormPlan::new(isa, form, &mut names, &mut registers)).collect();
        }
        let flows = ["next", "branch", "jump", "call", "end"].map(|name| (name, names.intern(name)));
        Arc::new(Set { name: name.to_owned(), analysis, forms, decoder, plans, registers, flows, texts: names.texts() })
    }

    /// Its tables.
    pub fn tables(&self) -> Tables {
        self.analysis.tables
    }

    /// Whether an instruction has one form, so that a filter on forms is one on opcodes.
    pub fn has_opcodes(&self) -> bool {
        match self.tables() {
            Tables::Words(_) => true,
            Tables::Streams(engine) => engine.stream.sequence.is_none(),
            Tables::Groups(_) => false,
        }
    }

    /// Bytes of a word, where instructions are words.
    pub fn word_bytes(&self) -> Option<usize> {
        matches!(self.tables(), Tables::Words(_)).then(|| self.tables().unit().min(8))
    }

    /// Calls `each` with the words of some code, up to [`CHUNK`] at once, without a piece of one at its end. Words of eight bytes
    /// stay where they lie; shorter ones get zeros behind them.
    #[inline]
    pub(crate) fn words(&self, code: &[u8], mut each: impl FnMut(&[[u8; 8]])) {
        let size = self.tables().unit().clamp(1, 8);
        if size == 8 {
            return code.as_chunks::<8>().0.chunks(CHUNK).for_each(each);
        }
        let mut words = [[0; 8]; CHUNK];
        for part in code.chunks(CHUNK * size) {
            let chunks = part.chunks_exact(size);
            let count = chunks.len();
            for (word, chunk) in words.iter_mut().zip(chunks) {
                word[..size].copy_from_slice(chunk);
            }
            each(&words[..count]);
        }
    }

    /// Finds the opcodes of words, where instructions are words; [`INVALID`] for those that are no instruction.
    pub(crate) fn opcodes(&self, words: &[[u8; 8]], opcodes: &mut [u16]) {
        let fast = match &self.decoder {
            Decoder::Generated(decode) => return decode(words, opcodes),
            Decoder::Tables(fast) => Some(fast),
            Decoder::Exact => None,
        };
        for (word, opcode) in words.iter().zip(opcodes) {
            let word = u64::from_le_bytes(*word);
            let found = fast.and_then(|fast| fast.opcode(word)).or_else(|| self.exact(word));
            *opcode = found.unwrap_or(INVALID);
        }
    }

    #[inline(never)]
    fn exact(&self, word: u64) -> Option<u16> {
        match self.tables() {
            Tables::Words(isa) => decode(isa, word).ok(),
            _ => None,
        }
    }

    pub(crate) fn flow(&self, name: &str) -> Name {
        self.flows.iter().find(|(known, _)| *known == name).map_or(Name::EMPTY, |(_, view)| *view)
    }
}
