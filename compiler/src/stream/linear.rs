//! Analyses an expression as a function of the bits it depends on, without enumerating them: each bit of the value as a
//! sum over GF(2), or the whole value as a number times a factor plus an offset. Both can be inverted at any width, and
//! a given inverse is proved correct if the composition yields each bit of the value.

use std::array::from_fn;
use std::cell::RefCell;

use isaforge_core::semantics::{Class, Comparison, Node, Op, Type};
use isaforge_core::stream::{Engine, Expression, Input, Layout, MAX_CHAIN, Source, solve};

/// A sum of some input bits, and possibly the constant one.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Sum {
    of: u64,
    one: bool,
}

/// A bit of a value; `None` if it is not known to be a sum.
type Bit = Option<Sum>;

const ZERO: Bit = Some(Sum { of: 0, one: false });
const ONE: Bit = Some(Sum { of: 0, one: true });

fn plus(a: Bit, b: Bit) -> Bit {
    let (a, b) = (a?, b?);
    Some(Sum { of: a.of ^ b.of, one: a.one != b.one })
}

fn not(a: Bit) -> Bit {
    plus(a, ONE)
}

/// The majority of three bits, if two of them are known to be equal or to differ.
fn majority(a: Bit, b: Bit, c: Bit) -> Bit {
    for (a, b, c) in [(a, b, c), (a, c, b), (b, c, a)] {
        match plus(a, b) {
            ZERO => return a,
            ONE => return c,
            _ => {}
        }
    }
    None
}

fn and(a: Bit, b: Bit) -> Bit {
    if a == ZERO || b == ZERO { ZERO } else { majority(a, b, ZERO) }
}

/// The only field that matters, times a factor plus an offset, modulo 2⁶⁴.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Line {
    factor: u64,
    offset: u64,
}

impl Line {
    /// Whether its values fit a field, for all numbers of a given width.
    fn fits(&self, (width, signed): (u8, bool), (of, is_signed): (u8, bool)) -> bool {
        let range = |width: u8, signed: bool| match signed {
            true => (-(1i128 << width.saturating_sub(1)), (1i128 << width.saturating_sub(1)) - 1),
            false => (0, (1i128 << width) - 1),
        };
        let ((least, most), (from, to)) = (range(width, signed), range(of, is_signed));
        let at = |number: i128| i128::from(self.factor as i64) * number + i128::from(self.offset as i64);
        [from, to].map(at).iter().all(|value| (least..=most).contains(value))
    }
}

#[derive(Clone, Copy)]
struct Value {
    bits: [Bit; 64],
    line: Option<Line>,
}

impl Value {
    const UNKNOWN: Value = Value { bits: [None; 64], line: None };

    fn constant(value: u64) -> Value {
        let bit = |at| if value >> at & 1 != 0 { ONE } else { ZERO };
        Value { bits: from_fn(bit), line: Some(Line { factor: 0, offset: value }) }
    }

    fn known(&self) -> Option<u64> {
        (0..64).try_fold(0, |all, at| match self.bits[at] {
            ONE => Some(all | 1 << at),
            ZERO => Some(all),
            _ => None,
        })
    }

    fn of_bits(bit: impl FnMut(usize) -> Bit) -> Value {
        Value { bits: from_fn(bit), line: None }
    }

    fn at(&self, at: usize) -> Bit {
        self.bits.get(at).copied().unwrap_or(ZERO)
    }

    fn shifted(&self, by: i64) -> Value {
        let from = |at: usize| usize::try_from(at as i64 - by).ok();
        Value::of_bits(|at| from(at).map_or(ZERO, |from| self.at(from)))
    }

    /// The low bits, extended with copies of the highest if the value is signed, else with zeros.
    fn extended(&self, width: u32, signed: bool) -> Value {
        let width = width as usize;
        let above = if signed && width > 0 { self.at(width - 1) } else { ZERO };
        Value::of_bits(|at| if at < width { self.at(at) } else { above })
    }

