//! The number that an instruction reads from an operand whose bits are known.

use alloc::vec;
use alloc::vec::Vec;

use super::evaluate::pure;
use super::instantiate::{Shape, for_each_argument};
use super::node::{Node, Op};
use super::primitive::component;
use super::table::Semantics;
use super::types::Type;
use crate::float::{Format, Round, convert};

/// Whether an instruction reads these bits of an operand as this float, rounded to the format in which it computes, in
/// every component. False where it also reads them as something else, such as an integer.
pub(crate) fn reads_as(semantics: &Semantics, shape: &Shape, operand: u16, bits: u64, float: f64) -> bool {
    let found = readings(semantics, shape, operand, bits);
    found.is_some_and(|found| {
        !found.is_empty()
            && found.iter().all(|(ty, value)| {
                let component = |index: u8| component(*value, *ty, index.into());
                ty.is_float()
                    && rounded(ty.format(), float).is_some_and(|float| (0..ty.lanes).all(|i| component(i) == float))
            })
    })
}

/// The bits of a float in a format; `None` where the format's numbers end before it.
pub(crate) fn rounded(format: Format, float: f64) -> Option<u64> {
    let bits = convert(Format::F64, format, float.to_bits(), Round::NearestEven);
    let back = f64::from_bits(convert(format, Format::F64, bits, Round::NearestEven));
    (back.is_finite() && (back == 0.0) == (float == 0.0)).then_some(bits)
}

/// What an instruction computes with when an operand has these bits: the parts of the operand once they are selected,
/// widened and given their sign. `None` when it reads more than the first 32 bits.
fn readings(semantics: &Semantics, shape: &Shape, operand: u16, bits: u64) -> Option<Vec<(Type, u64)>> {
    let nodes = &shape.nodes;
    let mut values: Vec<[u64; 1]> = Vec::with_capacity(nodes.len());
    let (mut is_known, mut is_read) = (vec![false; nodes.len()], vec![false; nodes.len()]);
    let mut found = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let (mut all, mut any) = (true, false);
        for_each_argument(node, &shape.lists, |argument| {
            all &= is_known[usize::from(argument)];
            any |= is_read[usize::from(argument)];
        });
        let value = match node.op {
            Op::Const => shape.constants.get(usize::from(node.args[0])).copied(),
            Op::Operand if node.args[0] == operand => {
                if node.args[1] != 0 || node.ty.size() > 32 {
                    return None;
                }
                any = true;
                Some(bits & node.ty.mask())
            }
            _ if any && all && selects(nodes, node) => Some(pure(semantics, node, shape, &values)[0]),
            _ => None,
        };
        is_known[at] = value.is_some();
        is_read[at] = any && value.is_some();
        values.push([value.unwrap_or(0)]);
        if any && value.is_none() {
            for_each_argument(node, &shape.lists, |argument| {
                let argument = usize::from(argument);
                if is_read[argument] {
                    found.push((nodes[argument].ty, values[argument][0]));
                }
            });
        }
    }
    Some(found)
}

/// Whether a node only selects, widens, or changes the sign.
fn selects(nodes: &[Node], node: &Node) -> bool {
    match node.op {
        Op::Slice | Op::Get | Op::Pack | Op::Concat | Op::Splat | Op::Bits | Op::Neg | Op::Abs => true,
        Op::Convert => {
            let from = nodes[usize::from(node.args[0])].ty;
            from.is_float() && node.ty.is_float() && from.bits < node.ty.bits
        }
        _ => false,
    }
}
