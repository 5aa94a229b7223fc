//! The order in which the values of a block are computed, and the number of uses of each.

use isaforge_core::semantics::Op as Pure;

use crate::exec::ir::{Block, Effect, End, Op, Value};

/// A step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Computes a value.
    Compute(Value),
    /// Performs an effect.
    Effect(Effect),
}

/// The schedule of a block.
#[derive(Debug)]
pub struct Schedule {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The number of uses of each value.
    pub uses: Vec<u32>,
    /// Which values are sums used only as addresses: they are computed as part of each access.
    pub inlined: Vec<bool>,
}

/// How a value is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// For flags. Comparisons are repeated for each use, since flags do not persist.
    Flags,
    Address,
    Value,
}

impl Schedule {
    /// Schedules a block: values are computed before the first effect that needs them.
    pub fn new(block: &Block) -> Schedule {
        let count = block.graph.len();
        let mut schedule = Schedule { steps: vec![], uses: vec![0; count], inlined: vec![true; count] };
        let last = match block.end {
            End::Branch(condition, ..) => vec![(condition, Use::Flags)],
            End::Indirect(value) => vec![(value, Use::Value)],
            End::Goto(_) | End::Leave(_) => vec![],
        };
        let needs: Vec<Vec<(Value, Use)>> =
            block.effects.iter().map(|effect| needs(block, effect)).chain([last]).collect();
        for at in 0..count as u32 {
            let node = block.graph.node(Value(at));
            let sum = matches!(node.op, Op::Pure(Pure::Add, _))
                && node.args[1].is_some_and(|by| block.graph.number(by).is_some());
            schedule.inlined[at as usize] = sum;
        }
        // Values with other uses, too, are computed once.
        let mut seen = vec![false; count];
        for (value, how) in needs.iter().flatten() {
            schedule.keep(block, *value, *how, &mut seen);
        }
        for (value, how) in needs.iter().flatten() {
            schedule.count(block, *value, *how);
        }
        let mut done = vec![false; count];
        for (at, needs) in needs.iter().enumerate() {
            needs.iter().for_each(|(value, how)| schedule.compute(block, *value, *how, &mut done));
            if let Some(effect) = block.effects.get(at) {
                schedule.steps.push(Step::Effect(*effect));
            }
        }
        schedule
    }

    /// Returns the values that must be available when a value is used.
    fn parts(&self, block: &Block, value: Value, how: Use) -> Vec<Value> {
        let node = block.graph.node(value);
        match (how, node.op) {
            (Use::Flags, Op::Pure(Pure::Compare, _)) => node.args().collect(),
            (Use::Address, _) if self.inlined[value.0 as usize] => node.args().collect(),
            _ => vec![value],
        }
    }

    fn keep(&mut self, block: &Block, value: Value, how: Use, seen: &mut [bool]) {
        for part in self.parts(block, value, how) {
            let at = part.0 as usize;
            self.inlined[at] = false;
            if !std::mem::replace(&mut seen[at], true) {
                arguments(block, part).into_iter().for_each(|(argument, how)| self.keep(block, argument, how, seen));
            }
        }
    }

    fn count(&mut self, block: &Block, value: Value, how: Use) {
        for part in self.parts(block, value, how) {
            self.uses[part.0 as usize] += 1;
            if self.uses[part.0 as usize] == 1 {
                arguments(block, part).into_iter().for_each(|(argument, how)| self.count(block, argument, how));
            }
        }
    }

    fn compute(&mut self, block: &Block, value: Value, how: Use, done: &mut [bool]) {
        for part in self.parts(block, value, how) {
            if std::mem::replace(&mut done[part.0 as usize], true) {
                continue;
            }
            arguments(block, part).into_iter().for_each(|(argument, how)| self.compute(block, argument, how, done));
            if matches!(block.graph.node(part).op, Op::Pure(..)) {
                self.steps.push(Step::Compute(part));
            }
        }
    }
}

/// Returns the values that an effect uses.
fn needs(block: &Block, effect: &Effect) -> Vec<(Value, Use)> {
    match *effect {
        Effect::Guard(condition, _) => vec![(condition, Use::Flags)],
        Effect::Load(value) => block.graph.node(value).args().map(|address| (address, Use::Address)).collect(),
        Effect::Store { address, value, .. } => vec![(address, Use::Address), (value, Use::Value)],
        Effect::Write(_, value) | Effect::Compute(value) => vec![(value, Use::Value)],
        Effect::Begin(_) => vec![],
    }
}

/// Returns the values that a value is computed from. The address of a load counts as a use of its effect.
fn arguments(block: &Block, value: Value) -> Vec<(Value, Use)> {
    let node = block.graph.node(value);
    if matches!(node.op, Op::Load(_)) {
        return vec![];
    }
    let selects = matches!(node.op, Op::Pure(Pure::Select, _));
    let how = |k: usize| if selects && k == 0 { Use::Flags } else { Use::Value };
    node.args().enumerate().map(|(k, argument)| (argument, how(k))).collect()
}
