//! Control flow: basic blocks, the edges between them, and loops.

use std::ops::Range;

use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::effects::When;
use crate::program::Program;

/// How control passes from one block to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Execution falls through to the next block.
    Next,
    /// A branch is taken.
    Branch,
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its range of entries in the program.
    pub entries: Range<usize>,
    /// Whether it can be reached from an entry point.
    pub reachable: bool,
    /// The number of loops that contain it.
    pub depth: usize,
    /// Whether it ends in a branch with a computed target, which may lead anywhere.
    pub indirect: bool,
    /// Whether execution may leave the program after it.
    pub leaves: bool,
}

/// The control flow of a program.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The blocks, sorted by address.
    pub blocks: Vec<Block>,
    graph: DiGraph<(), Edge>,
    dominators: Dominators<NodeIndex>,
}

impl Graph {
    /// Builds the control flow graph of a program. A call continues with the next instruction, and its target is a
    /// separate edge.
    pub fn new(program: &Program<'_>) -> Graph {
        let count = program.entries.len();
        let mut starts: Vec<bool> = vec![false; count + 1];
        for place in program.entry_points.iter().filter(|place| **place <= count) {
            starts[*place] = true;
        }
        for (index, entry) in program.entries.iter().enumerate() {
            let parts = match &entry.instruction {
                Ok(instruction) => instruction.flow.branch != When::Never || instruction.flow.end != When::Never,
                Err(_) => true,
            };
            if parts {
                starts[index + 1] = true;
            }
        }
        program.labels.keys().for_each(|place| starts[*place] = true);
        let firsts: Vec<usize> = (0..count).filter(|index| starts[*index]).collect();
        let ends = firsts.iter().skip(1).copied().chain([count]);
        let mut blocks: Vec<Block> = firsts
            .iter()
            .zip(ends)
            .map(|(first, end)| Block {
                entries: *first..end,
                reachable: false,
                depth: 0,
                indirect: false,
                leaves: false,
            })
            .collect();
        let mut graph = DiGraph::with_capacity(blocks.len(), 2 * blocks.len());
        let nodes: Vec<NodeIndex> = blocks.iter().map(|_| graph.add_node(())).collect();
        let block_at = |place: usize| firsts.binary_search(&place).ok();
        for (index, block) in blocks.iter_mut().enumerate() {
            let Some(last) = block.entries.clone().last().and_then(|last| program.entries.get(last)) else { continue };
            let Ok(instruction) = &last.instruction else {
                block.leaves = true;
                continue;
            };
            let flow = &instruction.flow;
            if flow.branch != When::Never {
                match flow.target.map(|target| program.place(target).and_then(block_at)) {
                    Some(Some(to)) => {
                        graph.add_edge(nodes[index], nodes[to], Edge::Branch);
                    }
                    Some(None) => block.leaves = true,
                    None => block.indirect = true,
                }
            }
            if flow.falls_through() {
                match nodes.get(index + 1) {
                    Some(next) => {
                        graph.add_edge(nodes[index], *next, Edge::Next);
                    }
                    None => block.leaves = true,
                }
            }
        }
        // A virtual node that precedes all entry points.
        let start = graph.add_node(());
        for block in program.entry_points.iter().filter_map(|place| block_at(*place)) {
            graph.add_edge(start, nodes[block], Edge::Next);
        }
        let dominators = simple_fast(&graph, start);
        let mut found = Graph { blocks, graph, dominators };
        found.mark();
        found
    }

    fn mark(&mut self) {
        // A branch with a computed target may reach every block.
        let anywhere = self.blocks.iter().any(|block| block.indirect);
        for index in 0..self.blocks.len() {
            let reached = self.dominators.dominators(NodeIndex::new(index)).is_some();
            self.blocks[index].reachable = reached || anywhere;
        }
        for (from, to) in self.back_edges() {
            for inside in self.natural_loop(from, to) {
                self.blocks[inside].depth += 1;
            }
        }
    }

    /// The successors of a block.
    pub fn successors(&self, block: usize) -> impl Iterator<Item = (usize, Edge)> {
        self.graph.edges(NodeIndex::new(block)).map(|edge| (edge.target().index(), *edge.weight()))
    }

    /// The predecessors of a block.
    pub fn predecessors(&self, block: usize) -> impl Iterator<Item = usize> {
        let before = self.graph.neighbors_directed(NodeIndex::new(block), petgraph::Direction::Incoming);
        before.map(NodeIndex::index).filter(|before| *before < self.blocks.len())
    }

    /// Whether every path from an entry point to `block` goes through `through`.
    pub fn dominates(&self, through: usize, block: usize) -> bool {
        let mut all = self.dominators.dominators(NodeIndex::new(block)).into_iter().flatten();
        all.any(|node| node.index() == through)
    }

    /// The back edges: from a block to one that dominates it. If several lead to the same loop header, only one is
    /// returned.
    pub fn back_edges(&self) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        for from in 0..self.blocks.len() {
            for (to, _) in self.successors(from) {
                if self.dominates(to, from) && !found.contains(&(from, to)) {
                    found.push((from, to));
                }
            }
        }
        found
    }

    /// The blocks of the natural loop that a back edge closes.
    pub fn natural_loop(&self, from: usize, to: usize) -> Vec<usize> {
        let mut inside = vec![false; self.blocks.len()];
        let mut open = vec![from];
        inside[to] = true;
        while let Some(block) = open.pop() {
            if !std::mem::replace(&mut inside[block], true) {
                open.extend(self.predecessors(block));
            }
        }
        (0..self.blocks.len()).filter(|block| inside[*block]).collect()
    }

    /// The index of the block that contains an entry.
    pub fn block_of(&self, entry: usize) -> usize {
        self.blocks.partition_point(|block| block.entries.end <= entry)
    }
}
