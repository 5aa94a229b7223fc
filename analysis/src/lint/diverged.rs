//! Barriers that only some threads of a workgroup may reach.
//!
//! A branch diverges if its condition depends on values that differ between threads at the start. If a barrier can be
//! reached from such a branch, but not every path from the branch passes through it, it may wait for threads that never
//! arrive.

use std::collections::HashSet;

use petgraph::algo::dominators::simple_fast;
use petgraph::algo::has_path_connecting;
use petgraph::graph::{DiGraph, NodeIndex};

use super::{Check, Finding, preload};
use crate::effects::When;
use crate::entry::Register;
use crate::graph::Graph;
use crate::program::Program;

/// Reports such barriers.
pub(super) fn check(program: &Program<'_>, graph: &Graph, found: &mut Vec<Finding>) {
    let is_barrier = |index: &usize| program.entries[*index].instruction.as_ref().is_ok_and(|one| one.flow.barrier);
    let barriers: Vec<usize> = (0..program.entries.len()).filter(is_barrier).collect();
    if barriers.is_empty() || graph.blocks.iter().any(|block| block.indirect) {
        return;
    }
    let branches = parting(program, graph);
    let ends = Ends::new(graph);
    for barrier in barriers {
        let block = graph.block_of(barrier);
        let parts = |branch: &&usize| {
            let from = graph.block_of(**branch);
            from != block && ends.reaches(from, block) && !ends.always(from, block)
        };
        if let Some(branch) = branches.iter().find(parts) {
            let text = program.entries[*branch].instruction.as_ref().map_or("", |one| one.text.as_str());
            let place = program.entries[*branch].bytes.start;
            let message = format!("`{text}` at {place:#x} may lead some threads of a workgroup past this barrier");
            found.push(Finding { check: Check::Diverged, entry: barrier, message });
        }
    }
}

/// The registers that hold a different value for each thread when a program with barriers starts.
fn own(program: &Program<'_>) -> HashSet<Register> {
    let preloads = program.set.semantics.map_or(&[][..], |semantics| semantics.preloads);
    let kinds = preloads.iter().filter(|preload| !preload.uniform.is_empty());
    let registers = kinds.flat_map(|preload| {
        let all = preload.first..preload.first + preload.values.len() as u16;
        all.filter(|register| !preload.uniform.contains(register))
    });
    registers.map(|register| preload(register.into())).collect()
}

/// The branches whose condition depends on the thread.
fn parting(program: &Program<'_>, graph: &Graph) -> Vec<usize> {
    let start = own(program);
    let mut before: Vec<Option<HashSet<Register>>> = vec![None; graph.blocks.len()];
    let mut open = Vec::new();
    for place in program.entry_points.iter().filter(|place| **place < program.entries.len()) {
        before[graph.block_of(*place)] = Some(start.clone());
        open.push(graph.block_of(*place));
    }
    let mut found = Vec::new();
    while let Some(block) = open.pop() {
        let mut varying = before[block].clone().unwrap_or_default();
        for index in graph.blocks[block].entries.clone() {
            let Ok(one) = &program.entries[index].instruction else { continue };
            let varies = one.reads.iter().any(|register| varying.contains(register));
            if varies && one.flow.branch == When::Sometimes && !found.contains(&index) {
                found.push(index);
            }
            for (register, whole) in &one.writes {
                match varies {
                    true => drop(varying.insert(*register)),
                    false if *whole => drop(varying.remove(register)),
                    false => {}
                }
            }
        }
        for (next, _) in graph.successors(block) {
            let changed = match &mut before[next] {
                Some(known) => {
                    let count = known.len();
                    known.extend(varying.iter().copied());
                    known.len() != count
                }
                none => {
                    *none = Some(varying.clone());
                    true
                }
            };
            if changed {
                open.push(next);
            }
        }
    }
    found
}

/// Which blocks every path to the end passes through.
struct Ends {
    /// The reversed edges between blocks, and edges from a common end.
    reversed: DiGraph<(), ()>,
    dominators: petgraph::algo::dominators::Dominators<NodeIndex>,
}

impl Ends {
    fn new(graph: &Graph) -> Ends {
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
        Ends { dominators: simple_fast(&reversed, end), reversed }
    }

    /// Whether every path from a block to the end passes through another block.
    fn always(&self, from: usize, through: usize) -> bool {
        let mut all = self.dominators.dominators(NodeIndex::new(from)).into_iter().flatten();
        all.any(|node| node.index() == through)
    }

    /// Whether a path leads from one block to another.
    fn reaches(&self, from: usize, to: usize) -> bool {
        has_path_connecting(&self.reversed, NodeIndex::new(to), NodeIndex::new(from), None)
    }
}
