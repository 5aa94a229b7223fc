//! Random graphs.

use super::*;

/// Builds a graph of random operations on earlier values, with writes, stores and commits in between.
fn graph(random: &mut Random, slot: u32) -> Shape {
    let mut shape = Shape::default();
    let types = types();
    push(&mut shape, node(Op::State, 0, Type::BOOL, &[0]));
    let flags = [Type::BOOL, Type::BOOL.times(2), Type::BOOL.times(4)];
    for operand in 0..OPERANDS {
        let ty = types[random.below(types.len())];
        input(&mut shape, slot, operand, ty);
    }
    for _ in 0..4 + random.below(12) {
        let count = shape.nodes.len();
        let any = |random: &mut Random, shape: &Shape, fits: &dyn Fn(Type) -> bool| {
            let nodes: Vec<u16> =
                (0..count as u16).filter(|n| is_value(shape, *n) && fits(shape.nodes[*n as usize].ty)).collect();
            (!nodes.is_empty()).then(|| nodes[random.below(nodes.len())])
        };
        let Some(a) = any(random, &shape, &|_| true) else { continue };
        let ty = shape.nodes[usize::from(a)].ty;
        let Some(b) = any(random, &shape, &|other| other == ty) else { continue };
        match random.below(13) {
            0 | 1 if ty.is_integer() => {
                let op = [Op::Add, Op::Sub, Op::Mul, Op::Min, Op::AddSat, Op::Neg, Op::CountOnes][random.below(7)];
                push(&mut shape, node(op, 0, ty, &[a, b][..op.node_arguments().count_ones() as usize]));
            }
            0 | 1 if ty.is_float() => {
                let sum = push(&mut shape, node([Op::Add, Op::Mul, Op::Fma][random.below(3)], 0, ty, &[a, b, a]));
                if shape.nodes[usize::from(sum)].op != Op::Fma {
                    shape.nodes[usize::from(sum)].args[2] = NONE;
                }
                push(&mut shape, node(Op::Canonical, 0, ty, &[sum]));
            }
            2 if !ty.is_float() => {
                push(&mut shape, node([Op::And, Op::Or, Op::Xor][random.below(3)], 0, ty, &[a, b]));
            }
            3 => {
                let holds = push(&mut shape, node(Op::Compare, random.below(6) as u16, ty.truth(), &[a, b]));
                if ty.class == Class::Bool {
                    shape.nodes[usize::from(holds)] = node(Op::Not, 0, ty, &[a]);
                }
            }
            4 => {
                let Some(when) = any(random, &shape, &|other| other == Type::BOOL || other == ty.truth()) else {
                    continue;
                };
                push(&mut shape, node(Op::Select, 0, ty, &[when, a, b]));
            }
            5 if ty.lanes > 1 => {
                push(&mut shape, node(Op::Get, random.below(ty.lanes.into()) as u16, ty.component(), &[a]));
            }
            6 if ty.class != Class::Bool => {
                let parts = [4u8, 2].into_iter().find(|n| ty.size() * u32::from(*n) <= 64 && ty.lanes == 1);
                let Some(parts) = parts else { continue };
                let first = shape.lists.len() as u16;
                for _ in 0..parts {
                    let part = any(random, &shape, &|other| other == ty).unwrap_or(a);
                    shape.lists.push(part);
                }
                push(&mut shape, node(Op::Pack, 0, ty.times(parts), &[first, parts.into()]));
            }
            7 if ty.class != Class::Bool && ty.size() >= 48 => {
                let at = random.below(ty.size() as usize - 16) as u16;
                push(&mut shape, node(Op::Slice, at, Type::unsigned(16), &[a]));
            }
            // The low half of a sum in twice the width, with a carry.
            7 if ty == Type::U32 && slot == 32 => {
                let carry = any(random, &shape, &|other| other == Type::BOOL).filter(|_| random.below(2) == 0);
                let wide = [a, carry.unwrap_or(b)].map(|n| push(&mut shape, node(Op::Zext, 0, Type::U64, &[n])));
                let op = [Op::Add, Op::Sub, Op::Mul, Op::Xor][random.below(4)];
                let sum = push(&mut shape, node(op, 0, Type::U64, &wide));
                push(&mut shape, node(Op::Slice, 0, Type::U32, &[sum]));
            }
            8 => {
                let to = if ty.class == Class::Bool { flags.to_vec() } else { types.clone() };
                let to: Vec<Type> = to.into_iter().filter(|to| to.size() == ty.size()).collect();
                if !to.is_empty() {
                    push(&mut shape, node(Op::Bits, 0, to[random.below(to.len())], &[a]));
                }
            }
            9 if ty.is_integer() => {
                let address = push(&mut shape, node(Op::Load, 0, ty, &[a, NONE]));
                push(&mut shape, node(Op::Store, 0, ty, &[address, b, NONE]));
            }
            10 => {
                push(&mut shape, node(Op::Commit, 0, Type::BOOL, &[]));
            }
            11 if ty == Type::BOOL => {
                let when = any(random, &shape, &|other| other == Type::BOOL).filter(|_| random.below(2) == 0);
                push(&mut shape, node(Op::SetState, 0, ty, &[0, NONE, a, when.unwrap_or(NONE)]));
                push(&mut shape, node(Op::State, 0, ty, &[0]));
            }
            _ => {
                let when = any(random, &shape, &|other| other == Type::BOOL).filter(|_| random.below(2) == 0);
                output(&mut shape, slot, random.below(OPERANDS.into()) as u16, a, when.unwrap_or(NONE));
            }
        }
    }
    // Every part of the rows at the end must have been written by someone.
    shape
}

fn is_value(shape: &Shape, n: u16) -> bool {
    !matches!(shape.nodes[usize::from(n)].op, Op::Write | Op::SetState | Op::Store | Op::Commit)
}

fn random_graphs<const K: usize, const SLOT: u32, const L: usize>() {
    let mut random = Random(seed::seed(u64::from(SLOT) + 1));
    let rounds = 1500 * seed::rounds();
    let mut covered = 0;
    for round in 0..rounds {
        let shape = graph(&mut random, SLOT);
        covered += u64::from(agree::<K, SLOT, L>(&shape, round % 2 == 0, &mut random));
    }
    assert!(covered > rounds / 2, "{covered} of {rounds} shapes are covered");
}

#[test]
fn random_graphs_leave_what_the_evaluator_leaves_in_slots_of_64_bits() {
    random_graphs::<4, 64, 4>();
}

#[test]
fn random_graphs_leave_what_the_evaluator_leaves_in_slots_of_32_bits() {
    random_graphs::<8, 32, 32>();
}
