//! How register contents differ between workgroups.
//!
//! The workgroups of a launch differ only in their numbers. A value computed from these is, in each lane, the sum of
//! a part that is the same in all dispatches and a [`Sum`] that is the same in all lanes: multiples of [terms](Term),
//! which depend on the number of the workgroup. That holds as long as nothing wraps around, which is shown by bounds
//! of everything that a launch provides. Values loaded from memory are unknown.

use isaforge_core::semantics::instantiate::for_each_argument;
use isaforge_core::semantics::primitive::primitive;
use isaforge_core::semantics::{Class, NONE, Node, Op, Shape, Type};

use super::terms::{Sum, Term, Terms};
use crate::exec::jit::lanes::select::{Location, Target};
use crate::valhall::fast::bundle::WARPS;
use crate::valhall::fast::code::Code;
use crate::valhall::fast::grid::Grid;
use crate::valhall::fast::{operands, row};
use crate::valhall::preload::{COMPUTE, Value as Preloaded};

/// A value in all dispatches. Values of 64 bits may wrap around.
#[derive(Clone, Debug)]
struct Value {
    /// Its difference from the part that is the same in all dispatches.
    sum: Sum,
    /// That part, if it is also the same in all lanes.
    number: Option<u64>,
    /// An upper bound.
    most: u64,
}

impl Value {
    /// A value that is the same in all dispatches.
    fn fixed(ty: Type) -> Self {
        Value { sum: Sum::NONE, number: None, most: ty.mask() }
    }

    fn number(number: u64) -> Self {
        Value { sum: Sum::NONE, number: Some(number), most: number }
    }

    fn is_fixed(&self) -> bool {
        self.sum.is_empty()
    }

    /// Returns the value if it is a known number.
    fn known(&self) -> Option<u64> {
        self.number.filter(|_| self.is_fixed())
    }

    /// Returns the result with an upper bound; `None` if it may wrap around in some of the dispatches.
    fn bounded(self, most: Option<u64>, ty: Type) -> Option<Self> {
        let number = self.number.map(|number| number & ty.mask());
        match most.filter(|most| *most <= ty.mask()) {
            Some(most) => Some(Value { number, most, ..self }),
            None if self.is_fixed() || ty.size() == 64 => Some(Value { number, most: ty.mask(), ..self }),
            None => None,
        }
    }

    /// Returns the sum.
    fn add(&self, other: &Self, ty: Type) -> Option<Self> {
        let number = self.number.zip(other.number).map(|(one, other)| one.wrapping_add(other));
        let sum = Value { sum: self.sum.add(&other.sum), number, most: 0 };
        sum.bounded(self.most.checked_add(other.most), ty)
    }

    /// Returns the product with a number.
    fn times(&self, factor: u64, ty: Type) -> Option<Self> {
        let number = self.number.map(|number| number.wrapping_mul(factor));
        let product = Value { sum: self.sum.times(factor), number, most: 0 };
        product.bounded(self.most.checked_mul(factor), ty)
    }

    /// Returns what is known if some lanes have one value and some the other.
    fn or(&self, other: &Self) -> Option<Self> {
        let number = self.number.filter(|number| other.number == Some(*number));
        let both = Value { sum: self.sum.clone(), number, most: self.most.max(other.most) };
        (self.sum == other.sum).then_some(both)
    }
}

/// The lanes of a bundle.
type Lanes = [u16; WARPS];

/// A value, and the lanes that hold it; other lanes hold unknown values.
#[derive(Clone, Debug)]
struct Held {
    value: Value,
    lanes: Lanes,
}

impl Held {
    /// Returns the value that some lanes read, if all of them hold it.
    fn read(&self, lanes: &Lanes) -> Option<&Value> {
        self.lanes.iter().zip(lanes).all(|(held, wanted)| wanted & !held == 0).then_some(&self.value)
    }

