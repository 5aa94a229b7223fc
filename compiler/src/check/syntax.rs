//! Text says everything and says it once.
//!
//! E0109: modifiers that print alike. E0111: more than the tables or a line can hold. E0112: a syntax that leaves
//! something out.

use isaforge_core::parse::MAX_FIELDS;
use isaforge_core::text::LINE_CAPACITY;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Form, Isa, Modifier, Shape, Token, Type};

/// Applies the rules.
pub fn check(isa: &Isa, out: &mut Diagnostics) {
    for kind in &isa.kinds {
        for alternative in &kind.alternatives {
            if alternative.fields.len() > MAX_FIELDS {
                let message = format!("`{}` has more than {MAX_FIELDS} fields", alternative.name);
                out.push(Diagnostic::error("E0111", alternative.span, message));
            }
            for (i, field) in alternative.fields.iter().enumerate() {
                let shown = alternative.text.contains(&Token::Field(i));
                if !shown {
                    let message = format!("the text of `{}` leaves out its field `{}`", alternative.name, field.name);
                    out.push(Diagnostic::error("E0112", alternative.span, message).help(format!("write `{{{}}}`", field.name)));
                }
            }
        }
    }
    for form in &isa.forms {
        check_form(isa, form, out);
    }
}

fn check_form(isa: &Isa, form: &Form, out: &mut Diagnostics) {
    alike(isa, &form.modifiers, form, out);
    for operand in &form.operands {
        alike(isa, &operand.suffixes, form, out);
    }
    let places = |token: &Token| form.syntax.iter().filter(|t| *t == token).count();
    for (i, operand) in form.operands.iter().enumerate() {
        if places(&Token::Operand(i)) != 1 {
            let message = format!("the syntax of `{}` must have the operand `{}` exactly once", form.name, operand.name);
            out.push(Diagnostic::error("E0112", form.span, message).secondary(operand.span, "this operand"));
        }
    }
    let rest = places(&Token::Modifiers);
    for (i, modifier) in form.modifiers.iter().enumerate() {
        if places(&Token::Modifier(i)) + rest.min(1) == 0 {
            let message = format!("the syntax of `{}` leaves out the modifier `{}`", form.name, modifier.name);
            out.push(Diagnostic::error("E0112", form.span, message).secondary(modifier.span, "this modifier"));
        }
    }
    if form.syntax.first() != Some(&Token::Mnemonic) {
        let message = format!("the syntax of `{}` must start with `{{mnemonic}}`", form.name);
        out.push(Diagnostic::error("E0112", form.span, message));
    }
    if form.modifiers.len() > 32 || form.operands.len() > 16 || longest(isa, form) > LINE_CAPACITY {
        let message = format!("`{}` is too large", form.name);
        let limits = format!("at most 32 modifiers, 16 operands and {LINE_CAPACITY} bytes of text");
        out.push(Diagnostic::error("E0111", form.span, message).note(limits));
    }
}

/// Two modifiers may share words only if both are choices without default: then both are always written, in order.
/// Two flags may share what they print if their names, which the assembler also takes, tell them apart.
fn alike(isa: &Isa, modifiers: &[Modifier], form: &Form, out: &mut Diagnostics) {
    for (i, a) in modifiers.iter().enumerate() {
        for b in &modifiers[..i] {
            let ordered = a.ty == b.ty && a.default.is_none() && b.default.is_none() && a.ty != Type::Flag;
            let named = a.ty == Type::Flag && b.ty == Type::Flag && a.name != b.name && a.prints != a.name && b.prints != b.name;
            let Some(word) = words(isa, a).find(|w| words(isa, b).any(|v| v == *w)) else { continue };
            if !ordered && !named {
                let message = format!("two modifiers of `{}` can both print `.{word}`", form.name);
                out.push(
                    Diagnostic::error("E0109", a.span, message)
                        .label(format!("`{}`", a.name))
                        .secondary(b.span, format!("`{}`", b.name))
                        .help("rename a value, or give flags a `prints` of their own"),
                );
            }
        }
    }
}

fn words<'a>(isa: &'a Isa, modifier: &'a Modifier) -> impl Iterator<Item = &'a str> {
    let values = match modifier.ty {
        Type::Enum(e) => &isa.enums[e].values[..],
        _ => &[],
    };
    let default = modifier.default;
    let printed = values.iter().filter(move |v| default != Some(v.bits)).map(|v| v.text.as_str());
    let flag = (modifier.ty == Type::Flag).then_some(modifier.prints.as_str());
    printed.chain(flag)
}

/// The most bytes a form can print.
fn longest(isa: &Isa, form: &Form) -> usize {
    let modifier = |m: &Modifier| words(isa, m).map(|w| w.len() + 1).max().unwrap_or(0);
    let kind = |k: usize| {
        let text = |t: &Token, a: &crate::model::Alternative| match t {
            Token::Text(t) => t.len(),
            Token::Field(i) => match a.fields[*i].ty {
                Type::Enum(e) => isa.enums[e].values.iter().map(|v| v.text.len()).max().unwrap_or(0),
                Type::Register(b) => isa.banks[b].count.to_string().len(),
                _ => 24,
            },
            _ => 0,
        };
        isa.kinds[k].alternatives.iter().map(|a| a.text.iter().map(|t| text(t, a)).sum::<usize>()).max().unwrap_or(0)
    };
    let operand = |o: &crate::model::Operand| {
        let own = match &o.shape {
            Shape::One { kind: k, .. } => kind(*k),
            Shape::List { kind: k, count, open, separator, .. } => {
                let most = usize::from(count.plus) + count.bits.as_ref().map_or(0, |b| (1 << b.width().min(8)) - 1);
                open.len() + most * (kind(*k) + separator.len())
            }
            Shape::Number { prefix, .. } => prefix.len() + 24,
        };
        own + o.suffixes.iter().map(modifier).sum::<usize>()
    };
    let fixed: usize = form.syntax.iter().map(|t| if let Token::Text(t) = t { t.len() } else { 0 }).sum();
    let modifiers: usize = form.modifiers.iter().map(modifier).sum();
    let ignored = if form.ignored == 0 { 0 } else { 20 };
    form.name.len() + fixed + modifiers + ignored + form.operands.iter().map(operand).sum::<usize>()
}
