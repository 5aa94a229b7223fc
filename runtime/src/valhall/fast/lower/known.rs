//! What can be computed before a word is executed: targets of branches, offsets of addresses, conditions that always hold.

use isaforge_core::semantics::primitive::primitive;
use isaforge_core::semantics::{Node, Op, Shape, Type};

/// What a node of a shape is, given what leaves are; `None` where that depends on what is executed.
pub fn known(shape: &Shape, node: u16, leaf: impl Fn(&Node) -> Option<u64>) -> Option<u64> {
    let nodes = shape.nodes.get(..=usize::from(node))?;
    let mut values: Vec<Option<u64>> = Vec::with_capacity(nodes.len());
    for (at, node) in nodes.iter().enumerate() {
        let value = match node.op {
            Op::Const => shape.constant(at as u16),
            Op::Operand | Op::State | Op::Special => leaf(node),
            Op::Pack | Op::Canonical | Op::Permute | Op::Ballot => None,
            op if op.is_pure() => pure(node, nodes, &values),
            _ => None,
        };
        values.push(value.map(|value| value & node.ty.mask()));
    }
    values.pop()?
}

fn pure(node: &Node, nodes: &[Node], values: &[Option<u64>]) -> Option<u64> {
    let (used, mut types, mut args) = (node.op.node_arguments(), [node.ty; 4], [0; 4]);
    for (k, argument) in node.args.iter().enumerate().filter(|(k, _)| used >> k & 1 != 0) {
        (types[k], args[k]) = typed(*argument, nodes, values)?;
    }
    Some(primitive(node.op, node.imm, node.ty, types, args))
}

fn typed(node: u16, nodes: &[Node], values: &[Option<u64>]) -> Option<(Type, u64)> {
    Some((nodes.get(usize::from(node))?.ty, (*values.get(usize::from(node))?)?))
}
