//! An instruction set with what its columns need.

use std::sync::Arc;

use isaforge_analysis as analysis;
use isaforge_core::Tables;
use isaforge_core::decode::{Fast, decode};

use crate::plan::FormPlan;
use crate::views::{Name, Names, Texts};

/// What finds the opcode of a word.
#[derive(Clone, Copy, Debug)]
pub enum Decoder {
    /// The decoder of a generated crate; `None` for what is no instruction.
    Generated(fn(u64) -> Option<u16>),
    /// Tables that the compiler made of a specification.
    Tables(Fast),
    /// The tables of the core alone.
    Exact,
}

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
    /// Names of registers by bank, where instructions are words.
    pub(crate) registers: Vec<Vec<Name>>,
    pub(crate) flows: [(&'static str, Name); 5],
    pub(crate) texts: Texts,
}

/// A run of registers that begins at the last of a bank is named to its end: nothing says that hardware refuses it.
const LONGEST_RUN: u32 = 64;

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
        let (mut plans, mut registers) = (Vec::new(), Vec::new());
        if let Tables::Words(isa) = analysis.tables {
            let of_bank = |(bank, found): (usize, &isaforge_core::table::Bank)| {
                let named = |index| analysis.name(analysis::Register { bank: bank as u16, index });
                (0..found.count + LONGEST_RUN).map(|index| names.intern(&named(index))).collect()
            };
            registers = isa.banks.iter().enumerate().map(of_bank).collect();
            plans = isa.forms.iter().map(|form| FormPlan::new(isa, form, &mut names)).collect();
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

    /// The opcode of a word; `None` for what is no instruction, or where instructions are no words.
    #[inline(always)]
    pub fn opcode(&self, word: u64) -> Option<u16> {
        let fast = match &self.decoder {
            Decoder::Generated(opcode) => return opcode(word),
            Decoder::Tables(fast) => fast.opcode(word),
            Decoder::Exact => None,
        };
        fast.or_else(|| self.exact(word))
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
