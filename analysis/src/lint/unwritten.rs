//! Registers that are read before anything writes them.
//!
//! A read is reported if the register holds nothing when the instruction is executed for the first time, whatever path
//! leads there: each write that leads to the read comes after it, as in a loop. That is so where the instruction
//! dominates all these writes.

use std::collections::{BTreeMap, HashSet};

use super::finding::{Check, Finding};
use crate::dataflow::lead;
use crate::entry::Instruction;
use crate::graph::Graph;
use crate::program::Program;
use crate::registers::Register;

/// The registers that are initialised when a program starts. `None` if the specification does not say.
fn preloaded(program: &Program<'_>) -> Option<HashSet<Register>> {
    let preloads = program.set.semantics?.preloads;
    let registers = preloads.iter().flat_map(|preload| {
        let first = u32::from(preload.first);
        first..first + preload.values.len() as u32
    });
    (!preloads.is_empty()).then(|| registers.map(Register::preload).collect())
}

/// Reports such reads.
pub(super) fn check(program: &Program<'_>, graph: &Graph, found: &mut Vec<Finding>) {
    let Some(preloaded) = preloaded(program) else { return };
    if graph.computed().is_some() {
        return;
    }
    // Registers of other banks may be set by the launch.
    let judged = |register: &Register| register.bank == Register::preload(0).bank && !preloaded.contains(register);
    let mut reads: BTreeMap<Register, Vec<usize>> = BTreeMap::new();
    let mut writes: BTreeMap<Register, Vec<usize>> = BTreeMap::new();
    for (index, entry) in program.entries.iter().enumerate() {
        let Ok(one) = &entry.instruction else { continue };
        for register in one.reads.iter().filter(|register| judged(register) && graph.is_reachable(index)) {
            reads.entry(*register).or_default().push(index);
        }
        for register in written(one).filter(judged) {
            writes.entry(register).or_default().push(index);
        }
    }
    // The names of the registers that each instruction reads, and whether something writes any of them later.
    let mut unwritten: BTreeMap<usize, (Vec<String>, bool)> = BTreeMap::new();
    for (register, reads) in reads {
        let writes = writes.get(&register).map_or(&[][..], Vec::as_slice);
        let blocks = Written::new(graph, writes);
        for read in reads {
            let block = graph.block_of(read);
            let before = writes.partition_point(|write| *write < graph.blocks[block].entries.start);
            let own = writes.get(before).is_some_and(|write| *write < read);
            if !own && !blocks.before(block) {
                let (names, later) = unwritten.entry(read).or_default();
                names.push(program.set.name(register));
                *later |= blocks.later(block);
            }
        }
    }
    found.extend(unwritten.into_iter().map(|(entry, (names, later))| {
        let names = names.join(", ");
        let message = match later {
            true => format!("nothing writes {names} before this is executed for the first time"),
            false => format!("no path to here writes {names}"),
        };
        Finding { check: Check::Unwritten, entry, message }
    }));
}

/// The registers that may hold something else after an instruction.
fn written(one: &Instruction) -> impl Iterator<Item = Register> {
    one.writes.iter().map(|(register, _)| *register).chain(one.clobbers())
}

/// For each block, of the blocks that write a register and lead to it: those that come first and last in a walk over
/// the tree of dominators. The blocks that it dominates follow it in this walk, so if any of those that lead to it does
/// not come after it, the first or the last does not.
struct Written<'g> {
    graph: &'g Graph,
    first: Vec<Option<usize>>,
    last: Vec<Option<usize>>,
}

impl<'g> Written<'g> {
    fn new(graph: &'g Graph, writes: &[usize]) -> Self {
        let mut blocks: Vec<usize> = writes.iter().map(|write| graph.block_of(*write)).collect();
        blocks.dedup();
        // What nothing leads to comes last; nothing dominates it.
        blocks.sort_unstable_by_key(|block| graph.span(*block).map_or(u32::MAX, |(first, _)| first));
        let none = || vec![None; if blocks.is_empty() { 0 } else { graph.blocks.len() }];
        let mut found = Written { graph, first: none(), last: none() };
        blocks.iter().for_each(|block| lead(graph, *block, &mut found.first));
        blocks.iter().rev().for_each(|block| lead(graph, *block, &mut found.last));
        found
    }

    /// The blocks that write the register and lead to a block, or are it: the first and the last.
    fn leading(&self, block: usize) -> impl Iterator<Item = usize> {
        [&self.first, &self.last].into_iter().filter_map(move |blocks| *blocks.get(block)?)
    }

    /// Whether a path on which the register is written leads to the start of a block for the first time.
    fn before(&self, block: usize) -> bool {
        self.leading(block).any(|write| !self.graph.dominates(block, write))
    }

    /// Whether a path on which the register is written comes back to a block.
    fn later(&self, block: usize) -> bool {
        let repeats = self.graph.loops_around(block).next().is_some();
        self.leading(block).any(|write| write != block || repeats)
    }
}
