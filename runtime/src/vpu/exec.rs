//! The effect of one instruction on a group and its environment.

use std::ops::ControlFlow;

use isaforge_core::semantics::evaluate::evaluate;
use isaforge_vpu::semantics::SEMANTICS;

use crate::exec::vector::code::Code;
use crate::exec::vector::effect::perform;
use crate::level::Level;
use crate::machine::Access;
use crate::vpu::environment::Threads;
use crate::vpu::error::{Misuse, Wait};
use crate::vpu::group::{Group, Groups, THREADS};
use crate::vpu::op::Op;
use crate::vpu::world::{Outside, World};

/// What follows an instruction.
pub(crate) enum Outcome {
    Next,
    /// A branch was taken; the program counter is set.
    Jumped,
    Stalled(Wait),
    /// The last thread has ended.
    Ended,
    Invalid,
}

/// Executes an instruction; `None` stands for a word that is not an instruction. The program counter changes only for
/// a taken branch. `accesses` records what is accessed in external memory.
pub(crate) fn execute(
    op: Option<&Op>,
    group: &mut Box<Group>,
    world: &mut World,
    out: Outside<'_>,
    accesses: Option<&mut Vec<Access>>,
) -> Outcome {
    let Some(op) = op else { return Outcome::Invalid };
    let result = match (&op.code, world.level) {
        (Some(code), Some(level)) => by_rows(op, (code, level), group, world, out, accesses),
        _ => by_evaluation(op, group, world, out, accesses),
    };
    match result {
        Ok(()) => finish(op, group, world),
        Err(wait) => Outcome::Stalled(wait),
    }
}

fn by_evaluation(
    op: &Op,
    group: &mut Group,
    world: &mut World,
    out: Outside<'_>,
    accesses: Option<&mut Vec<Access>>,
) -> Result<(), Wait> {
    let mut scratch = std::mem::take(&mut world.scratch);
    let mut threads = Threads { op, group, world, out, accesses };
    let result = evaluate(SEMANTICS, &op.shape, &mut scratch, &mut threads);
    world.scratch = scratch;
    result
}

fn by_rows(
    op: &Op,
    (code, level): (&Code<THREADS, Groups>, Level),
    group: &mut Box<Group>,
    world: &mut World,
    out: Outside<'_>,
    mut accesses: Option<&mut Vec<Access>>,
) -> Result<(), Wait> {
    world.fill_globals(op.globals, group);
    world.check_pending(op, group);
    let active = op.active(group);
    let whole = active == 15;
    if !whole {
        group.set_active_row(active);
    }
    let flow = code.run(level, whole, std::slice::from_mut(group), |effect, groups| {
        for group in groups {
            let accesses = accesses.as_deref_mut();
            if let Err(wait) = perform(effect, &mut Threads { op, group, world, out, accesses }) {
                return ControlFlow::Break(wait);
            }
        }
        ControlFlow::Continue(())
    });
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(wait) => Err(wait),
    }
}

/// Returns the outcome of an instruction that has been executed.
#[inline]
pub(crate) fn finish(op: &Op, group: &mut Group, world: &mut World) -> Outcome {
    if op.spawns && group.reserved.is_none() {
        world.warn(Misuse::SpawnedWriteWithoutBank, group);
    }
    match std::mem::take(&mut group.jumped) {
        true => Outcome::Jumped,
        false if op.ends && group.living == 0 => Outcome::Ended,
        false => Outcome::Next,
    }
}