    fn added(&self, other: &Value, mut carry: Bit) -> Value {
        Value::of_bits(|at| {
            let (a, b) = (self.bits[at], other.bits[at]);
            let sum = plus(plus(a, b), carry);
            carry = majority(a, b, carry);
            sum
        })
    }

    fn complement(&self) -> Value {
        Value::of_bits(|at| not(self.bits[at]))
    }
}

/// Whether every value of a computed field is proved to be invertible: by the solver, or by the given inverse.
pub(super) fn proves(engine: Engine, layout: &'static Layout, field: u8) -> bool {
    let Some(found) = layout.fields.get(usize::from(field)) else { return false };
    let Source::Computed { inverse, .. } = found.source else { return false };
    let deciding: Vec<usize> = (0..layout.fields.len().min(64)).filter(|i| found.leaves >> i & 1 != 0).collect();
    let width: u32 = deciding.iter().map(|i| u32::from(layout.fields[*i].width)).sum();
    if width > 64 {
        return false;
    }
    let mut leaves = vec![Value::UNKNOWN; layout.fields.len()];
    let mut first = 0;
    for i in &deciding {
        let of = &layout.fields[*i];
        let own =
            Value::of_bits(|at| Some(Sum { of: if first + at < 64 { 1 << (first + at) } else { 0 }, one: false }));
        leaves[*i] = own.extended(of.width.into(), of.signed);
        if deciding.len() == 1 {
            leaves[*i].line = Some(Line { factor: 1, offset: 0 });
        }
        first += usize::from(of.width);
    }
    let of = |only: usize| (layout.fields[only].width, layout.fields[only].signed);
    let only = if let [only] = deciding[..] { Some(of(only)) } else { None };
    let there = Shape { only, ..Shape::new(engine, layout, leaves.clone()) }.field(field, 0);
    let Some(there) = there else { return false };
    if inverse.is_empty() {
        let number = there.line.is_some_and(|line| match deciding[..] {
            [only] => line.factor != 0 && exact(line.factor, layout.fields[only].width),
            _ => false,
        });
        return number || there.bits.iter().all(Option::is_some);
    }
    let asked = solve::asked(engine, layout, field);
    for i in deciding.iter().filter(|i| asked >> **i & 1 == 0) {
        leaves[*i] = Value::UNKNOWN;
    }
    for (other, expression) in inverse {
        let of = &layout.fields[usize::from(*other)];
        let back = Shape::new(engine, layout, leaves.clone());
        back.known.borrow_mut()[usize::from(field)] = Some(there);
        let Some(given) = back.expression(*expression, 0) else { return false };
        leaves[usize::from(*other)] = given.extended(of.width.into(), of.signed);
    }
    let back = Shape::new(engine, layout, leaves).field(field, 0);
    back.is_some_and(|back| there.bits.iter().zip(&back.bits).all(|(a, b)| a.is_some() && a == b))
}

/// Whether a number of a given width times a factor cannot overflow, so that division recovers the number.
fn exact(factor: u64, width: u8) -> bool {
    width < 64 && i128::from(factor as i64).abs() << width < 1 << 63
}

/// The analysed values of fields.
struct Shape {
    engine: Engine,
    layout: &'static Layout,
    leaves: Vec<Value>,
    /// The width of the only field that matters, and whether it is signed.
    only: Option<(u8, bool)>,
    /// The computed fields analysed so far.
    known: RefCell<Vec<Option<Value>>>,
}

impl Shape {
    fn new(engine: Engine, layout: &'static Layout, leaves: Vec<Value>) -> Shape {
        let known = RefCell::new(vec![None; layout.fields.len()]);
        Shape { engine, layout, leaves, only: None, known }
    }

