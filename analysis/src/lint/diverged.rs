//! Barriers that only some threads of a workgroup may reach.
//!
//! A branch diverges if its condition depends on values that differ between threads at the start. If a barrier can be
//! reached from such a branch, but not every path from the branch passes through it, it may wait for threads that never
//! arrive.

use std::collections::HashSet;

use petgraph::graph::{DiGraph, NodeIndex};

use super::finding::{Check, Finding};
use crate::dataflow::{forwards, lead};
use crate::dominators::Dominators;
use crate::effects::When;
use crate::graph::Graph;
use crate::program::Program;
use crate::registers::{Register, Registers, numbers};

/// Reports such barriers.
pub(super) fn check(program: &Program<'_>, graph: &Graph, found: &mut Vec<Finding>) {
    let is_barrier = |index: &usize| program.entries[*index].instruction.as_ref().is_ok_and(|one| one.flow.barrier);
    let barriers: Vec<usize> = (0..program.entries.len()).filter(is_barrier).collect();
    if barriers.is_empty() || graph.computed().is_some() {
        return;
    }
    let Some(extremes) = Extremes::new(graph, &divergent_branches(program, graph)) else { return };
    for barrier in barriers {
        if let Some(branch) = extremes.past(graph.block_of(barrier)) {
            let branch = graph.blocks[branch].entries.end - 1;
            let text = program.entries[branch].instruction.as_ref().map_or("", |one| one.text.as_str());
            let place = program.address(branch);
            let message = format!("`{text}` at {place:#x} may lead some threads of a workgroup past this barrier");
            found.push(Finding { check: Check::Diverged, entry: barrier, message });
        }
    }
}

/// The registers that hold a different value for each thread when a program with barriers starts.
fn thread_varying_registers(program: &Program<'_>) -> HashSet<Register> {
    let preloads = program.set.semantics.map_or(&[][..], |semantics| semantics.preloads);
    // Where some kinds of programs say what threads that wait for each other share, the others have no barriers.
    let any = preloads.iter().any(|preload| !preload.uniform.is_empty());
    let kinds = preloads.iter().filter(|preload| !any || !preload.uniform.is_empty());
    let registers = kinds.flat_map(|preload| {
        let all = preload.first..preload.first + preload.values.len() as u16;
        all.filter(|register| !preload.uniform.contains(register))
    });
    registers.map(|register| Register::preload(register.into())).collect()
}

/// The blocks that end in a branch whose condition depends on the thread.
fn divergent_branches(program: &Program<'_>, graph: &Graph) -> Vec<usize> {
    let start = thread_varying_registers(program);
    let written = program.instructions().flat_map(|one| &one.writes).map(|(register, _)| *register);
    let numbers = numbers(start.iter().copied().chain(written));
    let mut before = vec![Registers::new(numbers.len()); graph.blocks.len()];
    for place in program.entry_points.iter().filter(|place| **place < program.entries.len()) {
        start.iter().for_each(|register| before[graph.block_of(*place)].insert(numbers[register]));
    }
    // Changes the registers that vary as a block does, and returns whether its last instruction reads one of them.
    let change = |block: usize, varying: &mut Registers| {
        let mut varies = false;
        for index in graph.blocks[block].entries.clone() {
            let Ok(one) = &program.entries[index].instruction else { continue };
            let varying_read = |read| numbers.get(read).is_some_and(|number| varying.has(*number));
            varies = one.lane || one.reads.iter().any(varying_read);
            for (register, whole) in &one.writes {
                match varies {
                    true => varying.insert(numbers[register]),
                    false if *whole => varying.remove(numbers[register]),
                    false => {}
                }
            }
        }
        varies
    };
    let before = forwards(graph, before, |block, varying| _ = change(block, varying));
    let parts = |(block, mut varying): (usize, Registers)| {
        let last = program.entries[graph.blocks[block].entries.end - 1].instruction.as_ref();
        (last.is_ok_and(|one| one.flow.branch == When::Sometimes) && change(block, &mut varying)).then_some(block)
    };
    before.into_iter().enumerate().filter_map(parts).collect()
}

/// For each block: those of the given blocks that lead to it and come first and last in a walk over the tree of the
/// blocks that every path to the end passes through. In such a walk the blocks whose paths all pass through another one
/// are consecutive, so if any of those that lead to a block can avoid it, the first or the last can.
struct Extremes {
    /// The places of the blocks in the walk, and the ends of the places below them.
    spans: Vec<(u32, u32)>,
    first: Vec<Option<usize>>,
    last: Vec<Option<usize>>,
    /// Whether a block is one of the given ones, and both stays in a loop and leaves it.
    parts: Vec<bool>,
}

impl Extremes {
    /// `None` if there are no such blocks.
    fn new(graph: &Graph, from: &[usize]) -> Option<Extremes> {
        if from.is_empty() {
            return None;
        }
        // The reversed edges between blocks, and edges from a common end.
        let mut reversed: DiGraph<(), ()> = DiGraph::new();
        let nodes: Vec<NodeIndex> = graph.blocks.iter().map(|_| reversed.add_node(())).collect();
        let end = reversed.add_node(());
        for block in 0..graph.blocks.len() {
            let mut any = false;
            for (next, _) in graph.successors(block) {
                reversed.add_edge(nodes[next], nodes[block], ());
                any = true;
            }
            if !any || graph.blocks[block].leaves {
                reversed.add_edge(end, nodes[block], ());
            }
        }
        let dominators = Dominators::new(&reversed, end);
        // A block that never reaches the end is alone, at a place of its own behind those of the tree.
        let behind = nodes.len() as u32 + 1;
        let alone = |block: usize| (behind + block as u32, behind + block as u32 + 1);
        let spans = (0..nodes.len()).map(|block| dominators.span(block).unwrap_or_else(|| alone(block))).collect();
        let none = || vec![None; nodes.len()];
        let mut found = Extremes { spans, first: none(), last: none(), parts: vec![false; nodes.len()] };
        for block in from.iter().filter(|block| graph.loops_around(**block).next().is_some()) {
            found.parts[*block] = graph.successors(*block).any(|(next, _)| found.avoids(next, *block));
        }
        let mut from = from.to_vec();
        from.sort_unstable_by_key(|block| found.spans[*block]);
        from.iter().for_each(|block| lead(graph, *block, &mut found.first));
        from.iter().rev().for_each(|block| lead(graph, *block, &mut found.last));
        Some(found)
    }

    /// Whether a path from a block to the end does not pass through another one.
    fn avoids(&self, from: usize, block: usize) -> bool {
        let (first, end) = self.spans[block];
        !(first..end).contains(&self.spans[from].0)
    }

    /// One of the given blocks from which a path leads to `block` and another one does not.
    fn past(&self, block: usize) -> Option<usize> {
        let others = [self.first[block], self.last[block]].into_iter().flatten();
        let others = others.filter(|from| self.avoids(*from, block));
        others.chain(self.parts[block].then_some(block)).min()
    }
}
