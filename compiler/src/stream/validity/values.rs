//! The bits of values, as functions of the bits of the instruction: from the exact path, or node by node.

use std::collections::BTreeSet;
use std::rc::Rc;

use isaforge_core::semantics::Op;
use isaforge_core::stream::{Expression, Input, Layout, Scope, Source, Wide};

use super::{MAX_BITS, SymbolicLayout, Validity};
use crate::stream::answers::{Answers, Bit, Question, SAME, Told, bits_of, leaves, part, signature};
use crate::stream::blast::{self, Bits};
use crate::stream::diagram::Node;

impl Validity {
    /// The bits of an expression's value; higher bits are 0.
    pub(in crate::stream) fn expression(&mut self, place: &SymbolicLayout, index: u16) -> Bits {
        let stream = self.stream;
        let Some(expression) = stream.expressions.get(usize::from(index)) else { return Bits::new() };
        let Some(last) = expression.nodes.len().checked_sub(1) else { return Bits::new() };
        if let Some(bits) = self.answer(place, Question::Expression(index, last as u16)) {
            return bits;
        }
        if !self.spend(1) {
            return (0..expression.nodes[last].ty.size()).map(|_| self.diagrams.unknown()).collect();
        }
        // It depends on too many bits to enumerate their values.
        let inputs: Vec<Bits> = expression.inputs.iter().map(|input| self.input(place, *input)).collect();
        self.blast(expression, &inputs, |of, node| of.answer(place, Question::Expression(index, node)))
    }

    /// The bits of an input of an expression; higher bits are 0.
    pub(super) fn input(&mut self, place: &SymbolicLayout, input: Input) -> Bits {
        match input {
            Input::Field(field) => self.parameter(place, field),
            Input::Generation => blast::constant(self.generation.into(), 32),
            Input::Length => blast::constant(u64::from(place.layout.bits / 8), 16),
        }
    }

    /// The bits of an expression's value, computed node by node from its inputs; `answer` is called for nodes without a
    /// circuit.
    pub(in crate::stream) fn blast(
        &mut self,
        expression: &Expression,
        inputs: &[Bits],
        answer: impl Fn(&mut Self, u16) -> Option<Bits>,
    ) -> Bits {
        let mut values: Vec<Bits> = Vec::new();
        for (at, node) in (0u16..).zip(expression.nodes) {
            let size = node.ty.size() as usize;
            let of = |argument: &u16| values.get(usize::from(*argument));
            let value = match node.op {
                Op::Const => {
                    let constant = expression.constants.get(usize::from(node.args[0]));
                    Some(blast::constant(constant.copied().unwrap_or(0), size))
                }
                Op::Operand => inputs.get(usize::from(node.args[0])).cloned(),
                Op::Pack => {
                    let list = expression.lists.get(usize::from(node.args[0])..).unwrap_or_default();
                    let parts = list.iter().take(node.args[1].into()).filter_map(of);
                    Some(parts.flat_map(|part| blast::resized(part.clone(), node.ty.bits.into())).collect())
                }
                op => {
                    let count = op.node_arguments().count_ones() as usize;
                    let args: Vec<Bits> = node.args.iter().take(count).filter_map(of).cloned().collect();
                    let types = node.args.iter().take(count).filter_map(|arg| expression.nodes.get(usize::from(*arg)));
                    let types: Vec<_> = types.map(|node| node.ty).collect();
                    let room = self.spend(size);
                    room.then(|| blast::apply(&mut self.diagrams, op, node.imm, node.ty, &types, &args)).flatten()
                }
            };
            let value = value.or_else(|| answer(self, at));
            let value = value.unwrap_or_else(|| (0..size).map(|_| self.diagrams.unknown()).collect());
            values.push(blast::resized(value, size));
        }
        values.pop().unwrap_or_default()
    }

    /// The bits of an answer; higher bits are 0.
    pub(super) fn answer(&mut self, place: &SymbolicLayout, question: Question) -> Option<Vec<Node>> {
        let bits = self.deciding(place.layout, question);
        let known = |bit: &Bit| {
            let node = place.bit(*bit);
            [Node::FALSE, Node::TRUE].contains(&node).then_some((*bit, node == Node::TRUE))
        };
        // Bits known only in this place are used only if there are too many to enumerate otherwise.
        let known = if bits.len() > MAX_BITS { bits.iter().filter_map(known).collect() } else { Vec::new() };
        let answers = self.answers(place.layout, question, known)?;
        let inputs: Vec<Node> = answers.bits.iter().map(|bit| place.bit(*bit)).collect();
        let width = 64 - answers.values.iter().fold(0, |all, value| all | value).leading_zeros();
        Some((0..width).map(|bit| self.build(&answers.values, bit, &inputs)).collect())
    }

