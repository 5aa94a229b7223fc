//! Which values must be exact to the bit, and which only as numbers.
//!
//! If all readers of a float only use its number, the payload of a NaN may be any. This pass goes backwards through a
//! shape and claims no more than [`select`](super::select) does: a value that it calls inexact is read only as a
//! number there.

use isaforge_core::semantics::instantiate::for_each_argument;
use isaforge_core::semantics::primitive::WIDEN;
use isaforge_core::semantics::{Class, Comparison, Node, Op, Shape, Type};

/// Returns for each node whether some reader uses all of its bits.
pub(crate) fn exact(shape: &Shape) -> Vec<bool> {
    let mut exact = vec![false; shape.nodes.len()];
    for (at, node) in shape.nodes.iter().enumerate().rev() {
        let mut read = [true; 4];
        if sees_numbers(node) {
            read = [false; 4];
        } else if passes_on(shape, node) {
            read = [exact[at]; 4];
            // The condition of a selection is always exact.
            read[0] |= node.op == Op::Select;
        } else if node.op == Op::Compare {
            read = [!compares_numbers(shape, node); 4];
        } else if node.op == Op::Convert {
            read = [!is_float(ty(shape, node.args[0])) || node.imm == WIDEN; 4];
        }
        let mut nth = 0;
        for_each_argument(node, &shape.lists, |argument| {
            if let Some(exact) = exact.get_mut(usize::from(argument)) {
                *exact |= read.get(nth).copied().unwrap_or(true);
            }
            nth += 1;
        });
    }
    exact
}

fn ty(shape: &Shape, node: u16) -> Type {
    shape.nodes.get(usize::from(node)).map_or(Type::BOOL, |node| node.ty)
}

fn is_float(ty: Type) -> bool {
    ty == Type::float(32)
}

/// Whether a node is arithmetic on floats, which reads only numbers.
fn sees_numbers(node: &Node) -> bool {
    is_float(node.ty)
        && matches!(
            node.op,
            Op::Add
                | Op::Sub
                | Op::Mul
                | Op::Div
                | Op::Fma
                | Op::Sqrt
                | Op::Min
                | Op::Max
                | Op::RoundIntegral
                | Op::Canonical
        )
}

/// Whether a node is a copy, a selection or a sign operation: its arguments are read as its result is.
fn passes_on(shape: &Shape, node: &Node) -> bool {
    match node.op {
        Op::Neg | Op::Abs => is_float(node.ty),
        Op::Bits => node.ty.size() == 32 && node.ty.lanes == 1 && ty(shape, node.args[0]).class != Class::Bool,
        Op::Select => node.ty.size() == 32 && node.ty.lanes == 1 && ty(shape, node.args[0]) == Type::BOOL,
        _ => false,
    }
}

fn compares_numbers(shape: &Shape, node: &Node) -> bool {
    is_float(ty(shape, node.args[0])) && node.imm != Comparison::TotalLessEqual as u16
}
