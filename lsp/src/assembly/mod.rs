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
//! - `registers`: the names of registers
//! - [`words`]: the encoded words beside the lines

pub mod complete;
pub mod diagnostics;
pub mod hover;
pub mod names;
pub(crate) mod registers;
pub mod words;

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;

use isaforge_analysis::{Instruction, Program, Register, Set};
use isaforge_core::Tables;
use isaforge_core::assembly::{Assembly, Placed};
use isaforge_core::stream::program::ends_with_semicolons;

use crate::text::{BYTE_ORDER_MARK, Text};

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
    /// The texts with which comments start.
    comments: &'static [&'static str],
    spellings: OnceCell<Vec<(String, Register)>>,
    labels: OnceCell<HashSet<String>>,
}

impl Source {
    /// Assembles a program.
    pub fn read(text: String, set: Set) -> Source {
        let assembly = assemble(&set, &text);
        let alone = |placed: &Placed| {
            let bytes = assembly.bytes.get(placed.at..placed.at + placed.len)?;
            Program::read(&set, bytes).entries.into_iter().next()?.instruction.ok()
        };
        let instructions = assembly.placed.iter().map(alone).collect();
        let comments = comments(set.tables);
        let (text, spellings, labels) = (Text::new(text), OnceCell::new(), OnceCell::new());
        Source { text, set, assembly, instructions, comments, spellings, labels }
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
        let sequence = is_sequence(self.set.tables);
        if !sequence && line.trim_start_matches(BYTE_ORDER_MARK).trim_start().starts_with('#') {
            return "";
        }
        let is_code = |at: &usize| sequence && in_quotes(line.get(..*at).unwrap_or_default());
        let starts = |mark: &&str| line.match_indices(*mark).map(|(at, _)| at).find(|at| !is_code(at));
        let end = self.comments.iter().filter_map(starts).min();
        line.get(..end.unwrap_or(line.len())).unwrap_or(line)
    }

    /// The start of the statement at the end of a line's code: after labels and, for groups, after a number or a bar.
    fn statement(&self, code: &str) -> usize {
        let behind = |mark: char| code.rfind(mark).map_or(0, |at| at + 1);
        let start = code.len() - code.trim_start_matches(BYTE_ORDER_MARK).len();
        start.max(match self.set.tables {
            Tables::Groups(_) => behind(':').max(behind('|')),
            _ => {
                let label = |at: &usize| code[start..*at].split(':').all(|name| name.trim().chars().all(is_label));
                code.match_indices(':').map(|(at, _)| at).take_while(label).last().map_or(0, |at| at + 1)
            }
        })
    }

    /// The registers and all their names.
    fn spellings(&self) -> &[(String, Register)] {
        self.spellings.get_or_init(|| registers::spellings(&self.set))
    }

    fn has_label(&self, name: &str) -> bool {
        let labels = || self.assembly.labels.iter().map(|label| label.name.clone()).collect();
        self.labels.get_or_init(labels).contains(name)
    }
}

/// Assembles a text like `isaforge asm`: a byte-order mark at its start is no part of the program. Positions count it.
fn assemble(set: &Set, text: &str) -> Assembly {
    let program = text.strip_prefix(BYTE_ORDER_MARK);
    let mut assembly = set.tables.assemble_with(program.unwrap_or(text), 0, set.semantics);
    if program.is_none() {
        return assembly;
    }
    assembly.errors.iter_mut().filter(|error| error.line <= 1).for_each(|error| error.column += 1);
    let first = assembly.labels.iter_mut().filter(|label| label.line == 0);
    first.for_each(|label| label.at += BYTE_ORDER_MARK.len_utf8());
    assembly
}

/// The texts with which comments start, besides a `#` at the start of a line.
pub(crate) fn comments(tables: Tables) -> &'static [&'static str] {
    match tables {
        Tables::Groups(_) => &["#"],
        Tables::Words(_) => &["//", ";"],
        Tables::Streams(_) if is_sequence(tables) => &[";"],
        Tables::Streams(engine) if ends_with_semicolons(engine) => &["//"],
        Tables::Streams(_) => &["//", ";"],
    }
}

/// Whether instructions are sequences of operands, whose texts may be quoted and start with `#`.
pub(crate) fn is_sequence(tables: Tables) -> bool {
    matches!(tables, Tables::Streams(engine) if engine.stream.sequence.is_some())
}

/// Whether a quoted text is still open at the end of a text.
fn in_quotes(text: &str) -> bool {
    let (mut open, mut escaped) = (false, false);
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if open => escaped = true,
            '"' => open = !open,
            _ => {}
        }
    }
    open
}

/// Whether a character can be part of the name of a register or modifier.
pub(crate) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a character can be part of the name of a label.
fn is_label(c: char) -> bool {
    is_word(c) || matches!(c, '.' | '$')
}
