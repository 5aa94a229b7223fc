//! Spills values to rows where registers do not suffice, in code without jumps.

use std::ops::Range;

use iced_x86::Register;

use super::Emitter;
use super::plan::{Plan, Segment};
use crate::exec::jit::lanes::graph::{Graph, Value};

/// The values that are spilled, and those whose turn comes last.
#[derive(Debug)]
pub(super) struct Spills {
    /// The nodes at which each value is needed, in order.
    uses: Vec<Vec<usize>>,
    /// The row that holds a spilled value.
    rows: Vec<Option<u32>>,
    free: Vec<u32>,
    /// The current node, and the values that it needs in registers.
    now: usize,
    needed: Vec<Value>,
}

impl Spills {
    /// Creates the state before a segment, with rows to spill to.
    pub fn new(graph: &Graph, segment: &Segment, plan: &Plan, rows: Range<u32>) -> Self {
        let mut uses = vec![Vec::new(); graph.nodes().len()];
        for index in segment.nodes.clone() {
            let arguments = graph.nodes()[index].arguments().filter(|_| plan.is_used(index));
            for value in arguments.chain(plan.stores(index).iter().map(|(_, value)| *value)) {
                uses[value.index()].push(index);
            }
        }
        Spills { rows: vec![None; uses.len()], uses, free: rows.rev().collect(), now: 0, needed: vec![] }
    }

    /// Returns the node that needs a value next.
    fn next_use(&self, value: usize) -> usize {
        let uses = &self.uses[value];
        uses.get(uses.partition_point(|at| *at < self.now)).copied().unwrap_or(usize::MAX)
    }

    /// Returns the row that a value was spilled to.
    pub fn row(&self, value: Value) -> Option<u32> {
        self.rows[value.index()]
    }

    /// Forgets a value.
    pub fn done(&mut self, value: Value) {
        self.free.extend(self.rows[value.index()].take());
    }
}

impl Emitter {
    /// Starts a node: from here on, values that it needs stay in registers.
    pub(super) fn begin_node(&mut self, index: usize, needed: impl Iterator<Item = Value>) {
        if let Some(spills) = &mut self.spills {
            spills.now = index;
            spills.needed.clear();
            spills.needed.extend(needed);
        }
    }

    /// Takes a free vector register, or else that of the value that is needed last, which is spilled.
    pub(super) fn vector(&mut self) -> Option<Register> {
        if let Some(register) = self.vectors.pop() {
            return Some(register);
        }
        let spills = self.spills.as_ref()?;
        let is_held = |index: &usize| {
            self.registers[*index][0].is_some_and(|register| !register.is_k())
                && !spills.needed.contains(&Value::of(*index))
        };
        let last = (0..self.registers.len()).filter(is_held).max_by_key(|index| spills.next_use(*index))?;
        let register = self.registers[last][0].take()?;
        if spills.rows[last].is_none() {
            let spills = self.spills.as_mut()?;
            let row = spills.free.pop()?;
            spills.rows[last] = Some(row);
            self.save(self.column(row, 0), register)?;
        }
        Some(register)
    }
}
