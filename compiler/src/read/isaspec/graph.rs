//! Graphs for expressions in the documents, as nodes of stream expressions.
//!
//! Every value has 64 bits; a truth value is 0 or 1, as in C. Equal nodes are shared, and constants are folded, so that
//! an alternative that never holds leaves no nodes behind.

use std::collections::HashMap;

use isaforge_core::bits::ones;
use isaforge_core::semantics::{Comparison, NONE, Node, Op, Type};
use isaforge_core::stream::Input;

use super::c::Operator;
use crate::stream::model::Expr;

/// A node of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Value(u16);

/// An expression under construction.
#[derive(Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    constants: Vec<u64>,
    inputs: Vec<Input>,
    known: HashMap<Node, u16>,
}

impl Graph {
    fn node(&mut self, op: Op, imm: u16, ty: Type, args: [u16; 4]) -> Value {
        let node = Node { op, imm, ty, args };
        if let Some(index) = self.known.get(&node) {
            return Value(*index);
        }
        // The caller rejects graphs that are too large; until then, indices must not overflow.
        let index = self.nodes.len().min(usize::from(NONE - 1)) as u16;
        if usize::from(index) == self.nodes.len() {
            self.nodes.push(node);
            self.known.insert(node, index);
        }
        Value(index)
    }

    pub(super) fn number(&mut self, number: u64) -> Value {
        let index = self.constants.iter().position(|known| *known == number).unwrap_or_else(|| {
            self.constants.push(number);
            self.constants.len() - 1
        });
        self.node(Op::Const, 0, Type::U64, [index as u16, NONE, NONE, NONE])
    }

    /// The low `width` bits of an input.
    pub(super) fn input(&mut self, input: Input, width: u8) -> Value {
        let index = self.inputs.iter().position(|known| *known == input).unwrap_or_else(|| {
            self.inputs.push(input);
            self.inputs.len() - 1
        });
        let whole = self.node(Op::Operand, 0, Type::U64, [index as u16, NONE, NONE, NONE]);
        if width >= 64 {
            return whole;
        }
        let mask = self.number(ones(width.into()));
        self.plain(Op::And, whole, mask)
    }

    fn plain(&mut self, op: Op, a: Value, b: Value) -> Value {
        self.node(op, 0, Type::U64, [a.0, b.0, NONE, NONE])
    }

    /// The value of a node, if it is constant.
    pub(super) fn constant(&self, value: Value) -> Option<u64> {
        let node = self.nodes.get(usize::from(value.0))?;
        (node.op == Op::Const).then(|| self.constants[usize::from(node.args[0])])
    }

    /// Converts a number to a truth value; undoes an earlier conversion.
    fn truth(&mut self, value: Value) -> Value {
        let node = self.nodes[usize::from(value.0)];
        if node.op == Op::Zext {
            return Value(node.args[0]);
        }
        let zero = self.number(0);
        self.node(Op::Compare, Comparison::NotEqual as u16, Type::BOOL, [value.0, zero.0, NONE, NONE])
    }

    fn widened(&mut self, truth: Value) -> Value {
        self.node(Op::Zext, 0, Type::U64, [truth.0, NONE, NONE, NONE])
    }

    fn compare(&mut self, how: Comparison, a: Value, b: Value) -> Value {
        let truth = self.node(Op::Compare, how as u16, Type::BOOL, [a.0, b.0, NONE, NONE]);
        self.widened(truth)
    }

    pub(super) fn not(&mut self, value: Value) -> Value {
        if let Some(number) = self.constant(value) {
            return self.number(u64::from(number == 0));
        }
        let truth = self.truth(value);
        let not = self.node(Op::Not, 0, Type::BOOL, [truth.0, NONE, NONE, NONE]);
        self.widened(not)
    }

    pub(super) fn invert(&mut self, value: Value) -> Value {
        let all = self.number(u64::MAX);
        self.binary(Operator::Xor, value, all)
    }

