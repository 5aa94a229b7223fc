//! The remarks of a decoder on an instruction: stray bits, bits that violate assertions, operands without a matching
//! layout.

use isaforge_core::stream::{Input, Notation, Wide};

use super::{Builder, conjunction};
use crate::read::isaspec::c::Operator;
use crate::read::isaspec::document::{Bitset, Field, Pattern};
use crate::read::isaspec::graph::Graph;
use crate::stream::model::{self, Source, Token, Type};

impl<'d> Builder<'_, 'd, '_> {
    /// The remark on an operand that no layout matches.
    pub(super) fn unread(&mut self, field: &'d Field, index: usize) -> Vec<Token> {
        let Some((_, leaves)) = self.context.hierarchies.roots.get(field.ty.as_str()) else { return Vec::new() };
        let Some(leaves) = crate::read::isaspec::context::partial(leaves) else { return Vec::new() };
        let mut graph = Graph::default();
        let bits = self.input(&mut graph, index);
        let mut any = graph.number(0);
        for leaf in leaves {
            let mut fits = graph.matches(bits, leaf.mask.get(0, 64), leaf.value.get(0, 64));
            for (operator, limit, always) in
                [(Operator::GreaterEqual, leaf.since, 0), (Operator::LessEqual, leaf.until, u32::MAX)]
            {
                if limit != always {
                    let (generation, limit) = (graph.input(Input::Generation, 64), graph.number(limit.into()));
                    let since = graph.binary(operator, generation, limit);
                    fits = conjunction(&mut graph, fits, since);
                }
            }
            any = match graph.constant(any) {
                Some(0) => fits,
                _ => graph.binary(Operator::OneTrue, any, fits),
            };
        }
        let none = graph.not(any);
        let expr = self.finished(graph, none, &field.ty);
        let text = format!("no match: FIELD: '{}.{}': ", self.leaf.shown(), field.name.value);
        vec![Token::If(expr, vec![Token::Aside(self.numbered(text, &[index]))])]
    }

    /// A text followed by numbers with all digits of the document's words, the lowest 64 bits last.
    fn numbered(&self, text: String, fields: &[usize]) -> Vec<Token> {
        let digits = self.context.digits;
        let zeros = usize::from(digits).saturating_sub(16 * fields.len());
        let mut tokens = vec![Token::Text(text + &"0".repeat(zeros))];
        let each = digits.min(16);
        let number = Notation { prefix: "", digits: each, ..Notation::HEX };
        tokens.extend(fields.iter().map(|field| Token::Bits(*field, number)));
        tokens
    }

    /// The remark on ignored bits that are set.
    pub(super) fn strays(&mut self) -> Vec<Token> {
        let ignored = self.leaf.ignored;
        if ignored.is_zero() {
            return Vec::new();
        }
        let mut parts = Vec::new();
        for first in (0..self.leaf.bits).step_by(64).rev() {
            let last = (first + 63).min(self.leaf.bits - 1);
            let here = ignored.get(first.into(), 64);
            let mut graph = Graph::default();
            let mut value = graph.number(0);
            for (at, width) in Wide::new(here).runs() {
                let low = first + at as u16;
                let bits = self.joined(&mut graph, low, low + width as u16 - 1);
                let shift = graph.number(at.into());
                let bits = graph.binary(Operator::ShiftLeft, bits, shift);
                value = graph.binary(Operator::Or, value, bits);
            }
            let field = model::Field {
                name: format!("stray_{first}"),
                doc: format!("Which of bits {last} to {first} mean nothing and are set."),
                span: self.layout.span,
                source: Source::Computed { value: graph.finish(value, "bits that mean nothing"), inverse: Vec::new() },
                width: 64,
                signed: false,
                default: 0,
                ty: Type::Number(Notation::HEX),
            };
            parts.push(self.push(field));
        }
        let mut graph = Graph::default();
        let mut any = graph.number(0);
        for part in &parts {
            let part = self.input(&mut graph, *part);
            any = graph.binary(Operator::Or, any, part);
        }
        let text = format!("dontcare bits in {}: ", self.leaf.shown());
        let expr = graph.finish(any, "bits that mean nothing are set");
        vec![Token::If(expr, vec![Token::Aside(self.numbered(text, &parts))])]
    }

    /// The remark on bits that violate an assertion.
    pub(super) fn unexpected(&mut self, bitset: &Bitset, assert: &Pattern) -> Vec<Token> {
        let (low, high) = (assert.low, assert.high);
        let (ones, _) = assert.bits();
        let want = ones.get(low.into(), u32::from(high - low) + 1);
        let index = self.bits(&format!("bits_{low}"), low, high);
        self.layout.fields[index].default = want;
        let mut graph = Graph::default();
        let (bits, number) = (self.input(&mut graph, index), graph.number(want));
        let wrong = graph.binary(Operator::NotEqual, bits, number);
        let text = format!("WARNING: unexpected bits[{low}:{high}] in {}: ", bitset.shown());
        let mut tokens = self.numbered(text, &[index]);
        tokens.push(Token::Text(format!(" vs {want:0width$x}", width = usize::from(self.context.digits))));
        let expr = graph.finish(wrong, "bits are not as expected");
        vec![Token::If(expr, vec![Token::Aside(tokens)])]
    }
}
