//! Puts the computations of operands into the shapes that read them, where they are folded with the rest.

use alloc::vec;

use super::instantiate::{Shape, fold, renumber};
use super::node::{NONE, Node, Op};
use super::table::Semantics;
use super::types::Type;

/// The computation of an operand: its operands are fields, followed by the number of bits to read; it writes the result
/// to the operand after that.
pub(crate) struct Computed<'a> {
    pub shape: &'a Shape,
    /// The number of fields.
    pub fields: u16,
    /// The operand of the outer shape that is the first field; the others follow it.
    pub first: u16,
}

impl Computed<'_> {
    /// Whether it only computes one value.
    pub fn is_value(&self) -> bool {
        let mut writes = self.shape.nodes.iter().filter(|node| node.op == Op::Write);
        let written = writes.next().is_some_and(|write| write.args[3] == NONE) && writes.next().is_none();
        let computes = |node: &Node| match node.op {
            Op::Operand => node.args[0] <= self.fields,
            Op::Write | Op::State | Op::Special => true,
            op => op.is_pure(),
        };
        written && self.shape.nodes.iter().all(computes)
    }
}

/// Replaces the operands for which `computed` returns their computation. `narrowed` returns the type with which a field
/// is read where one of another type is wanted.
pub(crate) fn inline<'a>(
    semantics: &Semantics,
    shape: &Shape,
    computed: impl Fn(&Node) -> Option<Computed<'a>>,
    narrowed: impl Fn(u16, Type) -> Type,
) -> Shape {
    let mut into = Shape::default();
    let mut map = vec![NONE; shape.nodes.len()];
    for (at, node) in shape.nodes.iter().enumerate() {
        map[at] = match computed(node) {
            Some(computed) => value(semantics, &computed, node.ty, &narrowed, &mut into),
            None => copied(semantics, shape, node, &map, &mut into),
        };
    }
    into.compact()
}

fn copied(semantics: &Semantics, shape: &Shape, node: &Node, map: &[u16], into: &mut Shape) -> u16 {
    if node.op == Op::Const {
        let value = shape.constants.get(usize::from(node.args[0])).copied().unwrap_or(0);
        return into.push_constant(node.ty, value);
    }
    let moved = renumber(node, &shape.lists, map, &mut into.lists);
    fold(semantics, into, moved)
}

/// Adds a computation, and returns its value as a type.
fn value(
    semantics: &Semantics,
    computed: &Computed<'_>,
    ty: Type,
    narrowed: impl Fn(u16, Type) -> Type,
    into: &mut Shape,
) -> u16 {
    let shape = computed.shape;
    let mut map = vec![NONE; shape.nodes.len()];
    let mut result = NONE;
    for (at, node) in shape.nodes.iter().enumerate() {
        map[at] = match node.op {
            Op::Write => {
                result = map.get(usize::from(node.args[2])).copied().unwrap_or(NONE);
                NONE
            }
            Op::Operand if node.args[0] == computed.fields => into.push_constant(node.ty, ty.size().into()),
            Op::Operand => {
                let operand = computed.first + node.args[0];
                let read = narrowed(operand, node.ty);
                let args = [operand, node.args[1], NONE, NONE];
                let field = fold(semantics, into, Node { ty: read, args, ..*node });
                resized(semantics, field, read, node.ty, into)
            }
            _ => copied(semantics, shape, node, &map, into),
        };
    }
    let from = into.nodes.get(usize::from(result)).map_or(ty, |node| node.ty);
    resized(semantics, result, from, ty, into)
}

/// Returns the low bits of a value as another type, with zeros above if that is wider.
fn resized(semantics: &Semantics, value: u16, from: Type, to: Type, into: &mut Shape) -> u16 {
    let mut add =
        |op: Op, ty: Type, value: u16| fold(semantics, into, Node { op, imm: 0, ty, args: [value, NONE, NONE, NONE] });
    let [narrow, wide] = [from, to].map(|ty| Type::unsigned(ty.size() as u8));
    if from == to {
        return value;
    }
    let bits = if from == narrow { value } else { add(Op::Bits, narrow, value) };
    let bits = match from.size().cmp(&to.size()) {
        core::cmp::Ordering::Less => add(Op::Zext, wide, bits),
        core::cmp::Ordering::Equal => bits,
        core::cmp::Ordering::Greater => add(Op::Trunc, wide, bits),
    };
    if to == wide { bits } else { add(Op::Bits, to, bits) }
}
