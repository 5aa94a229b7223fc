//! Control flow: basic blocks, the edges between them, and loops.

use std::ops::Range;

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::dominators::Dominators;
use crate::effects::When;
use crate::effort::step;
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
    dominators: Dominators,
    /// The blocks in an order in which those before a block come first, apart from loops, and the place of each in it.
    order: Vec<usize>,
    places: Vec<usize>,
    /// For each block: the header of the smallest loop around it, other than itself.
    around: Vec<Option<usize>>,
    /// Whether each block is the header of a loop.
    heads: Vec<bool>,
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
                    // The thread ends with the program that is called, unless control comes back.
                    None if instruction.callee.is_some() => block.leaves = !flow.calls,
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
        let dominators = Dominators::new(&graph, start);
        let (around, heads) = (vec![None; blocks.len()], vec![false; blocks.len()]);
        let mut found = Graph { blocks, graph, dominators, order: Vec::new(), places: Vec::new(), around, heads };
        found.sort(start);
        found.mark();
        found
    }

    /// Sorts the blocks: a block comes after those that lead to it, apart from loops.
    fn sort(&mut self, start: NodeIndex) {
        let count = self.blocks.len();
        let mut seen = vec![false; count + 1];
        for root in std::iter::once(start).chain((0..count).map(NodeIndex::new)) {
            if std::mem::replace(&mut seen[root.index()], true) {
                continue;
            }
            let mut open = vec![(root, self.graph.neighbors(root).detach())];
            while let Some((node, next)) = open.last_mut() {
                step();
                match next.next_node(&self.graph) {
                    Some(next) if std::mem::replace(&mut seen[next.index()], true) => {}
                    Some(next) => open.push((next, self.graph.neighbors(next).detach())),
                    None => {
                        self.order.extend((node.index() < count).then_some(node.index()));
                        open.pop();
                    }
                }
            }
        }
        self.order.reverse();
        self.places = vec![0; count];
        for (place, block) in self.order.iter().enumerate() {
            self.places[*block] = place;
        }
    }

    /// The place of a block in an order in which those before it come first, apart from loops.
    pub(crate) fn place_of(&self, block: usize) -> usize {
        self.places[block]
    }

    /// The block at such a place.
    pub(crate) fn block_at(&self, place: usize) -> usize {
        self.order[place]
    }

    fn mark(&mut self) {
        // A branch with a computed target may reach every block.
        let reached = |index: usize| self.dominators.span(index).is_some();
        let anywhere = (0..self.blocks.len()).any(|index| self.blocks[index].indirect && reached(index));
        // The blocks that are reached, dominators first.
        let mut reached: Vec<(u32, usize)> = Vec::new();
        for index in 0..self.blocks.len() {
            let span = self.dominators.span(index);
            reached.extend(span.map(|(first, _)| (first, index)));
            self.blocks[index].reachable = span.is_some() || anywhere;
        }
        reached.sort_unstable();
        self.nest(&reached);
        for (_, block) in reached {
            let outer = self.around[block].map_or(0, |head| self.blocks[head].depth);
            self.blocks[block].depth = outer + usize::from(self.heads[block]);
        }
    }

    /// Finds the loops, the inner ones first: a loop that is known counts as one block of those around it.
    fn nest(&mut self, reached: &[(u32, usize)]) {
        let mut latches: Vec<Vec<usize>> = vec![Vec::new(); self.blocks.len()];
        self.back_edges().into_iter().for_each(|(from, to)| latches[to].push(from));
        // For each block: a header around it, on the way to that of the largest known loop around it.
        let mut outer: Vec<usize> = (0..self.blocks.len()).collect();
        for (_, head) in reached.iter().rev() {
            let mut open = std::mem::take(&mut latches[*head]);
            self.heads[*head] = !open.is_empty();
            while let Some(mut block) = open.pop() {
                step();
                while outer[block] != block {
                    step();
                    outer[block] = outer[outer[block]];
                    block = outer[block];
                }
                if block != *head && self.dominators.span(block).is_some() {
                    outer[block] = *head;
                    self.around[block] = Some(*head);
                    open.extend(self.predecessors(block));
                }
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
        self.dominators.dominates(through, block)
    }

    /// The number of a block in a preorder walk over the tree of dominators, and the end of the numbers below it.
    pub(crate) fn span(&self, block: usize) -> Option<(u32, u32)> {
        self.dominators.span(block)
    }

    /// The back edges, each once: from a block to one that dominates it, the header of a loop.
    pub fn back_edges(&self) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        for from in 0..self.blocks.len() {
            let first = found.len();
            for (to, _) in self.successors(from) {
                if self.dominates(to, from) && !found[first..].contains(&(from, to)) {
                    found.push((from, to));
                }
            }
        }
        found
    }

    /// Whether an edge closes a cycle: a loop, or a cycle that can be entered at several blocks.
    pub fn goes_back(&self, from: usize, to: usize) -> bool {
        self.places[to] <= self.places[from]
    }

    /// A reachable block that ends in a branch with a computed target, which may lead anywhere.
    pub fn computed(&self) -> Option<&Block> {
        self.blocks.iter().find(|block| block.indirect && block.reachable)
    }

    /// The headers of the loops that contain a block, the smallest loop first. All edges back to a header close one
    /// loop.
    pub fn loops_around(&self, block: usize) -> impl Iterator<Item = usize> {
        let own = Some(block).filter(|block| self.heads[*block]).or(self.around[block]);
        std::iter::successors(own, |head| self.around[*head])
    }

    /// The number of loops, by the blocks to which edges go back.
    pub fn loops(&self) -> usize {
        let is_target = |block: &usize| self.predecessors(*block).any(|from| self.goes_back(from, *block));
        (0..self.blocks.len()).filter(is_target).count()
    }

    /// The index of the block that contains an entry.
    pub fn block_of(&self, entry: usize) -> usize {
        self.blocks.partition_point(|block| block.entries.end <= entry)
    }

    /// Whether an entry is reachable.
    pub fn is_reachable(&self, entry: usize) -> bool {
        self.blocks.get(self.block_of(entry)).is_some_and(|block| block.reachable)
    }
}
