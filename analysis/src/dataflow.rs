//! Dataflow analysis to a fixed point: facts about registers at every block, which edges carry from block to block.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::effort::step;
use crate::graph::Graph;
use crate::registers::Registers;

/// The blocks that are to be visited. Those come first that most others depend on, so that few are visited twice.
pub(crate) struct Open<'g> {
    graph: &'g Graph,
    backwards: bool,
    waiting: Vec<bool>,
    queue: BinaryHeap<Reverse<usize>>,
}

impl<'g> Open<'g> {
    /// All blocks, to be visited with the flow of control or against it.
    pub(crate) fn all(graph: &'g Graph, backwards: bool) -> Self {
        let count = graph.blocks.len();
        Open { graph, backwards, waiting: vec![true; count], queue: (0..count).map(Reverse).collect() }
    }

    /// The place of a block in the order of visits, and the reverse.
    fn turned(&self, place: usize) -> usize {
        if self.backwards { self.waiting.len() - 1 - place } else { place }
    }

    pub(crate) fn push(&mut self, block: usize) {
        if !std::mem::replace(&mut self.waiting[block], true) {
            self.queue.push(Reverse(self.turned(self.graph.place_of(block))));
        }
    }

    pub(crate) fn pop(&mut self) -> Option<usize> {
        step();
        let Reverse(place) = self.queue.pop()?;
        let block = self.graph.block_at(self.turned(place));
        self.waiting[block] = false;
        Some(block)
    }
}

/// Carries sets with the flow of control: `change` turns the set before a block into that after it. Returns the sets
/// before all blocks, which are the unions of those after their predecessors, and of those at the start.
pub(crate) fn forwards(
    graph: &Graph,
    mut before: Vec<Registers>,
    mut change: impl FnMut(usize, &mut Registers),
) -> Vec<Registers> {
    let mut open = Open::all(graph, false);
    while let Some(block) = open.pop() {
        let mut after = before[block].clone();
        change(block, &mut after);
        for (next, _) in graph.successors(block) {
            if before[next].add(&after) {
                open.push(next);
            }
        }
    }
    before
}

/// Enters a block at all blocks that it leads to, including itself, unless another one is there already.
pub(crate) fn lead(graph: &Graph, from: usize, first: &mut [Option<usize>]) {
    let mut open = vec![from];
    while let Some(block) = open.pop() {
        step();
        if first[block].is_none() {
            first[block] = Some(from);
            open.extend(graph.successors(block).map(|(next, _)| next));
        }
    }
}
