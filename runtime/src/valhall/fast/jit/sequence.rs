//! Translates instructions to a graph.

use std::collections::BTreeMap;
use std::ops::Range;

use isaforge_valhall::semantics::SEMANTICS;

use super::live::Live;
use super::word;
use crate::exec::jit::lanes::emit::{LoopPlan, Segment};
use crate::exec::jit::lanes::graph::{Graph, Kind, Value};
use crate::exec::jit::lanes::host::Host;
use crate::valhall::fast::code::Code;
use crate::valhall::fast::compiled::access::Access;
use crate::valhall::fast::compiled::counter::{Counter, Term};
use crate::valhall::fast::exit::Exit;
use crate::valhall::fast::fields::Fields;
use crate::valhall::fast::row::bit;

/// Instructions that are translated to a graph.
pub struct Sequence<'a, 'c> {
    /// What they compute.
    pub graph: Graph,
    code: &'a Code<'c>,
    /// The memory accesses.
    pub accesses: Vec<Access>,
    /// The branch that was added last.
    branch: Option<Branch>,
    /// Pairs of rows that are increased by a constant: the first row, the sum, and the constant.
    increments: Vec<(u32, [Value; 2], u64)>,
    /// The content of rows that were written by earlier segments which the current one continues.
    stored: BTreeMap<u32, Value>,
}

/// A branch.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    /// The lanes that pass its test.
    pub mask: Value,
    /// Whether the other lanes jump instead.
    pub inverted: bool,
    /// The operands of the handler that splits the lanes.
    pub fields: Fields,
}

impl<'a, 'c> Sequence<'a, 'c> {
    /// Creates an empty sequence.
    pub fn new(code: &'a Code<'c>) -> Self {
        let graph = Graph::new(SEMANTICS, code.level);
        Sequence { graph, code, accesses: vec![], branch: None, increments: vec![], stored: BTreeMap::new() }
    }

    /// Translates words that are executed one after the other: only the last of them may jump.
    pub fn of(code: &'a Code<'c>, mut words: Range<usize>) -> Option<Self> {
        let mut sequence = Sequence::new(code);
        words.clone().rev().skip(1).all(|pc| matches!(code.exit(pc), Some(Exit::Next))).then_some(())?;
        words.try_for_each(|pc| sequence.add(pc))?;
        Some(sequence)
    }

    /// Returns how many of some words, from the first on, can become one sequence.
    pub fn reach(code: &'a Code<'c>, words: Range<usize>) -> usize {
        let mut sequence = Sequence::new(code);
        words.clone().position(|word| sequence.add(word).is_none()).unwrap_or(words.len())
    }

    /// Ends a segment after which some registers are live. Returns its results, and the branch at its end.
    pub fn end_segment(&mut self, live: Live) -> (Segment, Option<Branch>) {
        let (rows, branch) = self.end(live);
        self.stored.clear();
        let mask = branch.map(|branch| branch.mask);
        (Segment { nodes: self.graph.end_segment(), rows, mask, sets: Vec::new() }, branch)
    }

    /// Ends a segment that the next one continues; some registers are live for lanes that leave.
    pub fn end_part(&mut self, live: Live) -> (Segment, Option<Branch>) {
        let (rows, branch) = self.end(live);
        self.stored.extend(rows.iter().copied());
        let mask = branch.map(|branch| branch.mask);
        (Segment { nodes: self.graph.end_part(), rows, mask, sets: Vec::new() }, branch)
    }

    /// Makes the mask of the branch the lanes that leave a loop's block: those that jump, or, if the branch leads `back`,
    /// those that do not.
    pub fn leave(&mut self, back: bool) {
        let Some(branch) = &mut self.branch else { return };
        branch.inverted ^= back;
        if self.graph.host() == Host::Avx512 {
            branch.mask = self.graph.leaving(branch.mask, branch.inverted);
            branch.inverted = false;
        }
    }

    fn end(&mut self, live: Live) -> (Vec<(u32, Value)>, Option<Branch>) {
        let mut written: Vec<_> = self.graph.written().filter(|&(row, _)| live.read & bit(row) != 0).collect();
        written.sort_unstable_by_key(|(row, _)| *row);
        let mut rows = Vec::new();
        for (row, value) in written {
            let kind = if live.exact & bit(row) != 0 { Kind::Word } else { Kind::Float };
            let value = self.graph.read_as(value, kind);
            let holds = match self.stored.get(&row) {
                Some(stored) => *stored == value,
                None => self.graph.is_row(value, row),
            };
            if !holds {
                rows.push((row, value));
            }
        }
        (rows, self.branch.take())
    }

    /// Returns how the instructions repeat: by how much each access advances, and the pairs of rows that cause it.
    /// `None` if that is not a known number below 2^31.
    pub fn again(&mut self) -> Option<LoopPlan> {
        let (mut strides, mut pairs) = (vec![], vec![]);
        for access in &self.accesses {
            let [low, high] = access.rows();
            let now = [low, high].map(|row| self.graph.read(row));
            if self.graph.is_row(now[0], low) && self.graph.is_row(now[1], high) {
                strides.push(0);
                continue;
            }
            let (_, _, stride) =
                self.increments.iter().find(|(row, sum, _)| *row == low && low + 1 == high && *sum == now)?;
            let stride = u32::try_from(*stride).ok().filter(|stride| *stride < 1 << 31)?;
            strides.push(stride);
            if !pairs.contains(&(low, stride)) {
                pairs.push((low, stride));
            }
        }
        Some(LoopPlan { strides, pairs, words: vec![] })
    }

    /// Returns the pairs of rows that are only increased by a constant: the first row, and the constant.
    pub fn moved(&mut self) -> Vec<(u32, u64)> {
        let is_last = |(row, sum, _): &(u32, [Value; 2], u64)| [*row, row + 1].map(|row| self.graph.read(row)) == *sum;
        std::mem::take(&mut self.increments).into_iter().filter(is_last).map(|(row, _, by)| (row, by)).collect()
    }

    /// Returns the counter that decides the branch: a row that increases by a constant and is compared with something
    /// that does not change.
    pub fn counter(&mut self) -> Option<Counter> {
        let Branch { mask, inverted, .. } = self.branch?;
        let comparison = *self.graph.compared(mask)?;
        let mut row = None;
        let mut term = |side: Value| {
            let (base, add) = self.graph.sum(side);
            if let Some(word) = self.graph.constant(base) {
                return Some(Term { row: None, add: word.wrapping_add(add) });
            }
            let of = self.graph.old_row(base)?;
            let now = self.graph.read(of);
            if !self.graph.is_row(now, of) {
                let (before, step) = self.graph.sum(now);
                let is_only = row.is_none() && before == base;
                row = is_only.then_some((of, step));
                row?;
            }
            Some(Term { row: Some(of), add })
        };
        let sides = [term(comparison.sides[0])?, term(comparison.sides[1])?];
        let (row, step) = row?;
        Some(Counter { row, step, sides, comparison, inverted })
    }

    /// Adds the computation of a word; `None` if the word, or the memory that it accesses, cannot be handled.
    pub fn add(&mut self, pc: usize) -> Option<()> {
        self.graph.begin(pc as u64);
        let selected = word::select(self.code, pc, &mut self.graph, &mut self.accesses)?;
        self.increments.extend(selected.increments);
        if let Exit::Branch(target) = self.code.exit(pc)? {
            let (mask, inverted) = selected.branch?;
            let fields = Fields { numbers: [target, 0], pc: u32::try_from(pc).ok()?, ..Fields::default() };
            self.branch = Some(Branch { mask, inverted, fields });
        }
        Some(())
    }
}
