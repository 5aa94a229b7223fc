//! Lowers operations to integers of 32 and 64 bits, which general registers compute; other widths and vectors are
//! built from them.

use isaforge_core::semantics::{Class, Comparison, Node, Op as Pure, Type};

use super::feature::Features;
use crate::exec::bind::{Lower, Refused, cut};
use crate::exec::ir::{Graph, Value};
use crate::exec::simplify::{not, pure};

/// The operations of a processor with these features.
#[derive(Clone, Copy, Debug)]
pub struct Scalar(pub Features);

const I32: Type = Type::signed(32);
const I64: Type = Type::signed(64);

impl Lower for Scalar {
    fn pure(
        &self,
        graph: &mut Graph,
        guards: &mut Vec<(Value, bool)>,
        node: &Node,
        types: [Type; 4],
        args: &[Value],
    ) -> Result<Value, Refused> {
        let mut expand = Expand { features: self.0, graph, guards };
        expand.node(node, types, args)
    }
}

struct Expand<'a> {
    features: Features,
    graph: &'a mut Graph,
    guards: &'a mut Vec<(Value, bool)>,
}

/// Returns the type of the register in which values of a width are computed.
fn host(bits: u32, signed: bool) -> Type {
    match (bits <= 32, signed) {
        (true, false) => Type::U32,
        (true, true) => I32,
        (false, false) => Type::U64,
        (false, true) => I64,
    }
}

