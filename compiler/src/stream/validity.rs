//! The requirements of layouts on their bits as [diagrams](super::diagram): conditions, valid values, and the
//! requirements of the sets in their operands.
//!
//! The exact path is queried about each condition and field, for every value of the bits it depends on; how layouts and
//! sets combine is replicated here. There are limits: an answer may depend on [`MOST_BITS`] bits, all answers for a
//! specification may cost [`BUDGET`] queries, and diagrams have a limit of their own. Beyond these the result is
//! unknown, which often does not matter: if two layouts that a condition selects between are both always valid, its
//! value is irrelevant.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use isaforge_core::semantics::Op;
use isaforge_core::stream::{Engine, Expression, Input, Layout, Role, Scope, Source, Stream, Type, Wide, solve};

use super::answers::{Answers, Bit, Question, SAME, Told, bits_of, leaves, part, signature};
use super::blast::{self, Bits};
use super::diagram::{Diagrams, Node};

/// The maximum number of bits that an answer of the exact path may depend on.
const MOST_BITS: usize = 16;
/// The maximum number of queries to the exact path in a specification.
const BUDGET: u64 = 1 << 24;
/// The cost of a step in diagrams, in queries.
const STEP: u64 = 4;
/// The maximum width of a parameter. The parameters of an operand outside of any instruction are free bits after those
/// of words.
const PARAMETER: u16 = 64;

/// A layout, with its bits and parameters as functions of the instruction's bits. Missing bits are 0.
pub(super) struct Place {
    layout: &'static Layout,
    word: Vec<Node>,
    outer: Vec<Vec<Node>>,
    depth: u32,
}

/// What the answer to a query depends on, and bits with known values.
type Signed = (Vec<u64>, Vec<(Bit, bool)>);

/// A set with its bits and parameters.
type Asked = (u16, Vec<Node>, Vec<Vec<Node>>);

/// The diagrams of a specification.
pub(super) struct Validity {
    stream: &'static Stream,
    generation: u32,
    pub(super) diagrams: Diagrams,
    answers: HashMap<Signed, Option<Rc<Answers>>>,
    sets: HashMap<(u32, Asked), Node>,
    /// By generation and layout: the bits that are constant in its words, and their values.
    constants: HashMap<(u32, u16), (Wide, Wide)>,
    budget: u64,
    /// Whether an expression uses the length of the instruction.
    tells_lengths: bool,
    /// The order in which diagrams test bits; empty for ascending order.
    order: Vec<u16>,
}

impl Validity {
    pub(super) fn new(stream: &'static Stream) -> Self {
        Validity {
            stream,
            generation: stream.generations.0,
            diagrams: Diagrams::new(),
            answers: HashMap::new(),
            sets: HashMap::new(),
            constants: HashMap::new(),
            budget: BUDGET,
            tells_lengths: stream.expressions.iter().any(|expression| expression.inputs.contains(&Input::Length)),
            order: Vec::new(),
        }
    }

    /// Switches to a generation.
    pub(super) fn turn(&mut self, generation: u32) {
        self.generation = generation;
    }

    /// The stream at the current generation.
    pub(super) fn engine(&self) -> Engine {
        Engine { stream: self.stream, generation: self.generation }
    }

    /// Whether expressions of a layout may use a length that is unknown here: that of the instruction containing the
    /// operand, or a variable one.
    pub(super) fn is_told_a_length(&self, layout: &Layout, is_operand: bool) -> bool {
        let has_sets = || !layout.simple && layout.fields.iter().any(|field| matches!(field.ty, Type::Set(..)));
        self.tells_lengths && (is_operand || layout.length.is_some() || has_sets())
    }

    /// Discards all diagrams, after they grew too large.
    pub(super) fn clear(&mut self) {
        self.budget = self.budget.saturating_sub(STEP * self.diagrams.steps() as u64);
        self.diagrams = Diagrams::new();
        self.sets.clear();
    }

