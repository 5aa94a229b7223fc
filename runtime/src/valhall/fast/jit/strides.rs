//! How much further what is in registers is from a dispatch to the next.
//!
//! Dispatches of a row of workgroups differ in the numbers of workgroups and threads along x alone. What is computed from these
//! by sums and constant factors becomes more by the same amount each time, as long as it does not wrap around: bounds of all
//! that a launch gives say that.

use isaforge_core::semantics::instantiate::for_each_argument;
use isaforge_core::semantics::{NONE, Node, Op, Shape, Type};

use crate::exec::jit::lanes::select::{Place, Target};
use crate::valhall::fast::bundle::Grid;
use crate::valhall::fast::code::{Code, row};
use crate::valhall::fast::operands;
use crate::valhall::preload::{COMPUTE, Value as Preloaded};

/// A value of the first dispatch and those behind it. Of 64 bits it may wrap around.
#[derive(Clone, Copy, Debug)]
struct Value {
    /// How much more it is each time.
    step: u64,
    /// It is never more than that.
    most: u64,
    /// Whether it is always that.
    constant: bool,
}

impl Value {
    /// The same in all dispatches.
    fn fixed(ty: Type) -> Self {
        Value { step: 0, most: ty.mask(), constant: false }
    }

    fn number(number: u64) -> Self {
        Value { step: 0, most: number, constant: true }
    }

    fn is_fixed(self) -> bool {
        self.step == 0
    }

    /// The number that it is.
    fn known(self) -> Option<u64> {
        self.constant.then_some(self.most)
    }

    /// A sum, or `None` where it may wrap around in some of the dispatches.
    fn add(self, other: Self, ty: Type) -> Option<Self> {
        let step = self.step.wrapping_add(other.step);
        match self.most.checked_add(other.most).filter(|most| *most <= ty.mask()) {
            Some(most) => Some(Value { step, most, constant: self.constant && other.constant }),
            None if step == 0 || ty.size() == 64 => Some(Value { step, ..Value::fixed(ty) }),
            None => None,
        }
    }

    /// The same for a product with a number.
    fn times(self, factor: u64, ty: Type) -> Option<Self> {
        let step = self.step.wrapping_mul(factor);
        match self.most.checked_mul(factor).filter(|most| *most <= ty.mask()) {
            Some(most) => Some(Value { step, most, ..self }),
            None if step == 0 || ty.size() == 64 => Some(Value { step, ..Value::fixed(ty) }),
            None => None,
        }
    }
}

/// What registers hold.
#[derive(Debug)]
pub struct Strides {
    /// Each alone; `None` where it differs by more than a step.
    rows: Vec<Option<Value>>,
    /// Two that are written together, by the first.
    pairs: Vec<Option<Value>>,
}

impl Strides {
    /// At the start of a dispatch.
    pub fn new(grid: &Grid) -> Self {
        let registers = row::REGISTERS as usize;
        let mut strides = Strides { rows: vec![Some(Value::number(0)); registers], pairs: vec![None; registers] };
        let steps = [u64::from(grid.together), 0, 0];
        let [size, groups] = [grid.size, grid.groups].map(|three| three.map(u64::from));
        let last = |axis: usize| size[axis].saturating_sub(1);
        for &(register, value) in COMPUTE.iter() {
            let bound =
                |most: u64, step: u64| (most <= u64::from(u32::MAX)).then_some(Value { step, most, constant: false });
            let held = match value {
                Preloaded::Group(axis) => bound(groups[axis].saturating_sub(1), steps[axis]),
                Preloaded::Global(axis) => {
                    let threads = groups[axis].saturating_mul(size[axis]);
                    bound(threads.saturating_sub(1), steps[axis] * size[axis])
                }
                Preloaded::LocalXy => bound(last(1) << 16 | last(0), 0),
                Preloaded::LocalZ => bound(last(2), 0),
                _ => Some(Value::fixed(Type::U32)),
            };
            if let Some(row) = strides.rows.get_mut(register) {
                *row = held;
            }
        }
        strides
    }