impl Expand<'_> {
    fn put(&mut self, op: Pure, ty: Type, args: &[Value]) -> Value {
        pure(self.graph, op, 0, ty, args)
    }

    fn number(&mut self, number: u64) -> Value {
        self.graph.constant(number)
    }

    fn cut(&mut self, value: Value, bits: u32) -> Value {
        cut(self.graph, value, bits)
    }

    fn compare(&mut self, how: Comparison, ty: Type, a: Value, b: Value) -> Value {
        pure(self.graph, Pure::Compare, how as u16, ty, &[a, b])
    }

    fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        self.put(Pure::Select, Type::U64, &[condition, yes, no])
    }

    /// Returns a value of `bits` bits, sign-extended to a register of `to` bits.
    fn extended(&mut self, value: Value, bits: u32, to: u32) -> Value {
        match (bits, to) {
            (from, to) if from == to => value,
            (8 | 16, 32) | (8 | 16 | 32, 64) => pure(self.graph, Pure::Sext, bits as u16, host(to, true), &[value]),
            _ => {
                let count = self.number((to - bits).into());
                let up = self.put(Pure::Shl, host(to, false), &[value, count]);
                self.put(Pure::Shr, host(to, true), &[up, count])
            }
        }
    }

    fn node(&mut self, node: &Node, types: [Type; 4], args: &[Value]) -> Result<Value, Refused> {
        let (ty, from) = (node.ty, types[0]);
        let a = *args.first().ok_or(Refused)?;
        Ok(match node.op {
            Pure::Bits => self.cut(a, ty.size()),
            Pure::Get => {
                let at = u32::from(from.bits) * u32::from(node.imm);
                self.part(a, at, from.bits.into())
            }
            Pure::Slice => self.part(a, u32::from(node.imm & 0xff), ty.size()),
            Pure::Concat => {
                let high = *args.get(1).ok_or(Refused)?;
                let value = self.place(a, high, from.size());
                self.cut(value, ty.size())
            }
            Pure::Pack => {
                let mut value = a;
                for (part, at) in args.iter().zip(0..).skip(1) {
                    value = self.place(value, *part, u32::from(ty.bits) * at);
                }
                value
            }
            Pure::Splat => {
                let part = self.cut(a, ty.bits.into());
                (1..u32::from(ty.lanes)).fold(part, |all, at| self.place(all, part, u32::from(ty.bits) * at))
            }
            Pure::Canonical => return Err(Refused),
            // Bitwise operations do not depend on the number of components.
            Pure::And | Pure::Or | Pure::Xor => self.put(node.op, host(ty.size(), false), args),
            Pure::Not => {
                let all = self.number(ty.mask());
                if ty == Type::BOOL {
                    not(self.graph, a)
                } else {
                    self.put(Pure::Xor, host(ty.size(), false), &[a, all])
                }
            }
            Pure::Select if from.lanes == 1 => {
                self.select(a, *args.get(1).ok_or(Refused)?, *args.get(2).ok_or(Refused)?)
            }
            _ if ty.lanes == 1 => self.scalar(node.op, node.imm, ty, types, args)?,
            _ => {
                let mut all = self.number(0);
                for lane in 0..u32::from(ty.lanes) {
                    let mut parts = Vec::with_capacity(args.len());
                    for (arg, ty) in args.iter().zip(types) {
                        let at = if ty.lanes == 1 { 0 } else { lane * u32::from(ty.bits) };
                        parts.push(self.part(*arg, at, ty.bits.into()));
                    }
                    let types = types.map(Type::component);
                    let value = match node.op {
                        Pure::Select => self.select(parts[0], parts[1], parts[2]),
                        op => self.scalar(op, node.imm, ty.component(), types, &parts)?,
                    };
                    all = self.place(all, value, lane * u32::from(ty.bits));
                }
                all
            }
        })
    }

    /// Returns `bits` bits of a value, starting at bit `at`.
    fn part(&mut self, value: Value, at: u32, bits: u32) -> Value {
        if at >= 64 {
            return self.number(0);
        }
        let count = self.number(at.into());
        let ty = host(self.graph.bits(value), false);
        let value = if at >= u32::from(ty.bits) { self.number(0) } else { self.put(Pure::Shr, ty, &[value, count]) };
        self.cut(value, bits)
    }

    /// Places `high` above `low`, at bit `at`.
    fn place(&mut self, low: Value, high: Value, at: u32) -> Value {
        if at >= 64 {
            return low;
        }
        let count = self.number(at.into());
        let high = self.put(Pure::Shl, Type::U64, &[high, count]);
        self.put(Pure::Or, Type::U64, &[high, low])
    }

    fn scalar(&mut self, op: Pure, imm: u16, ty: Type, types: [Type; 4], args: &[Value]) -> Result<Value, Refused> {
        let from = types[0];
        let a = *args.first().ok_or(Refused)?;
        let b = args.get(1).copied().unwrap_or(a);
        let bits = u32::from(ty.bits);
        let signed = ty.class == Class::Signed;
        let sign = 1u64 << (bits - 1);
        if ty.is_float() || from.is_float() {
            let number = match op {
                Pure::Neg => sign,
                Pure::Abs => sign - 1,
                _ => return Err(Refused),
            };
            let number = self.number(number);
            let op = if op == Pure::Neg { Pure::Xor } else { Pure::And };
            return Ok(self.put(op, host(bits, false), &[a, number]));
        }
        let word = host(bits, false);
        let width = u32::from(word.bits);
        Ok(match op {
            Pure::Zext | Pure::Trunc | Pure::Convert => self.cut(a, bits),
            Pure::Sext => {
                let value = self.extended(a, from.bits.into(), width);
                self.cut(value, bits)
            }
            Pure::Compare => {
                let how = *Comparison::ALL.get(usize::from(imm)).ok_or(Refused)?;
                let bits = u32::from(from.bits);
                let signed = from.class == Class::Signed || how == Comparison::TotalLessEqual;
                let how = match how {
                    Comparison::Apart => Comparison::NotEqual,
                    Comparison::TotalLessEqual => Comparison::LessEqual,
                    Comparison::Unordered => return Ok(self.number(0)),
                    how => how,
                };
                let ordered = matches!(how, Comparison::Less | Comparison::LessEqual);
                let ty = host(bits, signed && ordered);
                let (a, b) = match signed && ordered {
                    true => (self.extended(a, bits, ty.bits.into()), self.extended(b, bits, ty.bits.into())),
                    false => (a, b),
                };
                self.compare(how, ty, a, b)
            }
            Pure::Add | Pure::Sub | Pure::Mul => {
                let value = self.put(op, word, args);
                self.cut(value, bits)
            }
            Pure::Neg => {
                let zero = self.number(0);
                let value = self.put(Pure::Sub, word, &[zero, a]);
                self.cut(value, bits)
            }
            Pure::Abs if signed => {
                let (zero, value) = (self.number(0), self.extended(a, bits, width));
                let negative = self.compare(Comparison::Less, host(bits, true), value, zero);
                let opposite = self.put(Pure::Sub, word, &[zero, a]);
                let opposite = self.cut(opposite, bits);
                self.select(negative, opposite, a)
            }
            Pure::Abs => a,
            Pure::Shl | Pure::Shr => {
                let count = self.count(b, types[1], bits)?;
                if op == Pure::Shr && signed {
                    let value = self.extended(a, bits, width);
                    let value = self.put(Pure::Shr, host(bits, true), &[value, count]);
                    self.cut(value, bits)
                } else {
                    let value = self.put(op, word, &[a, count]);
                    self.cut(value, bits)
                }
            }
            Pure::RotateLeft | Pure::RotateRight if bits == width => {
                let count = self.count(b, types[1], bits)?;
                self.put(op, word, &[a, count])
            }
            Pure::MulHigh if bits <= 32 => {
                let (x, y) = (self.wide(a, bits, signed), self.wide(b, bits, signed));
                let product = self.put(Pure::Mul, Type::U64, &[x, y]);
                self.part(product, bits, bits)
            }
            Pure::MulHigh if bits == 64 => self.put(op, host(64, signed), &[a, b]),
            Pure::Div | Pure::Rem => {
                let (x, y) = match signed {
                    true => (self.extended(a, bits, width), self.extended(b, bits, width)),
                    false => (a, b),
                };
                // The processor faults in these cases; the evaluator has a result.
                let zero = self.number(0);
                let some = self.compare(Comparison::NotEqual, word, y, zero);
                self.guards.push((some, true));
                // The divisor is not zero, so that it is one.
                if self.graph.bits(y) == 1 && bits > 1 {
                    return Ok(if op == Pure::Div { a } else { self.number(0) });
                }
                if !signed {
                    return Ok(self.put(op, word, &[x, y]));
                }
                let minus = self.number(word.mask());
                let apart = self.compare(Comparison::NotEqual, word, y, minus);
                self.guards.push((apart, true));
                let value = self.put(op, host(bits, true), &[x, y]);
                self.cut(value, bits)
            }
            Pure::LeadingZeros if self.features.lzcnt => {
                let zeros = self.put(op, word, &[a]);
                let unused = self.number((width - bits).into());
                self.put(Pure::Sub, Type::U32, &[zeros, unused])
            }
            Pure::TrailingZeros if self.features.bmi1 => {
                let stop = self.number(if bits == width { 0 } else { 1 << bits });
                let value = self.put(Pure::Or, word, &[a, stop]);
                self.put(op, word, &[value])
            }
            Pure::CountOnes if self.features.popcnt => self.put(op, word, &[a]),
            Pure::Min | Pure::Max => {
                let (x, y) = (self.sided(a, bits, signed), self.sided(b, bits, signed));
                let le = self.compare(Comparison::LessEqual, host(bits, signed), x, y);
                if op == Pure::Min { self.select(le, a, b) } else { self.select(le, b, a) }
            }
            Pure::AddSat | Pure::SubSat | Pure::MulSat if bits <= 32 => {
                let (x, y) = (self.wide(a, bits, signed), self.wide(b, bits, signed));
                let op = match op {
                    Pure::AddSat => Pure::Add,
                    Pure::SubSat => Pure::Sub,
                    _ => Pure::Mul,
                };
                let value = self.put(op, Type::U64, &[x, y]);
                // An unsigned product may exceed the largest signed number.
                let ty = if signed || op == Pure::Sub { I64 } else { Type::U64 };
                let (least, most) = if signed { (sign.wrapping_neg(), sign - 1) } else { (0, ty_mask(bits)) };
                let (least, most) = (self.number(least), self.number(most));
                let over = self.compare(Comparison::Less, ty, most, value);
                let value = self.select(over, most, value);
                let under = self.compare(Comparison::Less, ty, value, least);
                let value = self.select(under, least, value);
                self.cut(value, bits)
            }
            Pure::AddHalf | Pure::AddHalfUp if bits <= 32 => {
                let (x, y) = (self.wide(a, bits, signed), self.wide(b, bits, signed));
                let sum = self.put(Pure::Add, Type::U64, &[x, y]);
                let (more, one) = (self.number((op == Pure::AddHalfUp).into()), self.number(1));
                let sum = self.put(Pure::Add, Type::U64, &[sum, more]);
                let half = self.put(Pure::Shr, Type::U64, &[sum, one]);
                self.cut(half, bits)
            }
            _ => return Err(Refused),
        })
    }

    /// Extends a value of at most 32 bits to 64.
    fn wide(&mut self, value: Value, bits: u32, signed: bool) -> Value {
        if signed { self.extended(value, bits, 64) } else { value }
    }

    /// Extends a value to the width in which it is compared.
    fn sided(&mut self, value: Value, bits: u32, signed: bool) -> Value {
        let width = host(bits, signed).bits;
        if signed { self.extended(value, bits, width.into()) } else { value }
    }

    /// Returns a shift count, modulo the width.
    fn count(&mut self, count: Value, ty: Type, bits: u32) -> Result<Value, Refused> {
        if !bits.is_power_of_two() {
            return self.graph.number(count).map(|known| self.number(known % u64::from(bits))).ok_or(Refused);
        }
        let low = self.number(u64::from(bits) - 1);
        Ok(match self.graph.number(count) {
            Some(known) => self.number(known & u64::from(bits - 1)),
            // Shifts of these widths mask the count in hardware.
            None if bits == 32 || bits == 64 => count,
            None => self.put(Pure::And, host(ty.size(), false), &[count, low]),
        })
    }
}

fn ty_mask(bits: u32) -> u64 {
    Type::unsigned(bits as u8).mask()
}
