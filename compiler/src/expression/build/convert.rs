//! Converts the values of expressions to typed nodes.

use isaforge_core::float::{self, Format, Round};
use isaforge_core::semantics::{NONE, Op, Type};

use super::{Builder, Stop};
use crate::diagnostic::Diagnostic;
use crate::expression::value::Value;
use crate::source::Span;

impl Builder<'_> {
    /// Converts the value to a node. `expected` is the type that a literal takes.
    pub(in crate::expression) fn node_of(
        &mut self,
        value: &Value,
        expected: Option<Type>,
        span: Span,
    ) -> Result<u16, Stop> {
        match value {
            Value::Node(id) => Ok(*id),
            Value::Int(number) => {
                let ty = expected.ok_or(Stop::NeedsType(span))?;
                let bits = self.literal(*number, ty, span)?;
                Ok(self.graph.constant(ty, repeat(bits, ty)))
            }
            Value::Float(number) => {
                let ty = expected.ok_or(Stop::NeedsType(span))?;
                if !ty.is_float() {
                    let message = format!("`{number}` is not a value of type `{ty}`");
                    return Err(self.error(Diagnostic::error("E0122", span, message).label("a number with a fraction")));
                }
                let bits = float::convert(Format::F64, ty.format(), number.to_bits(), Round::NearestEven);
                Ok(self.graph.constant(ty, repeat(bits, ty)))
            }
            Value::Operand(operand) => self.read_operand(*operand, 0, span),
            Value::Modifier(_) | Value::Suffix(..) => {
                let info = self.modifier_info(value);
                match info.choices {
                    crate::expression::Choices::Flag => Ok(self.is(value, &[1])),
                    crate::expression::Choices::Number(_) => Ok(self.modifier_bits(value)),
                    crate::expression::Choices::Values(_) => {
                        let message = format!("the modifier `{}` is not a value", info.name);
                        let help = format!("match on it: `match {} {{ … }}`", info.name);
                        Err(self.error(Diagnostic::error("E0122", span, message).help(help)))
                    }
                }
            }
            Value::Absent => Ok(self.graph.constant(Type::BOOL, 0)),
            Value::Round(..) => {
                Err(self.error(Diagnostic::error("E0122", span, "a rounding is an argument of functions, not a value")))
            }
            Value::States(state) => {
                let message = format!("`{}` has several elements", self.scope.library.states[*state].name);
                Err(self.error(Diagnostic::error("E0122", span, message).help("name one: `[0]`")))
            }
            Value::Nothing => Err(self.error(
                Diagnostic::error("E0126", span, "this has no value").label("an effect where a value is needed"),
            )),
        }
    }

    /// Converts the value to a node of exactly this type.
    pub(in crate::expression) fn typed(&mut self, value: &Value, ty: Type, span: Span) -> Result<u16, Stop> {
        let node = self.node_of(value, Some(ty), span)?;
        let found = self.graph.ty(node);
        if found == ty { Ok(node) } else { Err(self.mismatched(node, ty, span)) }
    }

    /// Converts the value to a truth value.
    pub(in crate::expression) fn truth(&mut self, value: &Value, span: Span) -> Result<u16, Stop> {
        let node = self.node_of(value, None, span).map_err(|stop| match stop {
            Stop::NeedsType(_) => self.error(
                Diagnostic::error("E0122", span, "expected a truth value, found a number").help("compare it: `x != 0`"),
            ),
            stop => stop,
        })?;
        let found = self.graph.ty(node);
        if found == Type::BOOL { Ok(node) } else { Err(self.mismatch(span, Type::BOOL, found)) }
    }

    /// The bits of a whole number as a component of a type.
    pub(in crate::expression) fn literal(&mut self, number: i128, ty: Type, span: Span) -> Result<u64, Stop> {
        if ty.is_float() {
            let bits = float::from_int(Format::F64, number as u64, 64, number < 0, Round::NearestEven);
            let converted = float::convert(Format::F64, ty.format(), bits, Round::NearestEven);
            let back = float::to_int(ty.format(), converted, 64, number < 0, Round::NearestEven);
            if back == number as u64 && number.unsigned_abs() <= u128::from(u64::MAX) {
                return Ok(converted);
            }
            let message = format!("`{number}` cannot be represented exactly as `{}`", ty.component());
            return Err(self.error(Diagnostic::error("E0125", span, message)));
        }
        let bits = u32::from(ty.bits);
        let (least, greatest) = (-(1i128 << (bits - 1)), (1i128 << bits) - 1);
        if ty.class == isaforge_core::semantics::Class::Bool {
            let error = Diagnostic::error("E0122", span, "expected a truth value, found a number");
            return Err(self.error(error.help("write `true` or `false`")));
        }
        if !(least..=greatest).contains(&number) {
            let message = format!("`{number}` does not fit `{}`", ty.component());
            return Err(self.error(Diagnostic::error("E0125", span, message).label(format!("{bits} bits"))));
        }
        Ok(number as u64 & ty.component().mask())
    }

    /// Converts two values to nodes of the same type; a literal takes the type of the other.
    pub(in crate::expression) fn unify(
        &mut self,
        (a, a_span): (&Value, Span),
        (b, b_span): (&Value, Span),
        expected: Option<Type>,
    ) -> Result<(u16, u16, Type), Stop> {
        let literal = |value: &Value| matches!(value, Value::Int(_) | Value::Float(_));
        let (left, right) = if literal(a) && !literal(b) {
            let right = self.node_of(b, expected, b_span)?;
            let ty = self.graph.ty(right);
            (self.node_of(a, Some(ty), a_span)?, right)
        } else {
            let left = self.node_of(a, expected, a_span)?;
            let ty = self.graph.ty(left);
            (left, self.node_of(b, Some(ty), b_span)?)
        };
        let (a, b) = (self.graph.ty(left), self.graph.ty(right));
        if a == b {
            return Ok((left, right, a));
        }
        let message = format!("mismatched types `{a}` and `{b}`");
        let error =
            Diagnostic::error("E0122", b_span, message).label(format!("`{b}`")).secondary(a_span, format!("`{a}`"));
        // Of two widths, the larger one loses nothing, unless the context wants the smaller one.
        let widens = a.is_integer() && b.is_integer() && a.bits < b.bits && expected != Some(a);
        let mut error = if widens { conversion(error, b, a) } else { conversion(error, a, b) };
        error.notes.extend(self.of_size(left, b).or_else(|| self.of_size(right, a)));
        Err(self.error(error))
    }

    /// Says that another `size` of an operand gives it the expected type.
    fn of_size(&self, node: u16, expected: Type) -> Option<String> {
        let node = self.graph.nodes.get(usize::from(node)).filter(|node| node.op == Op::Operand)?;
        let info = self.scope.operands.get(usize::from(node.args[0]))?;
        let bits = expected.bits;
        let possible = expected == Type::unsigned(bits) && u16::from(bits).is_multiple_of(info.size_step);
        possible.then(|| format!("`{}` is a `{expected}` with `size: {bits}`", info.name))
    }

    /// Reports a node that has another type than expected.
    pub(super) fn mismatched(&mut self, node: u16, expected: Type, span: Span) -> Stop {
        let found = self.graph.ty(node);
        let message = format!("expected `{expected}`, found `{found}`");
        let error = Diagnostic::error("E0122", span, message).label(format!("`{found}`"));
        let mut error = conversion(error, expected, found);
        error.notes.extend(self.of_size(node, expected));
        self.error(error)
    }

    pub(in crate::expression) fn mismatch(&mut self, span: Span, expected: Type, found: Type) -> Stop {
        let message = format!("expected `{expected}`, found `{found}`");
        self.error(conversion(Diagnostic::error("E0122", span, message).label(format!("`{found}`")), expected, found))
    }

    /// Reinterprets the bits as another type of the same size.
    pub(in crate::expression) fn bits(&mut self, node: u16, ty: Type) -> u16 {
        if self.graph.ty(node) == ty { node } else { self.graph.node(Op::Bits, 0, ty, [node, NONE, NONE, NONE]) }
    }
}

/// `bits` in every component.
fn repeat(bits: u64, ty: Type) -> u64 {
    (0..u32::from(ty.lanes)).fold(0, |all, i| all | bits << (u32::from(ty.bits) * i).min(63))
}

fn conversion(error: Diagnostic, expected: Type, found: Type) -> Diagnostic {
    if expected == Type::BOOL && found.is_integer() {
        return error.help("compare it: `… != 0`");
    }
    if expected.size() == found.size() {
        return error.help(format!("`as {expected}` reads the same bits as `{expected}`"));
    }
    if expected.is_integer() && found.is_integer() && expected.lanes == found.lanes {
        let name = match (expected.bits < found.bits, found.class) {
            (true, _) => "trunc",
            (false, isaforge_core::semantics::Class::Signed) => "sext",
            _ => "zext",
        };
        return error.help(format!("`{name}({expected}, …)` changes the width"));
    }
    if expected.is_float() || found.is_float() {
        return error.help(format!("`cvt({expected}, …)` converts the number"));
    }
    error
}
