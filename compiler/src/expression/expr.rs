//! From expressions to nodes.

use isaforge_core::semantics::{Class, Comparison, NONE, Op, Special, Type};

use super::build::{Builder, Stop};
use super::syntax::{Binary, Block, Expr, ExprKind, Unary};
use super::types::parse_type;
use super::value::Value;
use crate::diagnostic::Diagnostic;
use crate::source::{Span, Spanned};
use crate::suggest::{did_you_mean, one_of};

impl Builder<'_> {
    /// Builds an expression. `expected` is the type that the context expects, which literals take.
    pub(super) fn expression(&mut self, e: &Expr, expected: Option<Type>) -> Result<Value, Stop> {
        self.step(e.span)?;
        match &e.kind {
            ExprKind::Int(number) => Ok(Value::Int((*number).into())),
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
        if let Some(special) = Special::ALL.into_iter().find(|s| s.as_str() == name) {
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
            return Ok(Some(Value::Node(self.graph.node(Op::Special, special as u16, ty, [NONE; 4]))));
        }
        if let Some(round) = super::builtins::rounding(name) {
            return Ok(Some(Value::Round(vec![(Vec::new(), round)], None)));
        }
        if name == "nop" {
            return Ok(Some(Value::Nothing));
        }
        Ok(None)
    }

    /// The diagnostic of a name that stands for nothing.
    pub(super) fn unknown(&self, name: &str, span: Span) -> Diagnostic {
        let library = self.scope.library;
        let error = Diagnostic::error("E0121", span, format!("no value named `{name}`")).label("unknown name");
        let locals = self.locals.iter().map(|(local, _)| local.clone());
        let known: Vec<String> = locals
            .chain(self.scope.operands.iter().map(|o| o.name.clone()))
            .chain(self.scope.modifiers.iter().map(|m| m.name.clone()))
            .chain(self.scope.numbers.iter().map(|(n, _)| n.clone()))
            .chain(library.states.iter().map(|s| s.name.clone()))
            .chain(Special::ALL.iter().map(|s| s.as_str().to_owned()))
            .collect();
        match did_you_mean(name, known.iter().map(String::as_str)) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None if known.is_empty() => error,
            None => error.note(format!("the names in scope are {}", one_of(known.iter().take(20).map(String::as_str)))),
        }
    }

    fn unary(&mut self, operator: Unary, inner: &Expr, expected: Option<Type>) -> Result<Value, Stop> {
        let value = self.expression(inner, if operator == Unary::LogicalNot { None } else { expected })?;
        match (operator, &value) {
            (Unary::Neg, Value::Int(number)) => return Ok(Value::Int(-number)),
            (Unary::Neg, Value::Float(number)) => return Ok(Value::Float(-number)),
            _ => {}
        }
        let node = match operator {
            Unary::LogicalNot => self.truth_of_any_width(&value, inner.span)?,
            _ => self.node_of(&value, expected, inner.span)?,
        };
        let ty = self.graph.ty(node);
        let op = match operator {
            Unary::Neg if ty.class != Class::Bool => Op::Neg,
            Unary::Not if ty.is_integer() => Op::Not,
            Unary::LogicalNot if ty.class == Class::Bool => Op::Not,
            _ => {
                let sign = ["-", "~", "!"][operator as usize];
                let error = Diagnostic::error("E0122", inner.span, format!("`{sign}` does not apply to `{ty}`"));
                return Err(self.error(error));
            }
        };
        Ok(Value::Node(self.graph.node(op, 0, ty, [node, NONE, NONE, NONE])))
    }

    fn truth_of_any_width(&mut self, value: &Value, span: Span) -> Result<u16, Stop> {
        match self.node_of(value, None, span) {
            Ok(node) if self.graph.ty(node).class == Class::Bool => Ok(node),
            Ok(_) => self.truth(value, span),
            Err(Stop::NeedsType(_)) => self.truth(value, span),
            Err(stop) => Err(stop),
        }
    }

    fn binary(&mut self, op: Binary, a: &Expr, b: &Expr, expected: Option<Type>, span: Span) -> Result<Value, Stop> {
        if matches!(op, Binary::LogicalAnd | Binary::LogicalOr) {
            let left = self.expression(a, None)?;
            let left = self.truth_of_any_width(&left, a.span)?;
            let right = self.expression(b, None)?;
            let right = self.truth_of_any_width(&right, b.span)?;
            let (left, right, ty) = self.unify((&Value::Node(left), a.span), (&Value::Node(right), b.span), None)?;
            let op = if op == Binary::LogicalAnd { Op::And } else { Op::Or };
            return Ok(Value::Node(self.graph.node(op, 0, ty, [left, right, NONE, NONE])));
        }
        let wanted = if op.compares() { None } else { expected };
        let before = self.graph.nodes.len();
        let left = self.expression(a, wanted);
        let shift = matches!(op, Binary::Shl | Binary::Shr);
        let right = match &left {
            _ if shift => self.expression(b, Some(Type::U32))?,
            // The other side may determine the type.
            Ok(Value::Node(id)) => {
                let ty = self.graph.ty(*id);
                self.expression(b, Some(ty))?
            }
            _ => self.expression(b, wanted)?,
        };
        let left = match left {
            Err(Stop::NeedsType(place)) => match &right {
                Value::Node(id) => {
                    let ty = self.graph.ty(*id);
                    self.again(before, place)?;
                    self.expression(a, Some(ty))?
                }
                _ => return Err(Stop::NeedsType(place)),
            },
            left => left?,
        };
        if let (Value::Int(x), Value::Int(y)) = (&left, &right)
            && let Some(value) = fold(op, *x, *y)
        {
            return Ok(
                value.map_or_else(|holds| Value::Node(self.graph.constant(Type::BOOL, holds.into())), Value::Int)
            );
        }
        if shift {
            return self.shift(op, (&left, a.span), (&right, b.span), expected);
        }
        let (x, y, ty) = self.unify((&left, a.span), (&right, b.span), wanted)?;
        if op.compares() {
            return Ok(Value::Node(self.comparison(op, x, y, ty)));
        }
        let integer = ty.is_integer();
        let node_op = match op {
            Binary::Or if integer || ty.class == Class::Bool => Op::Or,
            Binary::Xor if integer || ty.class == Class::Bool => Op::Xor,
            Binary::And if integer || ty.class == Class::Bool => Op::And,
            Binary::Add if ty.class != Class::Bool => Op::Add,
            Binary::Sub if ty.class != Class::Bool => Op::Sub,
            Binary::Mul if ty.class != Class::Bool => Op::Mul,
            Binary::Div if ty.class != Class::Bool => Op::Div,
            Binary::Rem if integer => Op::Rem,
            _ => {
                let error = Diagnostic::error("E0122", span, format!("`{}` does not apply to `{ty}`", op.as_str()));
                return Err(self.error(error));
            }
        };
        let node = self.graph.node(node_op, 0, ty, [x, y, NONE, NONE]);
        Ok(Value::Node(self.canonical(node)))
    }

    fn shift(
        &mut self,
        op: Binary,
        (left, left_span): (&Value, Span),
        (right, right_span): (&Value, Span),
        expected: Option<Type>,
    ) -> Result<Value, Stop> {
        let x = self.node_of(left, expected, left_span)?;
        let y = self.node_of(right, Some(Type::U32), right_span)?;
        let (ty, count) = (self.graph.ty(x), self.graph.ty(y));
        if !ty.is_integer() {
            let error = Diagnostic::error("E0122", left_span, format!("`{}` does not apply to `{ty}`", op.as_str()));
            return Err(self.error(error));
        }
        if count.class != Class::Unsigned || count.lanes != 1 && count.lanes != ty.lanes {
            let error = Diagnostic::error("E0122", right_span, format!("a count of type `{count}`"));
            return Err(self.error(error.help("a count is an unsigned integer, one in all or one per component")));
        }
        let op = if op == Binary::Shl { Op::Shl } else { Op::Shr };
        Ok(Value::Node(self.graph.node(op, 0, ty, [x, y, NONE, NONE])))
    }

    fn comparison(&mut self, op: Binary, x: u16, y: u16, ty: Type) -> u16 {
        let (how, x, y) = match op {
            Binary::Eq => (Comparison::Equal, x, y),
            Binary::Ne => (Comparison::NotEqual, x, y),
            Binary::Lt => (Comparison::Less, x, y),
            Binary::Le => (Comparison::LessEqual, x, y),
            Binary::Gt => (Comparison::Less, y, x),
            _ => (Comparison::LessEqual, y, x),
        };
        self.graph.node(Op::Compare, how as u16, ty.truth(), [x, y, NONE, NONE])
    }

    /// Canonicalises the NaN of an arithmetic result, if the instruction set has a canonical NaN for its type.
    pub(super) fn canonical(&mut self, node: u16) -> u16 {
        let ty = self.graph.ty(node);
        if ty.is_float() && self.scope.library.canonical.contains(&ty.bits) {
            self.graph.node(Op::Canonical, 0, ty, [node, NONE, NONE, NONE])
        } else {
            node
        }
    }

    // Parts.

    fn member(&mut self, of: &Expr, name: &Spanned<String>, optional: bool) -> Result<Value, Stop> {
        if let ExprKind::Name(first) = &of.kind
            && self.local(first).is_none()
            && let Some(modifier) = self.modifier_of(first, &name.value)
        {
            return Ok(Value::Modifier(modifier));
        }
        let value = self.expression(of, None)?;
        if let Value::Operand(operand) = value {
            let suffixes = &self.scope.operands[operand].suffixes;
            if let Some(suffix) = suffixes.iter().position(|s| s.name == name.value) {
                return Ok(Value::Suffix(operand, suffix));
            }
            if optional {
                return Ok(Value::Absent);
            }
        }
        let node = self.node_of(&value, None, of.span)?;
        let ty = self.graph.ty(node);
        if let Some(index) = ["x", "y", "z", "w"].iter().position(|c| *c == name.value)
            && index < usize::from(ty.lanes)
            && ty.lanes > 1
        {
            return Ok(Value::Node(self.get(node, index as u16)));
        }
        let Some((bits, index)) = part(&name.value, ty) else {
            let message = format!("`{ty}` has no part `{}`", name.value);
            let mut error = Diagnostic::error("E0121", name.span, message);
            if let Value::Operand(operand) = value {
                let info = &self.scope.operands[operand];
                let suffixes: Vec<&str> = info.suffixes.iter().map(|s| s.name.as_str()).collect();
                if !suffixes.is_empty() {
                    error = error.note(format!("modifiers of `{}`: {}", info.name, one_of(suffixes)));
                }
            }
            return Err(self
                .error(error.note("parts are `b0` to `b7`, `h0` to `h3`, `w0` and `w1`, and `x` to `w` of vectors")));
        };
        if ty.bits == bits {
            return Ok(Value::Node(self.get(node, index)));
        }
        let node = self.bits(node, Type::unsigned(ty.size() as u8));
        let imm = u16::from(bits) * index;
        Ok(Value::Node(self.graph.node(Op::Slice, imm, Type::unsigned(bits), [node, NONE, NONE, NONE])))
    }

    /// The modifier whose name consists of these two parts.
    fn modifier_of(&self, first: &str, second: &str) -> Option<usize> {
        let both = |name: &str| name.strip_prefix(first)?.strip_prefix('.').map(|rest| rest == second);
        self.scope.modifiers.iter().position(|m| both(&m.name) == Some(true))
    }

    /// One component of a vector.
    pub(super) fn get(&mut self, node: u16, index: u16) -> u16 {
        let ty = self.graph.ty(node);
        if ty.lanes == 1 { node } else { self.graph.node(Op::Get, index, ty.component(), [node, NONE, NONE, NONE]) }
    }

    fn index(&mut self, of: &Expr, index: &Expr) -> Result<Value, Stop> {
        let value = self.expression(of, None)?;
        match value {
            Value::Operand(operand) if self.scope.operands[operand].elements > 1 => {
                let element = self.whole(index)?;
                return Ok(Value::Node(self.read_operand(operand, element, index.span)?));
            }
            Value::States(state) => {
                let index = self.node(index, Some(Type::U32))?;
                return Ok(Value::Node(self.read_state(state, Some(index))));
            }
            _ => {}
        }
        let node = self.node_of(&value, None, of.span)?;
        let (ty, at) = (self.graph.ty(node), self.whole(index)?);
        let count = if ty.lanes > 1 { u32::from(ty.lanes) } else { u32::from(ty.bits) };
        let Some(at) = u16::try_from(at).ok().filter(|at| u32::from(*at) < count) else {
            let message = format!("`{ty}` has no element {at}");
            return Err(self.error(Diagnostic::error("E0125", index.span, message)));
        };
        if ty.lanes > 1 {
            return Ok(Value::Node(self.get(node, at)));
        }
        let bit = self.graph.node(Op::Slice, at, Type::unsigned(1), [node, NONE, NONE, NONE]);
        Ok(Value::Node(self.bits(bit, Type::BOOL)))
    }

    fn slice(&mut self, of: &Expr, high: &Expr, low: &Expr, span: Span) -> Result<Value, Stop> {
        let node = self.node(of, None)?;
        let (ty, high_bit, low_bit) = (self.graph.ty(node), self.whole(high)?, self.whole(low)?);
        if !ty.is_integer() || ty.lanes > 1 {
            let error = Diagnostic::error("E0122", of.span, format!("`{ty}` has no bits to name"));
            return Err(self.error(error.help("read it as an integer first: `x as u32`")));
        }
        if low_bit < 0 || high_bit < low_bit || high_bit >= i128::from(ty.bits) {
            let message = format!("`{ty}` has bits {} to 0, the higher one is written first", ty.bits - 1);
            return Err(self.error(Diagnostic::error("E0125", span, message)));
        }
        let result = Type::unsigned((high_bit - low_bit + 1) as u8);
        Ok(Value::Node(self.graph.node(Op::Slice, low_bit as u16, result, [node, NONE, NONE, NONE])))
    }

    fn reinterpret(&mut self, inner: &Expr, name: &Spanned<String>) -> Result<Value, Stop> {
        let ty = self.type_named(name)?;
        let value = self.expression(inner, Some(ty))?;
        let node = self.node_of(&value, Some(ty), inner.span)?;
        let found = self.graph.ty(node);
        if found.size() != ty.size() {
            return Err(self.mismatch(inner.span, ty, found));
        }
        Ok(Value::Node(self.bits(node, ty)))
    }

    pub(super) fn type_named(&mut self, name: &Spanned<String>) -> Result<Type, Stop> {
        parse_type(&name.value).ok_or_else(|| {
            let error = Diagnostic::error("E0122", name.span, format!("`{}` is not a type", name.value));
            self.error(
                error.help("types are `bool`, `u1` to `u64`, `i1` to `i64`, `f16`, `f32`, `f64`, and vectors: `f16x2`"),
            )
        })
    }

    fn vector(&mut self, items: &[(Value, Span)], expected: Option<Type>, span: Span) -> Result<Value, Stop> {
        let mut component = None;
        for (value, place) in items {
            if let Value::Node(_) | Value::Operand(_) = value {
                let node = self.node_of(value, None, *place)?;
                component = Some(self.graph.ty(node));
                break;
            }
        }
        let Some(component) = component.or(expected.map(Type::component)) else { return Err(Stop::NeedsType(span)) };
        let ty = component.times(items.len().min(255) as u8);
        if component.lanes > 1 || items.len() < 2 || component.size() as usize * items.len() > 64 {
            let message = format!("a vector of {} `{component}`", items.len());
            let error = Diagnostic::error("E0122", span, message);
            return Err(self.error(error.help("vectors have at least 2 components and at most 64 bits")));
        }
        let mut nodes = Vec::with_capacity(items.len());
        for (value, place) in items {
            nodes.push(self.typed(value, component, *place)?);
        }
        let args = [NONE, NONE, NONE, NONE];
        Ok(Value::Node(self.graph.with_list(Op::Pack, 0, ty, args, &nodes)))
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

/// The width in bits and the index of a part: `b1`, `h0`, `w1`.
pub(super) fn part(name: &str, of: Type) -> Option<(u8, u16)> {
    let (letter, index) = name.split_at_checked(1)?;
    let bits = match letter {
        "b" => 8u8,
        "h" => 16,
        "w" => 32,
        _ => return None,
    };
    let index: u16 = index.parse().ok()?;
    (index < 8 && u32::from(bits) * (u32::from(index) + 1) <= of.size()).then_some((bits, index))
}

fn block_span(block: &Block) -> Span {
    block.value.as_ref().map_or(block.span, |value| value.span)
}

/// Applies an operator to known numbers: a number, or whether a comparison holds. `None` where it has no result.
fn fold(op: Binary, x: i128, y: i128) -> Option<Result<i128, bool>> {
    let number = match op {
        Binary::Eq => return Some(Err(x == y)),
        Binary::Ne => return Some(Err(x != y)),
        Binary::Lt => return Some(Err(x < y)),
        Binary::Le => return Some(Err(x <= y)),
        Binary::Gt => return Some(Err(x > y)),
        Binary::Ge => return Some(Err(x >= y)),
        Binary::Add => x.checked_add(y)?,
        Binary::Sub => x.checked_sub(y)?,
        Binary::Mul => x.checked_mul(y)?,
        Binary::Div => x.checked_div(y)?,
        Binary::Rem => x.checked_rem(y)?,
        Binary::And => x & y,
        Binary::Or => x | y,
        Binary::Xor => x ^ y,
        Binary::Shl if (0..64).contains(&y) => x.checked_mul(1i128 << y)?,
        Binary::Shr if (0..64).contains(&y) => x >> y,
        _ => return None,
    };
    Some(Ok(number))
}
