//! Spills the values of a segment to memory where registers do not suffice: to rows, or in a region to its state.

use std::ops::Range;

use iced_x86::{MemoryOperand, Register};

use super::plan::{Plan, Segment};
use super::{Access, Emitter};
use crate::exec::jit::lanes::graph::{Graph, Value};

/// The values of a segment that are spilled, and when each is needed.
#[derive(Debug)]
pub(super) struct Spills {
    nodes: Range<usize>,
    /// The nodes at which each value is needed, in order.
    uses: Vec<Vec<usize>>,
    /// The row or the vector of the state that holds a spilled value.
    places: Vec<Option<u32>>,
    free: Vec<u32>,
    /// The current node, and the values that it needs in registers.
    now: usize,
    needed: Vec<Value>,
}

impl Spills {
    /// Creates the state before a segment, with places to spill to.
    pub fn new(graph: &Graph, segment: &Segment, plan: &Plan, places: Range<u32>) -> Self {
        let mut uses = vec![Vec::new(); graph.nodes().len()];
        for index in segment.nodes.clone() {
            let arguments = graph.nodes()[index].arguments().filter(|_| plan.is_used(index));
            for value in arguments.chain(plan.stores(index).iter().map(|(_, value)| *value)) {
                uses[value.index()].push(index);
            }
        }
        let (nodes, free) = (segment.nodes.clone(), places.rev().collect());
        Spills { nodes, places: vec![None; uses.len()], uses, free, now: 0, needed: vec![] }
    }

    /// Returns the node that needs a value next.
    fn next_use(&self, value: usize) -> usize {
        let uses = &self.uses[value];
        uses.get(uses.partition_point(|at| *at < self.now)).copied().unwrap_or(usize::MAX)
    }

    /// Forgets a value.
    pub fn done(&mut self, value: Value) {
        self.free.extend(self.places[value.index()].take());
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
            *index != spills.now
                && self.registers[*index][0].is_some_and(|register| !register.is_k())
                && !spills.needed.contains(&Value::of(*index))
        };
        let last = spills.nodes.clone().filter(is_held).max_by_key(|index| spills.next_use(*index))?;
        let register = self.registers[last][0].take()?;
        if spills.places[last].is_none() {
            let spills = self.spills.as_mut()?;
            let place = spills.free.pop()?;
            spills.places[last] = Some(place);
            self.save(self.spilled(place), register)?;
        }
        Some(register)
    }

    /// Returns where a value was spilled to.
    pub(super) fn spill(&self, value: Value) -> Option<MemoryOperand> {
        let place = self.spills.as_ref()?.places[value.index()]?;
        Some(self.spilled(place))
    }

    fn spilled(&self, place: u32) -> MemoryOperand {
        match self.access {
            Access::From => MemoryOperand::with_base_displ(Register::RSI, self.bytes(place as usize)),
            _ => self.column(place, 0),
        }
    }
}