    /// Returns what is held after some lanes have written a value.
    fn written(self, value: Value, lanes: Lanes) -> Self {
        let kept = self.lanes.iter().zip(&lanes).any(|(held, written)| held & !written != 0);
        match self.value.or(&value) {
            Some(both) if kept => {
                Held { value: both, lanes: std::array::from_fn(|warp| self.lanes[warp] | lanes[warp]) }
            }
            _ => Held { value, lanes },
        }
    }
}

/// The contents of registers.
#[derive(Debug)]
pub struct Strides {
    /// The content of each single register; `None` if it is unknown.
    rows: Vec<Option<Held>>,
    /// The content of pairs that are written together, by the first register.
    pairs: Vec<Option<Held>>,
    /// The lanes that execute words.
    pub active: Lanes,
    pub terms: Terms,
    /// The number of workgroups in a dispatch.
    together: u32,
}

impl Strides {
    /// Returns the contents at the start of a dispatch, which initializes the given registers.
    pub fn new(grid: &Grid, registers: u64) -> Self {
        let (terms, count) = (Terms::new(), row::REGISTERS as usize);
        let active = [u16::MAX; WARPS];
        let held = |value: Value| Held { value, lanes: active };
        let begins = |register: usize| (registers >> register & 1 != 0).then(|| held(Value::number(0)));
        let rows = (0..count).map(begins).collect();
        let mut strides = Strides { rows, pairs: vec![None; count], active, terms, together: grid.together };
        let [size, groups] = [grid.size, grid.groups].map(|three| three.map(u64::from));
        let last = |axis: usize| size[axis].saturating_sub(1);
        for &(register, value) in COMPUTE.iter() {
            let number_of = |axis: usize, times: u64, most: u64, number: Option<u64>| {
                let sum = Sum::of(axis).times(times);
                (most <= u64::from(u32::MAX)).then_some(Value { sum, number, most })
            };
            let bound = |most: u64| Some(Value { most, ..Value::fixed(Type::U32) });
            let value = match value {
                Preloaded::Group(axis) => {
                    // Several workgroups have different numbers.
                    let number = (axis > 0 || grid.together == 1).then_some(0);
                    number_of(axis, 1, groups[axis].saturating_sub(1), number)
                }
                Preloaded::Global(axis) => {
                    let threads = groups[axis].saturating_mul(size[axis]);
                    number_of(axis, size[axis], threads.saturating_sub(1), None)
                }
                Preloaded::LocalXy => bound(last(1) << 16 | last(0)),
                Preloaded::LocalZ => bound(last(2)),
                _ => Some(Value::fixed(Type::U32)),
            };
            if let Some(row) = strides.rows.get_mut(register).filter(|row| row.is_some()) {
                *row = value.map(held);
            }
        }
        strides
    }

    /// Returns how far the address in two rows advances to the next dispatch of a row. `None` if that is not a known
    /// number below 2^31.
    pub fn of(&self, [low, high]: [u32; 2]) -> Option<u32> {
        let sum = self.pair(low, high)?.sum;
        let step = self.terms.step(&sum)?.wrapping_mul(self.together.into());
        u32::try_from(step).ok().filter(|step| *step < 1 << 31)
    }

    /// Whether a row may have another content in the next dispatch of a row.
    pub fn moves(&self, row: u32) -> bool {
        self.row(row).is_none_or(|value| self.terms.varies(&value.sum))
    }

    /// Returns how the address in two rows depends on the workgroup. `None` if it is unknown.
    pub fn address(&self, [low, high]: [u32; 2]) -> Option<Sum> {
        Some(self.pair(low, high)?.sum)
    }

    fn row(&self, row: u32) -> Option<Value> {
        let Some(held) = self.rows.get(row as usize) else { return Some(Value::fixed(Type::U32)) };
        held.as_ref()?.read(&self.active).cloned()
    }

    fn pair(&self, low: u32, high: u32) -> Option<Value> {
        match (self.row(low), self.row(high)) {
            (Some(low), Some(high)) if low.is_fixed() && high.is_fixed() => Some(wide(&low, &high)),
            _ => self.pairs.get(low as usize).filter(|_| high == low + 1)?.as_ref()?.read(&self.active).cloned(),
        }
    }

