//! An instruction set and its derived data.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::StringArray;
use isaforge_analysis as analysis;
use isaforge_analysis::entry::places;
use isaforge_core::decode::{Fast, decode};
use isaforge_core::program::ProgramError;
use isaforge_core::{Isa as WordIsa, Tables, group, program, stream};
use pyo3::prelude::*;

use crate::builtin::{Builtin, Opcode};
use crate::error;

/// The arguments a set was loaded with: its name, or the path of its specification, and the generation.
pub type Origin = (PathBuf, Option<String>);

/// The fast decoder for valid words.
pub enum Decoder {
    /// A generated decoder.
    Generated(Opcode),
    /// Tables built at run time.
    Tables(Fast),
    /// Instructions are not words.
    None,
}

/// An instruction set. Sets live until the process ends, like their tables.
pub struct Set {
    /// The name it was loaded by.
    pub name: String,
    /// The arguments to load it again.
    pub origin: Origin,
    /// Its tables, the meaning of its instructions, and the machine that executes programs.
    pub analysis: analysis::Set,
    /// The fast path of decoding.
    pub decoder: Decoder,
    /// Whether programs run as launches of Valhall.
    pub launches: bool,
    /// The mnemonics of its instructions, by opcode.
    pub mnemonics: Arc<StringArray>,
}

/// An instruction set, created by `load`. It may be used from any number of threads at once.
#[pyclass(frozen, weakref, module = "isaforge")]
pub struct Isa {
    pub set: &'static Set,
}

impl From<&'static Builtin> for Set {
    fn from(builtin: &'static Builtin) -> Self {
        Set {
            decoder: builtin.opcode.map_or(Decoder::None, Decoder::Generated),
            launches: builtin.launches,
            origin: (builtin.names[0].into(), None),
            ..Set::new(
                builtin.tables.name().to_owned(),
                analysis::Set::new(builtin.tables, Some(builtin.semantics), Some(builtin.hardware)),
            )
        }
    }
}

impl Set {
    /// A set without a fast decoder.
    pub fn new(name: String, analysis: analysis::Set) -> Self {
        let names: Vec<&str> = match analysis.tables {
            Tables::Words(isa) => isa.forms.iter().map(|form| form.name.str).collect(),
            Tables::Groups(isa) => isa.operations.iter().map(|operation| operation.name).collect(),
            Tables::Streams(engine) => engine.stream.instructions.iter().map(|found| found.name).collect(),
        };
        let mnemonics = Arc::new(StringArray::from(names));
        let origin = (PathBuf::from(&name), None);
        Set { name, origin, analysis, decoder: Decoder::None, launches: false, mnemonics }
    }

    /// Its tables.
    pub fn tables(&self) -> Tables {
        self.analysis.tables
    }

    /// Its tables, if instructions are words.
    pub fn words(&self) -> Option<&'static WordIsa> {
        match self.analysis.tables {
            Tables::Words(isa) => Some(isa),
            _ => None,
        }
    }

    /// Whether instructions have bit layouts, as opposed to sequences of operands.
    pub fn has_layouts(&self) -> bool {
        !matches!(self.tables(), Tables::Streams(engine) if engine.stream.sequence.is_some())
    }

    /// The opcode of a word; `None` if it is not an instruction.
    #[inline(always)]
    pub fn opcode(&self, isa: &'static WordIsa, word: u64) -> Option<u16> {
        let fast = match &self.decoder {
            Decoder::Generated(opcode) => return opcode(word),
            Decoder::Tables(fast) => fast.opcode(word),
            Decoder::None => None,
        };
        fast.or_else(|| decode(isa, word).ok())
    }

    /// Assembles the text of one instruction. A group keeps the length it is written with, which may change within a
    /// program.
    ///
    /// # Errors
    /// Returns every mistake in the text.
    pub fn parse(&self, text: &str) -> Result<Vec<u8>, Vec<ProgramError>> {
        let Tables::Groups(isa) = self.tables() else { return self.assemble(text) };
        let read = group::assemble(isa, text).map_err(|error| {
            let found = text.get(error.at..error.at + error.len).map_or(1, |text| text.chars().count());
            let mut mistake = placed(text, error.at, &error.to_string());
            (mistake.len, mistake.help) = (found.max(1), error.help(isa).to_string());
            vec![mistake]
        })?;
        let group = read.encode(isa).map_err(|error| vec![placed(text, 0, &error.to_string())])?;
        Ok(group.as_bytes().to_vec())
    }

    /// Assembles a text that has exactly one instruction, or as much data.
    pub fn parse_one(&self, py: Python<'_>, text: &str) -> PyResult<Vec<u8>> {
        let bytes = self.parse(text).map_err(|errors| error::assemble(py, &errors))?;
        match places(&self.analysis, &bytes).count() {
            1 => Ok(bytes),
            0 => Err(error::not_one(py, "the text has no instruction", "")),
            count => {
                Err(error::not_one(py, &format!("the text has {count} instructions"), "`assemble` takes programs"))
            }
        }
    }

    /// Assembles the text of a program.
    ///
    /// # Errors
    /// Returns every mistake in the text.
    pub fn assemble(&self, text: &str) -> Result<Vec<u8>, Vec<ProgramError>> {
        match self.tables() {
            Tables::Words(isa) => program::assemble(isa, text).map(|words| {
                let size = self.tables().unit();
                let mut bytes = Vec::with_capacity(words.len() * size);
                words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()[..size.min(8)]));
                bytes
            }),
            Tables::Groups(isa) => group::listing::assemble_program(isa, text),
            Tables::Streams(engine) => match engine.stream.sequence {
                Some(sequence) => sequence.assemble(text).map_err(|error| vec![placed(text, error.at, &error.message)]),
                None => stream::program::assemble(engine, text),
            },
        }
    }
}

/// A mistake at a byte offset in a text.
fn placed(text: &str, at: usize, message: &str) -> ProgramError {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |line| line + 1);
    ProgramError {
        line: before.matches('\n').count() + 1,
        column: before[start..].chars().count() + 1,
        len: 1,
        message: message.to_owned(),
        help: String::new(),
    }
}