    /// Sets the order in which diagrams test bits; diagrams in another order are discarded.
    pub(super) fn reorder(&mut self, order: Vec<u16>) {
        if order != self.order || self.diagrams.is_full() {
            self.clear();
            self.order = order;
        }
    }

    /// Whether the constant bits of two layouts, with those that their conditions imply, exclude each other. It spares
    /// the comparison of most pairs.
    pub(super) fn are_apart(&mut self, one: u16, other: u16) -> bool {
        let [(mask, value), (others, other)] = [one, other].map(|index| self.constants(index));
        !((value ^ other) & mask & others).is_zero()
    }

    /// The bits that are constant in all words of a layout.
    fn constants(&mut self, index: u16) -> (Wide, Wide) {
        if let Some(known) = self.constants.get(&(self.generation, index)) {
            return *known;
        }
        let layout = self.stream.layouts.get(usize::from(index));
        let (mut mask, mut value) = layout.map_or((Wide::ZERO, Wide::ZERO), |layout| (layout.mask, layout.value));
        if layout.is_some_and(|layout| !layout.conditions.is_empty()) && !self.is_spent() {
            self.reorder(Vec::new());
            let fits = self.place(index, mask, value).map(|place| self.fits(&place));
            let implied = fits.map_or(Vec::new(), |fits| self.diagrams.constants(fits).0);
            // Full diagrams prove nothing.
            let implied = if self.diagrams.is_full() { Vec::new() } else { implied };
            let bits = layout.map_or(0, |layout| layout.bits);
            for (bit, is_set) in implied.into_iter().filter(|(bit, _)| *bit < bits) {
                mask.set(bit.into(), 1, 1);
                value.set(bit.into(), 1, is_set.into());
            }
        }
        self.constants.insert((self.generation, index), (mask, value));
        (mask, value)
    }

    /// A word for which a function holds, whatever is unknown. Bits that need not be 1 are 0.
    pub(super) fn word_of(&self, node: Node) -> Option<Wide> {
        let mut word = Wide::ZERO;
        for level in self.diagrams.witness(node)? {
            let bit = self.order.get(usize::from(level)).copied().unwrap_or(level);
            word.set(bit.into(), 1, 1);
        }
        Some(word)
    }

    /// The place of an instruction with some bits known.
    pub(super) fn place(&mut self, index: u16, mask: Wide, value: Wide) -> Option<Place> {
        let layout = self.stream.layouts.get(usize::from(index))?;
        let mut levels: Vec<u16> = (0..layout.bits).collect();
        for (level, bit) in (0u16..).zip(&self.order) {
            if let Some(of) = levels.get_mut(usize::from(*bit)) {
                *of = level;
            }
        }
        let mut word = Vec::new();
        for (bit, level) in (0u32..).zip(levels) {
            word.push(match (mask.get(bit, 1), value.get(bit, 1)) {
                (0, _) => self.diagrams.bit(level),
                (_, 0) => Node::FALSE,
                _ => Node::TRUE,
            });
        }
        let mut outer = Vec::new();
        for field in layout.fields {
            let Source::Outer(parameter) = field.source else { continue };
            let first = Wide::BITS as u16 + PARAMETER * u16::from(parameter);
            outer.resize(outer.len().max(usize::from(parameter) + 1), Bits::new());
            outer[usize::from(parameter)] =
                (first..first + u16::from(field.width).min(PARAMETER)).map(|level| self.diagrams.bit(level)).collect();
        }
        Some(Place { layout, word, outer, depth: 0 })
    }

    /// Sets bits to 0 that are beyond the variable length.
    pub(super) fn present(&mut self, mut place: Place) -> Place {
        let Some(length) = place.layout.length else { return place };
        let length = blast::resized(self.expression(&place, length), 16);
        for (byte, bits) in (0u64..).zip(place.word.chunks_mut(8)) {
            let is_there = blast::less(&mut self.diagrams, false, &blast::constant(byte, length.len()), &length);
            for bit in bits {
                *bit = self.diagrams.and(*bit, is_there);
            }
        }
        place
    }

