//! Parts of values: members, elements and bits; bits read as another type; vectors put together from components.

use isaforge_core::semantics::{NONE, Op, Type};

use crate::diagnostic::Diagnostic;
use crate::expression::build::{Builder, Stop};
use crate::expression::syntax::{Expr, ExprKind};
use crate::expression::types::parse_type;
use crate::expression::value::Value;
use crate::source::{Span, Spanned};
use crate::suggest::one_of;

impl Builder<'_> {
    // Parts.

    pub(super) fn member(&mut self, of: &Expr, name: &Spanned<String>, optional: bool) -> Result<Value, Stop> {
        if let ExprKind::Name(first) = &of.kind
            && self.local(first).is_none()
            && let Some(modifier) = self.modifier_of(first, &name.value)
        {
            // What a field with a mistake holds is unknown.
            if self.out.pass_over(&name.value) {
                return Err(Stop::Reported);
            }
            return Ok(Value::Modifier(modifier));
        }
        let value = self.expression(of, None)?;
        if let Value::Operand(operand) = value {
            let suffixes = &self.scope.operands[operand].suffixes;
            if let Some(suffix) = suffixes.iter().position(|s| s.name == name.value) {
                return Ok(Value::Suffix(operand, suffix));
            }
            let info = &self.scope.operands[operand];
            if let Some((field, reading)) = info.partial.iter().find(|(field, _)| *field == name.value) {
                let message = format!("not all readings of `{}` have `{field}`: `{reading}` does not", info.name);
                let error = Diagnostic::error("E0121", name.span, message).label("expected a field of all readings");
                let help = format!("give `{reading}` a `{field}` of the same form, too");
                return Err(self.error(error.help(help)));
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
            return Err(self.error(error.note(parts_of(ty))));
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
    pub(in crate::expression) fn get(&mut self, node: u16, index: u16) -> u16 {
        let ty = self.graph.ty(node);
        if ty.lanes == 1 { node } else { self.graph.node(Op::Get, index, ty.component(), [node, NONE, NONE, NONE]) }
    }

    pub(super) fn index(&mut self, of: &Expr, index: &Expr) -> Result<Value, Stop> {
        let value = self.expression(of, None)?;
        match value {
            Value::Operand(operand) if self.scope.operands[operand].elements > 1 => {
                let element = self.whole(index)?;
                return Ok(Value::Node(self.read_operand(operand, element, index.span)?));
            }
            Value::States(state) => {
                let at = self.node(index, Some(Type::U32))?;
                self.within(state, at, index.span)?;
                return Ok(Value::Node(self.read_state(state, Some(at))));
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

    pub(super) fn slice(&mut self, of: &Expr, high: &Expr, low: &Expr, span: Span) -> Result<Value, Stop> {
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

    pub(super) fn reinterpret(&mut self, inner: &Expr, name: &Spanned<String>) -> Result<Value, Stop> {
        let ty = self.type_named(name)?;
        if let ExprKind::Int(number, true) = inner.kind
            && ty.is_float()
        {
            let message = format!("this is the number {number}, not the `{ty}` with these bits");
            let error =
                Diagnostic::error("E0125", inner.span, message).label(format!("a number, since `{ty}` follows"));
            let bits = format!("give the bits a type: `{number:#x} as u{} as {ty}`", ty.size());
            return Err(self.error(error.help(bits).help(format!("if the number is meant, write `{number}.0`"))));
        }
        let value = self.expression(inner, Some(ty))?;
        let node = self.node_of(&value, Some(ty), inner.span)?;
        let found = self.graph.ty(node);
        if found.size() != ty.size() {
            return Err(self.mismatch(inner.span, ty, found));
        }
        Ok(Value::Node(self.bits(node, ty)))
    }

    pub(in crate::expression) fn type_named(&mut self, name: &Spanned<String>) -> Result<Type, Stop> {
        parse_type(&name.value).ok_or_else(|| {
            let error = Diagnostic::error("E0122", name.span, format!("`{}` is not a type", name.value));
            self.error(
                error.help("types are `bool`, `u1` to `u64`, `i1` to `i64`, `f16`, `f32`, `f64`, and vectors: `f16x2`"),
            )
        })
    }

    pub(super) fn vector(
        &mut self,
        items: &[(Value, Span)],
        expected: Option<Type>,
        span: Span,
    ) -> Result<Value, Stop> {
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
}

/// The parts of a type, for messages.
pub(in crate::expression) fn parts_of(ty: Type) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut list = |names: &[String]| match names {
        [] => {}
        [one] => parts.push(format!("`{one}`")),
        [first, .., last] => {
            parts.push(format!("`{first}` {} `{last}`", if names.len() == 2 { "and" } else { "to" }));
        }
    };
    for (letter, bits) in [("b", 8), ("h", 16), ("w", 32)] {
        list(&(0..ty.size() / bits).map(|index| format!("{letter}{index}")).collect::<Vec<_>>());
    }
    if ty.lanes > 1 {
        list(&["x", "y", "z", "w"].iter().take(ty.lanes.into()).map(|&name| name.to_owned()).collect::<Vec<_>>());
    }
    match parts.is_empty() {
        true => format!("`{ty}` has no parts, only bits: `x[0]`"),
        false => format!("the parts of `{ty}` are {}", parts.join(", ")),
    }
}

/// The width in bits and the index of a part: `b1`, `h0`, `w1`.
pub(in crate::expression) fn part(name: &str, of: Type) -> Option<(u8, u16)> {
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
