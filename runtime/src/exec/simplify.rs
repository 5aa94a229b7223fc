//! Folds and simplifies values, and drops writes that cannot be observed.

use isaforge_core::bits::ones;
use isaforge_core::semantics::primitive::primitive;
use isaforge_core::semantics::{Class, Comparison, Op as Pure, Type};

use super::ir::{Effect, Graph, Node, Op, Value};

/// Adds the value of an operation, simplified if possible.
pub fn pure(graph: &mut Graph, op: Pure, imm: u16, ty: Type, args: &[Value]) -> Value {
    let mut args = args.to_vec();
    let number = |graph: &Graph, k: usize| args.get(k).and_then(|value| graph.number(*value));
    if let Some(numbers) = args.iter().map(|value| graph.number(*value)).collect::<Option<Vec<u64>>>() {
        let value = fold(op, imm, ty, &numbers);
        return graph.constant(value);
    }
    if commutes(op) && number(graph, 0).is_some() {
        args.swap(0, 1);
    }
    if let Some(value) = same(graph, op, imm, ty, &args) {
        return value;
    }
    let mut all = [None; 3];
    all.iter_mut().zip(&args).for_each(|(to, from)| *to = Some(*from));
    graph.add(Node { op: Op::Pure(op, imm), ty, args: all })
}

/// Evaluates an operation on numbers.
fn fold(op: Pure, imm: u16, ty: Type, numbers: &[u64]) -> u64 {
    let mut args = [0; 4];
    args.iter_mut().zip(numbers).for_each(|(to, from)| *to = *from);
    match op {
        Pure::Compare => primitive(op, imm, Type::BOOL, [ty; 4], args),
        Pure::Sext => primitive(op, 0, ty, [Type::signed(imm as u8); 4], args),
        Pure::Select => primitive(op, imm, ty, [Type::BOOL, ty, ty, ty], args),
        _ => primitive(op, imm, ty, [ty; 4], args),
    }
}

fn commutes(op: Pure) -> bool {
    matches!(op, Pure::Add | Pure::Mul | Pure::And | Pure::Or | Pure::Xor | Pure::MulHigh)
}

/// Returns a simpler value that is equal, if there is one.
fn same(graph: &mut Graph, op: Pure, imm: u16, ty: Type, args: &[Value]) -> Option<Value> {
    let (a, b) = (*args.first()?, args.get(1).copied());
    let number = b.and_then(|b| graph.number(b));
    let all = ty.mask();
    // The operation and the arguments of the first argument, if it is computed in the same type.
    let inner = match graph.node(a) {
        Node { op: Op::Pure(op, imm), ty: its, args: [Some(x), y, _] } if its.bits == ty.bits => {
            Some((op, imm, its, x, y.and_then(|y| graph.number(y))))
        }
        _ => None,
    };
    // Sums of sums stay as they are: the inner sum is often a register that exists anyway.
    match (op, number) {
        (Pure::Select, _) => {
            let (yes, no) = (b?, *args.get(2)?);
            return match (graph.number(a), graph.number(yes), graph.number(no)) {
                (Some(condition), ..) => Some(if condition & 1 != 0 { yes } else { no }),
                _ if yes == no => Some(yes),
                (_, Some(1), Some(0)) => Some(a),
                _ => None,
            };
        }
        (Pure::Sub | Pure::Xor, _) if b == Some(a) => return Some(graph.constant(0)),
        (Pure::And | Pure::Or, _) if b == Some(a) => return Some(a),
        (Pure::Compare, _) if b == Some(a) => {
            let value = fold(op, imm, ty, &[0, 0]);
            return Some(graph.constant(value));
        }
        (Pure::Sub, Some(number)) => {
            let less = graph.constant(number.wrapping_neg() & all);
            return Some(pure(graph, Pure::Add, 0, ty, &[a, less]));
        }
        (Pure::Add | Pure::Or | Pure::Xor | Pure::Shl | Pure::Shr, Some(0)) => return fits(graph, a, ty),
        (Pure::And, Some(number)) => {
            if number & graph.mask(a) == graph.mask(a) {
                return Some(a);
            }
            if number == 0 {
                return b;
            }
            if let Some((Pure::And, _, _, x, Some(other))) = inner {
                let both = graph.constant(number & other);
                return Some(pure(graph, Pure::And, 0, ty, &[x, both]));
            }
        }
        (Pure::Or, Some(number)) if number == all => return b,
        (Pure::Mul, Some(0)) => return b,
        (Pure::Mul, Some(1)) => return fits(graph, a, ty),
        (Pure::Mul, Some(number)) if number.is_power_of_two() => {
            let count = graph.constant(number.trailing_zeros().into());
            return Some(pure(graph, Pure::Shl, 0, Type { class: Class::Unsigned, ..ty }, &[a, count]));
        }
        (Pure::Shr, Some(count)) if count < u64::from(ty.bits) => {
            // A shift left and back again clears or sign-extends the upper bits.
            if let Some((Pure::Shl, _, _, x, Some(other))) = inner
                && other == count
            {
                let left = u32::from(ty.bits) - count as u32;
                if ty.class == Class::Unsigned {
                    let mask = graph.constant(ones(left));
                    return Some(pure(graph, Pure::And, 0, ty, &[x, mask]));
                }
                if matches!(left, 8 | 16 | 32) {
                    return Some(pure(graph, Pure::Sext, left as u16, ty, &[x]));
                }
            }
        }
        (Pure::Compare, Some(0)) if graph.bits(a) == 1 => {
            if imm == Comparison::NotEqual as u16 {
                return Some(a);
            }
            if imm == Comparison::Equal as u16 {
                return Some(not(graph, a));
            }
        }
        _ => {}
    }
    None
}

/// Returns the value itself if it has no more bits than the type.
fn fits(graph: &Graph, value: Value, ty: Type) -> Option<Value> {
    (graph.bits(value) <= ty.size()).then_some(value)
}

/// Returns the negation of a condition.
pub fn not(graph: &mut Graph, condition: Value) -> Value {
    if let Node { op: Op::Pure(Pure::Compare, imm), ty, args: [Some(a), Some(b), _] } = graph.node(condition) {
        let opposite = match Comparison::ALL.get(usize::from(imm)) {
            Some(Comparison::Equal) => Some((Comparison::NotEqual, a, b)),
            Some(Comparison::NotEqual) => Some((Comparison::Equal, a, b)),
            Some(Comparison::Less) => Some((Comparison::LessEqual, b, a)),
            Some(Comparison::LessEqual) => Some((Comparison::Less, b, a)),
            _ => None,
        };
        if let Some((how, a, b)) = opposite.filter(|_| !ty.is_float()) {
            return pure(graph, Pure::Compare, how as u16, ty, &[a, b]);
        }
    }
    let one = graph.constant(1);
    pure(graph, Pure::Xor, 0, Type::U32, &[condition, one])
}

/// Drops writes to slots that are overwritten before they can be observed. All writes are observable where an
/// instruction may be left to the evaluator.
pub fn dead_writes(effects: &mut Vec<Effect>) {
    let mut again: Vec<u32> = Vec::new();
    let mut keep = vec![true; effects.len()];
    for (at, effect) in effects.iter().enumerate().rev() {
        match effect {
            Effect::Write(slot, _) if again.contains(slot) => keep[at] = false,
            Effect::Write(slot, _) => again.push(*slot),
            Effect::Guard(..) | Effect::Load(_) | Effect::Store { .. } => again.clear(),
            Effect::Begin(_) | Effect::Compute(_) => {}
        }
    }
    let mut keep = keep.into_iter();
    effects.retain(|_| keep.next().unwrap_or(true));
}
