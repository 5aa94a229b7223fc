//! E0102: a name stands for one thing.

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::Isa;
use crate::source::Span;

/// Looks for names defined twice.
pub fn check(isa: &Isa, out: &mut Diagnostics) {
    twice("enum", isa.enums.iter().map(|e| (e.name.as_str(), e.span)), out);
    twice("table of constants", isa.constants.iter().map(|c| (c.name.as_str(), c.span)), out);
    twice("bank", isa.banks.iter().map(|b| (b.name.as_str(), b.span)), out);
    twice("shared field", isa.shared.iter().map(|s| (s.name.as_str(), s.span)), out);
    twice("instruction", isa.forms.iter().map(|f| (f.name.as_str(), f.span)), out);
    for e in &isa.enums {
        twice("value", e.values.iter().map(|v| (v.name.as_str(), v.span)), out);
        twice("word", e.values.iter().filter(|v| v.text != v.name).map(|v| (v.text.as_str(), v.span)), out);
    }
    for form in &isa.forms {
        twice("operand", form.operands.iter().map(|o| (o.name.as_str(), o.span)), out);
        twice("modifier", form.modifiers.iter().map(|m| (m.name.as_str(), m.span)), out);
    }
}

fn twice<'a>(what: &str, names: impl Iterator<Item = (&'a str, Span)>, out: &mut Diagnostics) {
    let mut first = HashMap::new();
    for (name, span) in names {
        if let Some(earlier) = first.insert(name, span).filter(|earlier| *earlier != span) {
            let message = format!("the {what} `{name}` is defined twice");
            out.push(Diagnostic::error("E0102", span, message).label("again here").secondary(earlier, "first defined here"));
        }
    }
}