    /// The bits that an answer depends on.
    fn deciding(&self, layout: &'static Layout, question: Question) -> BTreeSet<Bit> {
        let leaves = match question {
            Question::Expression(expression, node) => {
                let asked = self.stream.expressions.get(usize::from(expression));
                asked.map_or(0, |expression| leaves(layout, expression, node))
            }
            Question::Value(field) | Question::Means(field) => {
                layout.fields.get(usize::from(field)).map_or(0, |field| field.leaves)
            }
        };
        let mut bits = BTreeSet::new();
        let decides = layout.fields.iter().enumerate().filter(|(i, _)| leaves >> (i & 63) & 1 != 0);
        for (_, field) in decides {
            match field.source {
                Source::Bits(pieces) => bits.extend(bits_of(pieces).map(Bit::Own)),
                Source::Outer(parameter) => bits.extend((0..field.width.into()).map(|bit| Bit::Outer(parameter, bit))),
                Source::Computed { .. } => {}
            }
        }
        bits
    }

    /// Queries the exact path for each value of the bits that an answer depends on, except bits with known values.
    fn answers(&mut self, layout: &'static Layout, question: Question, known: Vec<(Bit, bool)>) -> Option<Rc<Answers>> {
        let key = (signature(self.engine(), layout, question), known);
        if let Some(known) = self.answers.get(&key) {
            return known.clone();
        }
        let answers = self.ask(layout, question, &key.1).map(Rc::new);
        self.answers.insert(key, answers.clone());
        answers
    }

    fn ask(&mut self, layout: &'static Layout, question: Question, known: &[(Bit, bool)]) -> Option<Answers> {
        let engine = self.engine();
        let mut bits = self.deciding(layout, question);
        bits.retain(|bit| !known.iter().any(|(known, _)| known == bit));
        if bits.len() > MAX_BITS {
            return None;
        }
        self.budget = self.budget.checked_sub(1 << bits.len())?;
        let bits: Vec<Bit> = bits.into_iter().collect();
        let values = (0..1u64 << bits.len()).map(|turn| {
            let (mut word, mut told) = (Wide::ZERO, Told([0; 256]));
            let asked = bits.iter().enumerate().map(|(i, bit)| (*bit, turn >> i & 1 != 0));
            for (bit, _) in asked.chain(known.iter().copied()).filter(|(_, is_set)| *is_set) {
                match bit {
                    Bit::Own(at) => word.set(at.into(), 1, 1),
                    Bit::Outer(parameter, at) => told.0[usize::from(parameter)] |= 1 << (at & 63),
                }
            }
            let len = (layout.bits / 8) as u8;
            let scope = Scope { engine, layout, word: &word, len, outer: Some((&told, &SAME)) };
            match question {
                Question::Expression(expression, node) => part(&scope, expression, node),
                Question::Value(field) => scope.value(field),
                Question::Means(field) => scope.field_is_valid(field).into(),
            }
        });
        let mut answers = Answers { values: values.collect(), bits };
        answers.prune();
        Some(answers)
    }

    /// A bit of the answers, as a function of the bits they depend on.
    fn build(&mut self, values: &[u64], bit: u32, inputs: &[Node]) -> Node {
        let is_set = |value: &u64| value >> bit & 1 != 0;
        let first = values.first().is_some_and(is_set);
        let Some((input, inputs)) = inputs.split_last() else { return if first { Node::TRUE } else { Node::FALSE } };
        if values.iter().all(|value| is_set(value) == first) {
            return if first { Node::TRUE } else { Node::FALSE };
        }
        let (zero, one) = values.split_at(values.len() / 2);
        let zero = if *input == Node::TRUE { Node::FALSE } else { self.build(zero, bit, inputs) };
        let one = if *input == Node::FALSE { Node::FALSE } else { self.build(one, bit, inputs) };
        self.diagrams.choose(*input, one, zero)
    }
}
