//! Programs of any instruction set.
//!
//! ```text
//! text ──assemble──▶ bytes, labels, mistakes ──▶ instructions: what each reads and writes
//! ```
//!
//! - [`diagnostics`]: errors, or, if there are none, lints
//! - [`hover`]: bits and their meaning
//! - [`complete`]: completion at the cursor
//! - [`names`]: definitions, references and renaming of labels and registers
//! - [`words`]: the encoded words beside the lines

pub mod complete;
pub mod diagnostics;
pub mod hover;
pub mod names;
pub mod words;

use std::ops::Range;

use isaforge_analysis::{Instruction, Program, Register, Set};
use isaforge_core::Tables;
use isaforge_core::assembly::{Assembly, Placed};

use crate::text::Text;

/// A program, with everything that an editor asks for.
#[derive(Debug)]
pub struct Source {
    /// Its text.
    pub text: Text,
    /// Its instruction set.
    pub set: Set,
    /// Its bytes, labels and errors.
    pub assembly: Assembly,
    /// The instructions of [`Assembly::placed`], each decoded in isolation, so branches have no target here.
    instructions: Vec<Option<Instruction>>,
}

impl Source {
    /// Assembles a program.
    pub fn read(text: String, set: Set) -> Source {
        let assembly = set.tables.assemble(&text);
        let alone = |placed: &Placed| {
            let bytes = assembly.bytes.get(placed.at..placed.at + placed.len)?;
            Program::read(&set, bytes).entries.into_iter().next()?.instruction.ok()
        };
        let instructions = assembly.placed.iter().map(alone).collect();
        Source { text: Text::new(text), set, assembly, instructions }
    }

    /// The bytes of an instruction.
    pub fn bytes(&self, placed: &Placed) -> &[u8] {
        self.assembly.bytes.get(placed.at..placed.at + placed.len).unwrap_or_default()
    }

    /// The valid instructions, with their positions.
    fn instructions(&self) -> impl Iterator<Item = (&Placed, &Instruction)> {
        self.assembly.placed.iter().zip(&self.instructions).filter_map(|(placed, one)| Some((placed, one.as_ref()?)))
    }

    /// The instruction on a line.
    fn at_line(&self, line: usize) -> Option<(&Placed, &Instruction)> {
        self.instructions().find(|(placed, _)| self.lines_of(placed).contains(&line))
    }

    /// The lines of an instruction; those of a group extend to the next one.
    fn lines_of(&self, placed: &Placed) -> Range<usize> {
        match self.set.tables {
            Tables::Groups(_) => {
                let next = self.assembly.placed.partition_point(|other| other.line <= placed.line);
                placed.line..self.assembly.placed.get(next).map_or(self.text.lines(), |next| next.line)
            }
            _ => placed.line..placed.line + 1,
        }
    }

    /// A line without its comment.
    fn code(&self, line: usize) -> &str {
        let line = self.text.line(line);
        let marks: &[&str] = match self.set.tables {
            Tables::Groups(_) => &["#"],
            _ if line.trim_start().starts_with('#') => &["#"],
            Tables::Words(_) => &["//", ";"],
            Tables::Streams(_) => &["//"],
        };
        let end = marks.iter().filter_map(|mark| line.find(mark)).min();
        line.get(..end.unwrap_or(line.len())).unwrap_or(line)
    }
}

/// The maximum number of registers of a bank that are offered or searched for.
const MAX_REGISTERS: u32 = 1024;

/// The registers of a set and their names.
pub(crate) fn registers(set: &Set) -> Vec<(String, Register)> {
    let mut found = Vec::new();
    let mut add = |bank: u16, index: u32| {
        let register = Register { bank, index };
        found.push((set.name(register), register));
    };
    let mut all = |banks: usize| {
        for bank in 0..banks as u16 {
            (0..set.count(bank).min(MAX_REGISTERS)).for_each(|index| add(bank, index));
        }
    };
    match set.tables {
        Tables::Words(isa) => all(isa.banks.len()),
        Tables::Streams(engine) => all(engine.stream.banks.len()),
        Tables::Groups(isa) => {
            for name in isa.registers {
                let Ok(bank) = u16::try_from(name.bank) else { continue };
                for number in (name.from..=name.to).take(MAX_REGISTERS as usize) {
                    add(bank, u32::try_from(number << name.low.min(16)).unwrap_or(0));
                }
            }
        }
    }
    found.retain(|(name, _)| !name.is_empty());
    found
}

/// Whether a character can be part of the name of a register or modifier.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a character can be part of the name of a label.
fn is_label(c: char) -> bool {
    is_word(c) || matches!(c, '.' | '$')
}
