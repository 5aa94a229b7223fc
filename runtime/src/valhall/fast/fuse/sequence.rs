//! Instructions become a graph.

use std::ops::Range;

use super::super::code::Code;
use super::super::handler::Fields;
use super::emit::{Again, Segment};
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
    /// Pairs of rows that have become more by a constant: the first, the sum, and the constant.
    moved: Vec<(u32, [Value; 2], u64)>,
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
        Sequence { graph: Graph::default(), constants, level, accesses: vec![], branch: None, moved: vec![] }
    }

    /// How many of some words, from the first on, can become one sequence.
    pub fn reach(code: &'a Code<'_>, words: Range<usize>) -> usize {
        let mut sequence = Sequence::new(code);
        let mut adds =
            |word| code.calls(word).all(|(fields, recipe)| recipe.is_some_and(|r| sequence.add(fields, r).is_some()));
        words.clone().position(|word| !adds(word)).unwrap_or(words.len())
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

    /// How the instructions are executed again: how much further each access is then, and the pairs of rows that make it so;
    /// nothing where that is not a number below 2^31 that is known.
    pub fn again(&mut self) -> Option<Again> {
        let (mut strides, mut pairs) = (vec![], vec![]);
        for access in &self.accesses {
            let [low, high] = access.rows();
            let now = [low, high].map(|row| self.graph.read(row, self.constants));
            if self.graph.is_row(now[0], low) && self.graph.is_row(now[1], high) {
                strides.push(0);
                continue;
            }
            let (_, _, stride) =
                self.moved.iter().find(|(row, sum, _)| *row == low && low + 1 == high && *sum == now)?;
            let stride = u32::try_from(*stride).ok().filter(|stride| *stride < 1 << 31)?;
            strides.push(stride);
            if !pairs.contains(&(low, stride)) {
                pairs.push((low, stride));
            }
        }
        Some(Again { strides, pairs })
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
            Recipe::Sum(make) => {
                let sum = make(graph, sources, fields.numbers);
                let [low, high, ..] = sources;
                let is_same = graph.is_row(low, fields.dest) && graph.is_row(high, fields.dest + 1);
                if let (true, [Some(low), Some(high)]) = (is_same, [2, 3].map(|index| graph.constant(sources[index]))) {
                    self.moved.push((fields.dest, sum, u64::from(high) << 32 | u64::from(low)));
                }
                sum.map(Some)
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
