//! An instruction set with the data that columns need.

use std::sync::Arc;

use isaforge_analysis as analysis;
use isaforge_core::Tables;
use isaforge_core::decode::{Fast, decode};

use crate::plan::FormPlan;
use crate::registers::Registers;
use crate::views::{Name, Names, Texts};

/// The decoder that finds the opcodes of words.
#[derive(Clone, Copy, Debug)]
pub enum Decoder {
    /// The decoder of a generated crate. It takes many words at once, as bytes in memory order, and stores the opcode
    /// of each, or [`INVALID`].
    Generated(fn(&[[u8; 8]], &mut [u16])),
    /// Tables that the compiler built from a specification.
    Tables(Fast),
    /// Only the tables of the core.
    Exact,
}

/// The opcode for invalid words. No set has this many instructions.
pub const INVALID: u16 = u16::MAX;

/// The number of words decoded at once.
pub(crate) const CHUNK: usize = 64;

/// A form of a set: an instruction, or an operation of groups.
#[derive(Clone, Debug)]
pub struct Form {
    /// Its name.
    pub name: &'static str,
    /// A short description.
    pub title: &'static str,
    /// The unit that executes it; empty if the specification does not name one.
    pub unit: &'static str,
    /// Its name as a value of a column.
    pub(crate) view: Name,
}

/// An instruction set.
#[derive(Debug)]
pub struct Set {
    /// Its name.
    pub name: String,
    /// Its tables, the meaning of its instructions, and the names of registers.
    pub analysis: analysis::Set,
    /// Its forms, by opcode.
    pub forms: Vec<Form>,
    decoder: Decoder,
    pub(crate) plans: Vec<FormPlan>,
    /// The registers, if instructions are words.
    pub(crate) registers: Registers,
    pub(crate) flows: [(&'static str, Name); 5],
    /// The opcodes of branches that may call programs that the specification describes.
    pub(crate) callers: Vec<u16>,
    pub(crate) texts: Texts,
}

impl Set {
    /// Creates a set from its name and tables.
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
        let callees = analysis.semantics.map_or(&[][..], |semantics| semantics.callees);
        let calls = |form: &Form| callees.iter().any(|callee| callee.instruction == form.name);
        let callers = (0..).zip(&forms).filter(|(_, form)| calls(form)).map(|(opcode, _)| opcode).collect();
        let (name, texts) = (name.to_owned(), names.texts());
        Arc::new(Set { name, analysis, forms, decoder, plans, registers, flows, callers, texts })
    }

    /// Its tables.
    pub fn tables(&self) -> Tables {
        self.analysis.tables
    }

    /// Whether each instruction has one form, so that a filter on forms is a filter on opcodes.
    pub fn has_opcodes(&self) -> bool {
        match self.tables() {
            Tables::Words(_) => true,
            Tables::Streams(engine) => engine.stream.sequence.is_none(),
            Tables::Groups(_) => false,
        }
    }

    /// The size of a word in bytes, if instructions are words.
    pub fn word_bytes(&self) -> Option<usize> {
        matches!(self.tables(), Tables::Words(_)).then(|| self.tables().unit().min(8))
    }

    /// Calls `each` with the words of some code, up to [`CHUNK`] at a time, without an incomplete word at the end.
    /// Words of eight bytes are passed in place; shorter ones are padded with zeros.
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

    /// Finds the opcodes of words, for sets of words; [`INVALID`] for invalid ones.
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
