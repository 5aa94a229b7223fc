//! From expressions to nodes.
//!
//! - here: an expression of any kind, names, and the choice between two blocks
//! - `operators`: the result of an operator
//! - `parts`: parts of values, and vectors made of components
//!
//! An operator or a part takes the values of the expressions within it and adds a node.

mod operators;
mod parts;

use isaforge_core::semantics::{NONE, Op, Special, Type};
use isaforge_core::stream::STORED;

use super::build::{Builder, Stop};
use super::syntax::{Block, Expr, ExprKind};
use super::value::Value;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::suggest::{did_you_mean, one_of};

pub(super) use parts::{part, parts_of};

impl Builder<'_> {
    /// Builds an expression. `expected` is the type that the context expects, which literals take.
    pub(super) fn expression(&mut self, e: &Expr, expected: Option<Type>) -> Result<Value, Stop> {
        self.step(e.span)?;
        match &e.kind {
            ExprKind::Int(number, _) => Ok(Value::Int((*number).into())),
            ExprKind::Float(number) => Ok(Value::Float(*number)),
            ExprKind::Bool(value) => Ok(Value::Node(self.graph.constant(Type::BOOL, (*value).into()))),
            ExprKind::Name(name) => self.name(name, e.span),
            ExprKind::Unary(operator, inner) => self.unary(*operator, inner, expected),
            ExprKind::Binary(operator, a, b) => self.binary(*operator, a, b, expected, e.span),
            ExprKind::Member(of, name, optional) => self.member(of, name, *optional),
            ExprKind::Index(of, index) => self.index(of, index),
            ExprKind::Slice(of, high, low) => self.slice(of, high, low, e.span),
            ExprKind::As(inner, name) => self.reinterpret(inner, name),
            ExprKind::Call(name, arguments) => self.call(name, arguments, expected, e.span),
            ExprKind::Vector(items) => {
                let items: Vec<(Value, Span)> = items
                    .iter()
                    .map(|item| Ok((self.expression(item, expected.map(Type::component))?, item.span)))
                    .collect::<Result<_, Stop>>()?;
                self.vector(&items, expected, e.span)
            }
            ExprKind::Comprehension(name, from, to, body) => {
                let mut items = Vec::new();
                for i in self.range(from, to)? {
                    self.locals.push((name.value.clone(), Value::Int(i)));
                    let item = self.expression(body, expected.map(Type::component));
                    self.locals.pop();
                    items.push((item?, body.span));
                }
                self.vector(&items, expected, e.span)
            }
            ExprKind::If(condition, then, otherwise) => self.branch(condition, then, otherwise.as_ref(), expected),
            ExprKind::Match(subject, arms) => self.choose(subject, arms, expected, e.span),
            ExprKind::Block(block) => self.block(block, expected),
        }
    }

    /// Builds an expression as a node.
    pub(super) fn node(&mut self, e: &Expr, expected: Option<Type>) -> Result<u16, Stop> {
        let value = self.expression(e, expected)?;
        self.node_of(&value, expected, e.span)
    }

    fn name(&mut self, name: &str, span: Span) -> Result<Value, Stop> {
        match self.named(name, span)? {
            Some(value) => Ok(value),
            None => {
                let error = self.unknown(name, span);
                Err(self.error(error))
            }
        }
    }

    /// Returns what a name stands for. `None` if it is unknown.
    pub(super) fn named(&mut self, name: &str, span: Span) -> Result<Option<Value>, Stop> {
        if let Some(at) = self.local(name) {
            return Ok(Some(self.locals[at].1.clone()));
        }
        if let Some(operand) = self.scope.operands.iter().position(|o| o.name == name) {
            return Ok(Some(Value::Operand(operand)));
        }
        if let Some(modifier) = self.scope.modifiers.iter().position(|m| m.name == name) {
            return Ok(Some(Value::Modifier(modifier)));
        }
        if let Some((_, number)) = self.scope.numbers.iter().find(|(n, _)| n == name) {
            return Ok(Some(Value::Int((*number).into())));
        }
        let library = self.scope.library;
        if let Some(state) = library.states.iter().position(|s| s.name == name) {
            if library.states[state].count > 1 {
                return Ok(Some(Value::States(state)));
            }
            return Ok(Some(Value::Node(self.read_state(state, None))));
        }
        if let Some(special) = self.specials().iter().find(|s| s.as_str() == name) {
            let ty = match special {
                Special::Lane => Type::U32,
                Special::Active => Type::U64,
                Special::Pc | Special::Next => match library.pc {
                    Some(ty) => ty,
                    None => {
                        let error = Diagnostic::error("E0121", span, format!("`{name}` has no type"));
                        return Err(self.error(error.help("declare its width: `semantics: { pc: u32 }`")));
                    }
                },
            };
            return Ok(Some(Value::Node(self.graph.node(Op::Special, *special as u16, ty, [NONE; 4]))));
        }
        if let Some(round) = super::builtins::rounding(name) {
            return Ok(Some(Value::Round(vec![(Vec::new(), round)], None)));
        }
        if name == "nop" {
            return Ok(Some(Value::Nothing));
        }
        Ok(None)
    }

    /// The properties of threads that the text may use: an encoding has none.
    fn specials(&self) -> &'static [Special] {
        if self.scope.in_encoding { &[] } else { &Special::ALL }
    }

    /// The diagnostic of a name that stands for nothing.
    pub(super) fn unknown(&self, name: &str, span: Span) -> Diagnostic {
        let library = self.scope.library;
        let error = match Special::ALL.iter().find(|special| special.as_str() == name) {
            Some(_) => Diagnostic::error("E0121", span, format!("`{name}` is not known in an encoding"))
                .label("known only when the instruction executes"),
            None => Diagnostic::error("E0121", span, format!("no value named `{name}`")).label("unknown name"),
        };
        let locals = self.locals[self.frame..].iter().map(|(local, _)| local.as_str());
        let known: Vec<&str> = locals
            .chain(self.scope.operands.iter().map(|o| o.name.as_str()))
            .chain(self.scope.modifiers.iter().map(|m| m.name.as_str()))
            .chain(self.scope.numbers.iter().map(|(n, _)| n.as_str()))
            .chain(library.states.iter().map(|s| s.name.as_str()))
            .chain(self.specials().iter().map(|s| s.as_str()))
            // Fields that stand for modifiers have no name, and own bits of computed values none that a text can use.
            .filter(|name| !name.is_empty() && !name.ends_with(STORED))
            .collect();
        match did_you_mean(name, known.iter().copied()) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None if known.is_empty() => error,
            None => error.note(format!("the names in scope are {}", one_of(known))),
        }
    }

    // Choices.

    fn branch(
        &mut self,
        condition: &Expr,
        then: &Block,
        otherwise: Option<&Block>,
        expected: Option<Type>,
    ) -> Result<Value, Stop> {
        let value = self.expression(condition, None)?;
        if let Value::Absent = value {
            return otherwise.map_or(Ok(Value::Nothing), |block| self.block(block, expected));
        }
        let yes = self.truth(&value, condition.span)?;
        let no = self.graph.node(Op::Not, 0, Type::BOOL, [yes, NONE, NONE, NONE]);
        let before = self.graph.nodes.len();
        let first = self.under(yes, |b| b.block(then, expected));
        if let Err(Stop::NeedsType(place)) = first {
            self.again(before, place)?;
        }
        let Some(otherwise) = otherwise else {
            return match first? {
                Value::Nothing => Ok(Value::Nothing),
                _ => {
                    let span = then.value.as_ref().map_or(then.span, |v| v.span);
                    let error = Diagnostic::error("E0126", span, "without `else` there is no value");
                    Err(self.error(error.help("add `else { … }`")))
                }
            };
        };
        let (first, second) =
            self.both(first, (then, yes), |b, expected| b.under(no, |b| b.block(otherwise, expected)), expected)?;
        let spans = (block_span(then), block_span(otherwise));
        match (&first, &second) {
            (Value::Nothing, Value::Nothing) => Ok(Value::Nothing),
            _ => {
                let (a, b, ty) = self.unify((&first, spans.0), (&second, spans.1), expected)?;
                Ok(Value::Node(self.graph.node(Op::Select, 0, ty, [yes, a, b, NONE])))
            }
        }
    }

    /// Builds both sides of a choice, where one may determine the type of the other.
    fn both(
        &mut self,
        first: Result<Value, Stop>,
        (then, yes): (&Block, u16),
        otherwise: impl Fn(&mut Self, Option<Type>) -> Result<Value, Stop>,
        expected: Option<Type>,
    ) -> Result<(Value, Value), Stop> {
        let type_of = |b: &Self, value: &Value| match value {
            Value::Node(id) => Some(b.graph.ty(*id)),
            _ => None,
        };
        match first {
            Ok(first) => {
                let known = expected.or_else(|| type_of(self, &first));
                let second = otherwise(self, known)?;
                Ok((first, second))
            }
            Err(Stop::NeedsType(span)) => {
                let second = otherwise(self, expected)?;
                let Some(ty) = type_of(self, &second) else { return Err(Stop::NeedsType(span)) };
                let first = self.under(yes, |b| b.block(then, Some(ty)))?;
                Ok((first, second))
            }
            Err(stop) => Err(stop),
        }
    }
}

fn block_span(block: &Block) -> Span {
    block.value.as_ref().map_or(block.span, |value| value.span)
}
