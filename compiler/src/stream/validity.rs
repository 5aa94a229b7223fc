//! What layouts demand of their bits, as [diagrams](super::diagram): conditions, values that mean something, and what the
//! sets inside of operands say.
//!
//! The exact way is asked about each condition and each field, for every value of the bits that decide it; how layouts and
//! sets are put together is repeated here. Bounds: [`MOST_BITS`] bits decide one answer, all answers of a specification cost
//! [`BUDGET`] questions, and diagrams have a bound of their own. What is beyond them is unknown, which often does not matter:
//! where two layouts that a condition chooses between are always right, it need not be known.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use isaforge_core::semantics::Op;
use isaforge_core::stream::{Engine, Input, Layout, Role, Scope, Source, Stream, Type, Wide};

use super::answers::{Answers, Bit, Question, SAME, Told, bits_of, leaves, part, signature};
use super::diagram::{Diagrams, Node};

/// The most bits that decide one answer of the exact way.
const MOST_BITS: usize = 16;
/// How often the exact way is asked in all of a specification.
const BUDGET: u64 = 1 << 24;
/// The deepest that sets stand within sets.
const DEEPEST: u32 = 8;
/// Core computes no deeper chain of computed fields; nothing that comes near is taken.
const LONGEST_CHAIN: u32 = 24;

/// A layout, and what its bits and its parameters are as functions of the bits of an instruction. What is not there is 0.
pub(super) struct Place {
    layout: &'static Layout,
    word: Vec<Node>,
    outer: Vec<Vec<Node>>,
    depth: u32,
}

/// What decides the answer to a question, and bits that are known.
type Signed = (Vec<u64>, Vec<(Bit, bool)>);

/// A set and its bits and parameters.
type Asked = (u16, Vec<Node>, Vec<Vec<Node>>);

/// The diagrams of a specification.
pub(super) struct Validity {
    stream: &'static Stream,
    generation: u32,
    pub(super) diagrams: Diagrams,
    answers: HashMap<Signed, Option<Rc<Answers>>>,
    sets: HashMap<Asked, Node>,
    /// How many computed fields follow from each other at most.
    chain: u32,
    budget: u64,
}

impl Validity {
    pub(super) fn new(stream: &'static Stream) -> Self {
        let chain = stream.layouts.iter().map(|layout| chain(stream, layout)).max().unwrap_or(0);
        Validity {
            stream,
            generation: stream.generations.0,
            diagrams: Diagrams::new(),
            answers: HashMap::new(),
            sets: HashMap::new(),
            chain,
            budget: BUDGET,
        }
    }

    /// Turns to a generation.
    pub(super) fn turn(&mut self, generation: u32) {
        self.generation = generation;
        self.sets.clear();
        if self.stream.expressions.iter().any(|e| e.inputs.contains(&Input::Generation)) {
            self.answers.clear();
        }
    }

    /// Forgets all diagrams, when there were too many.
    pub(super) fn clear(&mut self) {
        self.diagrams = Diagrams::new();
        self.sets.clear();
    }

    /// The place of an instruction some bits of which are known.
    pub(super) fn place(&mut self, index: u16, mask: Wide, value: Wide) -> Option<Place> {
        let layout = self.stream.layouts.get(usize::from(index))?;
        let mut word = Vec::new();
        for bit in 0..layout.bits {
            word.push(match (mask.get(bit.into(), 1), value.get(bit.into(), 1)) {
                (0, _) => self.diagrams.bit(bit),
                (_, 0) => Node::FALSE,
                _ => Node::TRUE,
            });
        }
        Some(Place { layout, word, outer: Vec::new(), depth: 0 })
    }

    /// Whether a layout fits a word that it is valid in, as far as is known.
    pub(super) fn is_possible(&mut self, place: &Place) -> bool {
        let (fits, valid) = (self.fits(place), self.valid(place));
        self.diagrams.and(fits, valid) != Node::FALSE
    }

    /// Where a condition holds.
    pub(super) fn condition(&mut self, place: &Place, condition: u16) -> Node {
        let bits = self.expression(place, condition);
        bits.into_iter().fold(Node::FALSE, |any, bit| self.diagrams.choose(bit, Node::TRUE, any))
    }

    /// The bits of the value of an expression; those above are 0.
    pub(super) fn expression(&mut self, place: &Place, index: u16) -> Vec<Node> {
        let nodes = self.stream.expressions.get(usize::from(index)).map_or(0, |expression| expression.nodes.len());
        nodes.checked_sub(1).map_or_else(Vec::new, |last| self.part(place, index, last as u16))
    }

