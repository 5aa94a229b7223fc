//! Expressions in encodings: texts of [`crate::expression`] over the fields of a layout.
//!
//! A field is a `u64`, or an `i64` if it is in two's complement, regardless of its width, so that arithmetic does not
//! wrap at the width of a field. `generation` and `length` (in bytes) are names, too.

use isaforge_core::semantics::{Class, NONE, Node, Op, Type};
use isaforge_core::stream::{Input, MAX_NODES};

use super::model::Expr;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::expression::scope::{Library, OperandInfo};
use crate::expression::{Built, Choices, Scope, build, parse_raw};
use crate::source::{Span, Spanned};

/// The kind of value that an expression must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// A truth value.
    Condition,
    /// A number.
    Number,
}

/// A name that an expression may use.
#[derive(Clone, Debug)]
pub struct Name {
    /// The name.
    pub name: String,
    /// Whether it is in two's complement.
    pub signed: bool,
    /// Its possible values.
    pub choices: Choices,
    /// The input it refers to.
    pub input: Input,
    /// Where it is defined.
    pub span: Span,
}

/// Parses an expression. Returns it and whether its value is in two's complement; `None` after a mistake, which is
/// reported.
pub fn expression(text: &Spanned<String>, names: &[Name], want: Want, out: &mut Diagnostics) -> Option<(Expr, bool)> {
    let block = match parse_raw(&text.value, text.span) {
        Ok(block) => block,
        Err(error) => {
            out.push(error);
            return None;
        }
    };
    let library = Library::default();
    let mut scope = Scope::new(&library);
    scope.in_encoding = true;
    let own = |name: &str, input| Name {
        name: name.to_owned(),
        signed: false,
        choices: Choices::Number(64),
        input,
        span: text.span,
    };
    let mut all = names.to_vec();
    for (name, input) in [("generation", Input::Generation), ("length", Input::Length)] {
        if !all.iter().any(|known| known.name == name) {
            all.push(own(name, input));
        }
    }
    scope.operands = all
        .iter()
        .map(|name| OperandInfo {
            name: name.name.clone(),
            ty: if name.signed { Type::signed(64) } else { Type::U64 },
            elements: 1,
            size_step: 0,
            choices: name.choices.clone(),
            suffixes: Vec::new(),
            partial: Vec::new(),
            reads: true,
            writes: false,
            span: name.span,
        })
        .collect();
    let types: &[Type] = match want {
        Want::Condition => &[Type::BOOL],
        Want::Number => &[Type::U64, Type::signed(64), Type::BOOL],
    };
    // The type of a number depends on its operands; the first type that fits is used.
    let mut first_errors = None;
    for ty in types {
        let mut errors = Diagnostics::new();
        match build(&scope, &block, Some(*ty), &mut errors) {
            Some(built) if !errors.has_errors() => {
                let signed = ty.class == Class::Signed;
                return finish(&text.value, built, &all, text.span, out).map(|expr| (expr, signed));
            }
            _ => first_errors = first_errors.or(Some(errors)),
        }
    }
    out.extend(first_errors.into_iter().flat_map(|errors| errors.iter().cloned().collect::<Vec<_>>()));
    None
}

/// The part of the graph that the value depends on, with the value last.
fn finish(text: &str, built: Built, names: &[Name], span: Span, out: &mut Diagnostics) -> Option<Expr> {
    let value = usize::from(built.value?);
    let effect = built.nodes.iter().find(|node| !node.op.is_pure() && node.op != Op::Operand);
    if effect.is_some() {
        let error = Diagnostic::error("E0126", span, "an encoding is computed from fields alone");
        out.push(error.help("remove effects, lanes and modifiers"));
        return None;
    }
    let mut needed = vec![false; value + 1];
    needed[value] = true;
    for at in (0..=value).rev() {
        if needed[at] {
            arguments(&built.nodes[at], &built.lists, |argument| needed[usize::from(argument)] = true);
        }
    }
    let mut expr = Expr { text: text.to_owned(), constants: built.constants, lists: built.lists, ..Expr::default() };
    let mut map = vec![NONE; value + 1];
    for (at, node) in built.nodes.iter().enumerate().take(value + 1).filter(|(at, _)| needed[*at]) {
        let mut node = *node;
        if node.op == Op::Operand {
            let input = names[usize::from(node.args[0])].input;
            let known = expr.inputs.iter().position(|known| *known == input);
            node.args[0] = known.unwrap_or_else(|| {
                expr.inputs.push(input);
                expr.inputs.len() - 1
            }) as u16;
        } else {
            for k in 0..4 {
                if node.op.node_arguments() >> k & 1 != 0 && node.args[k] != NONE {
                    node.args[k] = map[usize::from(node.args[k])];
                }
            }
            if node.op == Op::Pack {
                let (from, count) = (usize::from(node.args[0]), usize::from(node.args[1]));
                let moved: Vec<u16> = expr.lists[from..from + count].iter().map(|n| map[usize::from(*n)]).collect();
                node.args[0] = expr.lists.len() as u16;
                expr.lists.extend(moved);
            }
        }
        map[at] = expr.nodes.len() as u16;
        expr.nodes.push(node);
    }
    if expr.nodes.len() > MAX_NODES {
        let message = format!("this takes {} operations, and an encoding has room for {MAX_NODES}", expr.nodes.len());
        out.push(Diagnostic::error("E0127", span, message));
        return None;
    }
    Some(expr)
}

fn arguments(node: &Node, lists: &[u16], mut with: impl FnMut(u16)) {
    for k in 0..4 {
        if node.op.node_arguments() >> k & 1 != 0 && node.args[k] != NONE {
            with(node.args[k]);
        }
    }
    if node.op == Op::Pack {
        let from = usize::from(node.args[0]);
        lists[from..from + usize::from(node.args[1])].iter().copied().for_each(with);
    }
}