    /// Analyses a field; `None` if expressions are nested too deeply.
    fn field(&self, index: u8, depth: u8) -> Option<Value> {
        let field = self.layout.fields.get(usize::from(index))?;
        let Source::Computed { value, .. } = field.source else { return self.leaves.get(usize::from(index)).copied() };
        if let Some(known) = self.known.borrow().get(usize::from(index)).copied().flatten() {
            return Some(known);
        }
        let mut whole = self.expression(value, depth + 1)?;
        if field.width < 64 {
            let line = whole.line.filter(|line| self.only.is_some_and(|of| line.fits((field.width, field.signed), of)));
            whole = Value { line, ..whole.extended(field.width.into(), field.signed) };
        }
        *self.known.borrow_mut().get_mut(usize::from(index))? = Some(whole);
        Some(whole)
    }

    fn expression(&self, index: u16, depth: u8) -> Option<Value> {
        let expression = self.engine.stream.expressions.get(usize::from(index)).filter(|_| depth < MAX_CHAIN)?;
        let mut values: Vec<Value> = Vec::with_capacity(expression.nodes.len());
        for node in expression.nodes {
            let value = self.node(expression, node, &values, depth)?;
            values.push(value);
        }
        values.pop()
    }

    fn node(&self, of: &'static Expression, node: &Node, values: &[Value], depth: u8) -> Option<Value> {
        let argument = |k: usize| values.get(usize::from(node.args[k])).copied().unwrap_or(Value::constant(0));
        let ty = |k: usize| of.nodes.get(usize::from(node.args[k])).map_or(node.ty, |node| node.ty);
        let value = match node.op {
            Op::Const => Value::constant(of.constants.get(usize::from(node.args[0])).copied().unwrap_or(0)),
            Op::Operand => match of.inputs.get(usize::from(node.args[0])) {
                Some(Input::Field(field)) => self.field(*field, depth)?,
                Some(Input::Generation) => Value::constant(self.engine.generation.into()),
                Some(Input::Length) if self.layout.length.is_none() => Value::constant((self.layout.bits / 8).into()),
                _ => Value::UNKNOWN,
            },
            Op::Pack => {
                let list = of.lists.get(usize::from(node.args[0])..).unwrap_or_default();
                let part = |at: usize| {
                    let part = list.get(at / usize::from(node.ty.bits).max(1))?;
                    Some((values.get(usize::from(*part))?, at % usize::from(node.ty.bits).max(1)))
                };
                Value::of_bits(|at| part(at).map_or(ZERO, |(value, bit)| value.at(bit)))
            }
            Op::Bits => argument(0),
            Op::Get => argument(0).shifted(-i64::from(node.imm) * i64::from(ty(0).bits)),
            Op::Slice => argument(0).shifted(-i64::from(node.imm & 0xff)),
            Op::Concat => {
                let (low, high) = (argument(0), argument(1).shifted(ty(0).size().into()));
                Value::of_bits(|at| if at < ty(0).size() as usize { low.at(at) } else { high.at(at) })
            }
            _ if node.ty.lanes != 1 => Value::UNKNOWN,
            op => arithmetic(op, node, ty(0), [argument(0), argument(1), argument(2)]),
        };
        let wide = node.ty.size() == 64;
        Some(Value { line: value.line.filter(|_| wide), ..value.extended(node.ty.size(), false) })
    }
}

