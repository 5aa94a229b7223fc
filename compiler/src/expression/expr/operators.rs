//! Operators: the operation that each becomes, or its result if both sides are known numbers.

use isaforge_core::semantics::{Class, Comparison, NONE, Op, Type};

use crate::diagnostic::Diagnostic;
use crate::expression::build::{Builder, Stop};
use crate::expression::syntax::{Binary, Expr, Unary};
use crate::expression::value::Value;
use crate::source::Span;

impl Builder<'_> {
    pub(super) fn unary(&mut self, operator: Unary, inner: &Expr, expected: Option<Type>) -> Result<Value, Stop> {
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

    pub(super) fn binary(
        &mut self,
        op: Binary,
        a: &Expr,
        b: &Expr,
        expected: Option<Type>,
        span: Span,
    ) -> Result<Value, Stop> {
        if matches!(op, Binary::LogicalAnd | Binary::LogicalOr) {
            let left = self.expression(a, None)?;
            let left = self.truth_of_any_width(&left, a.span)?;
            // The right side is not evaluated where the left one decides.
            let right = match self.graph.ty(left) {
                Type::BOOL => self.where_is(left, op == Binary::LogicalAnd, |s| s.expression(b, None))?,
                _ => self.expression(b, None)?,
            };
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
    pub(in crate::expression) fn canonical(&mut self, node: u16) -> u16 {
        let ty = self.graph.ty(node);
        if ty.is_float() && self.scope.library.canonical.contains(&ty.bits) {
            self.graph.node(Op::Canonical, 0, ty, [node, NONE, NONE, NONE])
        } else {
            node
        }
    }
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
