//! Instructions become a graph.

use super::super::code::Code;
use super::super::handler::Fields;
use super::emit::Segment;
use super::graph::{Graph, Kind, Value};
use super::live::{self, Live};
use super::recipe::Recipe;
use super::window::{Access, PLACES};
use crate::level::Level;

/// Instructions that become a graph.
pub struct Sequence<'a> {
    /// What they compute.
    pub graph: Graph,
    constants: &'a [u32],
    level: Level,
    /// The memory that they access.
    pub accesses: Vec<Access>,
    /// The branch that was added last.
    branch: Option<Branch>,
}

/// A branch.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    /// Lanes that pass its test.
    pub mask: Value,
    /// Whether the others jump.
    pub inverted: bool,
    /// Of its handler.
    pub fields: Fields,
}

impl<'a> Sequence<'a> {
    /// Nothing yet.
    pub fn new(code: &'a Code<'_>) -> Self {
        let (constants, level) = (code.constants(), code.level);
        Sequence { graph: Graph::default(), constants, level, accesses: vec![], branch: None }
    }

    /// Ends a segment behind which some registers are read: what it has to write, and the branch it ends with.
    pub fn end_segment(&mut self, live: Live) -> (Segment, Option<Branch>) {
        let written: Vec<_> = self.graph.written().filter(|&(row, _)| live.read & live::bit(row) != 0).collect();
        let mut rows = Vec::new();
        for (row, value) in written {
            let kind = if live.exact & live::bit(row) != 0 { Kind::Word } else { Kind::Float };
            let value = self.graph.take(value, kind);
            if !self.graph.is_row(value, row) {
                rows.push((row, value));
            }
        }
        let branch = self.branch.take();
        (Segment { nodes: self.graph.end_segment(), rows, mask: branch.map(|branch| branch.mask) }, branch)
    }

    /// The place in memory that an instruction accesses; nothing when its address is computed on the way.
    fn place(&mut self, fields: &Fields, writes: bool) -> Option<usize> {
        for &row in &fields.sources[..2] {
            let address = self.graph.read(row, self.constants);
            if !self.graph.is_row(address, row) {
                return None;
            }
        }
        let known = self.accesses.iter().position(|access| access.is_like(fields));
        let place = known.unwrap_or_else(|| {
            self.accesses.push(Access::new(*fields, writes, self.level));
            self.accesses.len() - 1
        });
        self.accesses[place].writes |= writes;
        (place < PLACES).then_some(place)
    }

    /// Adds what a handler computes; nothing where its memory cannot be known.
    pub fn add(&mut self, fields: &Fields, recipe: &Recipe) -> Option<()> {
        let place = if recipe.is_safe() { 0 } else { self.place(fields, matches!(recipe, Recipe::Store))? };
        let Sequence { graph, constants, .. } = self;
        let mut index = 0;
        let sources = fields.sources.map(|row| {
            let value = graph.read(row, constants);
            let kind = recipe.takes(index);
            index += 1;
            graph.take(value, kind)
        });
        let results = match recipe {
            Recipe::Word(make) | Recipe::Float(make) | Recipe::Choice(make) | Recipe::Halves(make) => {
                [Some(make(graph, sources, fields.numbers)), None]
            }
            Recipe::Long(make) => make(graph, sources, fields.numbers).map(Some),
            Recipe::Load => [Some(graph.load(place)), None],
            Recipe::Store => {
                let value = graph.read(fields.dest, constants);
                let value = graph.take(value, Kind::Word);
                graph.store(place, value);
                return Some(());
            }
            Recipe::Branch(test) => {
                let mask = test(graph, sources[0]);
                self.branch = Some(Branch { mask, inverted: fields.numbers[1] != 0, fields: *fields });
                return Some(());
            }
        };
        for (row, value) in (fields.dest..).zip(results.into_iter().flatten()) {
            graph.write(row, value);
        }
        Some(())
    }
}
