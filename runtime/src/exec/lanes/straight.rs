//! Instructions that follow each other, covered with operations on columns.

use isaforge_core::machine::{Host, Instruction, Machine, Reason, Running};
use isaforge_core::semantics::Op;
use isaforge_core::semantics::evaluate::Column;

use super::bind::Binder;
use super::names::Names;
use super::rows::{Columns, Lanes, PART, Warp};
use crate::exec::vector::code::{Code, Step};
use crate::exec::vector::effect::{Effect, perform};
use crate::exec::vector::select::select;
use crate::level::Level;

/// The maximum number of instructions.
const MAX_STRAIGHT: usize = 64;

/// An instruction as operations.
#[derive(Debug)]
pub(super) struct Covered {
    code: Code<PART, Warp>,
    /// Whether its operations are all on columns.
    pub is_pure: bool,
    /// Whether lanes read from one another.
    crosses: bool,
}

/// Instructions that are executed one after another.
#[derive(Debug)]
pub(super) struct Straight {
    /// What they were made from.
    pub bytes: Vec<u8>,
    /// How often they were reached while all live lanes were together.
    pub visits: u32,
    /// Each with the address after it.
    pub instructions: Vec<(Covered, u64)>,
    /// The instruction after them, if it is covered but may lead elsewhere or has other effects.
    pub last: Option<Covered>,
}

impl Straight {
    /// Covers the instructions from an address on.
    pub fn new<const L: usize>(machine: &mut Machine<L>, start: u64, columns: &mut Columns) -> Self {
        let mut straight = Straight { bytes: Vec::new(), visits: 0, instructions: Vec::new(), last: None };
        let mut pc = start;
        while straight.instructions.len() < MAX_STRAIGHT {
            // An instruction that cannot be fetched is reported when it is reached.
            let Ok(instruction) = machine.instruction(pc).cloned() else { break };
            let next = machine.following(pc, instruction.length);
            let Some(covered) = Covered::new(machine, &instruction, [pc, next], columns) else { break };
            straight.bytes.extend(machine.memory.bytes(pc, instruction.length).unwrap_or_default());
            if covered.leads() || next <= pc {
                straight.last = Some(covered);
                break;
            }
            straight.instructions.push((covered, next));
            pc = next;
        }
        straight
    }
}

impl Covered {
    /// Covers an instruction. `None` if the evaluator has to execute it.
    fn new<const L: usize>(
        machine: &Machine<L>,
        instruction: &Instruction,
        place: [u64; 2],
        columns: &mut Columns,
    ) -> Option<Self> {
        if instruction.unmasks || instruction.undoes || instruction.execution.is_some() {
            return None;
        }
        let crosses = instruction.shape.nodes.iter().any(|node| matches!(node.op, Op::Permute | Op::Ballot));
        let names = Names { machine, operands: &instruction.operands, place };
        let mut binder = Binder { names, columns, crosses };
        let code: Code<PART, Warp> = select(machine.semantics(), &instruction.shape, &mut binder)?;
        let is_pure = code.effects().next().is_none() && !instruction.ends;
        Some(Covered { code, is_pure, crosses })
    }

    /// Whether it may do more than to change columns and memory.
    fn leads(&self) -> bool {
        let stays = |effect: &Effect| {
            let reads = matches!(effect.op, Op::Operand | Op::State | Op::Special);
            reads || matches!(effect.op, Op::Write | Op::SetState | Op::Load | Op::Store | Op::Atomic | Op::Fault)
        };
        !self.is_pure && (self.code.effects().next().is_none() || !self.code.effects().all(stays))
    }

    /// The lanes for which operations are executed.
    fn busy(&self, active: u64) -> u64 {
        if self.crosses { u64::MAX } else { active }
    }

    /// Executes it if it is pure, in all lanes if `whole`, otherwise in those of the row of active lanes.
    #[inline]
    pub fn run<const L: usize>(&self, level: Level, whole: bool, active: u64, columns: &mut [Column<L>]) {
        self.code.run_pure(level, whole, &mut [Lanes::new(columns, self.busy(active))]);
    }

    /// Executes it in its environment.
    ///
    /// # Errors
    /// The reason of the trap. Registers and states are then unchanged.
    pub fn run_in<const L: usize, H: Host<L>>(
        &self,
        level: Level,
        whole: bool,
        active: u64,
        running: &mut Running<'_, L, H>,
    ) -> Result<(), Reason> {
        let active = self.busy(active);
        let (steps, exact) = self.code.steps(whole);
        for step in steps {
            match step {
                Step::Micro(micro) => micro.run(level, exact, &mut [Lanes::new(running.columns_mut(), active)]),
                Step::Effect(effect) => perform(effect, running)?,
            }
        }
        Ok(())
    }
}
