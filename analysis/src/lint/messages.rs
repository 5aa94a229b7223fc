//! Messages in flight: instructions whose results arrive later and must not be accessed before a wait.
//!
//! A message has read its sources before a later instruction overwrites them. A document asks for a wait there, but
//! Mesa's compilers, whose programs run on hardware, omit it: it stalls until staging registers have been read.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Check, Finding};
use crate::dataflow::forwards;
use crate::effort::step;
use crate::entry::{Entry, Instruction};
use crate::graph::Graph;
use crate::program::Program;
use crate::registers::{Register, Registers};

/// Reports results that are accessed too early, and unnecessary waits.
pub(super) fn check(program: &Program<'_>, graph: &Graph, found: &mut Vec<Finding>) {
    let facts = program.set.semantics.map_or(&[][..], |semantics| semantics.flow);
    let known = facts.iter().fold(0, |all, fact| all | fact.sends);
    if known == 0 {
        return;
    }
    let messages = Messages::new(program, graph, known);
    // A branch that may lead anywhere may bring a message that a wait is for.
    let knows_paths = graph.computed().is_none();
    let senders = messages.senders();
    // The masks of slots of the messages that may be in flight before each block.
    let masks: Vec<u8> =
        messages.slots.iter().copied().filter(|mask| *mask != 0).collect::<BTreeSet<_>>().into_iter().collect();
    let change = |index: usize, flying: &mut Registers| {
        let Some(own) = program.instruction(index) else { return };
        for (number, mask) in masks.iter().enumerate() {
            match own.flow.waits & mask {
                0 if messages.slots[index] == *mask => flying.insert(number),
                0 => {}
                _ => flying.remove(number),
            }
        }
    };
    let before = forwards(graph, vec![Registers::new(masks.len()); graph.blocks.len()], |block, flying| {
        graph.blocks[block].entries.clone().for_each(|index| change(index, flying));
    });
    for (block, mut flying) in before.into_iter().enumerate().filter(|(block, _)| graph.blocks[*block].reachable) {
        for index in graph.blocks[block].entries.clone() {
            let Some(own) = program.instruction(index) else { continue };
            if let Some((sender, register)) = senders[index].and_then(|sender| messages.touched(own, sender)) {
                let name = program.set.name(register);
                let message = format!("nothing waits for `{}`, which may still be writing {name}", sender.text);
                found.push(Finding { check: Check::Unawaited, entry: index, message });
            }
            let waits = own.flow.waits;
            // Slots that no message names are not judged: the hardware may use them for something else.
            let judged = knows_paths && waits != 0 && waits & !known == 0 && messages.slots[index] & waits == 0;
            let awaited = |(number, mask): (usize, &u8)| flying.has(number) && mask & waits != 0;
            if judged && !masks.iter().enumerate().any(awaited) {
                let message = "this waits for a message, but none is in flight in its slots".to_owned();
                found.push(Finding { check: Check::Needless, entry: index, message });
            }
            change(index, &mut flying);
        }
    }
}

struct Messages<'p, 's> {
    program: &'p Program<'s>,
    graph: &'p Graph,
    /// For each entry: the slots it may use. An instruction with effects that names no slot may use any of them, and so
    /// may a program that is called.
    slots: Vec<u8>,
}

impl<'p, 's> Messages<'p, 's> {
    /// `known` are the slots that instructions can name.
    fn new(program: &'p Program<'s>, graph: &'p Graph, known: u8) -> Self {
        let slots = |entry: &Entry| match &entry.instruction {
            Ok(one) if one.flow.sends == 0 && (!one.pure || one.callee.is_some()) => known,
            Ok(one) => one.flow.sends,
            Err(_) => 0,
        };
        Messages { program, graph, slots: program.entries.iter().map(slots).collect() }
    }

    /// The register of the result of a message that an instruction accesses, and the message.
    fn touched(&self, own: &Instruction, sender: usize) -> Option<(&'p Instruction, Register)> {
        let sender = self.program.instruction(sender)?;
        let touches = |register: &Register| own.reads.contains(register) || own.writes_to(*register);
        Some((sender, sender.writes.iter().map(|(register, _)| *register).find(touches)?))
    }

    /// For each entry: the first message that may be in flight and writes a register that it accesses.
    fn senders(&self) -> Vec<Option<usize>> {
        // The registers that messages write, by the slots of these messages.
        let mut kinds: BTreeMap<u8, BTreeSet<Register>> = BTreeMap::new();
        for (index, mask) in self.slots.iter().enumerate() {
            let Some(one) = self.program.instruction(index).filter(|one| one.flow.sends != 0) else { continue };
            let written = one.writes.iter().map(|(register, _)| *register);
            kinds.entry(*mask).or_default().extend(written);
        }
        let mut found: Vec<Option<usize>> = vec![None; self.slots.len()];
        for (mask, written) in kinds {
            let uses = self.program.uses(written);
            let waits = self.waits(mask);
            let mut before = vec![None; self.graph.blocks.len()];
            for (register, uses) in uses {
                before.fill(None);
                self.follow(mask, register, (&uses, &waits), &mut before, &mut found);
            }
        }
        found
    }

    /// For each entry and the end: the first entry from there that waits for one of the slots.
    fn waits(&self, mask: u8) -> Vec<usize> {
        let mut waits = vec![usize::MAX; self.slots.len() + 1];
        for index in (0..self.slots.len()).rev() {
            // A program that is called may wait itself.
            let stops = |one: &Instruction| one.flow.waits & mask != 0 || one.callee.is_some();
            let own = self.program.instruction(index).is_some_and(stops);
            waits[index] = if own { index } else { waits[index + 1] };
        }
        waits
    }

    /// Follows the messages in some slots that write a register to the entries that access it. Fills in the first
    /// message before each block.
    fn follow(
        &self,
        mask: u8,
        register: Register,
        (uses, waits): (&[usize], &[usize]),
        before: &mut [Option<usize>],
        found: &mut [Option<usize>],
    ) {
        let blocks = &self.graph.blocks;
        let sends = |index: usize| {
            let one = self.program.instruction(index).filter(|one| one.flow.sends == mask);
            one.is_some_and(|one| one.writes_to(register))
        };
        // Earlier messages come first, so each block is entered once.
        for sender in uses.iter().copied().filter(|index| sends(*index)) {
            let own = self.graph.block_of(sender);
            let mut open = match waits[sender] < blocks[own].entries.end {
                true => Vec::new(),
                false => vec![own],
            };
            while let Some(block) = open.pop() {
                for (next, _) in self.graph.successors(block) {
                    step();
                    if before[next].is_none() {
                        before[next] = Some(sender);
                        if waits[blocks[next].entries.start] >= blocks[next].entries.end {
                            open.push(next);
                        }
                    }
                }
            }
        }
        let (mut at, mut flying) = (usize::MAX, None);
        // The place from which the messages in flight have not been waited for.
        let mut since = 0;
        for index in uses.iter().copied() {
            let block = self.graph.block_of(index);
            if block != at {
                (at, flying, since) = (block, before[block], blocks[block].entries.start);
            }
            if waits[since] < index {
                flying = None;
            }
            since = index;
            found[index] = flying.into_iter().chain(found[index]).min();
            if sends(index) {
                flying = flying.into_iter().chain([index]).min();
            }
        }
    }
}
