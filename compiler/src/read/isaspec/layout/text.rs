//! The text of a layout, preceded by its remarks. Remarks keep their order when they are printed after the text.

use super::{Builder, Found, conjunction};
use crate::read::isaspec::graph::Graph;
use crate::source::{Span, Spanned};
use crate::stream::model::{Expr, Token, Type};

impl<'d> Builder<'_, 'd, '_> {
    /// The tokens of a name.
    pub(in crate::read::isaspec) fn shown(&mut self, name: &str, span: Span) -> Vec<Token> {
        let candidates = self.candidates(name);
        let mut tokens = Vec::new();
        let mut before: Vec<&'d Spanned<String>> = Vec::new();
        for (condition, found) in candidates {
            let inner = self.shown_as(name, found, span);
            match self.condition(&before, condition) {
                Some(expr) => tokens.push(Token::If(expr, inner)),
                None => tokens.extend(inner),
            }
            match condition {
                Some(text) => before.push(text),
                None => return tokens,
            }
        }
        let remark = vec![Token::Aside(vec![Token::Text(format!("no field '{name}'"))])];
        match self.condition(&before, None) {
            Some(expr) => tokens.push(Token::If(expr, remark)),
            None => tokens.extend(remark),
        }
        tokens
    }

    /// The condition that one expression holds and earlier ones do not; `None` if there are none.
    fn condition(&mut self, before: &[&Spanned<String>], own: Option<&Spanned<String>>) -> Option<Expr> {
        let text = (*own.or(before.last().copied())?).clone();
        let mut graph = Graph::default();
        let mut all = graph.number(1);
        for text in before {
            let holds = self.expression(&mut graph, text);
            let not = graph.not(holds);
            all = conjunction(&mut graph, all, not);
        }
        if let Some(own) = own {
            let holds = self.expression(&mut graph, own);
            all = conjunction(&mut graph, all, holds);
        }
        Some(self.finished(graph, all, &text))
    }

    fn shown_as(&mut self, name: &str, found: Found<'d>, span: Span) -> Vec<Token> {
        let index = self.found(found);
        match found {
            Found::Field(field) if field.ty.as_str() == "custom" => {
                // The host defines the names; without them the number is printed.
                vec![Token::Text(format!("<{name}:")), Token::Field(index), Token::Text(">".to_owned())]
            }
            Found::Field(field) if matches!(self.layout.fields[index].ty, Type::Set(..)) => {
                let mut tokens = self.unread(field, index);
                tokens.push(Token::Field(index));
                tokens
            }
            Found::Parameter(number) if self.parameters[number].ty.is_none() => {
                let message = format!("`{name}` is an operand of the enclosing bitset and cannot be shown here");
                self.context.once(span, "E0044", message);
                Vec::new()
            }
            _ => vec![Token::Field(index)],
        }
    }

    /// Writes the remarks on stray bits and violated assertions, then the text.
    pub(super) fn write(&mut self, level: usize, number: usize, display: Option<&'d Spanned<String>>) {
        let mut tokens = self.strays();
        for name in std::mem::take(&mut self.missing) {
            tokens.push(Token::Aside(vec![Token::Text(format!("no field '{name}'"))]));
        }
        for (at, bitset) in self.leaf.chain.clone().into_iter().enumerate().take(level + 1) {
            for (i, case) in bitset.overrides.iter().chain([&bitset.plain]).enumerate() {
                if at == level && i > number {
                    break;
                }
                let remarks: Vec<Token> =
                    case.asserts.iter().flat_map(|assert| self.unexpected(bitset, assert)).collect();
                let known = match &case.expression {
                    None => Some(true),
                    Some(text) => match self.context.expression(text) {
                        Some((span, _)) => self.truths.get(&span).copied(),
                        None => Some(false),
                    },
                };
                match (known, &case.expression) {
                    _ if remarks.is_empty() => {}
                    (Some(false), _) => {}
                    (None, Some(text)) => {
                        if let Some(expr) = self.condition(&[], Some(text)) {
                            tokens.push(Token::If(expr, remarks));
                        }
                    }
                    _ => tokens.extend(remarks),
                }
            }
        }
        match display {
            Some(display) => {
                self.layout.text_span = display.span;
                tokens.extend(crate::read::isaspec::display::tokens(self, display));
            }
            None => {
                let text = format!("{}: no display template", self.leaf.shown());
                tokens.push(Token::Aside(vec![Token::Text(text)]));
            }
        }
        self.layout.text = tokens;
    }
}