    pub(super) fn binary(&mut self, operator: Operator, a: Value, b: Value) -> Value {
        let constants = (self.constant(a), self.constant(b));
        if let (Some(a), Some(b)) = constants {
            return self.number(fold(operator, a, b));
        }
        match (operator, constants) {
            (Operator::BothTrue, (Some(0), _) | (_, Some(0))) | (Operator::And, (Some(0), _) | (_, Some(0))) => {
                return self.number(0);
            }
            (Operator::Or | Operator::Add, (Some(0), _)) => return b,
            (
                Operator::Or | Operator::Add | Operator::Sub | Operator::ShiftLeft | Operator::ShiftRight,
                (_, Some(0)),
            ) => return a,
            _ => {}
        }
        match operator {
            Operator::Mul => self.plain(Op::Mul, a, b),
            Operator::Add => self.plain(Op::Add, a, b),
            Operator::Sub => self.plain(Op::Sub, a, b),
            Operator::ShiftLeft => self.plain(Op::Shl, a, b),
            Operator::ShiftRight => self.plain(Op::Shr, a, b),
            Operator::And => self.plain(Op::And, a, b),
            Operator::Xor => self.plain(Op::Xor, a, b),
            Operator::Or => self.plain(Op::Or, a, b),
            Operator::Less => self.compare(Comparison::Less, a, b),
            Operator::LessEqual => self.compare(Comparison::LessEqual, a, b),
            Operator::Greater => self.compare(Comparison::Less, b, a),
            Operator::GreaterEqual => self.compare(Comparison::LessEqual, b, a),
            Operator::Equal => self.compare(Comparison::Equal, a, b),
            Operator::NotEqual => self.compare(Comparison::NotEqual, a, b),
            Operator::BothTrue | Operator::OneTrue => {
                let (a, b) = (self.truth(a), self.truth(b));
                let op = if operator == Operator::BothTrue { Op::And } else { Op::Or };
                let truth = self.node(op, 0, Type::BOOL, [a.0, b.0, NONE, NONE]);
                self.widened(truth)
            }
        }
    }

    /// `yes` where a condition holds, `no` elsewhere.
    pub(super) fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        match self.constant(condition) {
            Some(0) => no,
            Some(_) => yes,
            None if yes == no => yes,
            None => {
                let truth = self.truth(condition);
                self.node(Op::Select, 0, Type::U64, [truth.0, yes.0, no.0, NONE])
            }
        }
    }

    /// Whether bits of a value are as expected: `value & mask == want`.
    pub(super) fn matches(&mut self, value: Value, mask: u64, want: u64) -> Value {
        let (mask, want) = (self.number(mask), self.number(want));
        let masked = self.binary(Operator::And, value, mask);
        self.binary(Operator::Equal, masked, want)
    }

    /// Extracts the expression with this value.
    pub(super) fn finish(mut self, value: Value, text: &str) -> Expr {
        // Nodes that the value does not depend on would only cost time, and are removed.
        let last = usize::from(value.0);
        let mut needed = vec![false; self.nodes.len()];
        if let Some(needed) = needed.get_mut(last) {
            *needed = true;
        }
        for at in (0..=last.min(self.nodes.len().saturating_sub(1))).rev() {
            if !needed[at] {
                continue;
            }
            let node = self.nodes[at];
            for k in (0..4).filter(|k| node.op.node_arguments() >> k & 1 != 0 && node.args[*k] != NONE) {
                needed[usize::from(node.args[k])] = true;
            }
        }
        let mut map = vec![NONE; self.nodes.len()];
        let mut expr = Expr { text: text.to_owned(), ..Expr::default() };
        for (at, mut node) in std::mem::take(&mut self.nodes).into_iter().enumerate().filter(|(at, _)| needed[*at]) {
            match node.op {
                Op::Const => node.args[0] = place(&mut expr.constants, self.constants[usize::from(node.args[0])]),
                Op::Operand => node.args[0] = place(&mut expr.inputs, self.inputs[usize::from(node.args[0])]),
                _ => {
                    for k in (0..4).filter(|k| node.op.node_arguments() >> k & 1 != 0) {
                        if node.args[k] != NONE {
                            node.args[k] = map[usize::from(node.args[k])];
                        }
                    }
                }
            }
            map[at] = expr.nodes.len() as u16;
            expr.nodes.push(node);
        }
        expr
    }
}

fn place<T: PartialEq>(list: &mut Vec<T>, item: T) -> u16 {
    let index = list.iter().position(|known| *known == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    });
    index as u16
}

fn fold(operator: Operator, a: u64, b: u64) -> u64 {
    let shift = (b % 64) as u32;
    match operator {
        Operator::Mul => a.wrapping_mul(b),
        Operator::Add => a.wrapping_add(b),
        Operator::Sub => a.wrapping_sub(b),
        Operator::ShiftLeft => a << shift,
        Operator::ShiftRight => a >> shift,
        Operator::And => a & b,
        Operator::Xor => a ^ b,
        Operator::Or => a | b,
        Operator::Less => u64::from(a < b),
        Operator::LessEqual => u64::from(a <= b),
        Operator::Greater => u64::from(a > b),
        Operator::GreaterEqual => u64::from(a >= b),
        Operator::Equal => u64::from(a == b),
        Operator::NotEqual => u64::from(a != b),
        Operator::BothTrue => u64::from(a != 0 && b != 0),
        Operator::OneTrue => u64::from(a != 0 || b != 0),
    }
}