    /// How much further the address in two rows is. `None` where that is not a known number below 2^31.
    pub fn of(&self, [low, high]: [u32; 2]) -> Option<u32> {
        let step = self.pair(low, high)?.step;
        u32::try_from(step).ok().filter(|step| *step < 1 << 31)
    }

    /// Whether a row may hold something else in another dispatch.
    pub fn moves(&self, row: u32) -> bool {
        self.rows.get(row as usize).is_some_and(|held| held.is_none_or(|held| !held.is_fixed()))
    }

    fn pair(&self, low: u32, high: u32) -> Option<Value> {
        if !self.moves(low) && !self.moves(high) {
            return Some(Value::fixed(Type::U64));
        }
        *self.pairs.get(low as usize).filter(|_| high == low + 1)?
    }

    /// A word is executed. `None` where it is not known what it does.
    pub fn execute(&mut self, code: &Code<'_>, pc: usize) -> Option<()> {
        let operation = code.operation(pc)?;
        let shape = operation.shape();
        let mut values: Vec<Option<Value>> = Vec::with_capacity(shape.nodes.len());
        let mut writes = vec![];
        for node in &shape.nodes {
            let [a, b, from, when] = node.args;
            values.push(match node.op {
                Op::Operand => {
                    let operand = *operation.operands().get(usize::from(a))?;
                    let places = operands::read(&code.given, pc, operand, b.into(), node.ty.size() > 32)?;
                    self.read(places, node.ty)
                }
                Op::Write => {
                    let operand = *operation.operands().get(usize::from(a))?;
                    let value = if when == NONE { values.get(usize::from(from)).copied()? } else { None };
                    if let Target::Row(row) = operands::written(operand, b.into())? {
                        writes.push((row, node.ty, value));
                    }
                    None
                }
                Op::Commit => {
                    self.write(&mut writes);
                    None
                }
                Op::Special | Op::State => Some(Value::fixed(node.ty)),
                op if op.is_effect() => return None,
                _ => computed(shape, node, &values),
            });
        }
        self.write(&mut writes);
        Some(())
    }

    fn read(&self, [low, high]: [Place; 2], ty: Type) -> Option<Value> {
        let word = |place: Place| match place {
            Place::Number(number) => Some(Value::number(number.into())),
            Place::Row(row) if self.moves(row) => self.rows[row as usize],
            Place::Row(row) => Some(self.rows.get(row as usize).copied().flatten().unwrap_or(Value::fixed(Type::U32))),
        };
        match (ty.size(), low, high) {
            (33.., Place::Row(low), Place::Row(high)) => self.pair(low, high),
            (33.., ..) => match [word(low)?, word(high)?] {
                [low, high] if low.constant && high.constant => Some(Value::number(high.most << 32 | low.most)),
                [low, high] if low.is_fixed() && high.is_fixed() => Some(Value::fixed(ty)),
                _ => None,
            },
            (32, ..) => word(low),
            _ => word(low).filter(|word| word.is_fixed()).map(|_| Value::fixed(ty)),
        }
    }

    fn write(&mut self, writes: &mut Vec<(u32, Type, Option<Value>)>) {
        for (row, ty, value) in writes.drain(..) {
            let row = row as usize;
            let wide = ty.size() > 32;
            let half = value.filter(|value| value.is_fixed()).map(|_| Value::fixed(Type::U32));
            let held = if wide { [half, half] } else { [value, None] };
            for (row, held) in (row..).zip(held).take(if wide { 2 } else { 1 }) {
                if let Some(known) = self.rows.get_mut(row) {
                    *known = held;
                }
                // Two that are written apart are no pair.
                for first in [row.wrapping_sub(1), row] {
                    if let Some(pair) = self.pairs.get_mut(first) {
                        *pair = None;
                    }
                }
            }
            if wide && let Some(pair) = self.pairs.get_mut(row) {
                *pair = value;
            }
        }
    }
}

