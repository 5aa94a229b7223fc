//! Bitwise functions: any function of up to three words is one operation.

use isaforge_core::semantics::{Node, Op};

use super::{Cover, Found};
use crate::exec::jit::lanes::graph::{COLUMNS, Kind, Value};
use crate::exec::jit::lanes::pieces::Pieces;

impl Cover<'_> {
    pub(super) fn bitwise(&mut self, at: usize, node: &Node) -> Option<Found> {
        if node.ty.size() > 32 {
            let mut words = [self.words(node.args[0])?, [self.graph.splat(0); 2]];
            if node.op != Op::Not {
                words[1] = self.words(node.args[1])?;
            }
            let [low, high] = [0, 1].map(|half| self.simple(node.op, words[0][half], words[1][half]));
            return Some(Found::Pieces(Pieces::pair([low, high]).slice(0, node.ty.size())));
        }
        let mut leaves = Vec::new();
        let table = self.table(at as u16, &mut leaves, 2);
        let word = match (table, &leaves[..]) {
            // A single operation with an instruction of its own.
            (None, _) | (_, [_] | [_, _]) if node.op != Op::Not && !self.has_not(node) => {
                let (a, b) = (self.word(node.args[0], Kind::Word)?, self.word(node.args[1], Kind::Word)?);
                self.simple(node.op, a, b)
            }
            (Some(table), [a]) => self.graph.logic(table, *a, *a, *a),
            (Some(table), [a, b]) => self.graph.logic(table, *a, *b, *b),
            (Some(table), [a, b, c]) => self.graph.logic(table, *a, *b, *c),
            _ => {
                let a = self.word(node.args[0], Kind::Word)?;
                let b = if node.op == Op::Not { a } else { self.word(node.args[1], Kind::Word)? };
                self.simple(node.op, a, b)
            }
        };
        Self::put(word, node.ty)
    }

    fn has_not(&self, node: &Node) -> bool {
        let is_not = |node: u16| self.node(node).is_some_and(|node| node.op == Op::Not) && self.number(node).is_none();
        is_not(node.args[0]) || is_not(node.args[1])
    }

    fn simple(&mut self, op: Op, a: Value, b: Value) -> Value {
        match op {
            Op::And => self.graph.and(a, b),
            Op::Or => self.graph.or(a, b),
            Op::Xor => self.graph.xor(a, b),
            _ => self.graph.not(a),
        }
    }

    /// Returns the truth table of a function of at most three words, which are added to `leaves`; looks at most
    /// `deep` operations down.
    fn table(&mut self, at: u16, leaves: &mut Vec<Value>, deep: u32) -> Option<u8> {
        let node = self.node(at)?;
        let opens = matches!(node.op, Op::And | Op::Or | Op::Xor | Op::Not) && node.ty.size() <= 32;
        if opens && self.number(at).is_none() {
            let count = leaves.len();
            let more = if deep > 0 || node.op == Op::Not { self.arguments(node, leaves, deep) } else { None };
            if more.is_some() {
                return more;
            }
            leaves.truncate(count);
        }
        // The root itself has no value yet.
        if self.found.len() <= usize::from(at) {
            return None;
        }
        let word = self.word(at, Kind::Word)?;
        let place = leaves.iter().position(|leaf| *leaf == word).unwrap_or_else(|| {
            leaves.push(word);
            leaves.len() - 1
        });
        COLUMNS.get(place).copied()
    }

    fn arguments(&mut self, node: &Node, leaves: &mut Vec<Value>, deep: u32) -> Option<u8> {
        let deep = deep.saturating_sub(u32::from(node.op != Op::Not));
        let a = self.table(node.args[0], leaves, deep)?;
        if node.op == Op::Not {
            return Some(!a);
        }
        let b = self.table(node.args[1], leaves, deep)?;
        Some(match node.op {
            Op::And => a & b,
            Op::Or => a | b,
            _ => a ^ b,
        })
    }
}