    /// Lets the active lanes execute a word. `None` if its effect, or the lanes that continue after it, are unknown.
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
                    let value = if when == NONE { values.get(usize::from(from))?.clone() } else { None };
                    if let Target::Row(row) = operands::written(operand, b.into())? {
                        writes.push((row, node.ty, value));
                    }
                    None
                }
                Op::Commit => {
                    self.write(&mut writes);
                    None
                }
                Op::Branch => {
                    let known = |node: u16| values.get(usize::from(node)).is_some_and(|value| is_fixed(value.as_ref()));
                    (b == NONE || known(b)).then_some(())?;
                    None
                }
                Op::Load | Op::Store => None,
                Op::Special | Op::State => Some(Value::fixed(node.ty)),
                op if op.is_effect() => return None,
                _ => self.computed(shape, node, &values),
            });
        }
        self.write(&mut writes);
        Some(())
    }

    fn read(&self, [low, high]: [Location; 2], ty: Type) -> Option<Value> {
        let word = |place: Location| match place {
            Location::Number(number) => Some(Value::number(number.into())),
            Location::Row(row) => self.row(row),
        };
        match (ty.size(), low, high) {
            (33.., Location::Row(low), Location::Row(high)) => self.pair(low, high),
            (33.., ..) => {
                let (low, high) = (word(low)?, word(high)?);
                (low.is_fixed() && high.is_fixed()).then(|| wide(&low, &high))
            }
            (32, ..) => word(low),
            _ => word(low)
                .filter(Value::is_fixed)
                .map(|word| Value { number: word.number.map(|number| number & ty.mask()), ..Value::fixed(ty) }),
        }
    }

    fn write(&mut self, writes: &mut Vec<(u32, Type, Option<Value>)>) {
        let active = self.active;
        let over = |old: Option<Held>, new: Option<Value>| match (old, new?) {
            (Some(old), new) => Some(old.written(new, active)),
            (None, value) => Some(Held { value, lanes: active }),
        };
        for (row, ty, value) in writes.drain(..) {
            let is_wide = ty.size() > 32;
            let half = |from: u32| {
                let value = value.as_ref().filter(|value| value.is_fixed())?;
                let number = value.number.map(|number| Value::number(number >> from & u64::from(u32::MAX)));
                Some(number.unwrap_or(Value::fixed(Type::U32)))
            };
            let old = self.pairs.get_mut(row as usize).and_then(Option::take);
            let pair = if is_wide { over(old, value.clone()) } else { None };
            let held = if is_wide { [half(0), half(32)] } else { [value, None] };
            for (row, held) in (row as usize..).zip(held).take(if is_wide { 2 } else { 1 }) {
                if let Some(known) = self.rows.get_mut(row) {
                    *known = over(known.take(), held);
                }
                // Registers that are written separately are no pair.
                for first in [row.wrapping_sub(1), row] {
                    if let Some(pair) = self.pairs.get_mut(first) {
                        *pair = None;
                    }
                }
            }
            if let Some(known) = self.pairs.get_mut(row as usize).filter(|_| is_wide) {
                *known = pair;
            }
        }
    }

    /// Returns the value of a node.
    fn computed(&mut self, shape: &Shape, node: &Node, values: &[Option<Value>]) -> Option<Value> {
        let ty = node.ty;
        if node.op == Op::Const {
            return Some(Value::number(*shape.constants.get(usize::from(node.args[0]))?));
        }
        let of = |argument: u16| values.get(usize::from(argument))?.as_ref();
        let [a, b, ..] = node.args;
        let linear = || match node.op {
            _ if ty.lanes > 1 || !ty.is_integer() => None,
            Op::Bits | Op::Zext => of(a).cloned(),
            Op::Sext => of(a).filter(|value| value.most <= shape.nodes[usize::from(a)].ty.mask() >> 1).cloned(),
            Op::Add => of(a)?.add(of(b)?, ty),
            Op::Shl => of(a)?.times(1 << (of(b)?.known()? % u64::from(ty.bits)), ty),
            Op::Mul => match (of(a)?, of(b)?) {
                (value, factor) | (factor, value) if factor.known().is_some() => value.times(factor.known()?, ty),
                _ => None,
            },
            Op::Or | Op::Xor => match (of(a)?, of(b)?) {
                (value, zero) | (zero, value) if zero.known() == Some(0) => Some(value.clone()),
                _ => None,
            },
            _ => None,
        };
        linear().or_else(|| self.applied(shape, node, values))
    }

    /// Returns the result of an operation on numbers, or on values that are the same in all dispatches.
    fn applied(&mut self, shape: &Shape, node: &Node, values: &[Option<Value>]) -> Option<Value> {
        let of = |argument: u16| values.get(usize::from(argument))?.as_ref();
        let ty = node.ty;
        let (mut all_fixed, mut all_numbers) = (node.op.is_pure(), !matches!(node.op, Op::Pack | Op::Canonical));
        for_each_argument(node, &shape.lists, |argument| {
            all_fixed &= is_fixed(of(argument));
            all_numbers &= of(argument).is_some_and(|value| value.number.is_some());
        });
        let most = match node.op {
            _ if ty.lanes > 1 || !ty.is_integer() => None,
            Op::And => of(node.args[0]).zip(of(node.args[1])).map(|(one, other)| one.most.min(other.most)),
            Op::Or | Op::Xor => {
                let both = of(node.args[0]).zip(of(node.args[1])).map(|(one, other)| one.most | other.most);
                both.map(|both| u64::MAX.checked_shr(both.leading_zeros()).unwrap_or(0))
            }
            Op::Shr if ty.class != Class::Signed => of(node.args[0])
                .zip(of(node.args[1]).and_then(Value::known))
                .map(|(value, by)| value.most >> (by % u64::from(ty.bits))),
            _ => None,
        };
        let most = most.unwrap_or(ty.mask()).min(ty.mask());
        if !node.op.is_pure() || !all_numbers {
            return all_fixed.then(|| Value { most, ..Value::fixed(ty) });
        }
        let (mut types, mut args) = ([Type::BOOL; 4], [const { (Sum::NONE, 0) }; 4]);
        for k in (0..4).filter(|k| node.op.node_arguments() >> k & 1 != 0) {
            let value = of(node.args[k])?;
            (types[k], args[k]) = (shape.nodes.get(usize::from(node.args[k]))?.ty, (value.sum.clone(), value.number?));
        }
        if all_fixed {
            let numbers = args.map(|(_, number)| number);
            return Some(Value::number(primitive(node.op, node.imm, ty, types, numbers)));
        }
        let term = self.terms.number(Term::Operation { op: node.op, imm: node.imm, ty, types, args });
        Some(Value { sum: Sum::of(term), number: Some(0), most })
    }
}

/// Whether a value is known to be the same in all dispatches.
fn is_fixed(value: Option<&Value>) -> bool {
    value.is_some_and(Value::is_fixed)
}

/// Joins two words that are the same in all dispatches.
fn wide(low: &Value, high: &Value) -> Value {
    let number = low.known().zip(high.known()).map(|(low, high)| high << 32 | low);
    number.map_or(Value::fixed(Type::U64), Value::number)
}

#[cfg(test)]
mod tests {
    use isaforge_core::program::assemble;

    use super::*;
    use crate::level::Level;
    use crate::valhall::program::Program;

    /// Returns how far the address in r62 advances, as of the end of some words.
    fn stride(text: &str, grid: &Grid) -> Option<u32> {
        let words = assemble(isaforge_valhall::ISA, text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        let program = Program::new(&words);
        let code = Code::new(&program, &[0x1000, 0, 640], 1, Level::portable());
        let mut strides = Strides::new(grid, code.registers());
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
        // There may be more threads than 32-bit numbers.
        let grid = Grid { groups: [u32::MAX, 1, 1], ..grid };
        assert_eq!(stride("SHADDX.u64 r62, u0, r60.w0, shift:0x2", &grid), None);
    }
}
