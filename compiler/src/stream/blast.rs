//! Bit-blasting: each integer operation as a circuit of Boolean functions, exact for arguments of any width.

use isaforge_core::semantics::{Class, Comparison, Op, Type};

use super::diagram::{Diagrams, Node};

/// The bits of a value, least significant first.
pub(super) type Bits = Vec<Node>;

/// The bits of a constant.
pub(super) fn constant(value: u64, width: usize) -> Bits {
    let bit = |at: usize| u32::try_from(at).ok().and_then(|at| value.checked_shr(at)).unwrap_or(0) & 1;
    (0..width).map(|at| if bit(at) == 1 { Node::TRUE } else { Node::FALSE }).collect()
}

/// Zero-extends or truncates `value`.
pub(super) fn resized(mut value: Bits, width: usize) -> Bits {
    value.resize(width, Node::FALSE);
    value
}

/// Sign-extends or truncates `value`.
pub(super) fn sign_extended(mut value: Bits, width: usize) -> Bits {
    let sign = value.last().copied().unwrap_or(Node::FALSE);
    value.resize(width, sign);
    value
}

fn extended(value: Bits, width: usize, signed: bool) -> Bits {
    if signed { sign_extended(value, width) } else { resized(value, width) }
}

/// Applies an operation to the bits of its arguments, as defined by
/// [`primitive`](isaforge_core::semantics::primitive::primitive). `None` for floats and other operations without a
/// circuit.
pub(super) fn apply(d: &mut Diagrams, op: Op, imm: u16, ty: Type, types: &[Type], args: &[Bits]) -> Option<Bits> {
    let width = ty.size() as usize;
    let first = || args.first().cloned().unwrap_or_default();
    match op {
        Op::Bits => return Some(resized(first(), width)),
        Op::Get => return Some(component(args, types, 0, imm.into())),
        Op::Slice => return Some(resized(first().into_iter().skip((imm & 0xff).into()).collect(), width)),
        Op::Concat => {
            let low = resized(first(), types.first()?.size() as usize);
            return Some(resized(low.into_iter().chain(args.get(1)?.iter().copied()).collect(), width));
        }
        Op::Splat => return Some(resized(first(), ty.bits.into()).repeat(ty.lanes.into())),
        _ => {}
    }
    let mut all = Vec::new();
    for lane in 0..usize::from(ty.lanes) {
        // A single value is broadcast to all components.
        let part = |k: usize| component(args, types, k, if types[k].lanes == 1 { 0 } else { lane });
        let parts: Vec<Bits> = (0..args.len()).map(part).collect();
        all.extend(resized(scalar(d, op, imm, ty.component(), types, &parts)?, ty.bits.into()));
    }
    Some(all)
}

fn component(args: &[Bits], types: &[Type], argument: usize, index: usize) -> Bits {
    let (Some(bits), Some(ty)) = (args.get(argument), types.get(argument)) else { return Bits::new() };
    let width = usize::from(ty.bits);
    resized(bits.iter().skip(width * index).take(width).copied().collect(), width)
}

fn scalar(d: &mut Diagrams, op: Op, imm: u16, ty: Type, types: &[Type], args: &[Bits]) -> Option<Bits> {
    let (width, signed) = (usize::from(ty.bits), ty.class == Class::Signed);
    let of = types.first().copied().unwrap_or(ty);
    let [a, b, c] = [0, 1, 2].map(|k| args.get(k).cloned().unwrap_or_default());
    Some(match op {
        Op::Select => select(d, *a.first()?, &b, &c),
        Op::Compare if of.is_float() => return None,
        Op::Compare => vec![compare(d, imm, of.class == Class::Signed, &a, &b)],
        Op::Zext | Op::Trunc => a,
        Op::Sext => sign_extended(a, width),
        Op::Convert if !of.is_float() && !ty.is_float() => a,
        Op::Not => not(d, &a),
        Op::And => each(&a, &b, |a, b| d.and(a, b)),
        Op::Or => each(&a, &b, |a, b| d.choose(a, Node::TRUE, b)),
        Op::Xor => each(&a, &b, |a, b| d.differ(a, b)),
        _ if ty.is_float() => return None,
        Op::Neg => negative(d, &a),
        Op::Abs => magnitude(d, &a, signed),
        Op::Add => sum(d, &a, &b, Node::FALSE),
        Op::Sub => difference(d, &a, &b),
        Op::Mul => product(d, &a, &b),
        Op::MulHigh => {
            let [a, b] = [a, b].map(|value| extended(value, 2 * width, signed));
            product(d, &a, &b).split_off(width)
        }
        Op::Div => divided(d, &a, &b, signed)?.0,
        Op::Rem => divided(d, &a, &b, signed)?.1,
        Op::Shl | Op::Shr | Op::RotateLeft | Op::RotateRight => shifted(d, op, signed, &a, &b)?,
        Op::LeadingZeros => {
            let zeros = a.iter().enumerate().map(|(at, bit)| (width - 1 - at, *bit));
            counted(d, zeros, width)
        }
        Op::TrailingZeros => counted(d, a.iter().copied().enumerate().rev(), width),
        Op::CountOnes => a.iter().fold(constant(0, width), |count, bit| sum(d, &count, &constant(0, width), *bit)),
        Op::ReverseBits => a.into_iter().rev().collect(),
        Op::Min | Op::Max => {
            let less = compare(d, Comparison::LessEqual as u16, signed, &a, &b);
            if op == Op::Min { select(d, less, &a, &b) } else { select(d, less, &b, &a) }
        }
        Op::AddHalf | Op::AddHalfUp => {
            let [a, b] = [a, b].map(|value| extended(value, width + 1, signed));
            let up = if op == Op::AddHalfUp { Node::TRUE } else { Node::FALSE };
            sum(d, &a, &b, up).split_off(1)
        }
        Op::AddSat | Op::SubSat | Op::MulSat => {
            let [a, b] = [a, b].map(|value| extended(value, 2 * width + 2, signed));
            let exact = match op {
                Op::AddSat => sum(d, &a, &b, Node::FALSE),
                Op::SubSat => difference(d, &a, &b),
                _ => product(d, &a, &b),
            };
            limited(d, exact, width, signed)
        }
        _ => return None,
    })
}

