//! Steps that an environment performs: reads of values that are in no row, memory, control flow, intrinsics.

use isaforge_core::bits::ones;
use isaforge_core::semantics::evaluate::{Column, Environment};
use isaforge_core::semantics::{AtomicOp, Op, Special, Type};

use super::handler::NO_ROW;
use super::{bits_of, mask_of};

/// A value in a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    pub row: u16,
    /// The row of the high words, or [`NO_ROW`](super::handler::NO_ROW).
    pub high: u16,
    /// The number of booleans; 0 for numbers.
    pub booleans: u8,
}

/// A step that an environment performs.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    pub op: Op,
    pub imm: u16,
    /// The type of the result, or of the written value.
    pub ty: Type,
    /// The arguments of the node that are not nodes: operand and element, state, or intrinsic.
    pub numbers: [u16; 2],
    /// The arguments that are nodes.
    pub values: Vec<Value>,
    /// The position in `values` of a state's index or of the value that an atomic expects, if there is one.
    pub extra: Option<u8>,
    /// The row of its condition.
    pub when: Option<u16>,
    /// Where the result goes, if there is one.
    pub to: Option<Value>,
}

impl Effect {
    /// Calls `with` for every row that is read (`false`) or written (`true`).
    pub(crate) fn rows(&self, mut with: impl FnMut(u16, bool)) {
        let both = |value: &Value| [value.row, value.high].into_iter().filter(|row| *row != NO_ROW);
        self.values.iter().flat_map(both).chain(self.when).for_each(|row| with(row, false));
        self.to.iter().flat_map(both).for_each(|row| with(row, true));
    }
}

/// An environment whose lanes have rows.
pub(crate) trait Rows<const L: usize>: Environment<L> {
    /// The bits of a lane in a row.
    const SLOT: u32;
    /// Returns the slots of a row.
    fn row(&self, row: u16) -> Column<L>;
    /// Sets the slots of a row.
    fn set_row(&mut self, row: u16, slots: &Column<L>);
}

fn value<const L: usize, E: Rows<L>>(env: &E, value: Value) -> Column<L> {
    let mut slots = env.row(value.row);
    if value.high != NO_ROW {
        let high = env.row(value.high);
        slots.iter_mut().zip(high).for_each(|(slot, high)| *slot |= high << 32);
    }
    match value.booleans {
        0 => slots,
        1 => slots.map(|slot| slot & 1),
        parts => slots.map(|slot| bits_of(slot, parts, E::SLOT)),
    }
}

fn put<const L: usize, E: Rows<L>>(env: &mut E, to: Option<Value>, column: Column<L>) {
    let Some(to) = to else { return };
    let slots = match to.booleans {
        0 => column,
        1 => column.map(|bits| if bits & 1 != 0 { ones(E::SLOT) } else { 0 }),
        parts => column.map(|bits| mask_of(bits, parts, E::SLOT)),
    };
    if to.high == NO_ROW {
        env.set_row(to.row, &slots);
    } else {
        env.set_row(to.row, &slots.map(|slot| slot & ones(32)));
        env.set_row(to.high, &slots.map(|slot| slot >> 32));
    }
}

/// The most arguments that an intrinsic may have in shapes that are covered.
pub(crate) const MAX_ARGUMENTS: usize = 16;

/// Calls an intrinsic with at most `MOST` arguments.
fn call<const L: usize, const MOST: usize, E: Rows<L>>(
    effect: &Effect,
    env: &mut E,
    mask: u64,
) -> Result<Column<L>, E::Fault> {
    let mut columns = [[0; L]; MOST];
    let count = effect.values.len().min(MOST);
    for (column, found) in columns.iter_mut().zip(&effect.values) {
        *column = value(env, *found);
    }
    env.intrinsic(effect.numbers[0], &columns[..count], mask)
}

/// Performs an effect, as [`evaluate`](isaforge_core::semantics::evaluate::evaluate) would.
///
/// # Errors
/// The fault that the environment returns.
pub(crate) fn perform<const L: usize, E: Rows<L>>(effect: &Effect, env: &mut E) -> Result<(), E::Fault> {
    let [number, element] = effect.numbers;
    let argument = |env: &E, k: usize| effect.values.get(k).map_or([0; L], |found| value(env, *found));
    let extra = |env: &E| effect.extra.map(|k| argument(env, k.into()));
    match effect.op {
        Op::Operand => {
            let column = env.operand(number, element, effect.ty)?;
            put(env, effect.to, column);
            return Ok(());
        }
        Op::State => {
            let index = extra(env);
            let column = env.state(number, index.as_ref())?;
            put(env, effect.to, column);
            return Ok(());
        }
        Op::Special => {
            let column = match Special::ALL.get(usize::from(effect.imm)) {
                Some(Special::Lane) => std::array::from_fn(|lane| lane as u64),
                Some(Special::Active) => [env.active(); L],
                Some(special) => env.special(*special),
                None => [0; L],
            };
            put(env, effect.to, column);
            return Ok(());
        }
        _ => {}
    }
    let active = env.active();
    let mask = match effect.when {
        Some(row) => {
            let holds = env.row(row);
            holds.iter().enumerate().fold(0, |mask, (lane, holds)| mask | (holds & 1) << lane) & active
        }
        None => active,
    };
    if mask == 0 {
        put(env, effect.to, [0; L]);
        return Ok(());
    }
    let space = effect.imm & 0xff;
    let result = match effect.op {
        Op::Load => env.load(space, effect.ty, &argument(env, 0), mask)?,
        Op::Store => {
            env.store(space, effect.ty, &argument(env, 0), &argument(env, 1), mask)?;
            return Ok(());
        }
        Op::Atomic => {
            let op = AtomicOp::ALL.get(usize::from(effect.imm >> 8)).copied().unwrap_or(AtomicOp::Exchange);
            let expected = extra(env);
            env.atomic(op, space, effect.ty, &argument(env, 0), &argument(env, 1), expected.as_ref(), mask)?
        }
        Op::Write => return env.write(number, element, effect.ty, &argument(env, 0), mask),
        Op::SetState => {
            let index = extra(env);
            return env.set_state(number, index.as_ref(), &argument(env, 0), mask);
        }
        Op::Branch => return env.branch(&argument(env, 0), mask),
        Op::Barrier => return env.barrier(mask),
        Op::End => return env.end(mask),
        Op::Fault => return env.fault(effect.imm, &argument(env, 0), mask),
        // Most have few arguments.
        _ if effect.values.len() <= 4 => call::<L, 4, E>(effect, env, mask)?,
        _ => call::<L, MAX_ARGUMENTS, E>(effect, env, mask)?,
    };
    put(env, effect.to, result);
    Ok(())
}