/// Analyses an integer operation.
fn arithmetic(op: Op, node: &Node, from: Type, [a, b, c]: [Value; 3]) -> Value {
    let bits = u32::from(node.ty.bits);
    let count = || b.known().map(|count| count % u64::from(bits.max(1)));
    let line = |with: &dyn Fn(Line, Line) -> Option<Line>| with(a.line?, b.line?);
    let lines = |with: fn(u64, u64) -> u64| {
        line(&|a, b| Some(Line { factor: with(a.factor, b.factor), offset: with(a.offset, b.offset) }))
    };
    match op {
        _ if node.ty.is_float() => Value::UNKNOWN,
        Op::Zext | Op::Trunc => a,
        Op::Sext => a.extended(from.bits.into(), true),
        Op::Not => a.complement(),
        Op::And => Value::of_bits(|at| and(a.bits[at], b.bits[at])),
        Op::Or => Value::of_bits(|at| not(and(not(a.bits[at]), not(b.bits[at])))),
        Op::Xor => Value::of_bits(|at| plus(a.bits[at], b.bits[at])),
        Op::Add => Value { line: lines(u64::wrapping_add), ..a.added(&b, ZERO) },
        Op::Sub => Value { line: lines(u64::wrapping_sub), ..a.added(&b.complement(), ONE) },
        Op::Neg => {
            let line = a.line.map(|a| Line { factor: a.factor.wrapping_neg(), offset: a.offset.wrapping_neg() });
            Value { line, ..Value::constant(0).added(&a.complement(), ONE) }
        }
        Op::Mul => {
            let (factor, other) = match (a.known(), b.known()) {
                (Some(factor), _) => (factor, b),
                (_, Some(factor)) => (factor, a),
                _ => return Value::UNKNOWN,
            };
            let places = (0..64).filter(|at| factor >> at & 1 != 0);
            let whole = places.fold(Value::constant(0), |sum, at| sum.added(&other.shifted(at), ZERO));
            let times = |n: u64| n.wrapping_mul(factor);
            Value { line: other.line.map(|l| Line { factor: times(l.factor), offset: times(l.offset) }), ..whole }
        }
        Op::Shl => count().map_or(Value::UNKNOWN, |count| {
            let line = a.line.map(|a| Line { factor: a.factor << count, offset: a.offset << count });
            Value { line, ..a.shifted(count as i64) }
        }),
        Op::Shr => count().map_or(Value::UNKNOWN, |count| {
            let signed = node.ty.class == Class::Signed;
            a.extended(bits, signed).shifted(-(count as i64)).extended(bits - count as u32, signed)
        }),
        Op::RotateLeft | Op::RotateRight => count().map_or(Value::UNKNOWN, |count| {
            let left = if op == Op::RotateLeft { count } else { (u64::from(bits) - count) % u64::from(bits) };
            let (high, low) = (a.shifted(left as i64), a.shifted(left as i64 - i64::from(bits)));
            Value::of_bits(|at| if at < left as usize { low.at(at) } else { high.at(at) })
        }),
        Op::ReverseBits => Value::of_bits(|at| (bits as usize).checked_sub(at + 1).map_or(ZERO, |at| a.at(at))),
        Op::Select => choice(a.at(0), &b, &c),
        Op::Compare => {
            let differ = different(&a, &b);
            let how = Comparison::ALL.get(usize::from(node.imm)).copied();
            let bit = match how {
                _ if from.is_float() => None,
                Some(Comparison::Equal) => not(differ),
                Some(Comparison::NotEqual) => differ,
                _ => None,
            };
            Value::of_bits(|at| if at == 0 { bit } else { ZERO })
        }
        _ => Value::UNKNOWN,
    }
}

/// Selects one of two values. Each bit is that of the second value, plus the condition if the two bits are known to
/// differ.
fn choice(condition: Bit, a: &Value, b: &Value) -> Value {
    match condition {
        ONE => *a,
        ZERO => *b,
        _ => Value::of_bits(|at| match plus(a.bits[at], b.bits[at]) {
            ZERO => b.bits[at],
            ONE => plus(b.bits[at], condition),
            _ => None,
        }),
    }
}

/// Whether two values differ, if at most one bit decides that.
fn different(a: &Value, b: &Value) -> Bit {
    let mut decides = ZERO;
    for (a, b) in a.bits.iter().zip(&b.bits) {
        match plus(*a, *b) {
            ZERO => {}
            ONE => return ONE,
            bit if decides == ZERO => decides = bit,
            bit if decides == bit && bit.is_some() => {}
            _ => decides = None,
        }
    }
    decides
}
