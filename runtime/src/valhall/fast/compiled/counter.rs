//! Loop counters.

use crate::exec::jit::lanes::emit::{LoopPlan, Segment};
use crate::exec::jit::lanes::graph::{Comparison, Graph};
use crate::exec::jit::lanes::row::Row;

/// A loop counter: if all lanes have the same value in its rows, the number of iterations is known.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    /// The row of the counter, and its increment per iteration.
    pub row: u32,
    pub step: u32,
    pub sides: [Term; 2],
    pub comparison: Comparison,
    /// Whether lanes jump if the comparison does not hold.
    pub inverted: bool,
}

/// A side of the comparison: a constant plus the initial content of a row.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    pub row: Option<u32>,
    pub add: u32,
}

impl Counter {
    /// Whether the number of iterations is the same for all lanes.
    pub fn is_uniform<const COLUMNS: usize>(&self, rows: &[Row<COLUMNS>]) -> bool {
        let row = |term: &Term| term.row.is_none_or(|row| rows.get(row as usize).and_then(Row::same).is_some());
        self.sides.iter().all(row)
    }

    /// Returns the number of iterations, limited to `most`, and whether the loop ends with the last of them. `None`
    /// if that depends on the lane.
    pub fn times<const COLUMNS: usize>(&self, rows: &[Row<COLUMNS>], most: u32) -> Option<(u32, bool)> {
        let mut sides = [0; 2];
        for (side, term) in sides.iter_mut().zip(&self.sides) {
            let word = match term.row {
                Some(row) => rows.get(row as usize)?.same()?,
                None => 0,
            };
            *side = word.wrapping_add(term.add);
        }
        let steps = self.sides.map(|term| if term.row == Some(self.row) { self.step } else { 0 });
        let jumps = |time: u32| {
            let at = |side: usize| sides[side].wrapping_add(steps[side].wrapping_mul(time));
            self.comparison.holds([at(0), at(1)]) != self.inverted
        };
        let last = (0..most).find(|time| !jumps(*time));
        Some(last.map_or((most, false), |last| (last + 1, true)))
    }

    /// Returns the segment and the plan for a known number of iterations, which need not test the lanes: the row is
    /// written once at the end if nothing else depends on it.
    pub fn counted(&self, graph: &Graph, segment: &Segment, again: &LoopPlan) -> (Segment, LoopPlan) {
        let (mut segment, mut again) = (Segment { mask: None, ..segment.clone() }, again.clone());
        let written: Vec<_> = segment.rows.extract_if(.., |(row, _)| *row == self.row).collect();
        if segment.reads(graph, |row| row == self.row) {
            segment.rows.extend(written);
        } else if !written.is_empty() {
            again.words.push((self.row, self.step));
        }
        (segment, again)
    }
}