fn each(a: &[Node], b: &[Node], mut f: impl FnMut(Node, Node) -> Node) -> Bits {
    a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
}

fn not(d: &mut Diagrams, a: &[Node]) -> Bits {
    a.iter().map(|bit| d.is(*bit, false)).collect()
}

fn select(d: &mut Diagrams, condition: Node, a: &[Node], b: &[Node]) -> Bits {
    each(a, b, |a, b| d.choose(condition, a, b))
}

fn sum(d: &mut Diagrams, a: &[Node], b: &[Node], mut carry: Node) -> Bits {
    each(a, b, |a, b| {
        let half = d.differ(a, b);
        let bit = d.differ(half, carry);
        carry = d.choose(half, carry, a);
        bit
    })
}

fn difference(d: &mut Diagrams, a: &[Node], b: &[Node]) -> Bits {
    let b = not(d, b);
    sum(d, a, &b, Node::TRUE)
}

fn negative(d: &mut Diagrams, a: &[Node]) -> Bits {
    difference(d, &constant(0, a.len()), a)
}

fn magnitude(d: &mut Diagrams, a: &[Node], signed: bool) -> Bits {
    let sign = a.last().copied().filter(|_| signed).unwrap_or(Node::FALSE);
    let opposite = negative(d, a);
    select(d, sign, &opposite, a)
}

/// The low half of a product, as wide as the factors.
fn product(d: &mut Diagrams, a: &[Node], b: &[Node]) -> Bits {
    let mut total = constant(0, a.len());
    for (at, bit) in b.iter().enumerate().filter(|(_, bit)| **bit != Node::FALSE) {
        if d.is_full() {
            break;
        }
        let shifted = constant(0, at).into_iter().chain(a.iter().copied()).take(a.len());
        let term: Bits = shifted.map(|of| d.and(of, *bit)).collect();
        total = sum(d, &total, &term, Node::FALSE);
    }
    total
}

/// The condition that one number is less than another of the same width.
pub(super) fn less(d: &mut Diagrams, signed: bool, a: &[Node], b: &[Node]) -> Node {
    let top = a.len().saturating_sub(1);
    let mut less = Node::FALSE;
    for (at, (a, b)) in a.iter().zip(b).enumerate() {
        let differ = d.differ(*a, *b);
        // The sign bit compares in reverse.
        less = d.choose(differ, if signed && at == top { *a } else { *b }, less);
    }
    less
}

fn compare(d: &mut Diagrams, imm: u16, signed: bool, a: &[Node], b: &[Node]) -> Node {
    match Comparison::ALL.get(usize::from(imm)).copied().unwrap_or(Comparison::Equal) {
        Comparison::Equal => equal(d, a, b),
        Comparison::NotEqual | Comparison::Apart => {
            let equal = equal(d, a, b);
            d.is(equal, false)
        }
        Comparison::Less => less(d, signed, a, b),
        Comparison::LessEqual => {
            let greater = less(d, signed, b, a);
            d.is(greater, false)
        }
        Comparison::TotalLessEqual => {
            let greater = less(d, true, b, a);
            d.is(greater, false)
        }
        Comparison::Unordered => Node::FALSE,
    }
}

