//! Queries to the exact path about a layout: what the answer depends on, and which layouts have the same answers.

use isaforge_core::semantics::Op;
use isaforge_core::stream::{Engine, Expression, Input, Layout, Piece, Scope, Source, Type, Values};

/// The maximum length of a signature.
const MAX_SIGNATURE: usize = 1 << 10;

/// A query about a layout.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Question {
    /// The value of an expression, up to the node of this index.
    Expression(u16, u16),
    /// The value of a field.
    Value(u8),
    /// Whether the value of a field that is not a set is valid.
    Means(u8),
}

/// A bit that an answer depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Bit {
    /// A bit of the layout.
    Own(u16),
    /// A bit of a parameter.
    Outer(u8, u16),
}

/// The answers to a query, for each value of some bits.
pub(super) struct Answers {
    pub(super) bits: Vec<Bit>,
    pub(super) values: Vec<u64>,
}

/// The arguments that an instruction passes to an operand.
pub(super) struct Told(pub(super) [u64; 256]);

impl Values for Told {
    fn value_at(&self, field: u8, _: u8) -> u64 {
        self.0[usize::from(field)]
    }
}

/// Passes each field as the parameter of the same number.
pub(super) static SAME: [u8; 256] = {
    let mut all = [0; 256];
    let mut i = 0;
    while i < 256 {
        all[i] = i as u8;
        i += 1;
    }
    all
};

impl Answers {
    /// Removes bits that no answer depends on.
    pub(super) fn prune(&mut self) {
        for i in (0..self.bits.len()).rev() {
            let halves = self.values.chunks(2 << i).map(|pair| pair.split_at(1 << i));
            if halves.clone().all(|(zero, one)| zero == one) {
                self.values = halves.flat_map(|(zero, _)| zero).copied().collect();
                self.bits.remove(i);
            }
        }
    }
}

/// The fields that a part of an expression depends on, as a bit set.
pub(super) fn leaves(layout: &Layout, expression: &Expression, node: u16) -> u64 {
    let (mut needed, mut leaves) = (vec![false; expression.nodes.len()], 0);
    for (at, found) in expression.nodes.iter().enumerate().take(usize::from(node) + 1).rev() {
        if !needed[at] && at != usize::from(node) {
            continue;
        }
        match found.op {
            Op::Operand => {
                if let Some(Input::Field(field)) = expression.inputs.get(usize::from(found.args[0])) {
                    leaves |= layout.fields.get(usize::from(*field)).map_or(0, |field| field.leaves);
                }
            }
            Op::Const => {}
            // Its arguments are in a list, so all earlier nodes are assumed to be needed.
            Op::Pack => needed[..at].fill(true),
            _ => {
                for argument in found.args {
                    if let Some(needed) = needed.get_mut(usize::from(argument)) {
                        *needed = true;
                    }
                }
            }
        }
    }
    leaves
}

/// Evaluates a part of an expression.
pub(super) fn part(scope: &Scope<'_>, index: u16, node: u16) -> u64 {
    let Some(whole) = scope.engine.stream.expressions.get(usize::from(index)) else { return 0 };
    let part = Expression { nodes: whole.nodes.get(..=usize::from(node)).unwrap_or(whole.nodes), ..*whole };
    part.value(|input| match input {
        Input::Field(field) => scope.value(field),
        Input::Generation => scope.engine.generation.into(),
        Input::Length => scope.len.into(),
    })
}

/// Everything that the answer to a query depends on: layouts with the same signature have the same answers.
pub(super) fn signature(engine: Engine, layout: &'static Layout, question: Question) -> Vec<u64> {
    let mut all = Vec::new();
    match question {
        Question::Expression(expression, node) => {
            all.push(node.into());
            sign_expression(engine, layout, expression, &mut all);
        }
        Question::Value(field) => {
            all.push(u64::MAX);
            sign_field(engine, layout, field, &mut all);
        }
        Question::Means(field) => {
            all.push(u64::MAX - 1);
            all.extend(match layout.fields.get(usize::from(field)).map(|field| field.ty) {
                Some(Type::Enum(names, _)) => [0, names.into()],
                Some(Type::Register(bank)) => [1, bank.into()],
                _ => [2, 0],
            });
            sign_field(engine, layout, field, &mut all);
        }
    }
    if all.len() >= MAX_SIGNATURE {
        // The signature of nested computed fields is too long, so the layout shares no answers.
        let own = std::ptr::from_ref(layout).addr() as u64;
        all.extend([own, engine.generation.into(), u64::MAX]);
    }
    all
}

fn sign_expression(engine: Engine, layout: &'static Layout, index: u16, all: &mut Vec<u64>) {
    all.push(index.into());
    let inputs = engine.stream.expressions.get(usize::from(index)).map_or(&[][..], |expression| expression.inputs);
    for input in inputs {
        if all.len() >= MAX_SIGNATURE {
            return;
        }
        match input {
            Input::Field(field) => sign_field(engine, layout, *field, all),
            Input::Generation => all.push(engine.generation.into()),
            Input::Length => all.push(layout.bits.into()),
        }
    }
}

fn sign_field(engine: Engine, layout: &'static Layout, index: u8, all: &mut Vec<u64>) {
    let Some(field) = layout.fields.get(usize::from(index)) else { return };
    all.extend([u64::from(field.width), u64::from(field.signed)]);
    match field.source {
        Source::Bits(pieces) => {
            all.push(pieces.len() as u64);
            all.extend(pieces.iter().map(|piece| u64::from(piece.at) << 8 | u64::from(piece.width)));
        }
        Source::Outer(parameter) => all.push(1 << 32 | u64::from(parameter)),
        Source::Computed { value, .. } => {
            all.push(1 << 33);
            sign_expression(engine, layout, value, all);
        }
    }
}

/// The positions of the bits of pieces, least significant first.
pub(super) fn bits_of(pieces: &[Piece]) -> impl Iterator<Item = u16> {
    pieces.iter().flat_map(|piece| piece.at..piece.at + u16::from(piece.width))
}
