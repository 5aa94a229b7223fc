//! Values and the fields that hold them.
//!
//! E0103: two values with the same bits. E0108: a value that the field cannot hold. E0116: a default that is none of the
//! values. E0034: no values.

use std::collections::{HashMap, HashSet};

use isaforge_core::bits::ones;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Bits, Isa, Modifier, Part, Type};
use crate::source::Span;

/// Applies the rules.
pub fn check(isa: &Isa, out: &mut Diagnostics) {
    for e in &isa.enums {
        if e.values.is_empty() {
            let message = format!("`{}` has no value with a name", e.name);
            out.push(Diagnostic::error("E0034", e.span, message).help("name at least one value, or remove the enum"));
        }
        let mut first = HashMap::new();
        for value in &e.values {
            if let Some(earlier) = first.insert(value.bits, value.span) {
                let message = format!("two values of `{}` are {}", e.name, value.bits);
                out.push(
                    Diagnostic::error("E0103", value.span, message)
                        .label("again here")
                        .secondary(earlier, "the other one"),
                );
            }
            if let Some(width) = e.bits
                && value.bits > ones(u32::from(width))
            {
                let message = format!("the value `{}` is {} and does not fit {width} bits", value.name, value.bits);
                out.push(Diagnostic::error("E0108", value.span, message).secondary(e.span, "the enum says so"));
            }
        }
    }
    for shared in &isa.shared {
        let Some(e) = shared.printed.map(|e| &isa.enums[e]) else { continue };
        check_width(
            isa,
            &Field {
                name: &shared.name,
                bits: &shared.bits,
                ty: Type::Enum(shared.printed.unwrap_or(0)),
                span: shared.span,
                used: None,
            },
            out,
        );
        if !e.values.iter().any(|value| value.bits == shared.default) {
            let message = format!("the default {} of `{}` is no value of `{}`", shared.default, shared.name, e.name);
            out.push(
                Diagnostic::error("E0116", shared.span, message)
                    .secondary(e.span, "the enum")
                    .help("give `default:` one of its values"),
            );
        }
    }
    let mut told = HashSet::new();
    for kind in &isa.kinds {
        for field in kind.alternatives.iter().flat_map(|a| &a.fields) {
            check_width(
                isa,
                &Field { name: &field.name, bits: &field.bits, ty: field.ty, span: field.span, used: None },
                out,
            );
        }
    }
    let shared: HashSet<Span> = isa.shared.iter().map(|s| s.span).collect();
    for modifier in isa.forms.iter().flat_map(|f| f.modifiers.iter().chain(f.operands.iter().flat_map(|o| &o.suffixes)))
    {
        let Modifier { name, bits, ty, span, declared, .. } = modifier;
        let place = declared.unwrap_or(*span);
        if !shared.contains(span) && told.insert((place, bits.width(), *ty == Type::Flag)) {
            check_width(isa, &Field { name, bits, ty: *ty, span: place, used: declared.map(|_| *span) }, out);
        }
    }
}

/// Something that holds a value.
struct Field<'a> {
    name: &'a str,
    bits: &'a Bits,
    ty: Type,
    span: Span,
    used: Option<Span>,
}

fn check_width(isa: &Isa, field: &Field<'_>, out: &mut Diagnostics) {
    let Field { name, bits, ty, span, used } = *field;
    let width = bits.width();
    let mut report = |message: String, span: Span, other: Option<(Span, &str)>, help: Option<&str>| {
        let mut error = Diagnostic::error("E0108", span, message);
        if let Some((other, text)) = other {
            error = error.secondary(other, text);
        }
        if let Some(used) = used {
            error = error.secondary(used, "used here");
        }
        out.push(match help {
            Some(help) => error.help(help),
            None => error,
        });
    };
    if width > 64 {
        report(format!("`{name}` has {width} bits, and no field can have more than 64"), span, None, None);
        return;
    }
    match ty {
        Type::Flag if width != 1 => {
            report(format!("the flag `{name}` has {width} bits"), span, None, Some("give one bit, or name an `enum`"));
        }
        Type::Enum(e) => {
            let e = &isa.enums[e];
            if let Some(declared) = e.bits.filter(|b| u32::from(*b) != width) {
                let message = format!("`{name}` has {width} bits, but `{}` has {declared}", e.name);
                report(message, span, Some((e.span, "the enum says so")), None);
            } else if let Some(value) = e.values.iter().find(|v| v.bits > ones(width)) {
                let message = format!("`{name}` has {width} bits, but the value `{}` is {}", value.name, value.bits);
                report(message, span, Some((value.span, "this value does not fit")), None);
            }
        }
        Type::Constant(table) => {
            let table = &isa.constants[table];
            if table.values.len() as u64 > ones(width).saturating_add(1) {
                let message =
                    format!("`{name}` has {width} bits, but `{}` has {} constants", table.name, table.values.len());
                report(message, span, Some((isa.places.first(table.span, Part::List), "the table")), None);
            }
        }
        _ => {}
    }
}