/// The condition that two values are equal.
pub(super) fn equal(d: &mut Diagrams, a: &[Node], b: &[Node]) -> Node {
    a.iter().zip(b).fold(Node::TRUE, |all, (a, b)| {
        let differ = d.differ(*a, *b);
        d.choose(differ, Node::FALSE, all)
    })
}

/// Quotient and remainder, by long division; `None` if the diagrams grew too large.
fn divided(d: &mut Diagrams, a: &[Node], b: &[Node], signed: bool) -> Option<(Bits, Bits)> {
    let width = a.len();
    let [dividend, divisor] = [a, b].map(|value| magnitude(d, value, signed));
    let divisor = resized(divisor, width + 1);
    let (mut quotient, mut rest) = (constant(0, width), constant(0, width + 1));
    for at in (0..width).rev() {
        if d.is_full() {
            return None;
        }
        rest.insert(0, dividend[at]);
        rest.truncate(width + 1);
        let less = less(d, false, &rest, &divisor);
        let smaller = difference(d, &rest, &divisor);
        rest = select(d, less, &rest, &smaller);
        quotient[at] = d.is(less, false);
    }
    rest.truncate(width);
    if signed {
        let (of_a, of_b) = (*a.last()?, *b.last()?);
        let opposite = negative(d, &quotient);
        let differ = d.differ(of_a, of_b);
        quotient = select(d, differ, &opposite, &quotient);
        let opposite = negative(d, &rest);
        rest = select(d, of_a, &opposite, &rest);
    }
    let zero = equal(d, b, &constant(0, width));
    Some((select(d, zero, &constant(u64::MAX, width), &quotient), select(d, zero, a, &rest)))
}

/// `a` shifted or rotated by a count modulo its width; `None` if the count is not constant and the width is not a power
/// of two.
fn shifted(d: &mut Diagrams, op: Op, signed: bool, a: &[Node], count: &[Node]) -> Option<Bits> {
    let width = a.len();
    let by = |a: &[Node], by: usize| -> Bits {
        let fill = a.last().copied().filter(|_| signed).unwrap_or(Node::FALSE);
        (0..width)
            .map(|at| match op {
                Op::Shl => at.checked_sub(by).map_or(Node::FALSE, |from| a[from]),
                Op::Shr => a.get(at + by).copied().unwrap_or(fill),
                Op::RotateLeft => a[(at + width - by) % width],
                _ => a[(at + by) % width],
            })
            .collect()
    };
    if count.iter().all(|bit| [Node::FALSE, Node::TRUE].contains(bit)) {
        let set = count.iter().enumerate().filter(|(_, bit)| **bit == Node::TRUE);
        let count: u128 = set.map(|(at, _)| 1 << at).sum();
        return Some(by(a, (count % width as u128) as usize));
    }
    if !width.is_power_of_two() {
        return None;
    }
    let stages = count.iter().take(width.trailing_zeros() as usize).enumerate();
    Some(stages.fold(a.to_vec(), |value, (stage, bit)| {
        let moved = by(&value, 1 << stage);
        select(d, *bit, &moved, &value)
    }))
}

/// The number of the last bit that is set, or `width`.
fn counted(d: &mut Diagrams, bits: impl Iterator<Item = (usize, Node)>, width: usize) -> Bits {
    bits.fold(constant(width as u64, width), |count, (number, bit)| {
        select(d, bit, &constant(number as u64, width), &count)
    })
}

/// A signed value, saturated to `width` bits.
fn limited(d: &mut Diagrams, value: Bits, width: usize, signed: bool) -> Bits {
    let all = value.len();
    let most = if signed { width - 1 } else { width };
    let greatest = resized(constant(u64::MAX, most), all);
    let least = if signed { not(d, &greatest) } else { constant(0, all) };
    let over = less(d, true, &greatest, &value);
    let under = less(d, true, &value, &least);
    let value = select(d, over, &greatest, &value);
    resized(select(d, under, &least, &value), width)
}

#[cfg(test)]
mod tests {
    use isaforge_core::sample::Random;
    use isaforge_core::semantics::primitive::primitive;

    use super::*;

