//! The requirements of layouts on their bits as [diagrams](super::diagram): conditions, valid values, and the
//! requirements of the sets in their operands.
//!
//! The exact path is queried about each condition and field, for every value of the bits it depends on; how layouts and
//! sets combine is replicated here. There are limits: an answer may depend on [`MAX_BITS`] bits, all answers for a
//! specification may cost [`BUDGET`] queries, and diagrams have a limit of their own. Beyond these the result is
//! unknown, which often does not matter: if two layouts that a condition selects between are both always valid, its
//! value is irrelevant.
//!
//! - here: the bits of a layout as functions of those of the instruction, and what may be spent
//! - `values`: the bits of expressions and other values, from the exact path or computed node by node
//! - `layouts`: where layouts match and are valid, from the values of their conditions and fields

mod layouts;
mod values;

use std::collections::HashMap;
use std::rc::Rc;

use isaforge_core::stream::{Engine, Input, Layout, Source, Stream, Type, Wide};

use super::answers::{Answers, Bit, bits_of};
use super::blast::{self, Bits};
use super::diagram::{Diagrams, Node};

/// The maximum number of bits that an answer of the exact path may depend on.
const MAX_BITS: usize = 16;
/// The maximum number of queries to the exact path in a specification.
const BUDGET: u64 = 1 << 24;
/// The cost of a step in diagrams, in queries.
const STEP: u64 = 4;
/// The maximum width of a parameter. The parameters of an operand outside of any instruction are free bits after those
/// of words.
const PARAMETER: u16 = 64;

/// A layout, with its bits and parameters as functions of the instruction's bits. Missing bits are 0.
pub(super) struct SymbolicLayout {
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
    pub(super) fn place(&mut self, index: u16, mask: Wide, value: Wide) -> Option<SymbolicLayout> {
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
        Some(SymbolicLayout { layout, word, outer, depth: 0 })
    }

    /// Sets bits to 0 that are beyond the variable length.
    pub(super) fn present(&mut self, mut place: SymbolicLayout) -> SymbolicLayout {
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

    /// Whether the budget is nearly exhausted, so that further queries are not worthwhile.
    pub(super) fn is_spent(&self) -> bool {
        self.budget < 1 << MAX_BITS
    }

    /// Charges the budget for an operation on this many bits; false when it is exhausted.
    fn spend(&mut self, bits: usize) -> bool {
        let rest = self.budget.checked_sub((bits as u64) << 2).filter(|_| !self.diagrams.is_full());
        self.budget = rest.unwrap_or(self.budget);
        rest.is_some()
    }
}

impl SymbolicLayout {
    /// One of its own bits as a function of the instruction's bits.
    pub(super) fn own_bit(&self, at: u16) -> Node {
        self.bit(Bit::Own(at))
    }

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
    if ranked.len() <= MAX_BITS {
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