/// What a node comes to.
fn computed(shape: &Shape, node: &Node, values: &[Option<Value>]) -> Option<Value> {
    let ty = node.ty;
    let of = |argument: u16| values.get(usize::from(argument)).copied().flatten();
    let [a, b, ..] = node.args;
    let mut all_fixed = node.op.is_pure();
    for_each_argument(node, &shape.lists, |argument| {
        all_fixed &= of(argument).is_some_and(Value::is_fixed);
    });
    let is_integer = ty.lanes == 1 && ty.is_integer();
    let moved = match node.op {
        Op::Const => Some(Value::number(*shape.constants.get(usize::from(a))?)),
        _ if !is_integer => None,
        Op::Bits | Op::Zext => of(a),
        Op::Sext => of(a).filter(|value| value.most <= shape.nodes[usize::from(a)].ty.mask() >> 1),
        Op::Add => of(a)?.add(of(b)?, ty),
        Op::Shl => of(a)?.times(1 << (of(b)?.known()? % u64::from(ty.bits)), ty),
        Op::Mul => match (of(a)?, of(b)?) {
            (value, factor) | (factor, value) if factor.constant => value.times(factor.most, ty),
            _ => None,
        },
        _ => None,
    };
    moved.or(all_fixed.then(|| Value::fixed(ty)))
}

#[cfg(test)]
mod tests {
    use isaforge_core::program::assemble;

    use super::*;
    use crate::level::Level;
    use crate::valhall::program::Program;

    /// How much further the address in r62 is behind some words.
    fn stride(text: &str, grid: &Grid) -> Option<u32> {
        let words = assemble(isaforge_valhall::ISA, text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        let program = Program::new(&words);
        let code = Code::new(&program, &[0x1000, 0, 640], 1, Level::portable());
        let mut strides = Strides::new(grid);
        (0..words.len()).try_for_each(|pc| strides.execute(&code, pc)).expect("they only compute");
        strides.of([62, 63])
    }

    #[test]
    fn an_address_moves_by_what_is_computed_from_the_numbers_of_threads_unless_it_may_wrap_around() {
        let grid = Grid { groups: [10, 8, 1], size: [32, 2, 1], together: 2 };
        for (text, expected) in [
            ("SHADDX.u64 r62, u0, r60.w0, shift:0x2", Some(2 * 32 * 4)),
            ("SHADDX.u64 r62, u0, r57.w0, shift:0x4", Some(2 << 4)),
            ("SHADDX.u64 r62, u0, r61.w0, shift:0x4", Some(0)),
            ("SHADDX.u64 r62, r60, r58.w0, shift:0x4", None),
            ("IMUL.i32 r4, r61, u2\nIADD.u32 r4, r4, r60\nSHADDX.u64 r62, u0, r4.w0, shift:0x2", Some(256)),
            ("IADD_IMM.i32 r4, r60, #0xfffffff0\nSHADDX.u64 r62, u0, r4.w0, shift:0x2", None),
            ("IADD_IMM.i32 r4, r60, #0xfffffe00\nSHADDX.u64 r62, u0, r4.w0, shift:0x2", Some(256)),
            ("IMUL.i32 r4, r60, r60\nSHADDX.u64 r62, u0, r4.w0, shift:0x2", None),
            ("SHADDX.u64 r62, u0, r60.w0, shift:0x2\nMOV.i32 r63, 0x0", None),
            ("MOV.i32 r62, u0\nMOV.i32 r63, u1", Some(0)),
            ("SHADDX.u64 r4, u0, r60.w0, shift:0x2\nIADD.u64 r62, r4, u0", Some(256)),
            ("SHADDX.u64 r61, u0, r60.w0, shift:0x2\nIADD.u64 r62, r62, r62", None),
        ] {
            assert_eq!(stride(text, &grid), expected, "{text}");
        }
        // There may be more threads than numbers.
        let grid = Grid { groups: [u32::MAX, 1, 1], ..grid };
        assert_eq!(stride("SHADDX.u64 r62, u0, r60.w0, shift:0x2", &grid), None);
    }
}
