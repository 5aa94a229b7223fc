//! Values that are read again after a read marked as the last.

use std::collections::{BTreeMap, VecDeque};

use super::finding::{Check, Finding};
use crate::effort::step;
use crate::graph::Graph;
use crate::program::Program;
use crate::registers::Register;

/// Reports such reads.
pub(super) fn check(program: &Program<'_>, graph: &Graph, found: &mut Vec<Finding>) {
    // The entries that mark a register as read for the last time. A write, even of a part of the register, makes a new
    // value.
    let mut marks: BTreeMap<Register, Vec<usize>> = BTreeMap::new();
    for (index, entry) in program.entries.iter().enumerate().filter(|(index, _)| graph.is_reachable(*index)) {
        let Ok(instruction) = &entry.instruction else { continue };
        for register in instruction.last.iter().filter(|register| !instruction.writes_to(**register)) {
            marks.entry(*register).or_default().push(index);
        }
    }
    let uses = program.uses(marks.keys().copied());
    let mut again = vec![None; graph.blocks.len()];
    for (register, marks) in marks {
        let uses = Uses { program, graph, register, entries: &uses[&register] };
        again.fill(None);
        uses.fill(&mut again);
        for index in marks {
            if let Some(again) = uses.after(index, &again) {
                let name = program.set.name(register);
                let text = program.instruction(again).map_or("", |other| other.text.as_str());
                let message = format!(
                    "{name} is marked as read for the last time here, but `{text}` reads it at {:#x}",
                    program.address(again)
                );
                found.push(Finding { check: Check::Discarded, entry: index, message });
            }
        }
    }
}

/// The entries that read or write a register.
struct Uses<'p> {
    program: &'p Program<'p>,
    graph: &'p Graph,
    register: Register,
    entries: &'p [usize],
}

impl Uses<'_> {
    /// The first use from an entry to the end of its block.
    fn first(&self, from: usize, block: usize) -> Option<usize> {
        let next = self.entries.get(self.entries.partition_point(|entry| *entry < from))?;
        (*next < self.graph.blocks[block].entries.end).then_some(*next)
    }

    fn reads(&self, entry: usize) -> bool {
        self.program.instruction(entry).is_some_and(|one| one.reads.contains(&self.register))
    }

    /// Finds, for the start of each block, an instruction that reads the register before any write to it: the one that
    /// is the fewest blocks away.
    fn fill(&self, again: &mut [Option<usize>]) {
        let mut open = VecDeque::new();
        for entry in self.entries {
            let block = self.graph.block_of(*entry);
            if self.first(self.graph.blocks[block].entries.start, block) == Some(*entry) && self.reads(*entry) {
                again[block] = Some(*entry);
                open.push_back(block);
            }
        }
        while let Some(block) = open.pop_front() {
            for before in self.graph.predecessors(block) {
                step();
                let through = || self.first(self.graph.blocks[before].entries.start, before).is_none();
                if again[before].is_none() && through() {
                    again[before] = again[block];
                    open.push_back(before);
                }
            }
        }
    }

    /// An instruction after an entry that reads the register before any write to it.
    fn after(&self, index: usize, again: &[Option<usize>]) -> Option<usize> {
        let block = self.graph.block_of(index);
        match self.first(index + 1, block) {
            Some(next) => self.reads(next).then_some(next),
            None => self.graph.successors(block).filter_map(|(next, _)| again[next]).last(),
        }
    }
}