    /// Where a layout matches, is valid, and no earlier layout takes the word.
    pub(super) fn own(&mut self, place: &Place) -> Node {
        let (own, valid) = (self.demanded(place), self.valid(place));
        self.diagrams.and(own, valid)
    }

    /// Where a condition holds.
    pub(super) fn condition(&mut self, place: &Place, condition: u16) -> Node {
        let bits = self.expression(place, condition);
        bits.into_iter().fold(Node::FALSE, |any, bit| self.diagrams.choose(bit, Node::TRUE, any))
    }

    /// The bits of an expression's value; higher bits are 0.
    pub(super) fn expression(&mut self, place: &Place, index: u16) -> Bits {
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
    fn input(&mut self, place: &Place, input: Input) -> Bits {
        match input {
            Input::Field(field) => self.parameter(place, field),
            Input::Generation => blast::constant(self.generation.into(), 32),
            Input::Length => blast::constant(u64::from(place.layout.bits / 8), 16),
        }
    }

    /// The bits of an expression's value, computed node by node from its inputs; `answer` is called for nodes without a
    /// circuit.
    pub(super) fn blast(
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

    /// Whether the budget is nearly exhausted, so that further queries are not worthwhile.
    pub(super) fn is_spent(&self) -> bool {
        self.budget < 1 << MOST_BITS
    }

    /// Charges the budget for an operation on this many bits; false when it is exhausted.
    fn spend(&mut self, bits: usize) -> bool {
        let rest = self.budget.checked_sub((bits as u64) << 2).filter(|_| !self.diagrams.is_full());
        self.budget = rest.unwrap_or(self.budget);
        rest.is_some()
    }

    /// The bits of an answer; higher bits are 0.
    fn answer(&mut self, place: &Place, question: Question) -> Option<Vec<Node>> {
        let bits = self.deciding(place.layout, question);
        let known = |bit: &Bit| {
            let node = place.bit(*bit);
            [Node::FALSE, Node::TRUE].contains(&node).then_some((*bit, node == Node::TRUE))
        };
        // Bits known only in this place are used only if there are too many to enumerate otherwise.
        let known = if bits.len() > MOST_BITS { bits.iter().filter_map(known).collect() } else { Vec::new() };
        let answers = self.answers(place.layout, question, known)?;
        let inputs: Vec<Node> = answers.bits.iter().map(|bit| place.bit(*bit)).collect();
        let width = 64 - answers.values.iter().fold(0, |all, value| all | value).leading_zeros();
        Some((0..width).map(|bit| self.build(&answers.values, bit, &inputs)).collect())
    }

    /// Where the value of a field is valid.
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

    /// The value of a field as seen by expressions and operands; the bits above have no effect.
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

    /// Where the given inverse of a computed field leads to other bits, or to bits that the layout does not allow;
    /// `None` if the inverse determines only some of the bits. The original bits are any that the layout allows.
    pub(super) fn astray(&mut self, place: &Place, index: u8) -> Option<Node> {
        let stream = self.stream;
        let field = place.layout.fields.get(usize::from(index))?;
        let Source::Computed { inverse, .. } = field.source else { return None };
        let given = inverse.iter().fold(0, |given, (field, _)| given | 1u64 << (field & 63));
        if given | solve::asked(self.engine(), place.layout, index) != field.leaves {
            return None;
        }
        let value = self.parameter(place, index);
        let mut back = Place { word: place.word.clone(), outer: place.outer.clone(), ..*place };
        for (other, expression) in inverse {
            let of = place.layout.fields.get(usize::from(*other))?;
            let Source::Bits(pieces) = of.source else { return None };
            let expression = stream.expressions.get(usize::from(*expression))?;
            let inputs: Vec<Bits> = expression
                .inputs
                .iter()
                .map(|input| match input {
                    Input::Field(field) if *field == index => value.clone(),
                    other => self.input(&back, *other),
                })
                .collect();
            let given = blast::resized(self.blast(expression, &inputs, |_, _| None), of.width.into());
            for (at, bit) in bits_of(pieces).zip(given) {
                *back.word.get_mut(usize::from(at))? = bit;
            }
        }
        let back = self.present(back);
        let again = self.parameter(&back, index);
        let longest = value.len().max(again.len());
        let (value, again) = (blast::resized(value, longest), blast::resized(again, longest));
        let same = blast::equal(&mut self.diagrams, &value, &again);
        let (before, after) = (self.demanded(place), self.demanded(&back));
        let right = self.diagrams.and(same, after);
        Some(self.diagrams.without(before, right))
    }

    /// Where a layout matches and no earlier one does.
    fn demanded(&mut self, place: &Place) -> Node {
        let mut own = self.fits(place);
        for condition in place.layout.otherwise {
            let taken = self.condition(place, *condition);
            own = self.diagrams.without(own, taken);
        }
        own
    }

    /// The bits of a field.
    fn bits(&mut self, place: &Place, index: u8) -> Vec<Node> {
        let Some(field) = place.layout.fields.get(usize::from(index)) else { return Vec::new() };
        let width = u16::from(field.width);
        match field.source {
            Source::Bits(pieces) => bits_of(pieces).map(|at| place.bit(Bit::Own(at))).collect(),
            Source::Outer(parameter) => (0..width).map(|bit| place.bit(Bit::Outer(parameter, bit))).collect(),
            Source::Computed { value, .. } => {
                let asked = self.answer(place, Question::Value(index));
                blast::resized(asked.unwrap_or_else(|| self.expression(place, value)), width.min(64).into())
            }
        }
    }

    /// Where some layout of a set matches and is valid.
    fn set(&mut self, asked: Asked, depth: u32) -> Node {
        if self.diagrams.is_full() {
            return self.diagrams.unknown();
        }
        let key = (self.generation, asked);
        if let Some(known) = self.sets.get(&key) {
            return *known;
        }
        let found = self.first_that_fits(&key.1, depth);
        self.sets.insert(key, found);
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
        let choose = |rest, (fits, valid)| self.diagrams.choose(fits, valid, rest);
        tried.into_iter().rev().fold(Node::FALSE, choose)
    }

    /// Where a layout matches.
    pub(super) fn fits(&mut self, place: &Place) -> Node {
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

impl Place {
    /// A bit as a function of the instruction's bits.
    fn bit(&self, bit: Bit) -> Node {
        let (of, at) = match bit {
            Bit::Own(at) => (Some(&self.word), at),
            Bit::Outer(parameter, at) => (self.outer.get(usize::from(parameter)), at),
        };
        of.and_then(|of| of.get(usize::from(at))).copied().unwrap_or(Node::FALSE)
    }
}

/// An order of bits in which diagrams of some fields of layouts, given as bit sets, stay small: if there are many bits,
/// those of the same significance are adjacent, whatever their field. Otherwise the order does not matter, and existing
/// diagrams are kept.
pub(super) fn by_significance(looked: &[(&'static Layout, u64)]) -> Vec<u16> {
    let mut ranked = Vec::new();
    for (layout, leaves) in looked {
        for (_, field) in layout.fields.iter().enumerate().filter(|(i, _)| leaves >> (i & 63) & 1 != 0) {
            if let Source::Bits(pieces) = field.source {
                ranked.extend(bits_of(pieces).enumerate());
            }
        }
    }
    if ranked.len() <= MOST_BITS {
        return Vec::new();
    }
    ranked.sort_unstable();
    let mut seen = Wide::ZERO;
    let mut first = |bit: &u16| {
        let is_first = seen.get((*bit).into(), 1) == 0;
        seen.set((*bit).into(), 1, 1);
        is_first
    };
    ranked.into_iter().map(|(_, bit)| bit).chain(0..Wide::BITS as u16).filter(|bit| first(bit)).collect()
}
