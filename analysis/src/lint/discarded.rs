//! Values that are read again after a read marked as the last.

use super::{Check, Finding, reachable};
use crate::entry::Register;
use crate::graph::Graph;
use crate::program::Program;

/// Reports such reads.
pub(super) fn check(program: &Program<'_>, graph: &Graph, found: &mut Vec<Finding>) {
    for (index, entry) in program.entries.iter().enumerate().filter(|(index, _)| reachable(graph, *index)) {
        let Ok(instruction) = &entry.instruction else { continue };
        for register in &instruction.last {
            // A write, even of a part of the register, makes a new value.
            if instruction.writes.iter().any(|(written, _)| written == register) {
                continue;
            }
            if let Some(again) = read_again(program, graph, index, *register) {
                let name = program.set.name(*register);
                let text = program.entries[again].instruction.as_ref().map_or("", |other| other.text.as_str());
                let message = format!(
                    "{name} is marked as read for the last time here, but `{text}` reads it at {:#x}",
                    program.entries[again].bytes.start
                );
                found.push(Finding { check: Check::Discarded, entry: index, message });
            }
        }
    }
}

/// The first instruction after an entry that reads a register before any write to it.
fn read_again(program: &Program<'_>, graph: &Graph, index: usize, register: Register) -> Option<usize> {
    let mut seen = vec![false; graph.blocks.len()];
    let block = graph.block_of(index);
    let mut open = vec![(block, index + 1)];
    while let Some((block, first)) = open.pop() {
        let mut written = false;
        for at in first..graph.blocks[block].entries.end {
            let Ok(instruction) = &program.entries[at].instruction else { break };
            if instruction.reads.contains(&register) {
                return Some(at);
            }
            written = instruction.writes.iter().any(|(other, _)| *other == register);
            if written {
                break;
            }
        }
        if !written {
            for (next, _) in graph.successors(block) {
                if !std::mem::replace(&mut seen[next], true) {
                    open.push((next, graph.blocks[next].entries.start));
                }
            }
        }
    }
    None
}