    /// The operations on integers of one type, with their number of arguments.
    const OPS: [(Op, usize); 27] = [
        (Op::Neg, 1),
        (Op::Not, 1),
        (Op::Abs, 1),
        (Op::Add, 2),
        (Op::Sub, 2),
        (Op::Mul, 2),
        (Op::MulHigh, 2),
        (Op::Div, 2),
        (Op::Rem, 2),
        (Op::And, 2),
        (Op::Or, 2),
        (Op::Xor, 2),
        (Op::Shl, 2),
        (Op::Shr, 2),
        (Op::RotateLeft, 2),
        (Op::RotateRight, 2),
        (Op::LeadingZeros, 1),
        (Op::TrailingZeros, 1),
        (Op::CountOnes, 1),
        (Op::ReverseBits, 1),
        (Op::Min, 2),
        (Op::Max, 2),
        (Op::AddSat, 2),
        (Op::SubSat, 2),
        (Op::MulSat, 2),
        (Op::AddHalf, 2),
        (Op::AddHalfUp, 2),
    ];

    /// Evaluates a circuit, whose inputs are bits of `seen`.
    fn value(d: &Diagrams, bits: &[Node], seen: u64) -> u64 {
        bits.iter().enumerate().fold(0, |all, (at, bit)| all | u64::from(d.holds(*bit, |of| seen >> of & 1 != 0)) << at)
    }

    #[test]
    fn circuits_compute_what_the_operations_define() {
        let mut d = Diagrams::new();
        for (op, count) in OPS {
            for ty in [1, 3, 4].into_iter().flat_map(|bits| [Type::unsigned(bits), Type::signed(bits)]) {
                let bits = u16::from(ty.bits);
                let args: Vec<Bits> =
                    (0..count as u16).map(|k| (k * bits..(k + 1) * bits).map(|bit| d.bit(bit)).collect()).collect();
                let Some(found) = apply(&mut d, op, 0, ty, &[ty, ty], &args) else {
                    assert!(
                        matches!(op, Op::Shl | Op::Shr | Op::RotateLeft | Op::RotateRight) && bits == 3,
                        "{op:?} {ty}"
                    );
                    continue;
                };
                for seen in 0..1u64 << (usize::from(bits) * count) {
                    let (a, b) = (seen & ty.mask(), seen >> bits & ty.mask());
                    let exact = primitive(op, 0, ty, [ty; 4], [a, b, 0, 0]);
                    assert_eq!(value(&d, &found, seen), exact, "{op:?} {ty} {a:#x} {b:#x}");
                }
            }
        }
        assert!(!d.is_full());
    }

    #[test]
    fn comparisons_and_vectors_are_circuits() {
        let mut d = Diagrams::new();
        let (pair, bytes) = (Type::signed(4).times(2), Type::unsigned(4));
        let args: Vec<Bits> = (0..2u16).map(|k| (8 * k..8 * k + 8).map(|bit| d.bit(bit)).collect()).collect();
        for how in 0..Comparison::ALL.len() as u16 {
            let found = apply(&mut d, Op::Compare, how, pair.truth(), &[pair, pair], &args).expect("integers");
            for seen in 0..1u64 << 16 {
                let exact = primitive(Op::Compare, how, pair.truth(), [pair; 4], [seen & 0xff, seen >> 8, 0, 0]);
                assert_eq!(value(&d, &found, seen), exact, "{how} {seen:#x}");
            }
        }
        for (op, imm, ty) in [
            (Op::Get, 1, Type::signed(4)),
            (Op::Slice, 3, bytes),
            (Op::Concat, 0, Type::unsigned(16)),
            (Op::Add, 0, pair),
            (Op::Bits, 0, Type::unsigned(8)),
        ] {
            let found = apply(&mut d, op, imm, ty, &[pair, pair], &args).expect("integers");
            for seen in 0..1u64 << 16 {
                let exact = primitive(op, imm, ty, [pair; 4], [seen & 0xff, seen >> 8, 0, 0]);
                assert_eq!(value(&d, &found, seen), exact, "{op:?} {seen:#x}");
            }
        }
    }

    #[test]
    fn wide_constants_are_computed_as_defined() {
        let (mut d, mut random) = (Diagrams::new(), Random(7));
        for (op, count) in OPS {
            for ty in [13, 32, 63, 64].into_iter().flat_map(|bits| [Type::unsigned(bits), Type::signed(bits)]) {
                for _ in 0..20 {
                    let mut args = [random.next(), random.next() >> (random.next() & 63)].map(|arg| arg & ty.mask());
                    if random.next() & 3 == 0 {
                        args[1] = [0, 1, ty.mask(), ty.mask() ^ ty.mask() >> 1][random.next() as usize & 3];
                    }
                    let bits: Vec<Bits> = args[..count].iter().map(|arg| constant(*arg, ty.bits.into())).collect();
                    let found = apply(&mut d, op, 0, ty, &[ty, ty], &bits).expect("constants");
                    let exact = primitive(op, 0, ty, [ty; 4], [args[0], args[1], 0, 0]);
                    assert_eq!(value(&d, &found, 0), exact, "{op:?} {ty} {args:x?}");
                }
            }
        }
    }
}
