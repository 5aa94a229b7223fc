//! Messages in flight: instructions whose results arrive later and must not be accessed before a wait.
//!
//! A message has read its sources before a later instruction overwrites them. Documents ask for a wait there, but
//! compilers whose programs run on hardware omit it.

use std::collections::BTreeSet;

use super::{Check, Finding, reachable};
use crate::entry::{Instruction, Register};
use crate::graph::Graph;
use crate::program::Program;

/// Reports results that are accessed too early, and unnecessary waits.
pub(super) fn check(program: &Program<'_>, graph: &Graph, found: &mut Vec<Finding>) {
    let facts = program.set.semantics.map_or(&[][..], |semantics| semantics.flow);
    let known = facts.iter().fold(0, |all, fact| all | fact.sends);
    if known == 0 || graph.blocks.iter().any(|block| block.indirect) {
        return;
    }
    let messages = Messages { program, known };
    // The messages that may be in flight before each block.
    let mut before: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); graph.blocks.len()];
    let mut open: Vec<usize> = (0..graph.blocks.len()).rev().collect();
    while let Some(block) = open.pop() {
        let mut flying = before[block].clone();
        graph.blocks[block].entries.clone().for_each(|index| messages.step(index, &mut flying));
        for (next, _) in graph.successors(block) {
            let count = before[next].len();
            before[next].extend(flying.iter().copied());
            if before[next].len() != count {
                open.push(next);
            }
        }
    }
    for (block, mut flying) in before.into_iter().enumerate() {
        for index in graph.blocks[block].entries.clone().filter(|index| reachable(graph, *index)) {
            let Some(own) = messages.instruction(index) else { continue };
            if let Some((sender, register)) = messages.touched(own, &flying) {
                let name = program.set.name(register);
                let message = format!("nothing waits for `{}`, which may still be writing {name}", sender.text);
                found.push(Finding { check: Check::Unawaited, entry: index, message });
            }
            let waits = own.flow.waits;
            // Slots that no message names are not judged: the hardware may use them for something else.
            let judged = waits != 0 && waits & !known == 0 && messages.slots(own) & waits == 0;
            if judged && !flying.iter().any(|sender| messages.in_slots(*sender, waits)) {
                let message = "this waits for a message, but none is in flight in its slots".to_owned();
                found.push(Finding { check: Check::Needless, entry: index, message });
            }
            messages.step(index, &mut flying);
        }
    }
}

struct Messages<'p, 's> {
    program: &'p Program<'s>,
    /// The slots that instructions can name.
    known: u8,
}

impl<'p> Messages<'p, '_> {
    fn instruction(&self, index: usize) -> Option<&'p Instruction> {
        self.program.entries.get(index)?.instruction.as_ref().ok()
    }

    /// The slots an instruction may use. An instruction with effects that names no slot may use any of them.
    fn slots(&self, instruction: &Instruction) -> u8 {
        match instruction.flow.sends {
            0 if !instruction.pure => self.known,
            sends => sends,
        }
    }

    fn in_slots(&self, sender: usize, waits: u8) -> bool {
        self.instruction(sender).is_some_and(|sender| self.slots(sender) & waits != 0)
    }

    /// Updates the messages in flight after an instruction: adds its own and removes those it waits for.
    fn step(&self, index: usize, flying: &mut BTreeSet<usize>) {
        let Some(own) = self.instruction(index) else { return };
        if self.slots(own) != 0 {
            flying.insert(index);
        }
        flying.retain(|sender| !self.in_slots(*sender, own.flow.waits));
    }

    /// The first register of a pending result that an instruction accesses, and the message that produces it.
    fn touched(&self, own: &Instruction, flying: &BTreeSet<usize>) -> Option<(&'p Instruction, Register)> {
        flying.iter().filter_map(|sender| self.instruction(*sender)).filter(|sender| sender.flow.sends != 0).find_map(
            |sender| {
                let touches = |register: &Register| {
                    own.reads.contains(register) || own.writes.iter().any(|(written, _)| written == register)
                };
                let register = sender.writes.iter().map(|(register, _)| *register).find(touches)?;
                Some((sender, register))
            },
        )
    }
}
