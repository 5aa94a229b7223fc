//! Where layouts match and are valid, and with them the fields and sets that they consist of.

use isaforge_core::stream::{Input, Layout, Role, Source, Type, Wide, solve};

use super::{Asked, SymbolicLayout, Validity};
use crate::stream::answers::{Bit, Question, bits_of};
use crate::stream::blast::{self, Bits};
use crate::stream::diagram::Node;

impl Validity {
    /// Where a layout matches, is valid, and no earlier layout takes the word.
    pub(in crate::stream) fn own(&mut self, place: &SymbolicLayout) -> Node {
        let (own, valid) = (self.demanded(place), self.valid(place));
        self.diagrams.and(own, valid)
    }

    /// Where one of several earlier layouts takes a word that matches a layout.
    pub(in crate::stream) fn taken(&mut self, (index, layout): (u16, &Layout), earlier: &[u16]) -> Node {
        let rivals: Vec<u16> = earlier.iter().copied().filter(|other| !self.are_apart(index, *other)).collect();
        self.reorder(Vec::new());
        rivals.into_iter().fold(Node::FALSE, |taken, other| {
            let Some(place) = self.place(other, layout.mask, layout.value) else { return taken };
            let place = self.present(place);
            let fits = self.fits(&place);
            self.diagrams.choose(fits, Node::TRUE, taken)
        })
    }

    /// Where a condition holds.
    pub(in crate::stream) fn condition(&mut self, place: &SymbolicLayout, condition: u16) -> Node {
        let bits = self.expression(place, condition);
        bits.into_iter().fold(Node::FALSE, |any, bit| self.diagrams.choose(bit, Node::TRUE, any))
    }

    /// Where the value of a field is valid.
    pub(in crate::stream) fn field(&mut self, place: &SymbolicLayout, index: u8) -> Node {
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
    pub(super) fn parameter(&mut self, place: &SymbolicLayout, index: u8) -> Vec<Node> {
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
    pub(in crate::stream) fn astray(&mut self, place: &SymbolicLayout, index: u8) -> Option<Node> {
        let stream = self.stream;
        let field = place.layout.fields.get(usize::from(index))?;
        let Source::Computed { inverse, .. } = field.source else { return None };
        let given = inverse.iter().fold(0, |given, (field, _)| given | 1u64 << (field & 63));
        if given | solve::asked(self.engine(), place.layout, index) != field.leaves {
            return None;
        }
        let value = self.parameter(place, index);
        let mut back = SymbolicLayout { word: place.word.clone(), outer: place.outer.clone(), ..*place };
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
    fn demanded(&mut self, place: &SymbolicLayout) -> Node {
        let mut own = self.fits(place);
        for condition in place.layout.otherwise {
            let taken = self.condition(place, *condition);
            own = self.diagrams.without(own, taken);
        }
        own
    }

    /// The bits of a field.
    fn bits(&mut self, place: &SymbolicLayout, index: u8) -> Vec<Node> {
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
            let place = SymbolicLayout { layout, word: word.clone(), outer: outer.clone(), depth };
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
    pub(in crate::stream) fn fits(&mut self, place: &SymbolicLayout) -> Node {
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

    fn valid(&mut self, place: &SymbolicLayout) -> Node {
        let mut valid = self.pattern(place, place.layout.fixed_mask, place.layout.fixed_value);
        let fields = if place.layout.simple { 0 } else { place.layout.fields.len() };
        for index in 0..fields {
            let field = self.field(place, index as u8);
            valid = self.diagrams.and(valid, field);
        }
        valid
    }

    fn pattern(&mut self, place: &SymbolicLayout, mask: Wide, value: Wide) -> Node {
        let bits = mask.runs().flat_map(|(at, width)| at..at + width);
        bits.fold(Node::TRUE, |all, bit| {
            let right = self.diagrams.is(place.bit(Bit::Own(bit as u16)), value.get(bit, 1) != 0);
            self.diagrams.and(all, right)
        })
    }
}
