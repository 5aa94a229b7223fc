//! The instructions of a generation, with the layouts that exist in it.

use isaforge_core::explain::streams::enums;
use isaforge_core::stream::{Engine, Layout, Role, Wide};

use crate::diff::difference::{Instruction, Pattern};
use crate::diff::revision::Side;

/// The instructions of one generation.
pub(super) struct Generation {
    pub engine: Engine,
    pub instructions: Vec<Entry>,
}

/// An instruction of a generation.
pub(super) struct Entry {
    pub name: &'static str,
    pub opcode: u16,
    /// Its own layouts, in the order of trying; at least one.
    pub own: Vec<&'static Layout>,
    /// Its aliases.
    pub aliases: Vec<&'static Layout>,
}

impl Entry {
    pub(super) fn pattern(&self) -> Pattern {
        self.own.first().map_or(Pattern { mask: Wide::ZERO, value: Wide::ZERO }, |layout| pattern(layout))
    }

    pub(super) fn instruction(&self) -> Instruction {
        Instruction { name: self.name.to_owned(), pattern: self.pattern() }
    }
}

pub(super) fn pattern(layout: &Layout) -> Pattern {
    Pattern { mask: layout.mask, value: layout.value }
}

/// Whether a layout exists in a generation.
pub(super) fn active(engine: Engine, layout: &Layout) -> bool {
    (layout.since..=layout.until).contains(&engine.generation)
}

impl Generation {
    pub(super) fn new(engine: Engine) -> Generation {
        let mut instructions: Vec<Entry> = engine
            .stream
            .instructions
            .iter()
            .zip(0..)
            .map(|(i, opcode)| Entry { name: i.name, opcode, own: Vec::new(), aliases: Vec::new() })
            .collect();
        for layout in engine.stream.layouts_of(0).iter().filter(|layout| active(engine, layout)) {
            if let Some(entry) = instructions.get_mut(usize::from(layout.opcode)) {
                let list = if layout.role == Role::Own { &mut entry.own } else { &mut entry.aliases };
                list.push(layout);
            }
        }
        instructions.retain(|entry| !entry.own.is_empty());
        Generation { engine, instructions }
    }

    pub(super) fn side(&self) -> Side {
        let stream = self.engine.stream;
        Side {
            name: stream.name.to_owned(),
            word_bits: 8 * u16::from(stream.longest),
            instructions: self.instructions.len(),
            enums: enums(self.engine).count(),
        }
    }

    pub(super) fn named(&self, name: &str) -> Option<usize> {
        self.instructions.iter().position(|entry| entry.name == name)
    }

    pub(super) fn unit(&self, entry: &Entry) -> &'static str {
        self.engine.stream.instructions.get(usize::from(entry.opcode)).map_or("", |instruction| instruction.unit)
    }

    pub(super) fn names(&self, opcodes: &[u16]) -> Vec<String> {
        let name = |opcode: &u16| self.engine.stream.instructions.get(usize::from(*opcode)).map(|i| i.name.to_owned());
        opcodes.iter().filter_map(name).collect()
    }
}