    /// The same of a part of an expression, which ends with some node.
    fn part(&mut self, place: &Place, index: u16, node: u16) -> Vec<Node> {
        if let Some(bits) = self.answer(place, Question::Expression(index, node)) {
            return bits;
        }
        // What is too much to ask as a whole may be a choice, or made of conditions, that can be asked one by one.
        let stream = self.stream;
        let Some(expression) = stream.expressions.get(usize::from(index)) else { return Vec::new() };
        let Some(found) = expression.nodes.get(usize::from(node)) else { return Vec::new() };
        let mut parts = [const { Vec::new() }; 3];
        let count = match found.op {
            Op::Select => 3,
            Op::And | Op::Or => 2,
            Op::Zext => 1,
            _ => 0,
        };
        let single = |at: &u16| expression.nodes.get(usize::from(*at)).is_some_and(|node| node.ty.lanes == 1);
        let can = found.ty.lanes == 1 && found.args.iter().take(count).all(single) && self.spend();
        let count = if can { count } else { 0 };
        for (part, argument) in parts.iter_mut().zip(found.args).take(count) {
            *part = self.part(place, index, argument);
        }
        if count == 0 {
            return (0..found.ty.size().min(64)).map(|_| self.diagrams.unknown()).collect();
        }
        let width = parts.iter().map(Vec::len).max().unwrap_or(0).min(found.ty.bits.into());
        let bits = (0..width).map(|i| {
            let [a, b, c] = [0, 1, 2].map(|part| parts[part].get(i).copied().unwrap_or(Node::FALSE));
            let condition = parts[0].first().copied().unwrap_or(Node::FALSE);
            match found.op {
                Op::Select => self.diagrams.choose(condition, b, c),
                Op::And => self.diagrams.and(a, b),
                Op::Zext => a,
                _ => self.diagrams.choose(a, Node::TRUE, b),
            }
        });
        bits.collect()
    }

    /// Takes what an expression costs that is looked at in parts off the budget, if there is so much.
    fn spend(&mut self) -> bool {
        let rest = self.budget.checked_sub(1 << 8);
        self.budget = rest.unwrap_or(0);
        rest.is_some()
    }

    /// The bits of an answer; those above are 0.
    fn answer(&mut self, place: &Place, question: Question) -> Option<Vec<Node>> {
        let bits = self.deciding(place.layout, question);
        let known = |bit: &Bit| {
            let node = place.bit(*bit);
            [Node::FALSE, Node::TRUE].contains(&node).then_some((*bit, node == Node::TRUE))
        };
        // What holds for this place alone is asked only where there is too much to ask otherwise.
        let known = if bits.len() > MOST_BITS { bits.iter().filter_map(known).collect() } else { Vec::new() };
        let answers = self.answers(place.layout, question, known)?;
        let inputs: Vec<Node> = answers.bits.iter().map(|bit| place.bit(*bit)).collect();
        let width = 64 - answers.values.iter().fold(0, |all, value| all | value).leading_zeros();
        Some((0..width).map(|bit| self.build(&answers.values, bit, &inputs)).collect())
    }

    /// Where the value of a field means something.
    pub(super) fn field(&mut self, place: &Place, index: u8) -> Node {
        let Some(field) = place.layout.fields.get(usize::from(index)) else { return Node::TRUE };
        match field.ty {
            Type::Number(_) | Type::Float(_) | Type::Enum(_, Some(_)) => Node::TRUE,
            Type::Enum(_, None) | Type::Register(_) => {
                let Some(bits) = self.answer(place, Question::Means(index)) else { return self.diagrams.unknown() };
                bits.first().copied().unwrap_or(Node::FALSE)
            }
            Type::Set(set, arguments) => {
                let word = self.bits(place, index);
                let outer = arguments.iter().map(|argument| self.parameter(place, *argument)).collect();
                self.set((set, word, outer), place.depth + 1)
            }
        }
    }

    /// The value of a field that is told to an operand; all bits above have no effect.
    fn parameter(&mut self, place: &Place, index: u8) -> Vec<Node> {
        let mut bits = self.bits(place, index);
        let sign =
            bits.last().copied().filter(|_| place.layout.fields.get(usize::from(index)).is_some_and(|f| f.signed));
        match sign {
            Some(sign) => bits.resize(64, sign),
            None => bits.truncate(bits.iter().rposition(|bit| *bit != Node::FALSE).map_or(0, |last| last + 1)),
        }
        bits
    }

    /// The bits of a field.
    fn bits(&mut self, place: &Place, index: u8) -> Vec<Node> {
        let Some(field) = place.layout.fields.get(usize::from(index)) else { return Vec::new() };
        let width = u16::from(field.width);
        match field.source {
            Source::Bits(pieces) => bits_of(pieces).map(|at| place.bit(Bit::Own(at))).collect(),
            Source::Outer(parameter) => (0..width).map(|bit| place.bit(Bit::Outer(parameter, bit))).collect(),
            Source::Computed { .. } => {
                let mut bits = self
                    .answer(place, Question::Value(index))
                    .unwrap_or_else(|| (0..width.min(64)).map(|_| self.diagrams.unknown()).collect());
                bits.resize(width.min(64).into(), Node::FALSE);
                bits
            }
        }
    }

