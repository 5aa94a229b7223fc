//! Warnings: definitions that nothing uses (W0202), instructions without a description (W0203), decisions without a reason
//! (W0204).

use std::collections::HashSet;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Isa, Modifier, Shape, Type};
use crate::source::Span;
use crate::spec::Provenance;

/// Looks for them.
pub fn check(isa: &Isa, out: &mut Diagnostics) {
    let mut types: HashSet<(u8, usize)> = HashSet::new();
    let mut note = |ty: Type| {
        match ty {
            Type::Enum(i) => types.insert((0, i)),
            Type::Constant(i) => types.insert((1, i)),
            Type::Register(i) => types.insert((2, i)),
            _ => false,
        };
    };
    for field in isa.kinds.iter().flat_map(|k| &k.alternatives).flat_map(|a| &a.fields) {
        note(field.ty);
    }
    let suffixes = isa.kinds.iter().flat_map(|k| &k.suffixes);
    let own = isa.forms.iter().flat_map(|f| f.modifiers.iter().chain(f.operands.iter().flat_map(|o| &o.suffixes)));
    let modifiers: Vec<&Modifier> = suffixes.chain(own).collect();
    modifiers.iter().for_each(|m| note(m.ty));
    let used_spans: HashSet<Span> = types.iter().filter(|(t, _)| *t == 0).map(|(_, i)| isa.enums[*i].span).collect();
    let mut unused = |what: &str, name: &str, span: Span| {
        out.push(Diagnostic::warning("W0202", span, format!("nothing uses the {what} `{name}`")));
    };
    for e in isa.enums.iter().filter(|e| !used_spans.contains(&e.span)) {
        unused("enum", &e.name, e.span);
    }
    for (i, c) in isa.constants.iter().enumerate().filter(|(i, _)| !types.contains(&(1, *i))) {
        let _ = i;
        unused("table of constants", &c.name, c.span);
    }
    for (_, b) in isa.banks.iter().enumerate().filter(|(i, _)| !types.contains(&(2, *i))) {
        unused("bank", &b.name, b.span);
    }
    let kinds: HashSet<usize> = isa
        .forms
        .iter()
        .flat_map(|f| &f.operands)
        .filter_map(|o| match o.shape {
            Shape::One { kind, .. } | Shape::List { kind, .. } => Some(kind),
            Shape::Number { .. } => None,
        })
        .collect();
    for (_, k) in isa.kinds.iter().enumerate().filter(|(i, _)| !kinds.contains(i)) {
        unused("kind", &k.name, k.span);
    }
    for form in &isa.forms {
        if form.doc.is_empty() && form.title.is_empty() {
            out.push(Diagnostic::warning("W0203", form.span, format!("`{}` has no description", form.name)));
        }
        if form.provenance == Provenance::Assumed && form.note.is_empty() {
            let message = format!("`{}` is assumed, but nothing says why", form.name);
            out.push(Diagnostic::warning("W0204", form.span, message).help("give the reason under `note`"));
        }
    }
}