    /// Where a layout of a set fits and is valid.
    fn set(&mut self, asked: Asked, depth: u32) -> Node {
        if depth > DEEPEST || (depth + 1) * self.chain >= LONGEST_CHAIN || self.diagrams.is_full() {
            return self.diagrams.unknown();
        }
        if let Some(known) = self.sets.get(&asked) {
            return *known;
        }
        let found = self.first_that_fits(&asked, depth);
        self.sets.insert(asked, found);
        found
    }

    fn first_that_fits(&mut self, (set, word, outer): &Asked, depth: u32) -> Node {
        let mut tried = Vec::new();
        for layout in self.stream.layouts_of((*set).into()) {
            if layout.role != Role::Own || !(layout.since..=layout.until).contains(&self.generation) {
                continue;
            }
            let place = Place { layout, word: word.clone(), outer: outer.clone(), depth };
            let fits = self.fits(&place);
            if fits == Node::FALSE {
                continue;
            }
            tried.push((fits, self.valid(&place)));
            if fits == Node::TRUE {
                break;
            }
        }
        let behind = |rest, (fits, valid)| self.diagrams.choose(fits, valid, rest);
        tried.into_iter().rev().fold(Node::FALSE, behind)
    }

    fn fits(&mut self, place: &Place) -> Node {
        let mut fits = self.pattern(place, place.layout.mask, place.layout.value);
        for condition in place.layout.conditions {
            if fits == Node::FALSE {
                break;
            }
            let condition = self.condition(place, *condition);
            fits = self.diagrams.and(fits, condition);
        }
        fits
    }

    fn valid(&mut self, place: &Place) -> Node {
        let mut valid = self.pattern(place, place.layout.fixed_mask, place.layout.fixed_value);
        let fields = if place.layout.simple { 0 } else { place.layout.fields.len() };
        for index in 0..fields {
            let field = self.field(place, index as u8);
            valid = self.diagrams.and(valid, field);
        }
        valid
    }

    fn pattern(&mut self, place: &Place, mask: Wide, value: Wide) -> Node {
        let bits = mask.runs().flat_map(|(at, width)| at..at + width);
        bits.fold(Node::TRUE, |all, bit| {
            let right = self.diagrams.is(place.bit(Bit::Own(bit as u16)), value.get(bit, 1) != 0);
            self.diagrams.and(all, right)
        })
    }

    /// The bits that decide an answer.
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

    /// Asks the exact way about each value of the bits that decide an answer, but for those that are known.
    fn answers(&mut self, layout: &'static Layout, question: Question, known: Vec<(Bit, bool)>) -> Option<Rc<Answers>> {
        let key = (signature(self.stream, layout, question), known);
        if let Some(known) = self.answers.get(&key) {
            return known.clone();
        }
        let answers = self.ask(layout, question, &key.1).map(Rc::new);
        self.answers.insert(key, answers.clone());
        answers
    }

    fn ask(&mut self, layout: &'static Layout, question: Question, known: &[(Bit, bool)]) -> Option<Answers> {
        let engine = Engine { stream: self.stream, generation: self.generation };
        let mut bits = self.deciding(layout, question);
        bits.retain(|bit| !known.iter().any(|(known, _)| known == bit));
        if bits.len() > MOST_BITS {
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

    /// A bit of answers, as a function of the bits that they depend on.
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

impl Place {
    /// A bit as a function of those of the instruction.
    fn bit(&self, bit: Bit) -> Node {
        let (of, at) = match bit {
            Bit::Own(at) => (Some(&self.word), at),
            Bit::Outer(parameter, at) => (self.outer.get(usize::from(parameter)), at),
        };
        of.and_then(|of| of.get(usize::from(at))).copied().unwrap_or(Node::FALSE)
    }
}

/// How many computed fields of a layout follow from each other at most.
fn chain(stream: &Stream, layout: &Layout) -> u32 {
    let mut chains = vec![0; layout.fields.len()];
    // Each turn sees one more of a chain; there are no circles.
    for turn in 1..=LONGEST_CHAIN {
        let mut longer = false;
        for (i, field) in layout.fields.iter().enumerate() {
            let Source::Computed { value, .. } = field.source else { continue };
            let inputs = stream.expressions.get(usize::from(value)).map_or(&[][..], |expression| expression.inputs);
            let of = |input: &Input| match input {
                Input::Field(field) => chains.get(usize::from(*field)).copied().unwrap_or(0),
                _ => 0,
            };
            let found = 1 + inputs.iter().map(of).max().unwrap_or(0);
            longer |= found > chains[i];
            chains[i] = found.min(turn);
        }
        if !longer {
            break;
        }
    }
    chains.into_iter().max().unwrap_or(0)
}
