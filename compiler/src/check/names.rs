//! E0102: a name has only one meaning.

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::Isa;
use crate::source::Span;

/// Looks for names that are defined twice.
pub fn check(isa: &Isa, out: &mut Diagnostics) {
    twice("enum", isa.enums.iter().map(|e| (e.name.as_str(), e.span)), out);
    twice("table of constants", isa.constants.iter().map(|c| (c.name.as_str(), c.span)), out);
    twice("bank", isa.banks.iter().map(|b| (b.name.as_str(), b.span)), out);
    twice("shared field", isa.shared.iter().map(|s| (s.name.as_str(), s.span)), out);
    // A kind of plain registers has the name of its bank, and is never looked up by name.
    let declared = isa.kinds.iter().filter(|k| k.alternatives.first().is_none_or(|a| a.span != k.span));
    twice("kind", declared.map(|k| (k.name.as_str(), k.span)), out);
    twice("instruction", isa.forms.iter().map(|f| (f.name.as_str(), f.span)), out);
    twice("limit", isa.limits.iter().map(|l| (l.name.as_str(), l.span)), out);
    let words = isa.shared.iter().flat_map(|s| &s.words);
    twice("word", words.map(|(word, _, span)| (word.as_str(), *span)), out);
    for e in &isa.enums {
        if !twice("value", e.values.iter().map(|v| (v.name.as_str(), v.span)), out) {
            let also = e.values.iter().flat_map(|v| v.also.iter().map(|word| (word.as_str(), v.span)));
            // The description of a decoder may print two values alike; assembling takes the first one that encodes.
            if isa.stream().is_some_and(|stream| stream.exclusive) {
                continue;
            }
            twice("word", e.values.iter().map(|v| (v.text.as_str(), v.span)).chain(also), out);
        }
    }
    for kind in &isa.kinds {
        twice("suffix", kind.suffixes.iter().map(|s| (s.name.as_str(), s.span)), out);
    }
    for form in &isa.forms {
        twice("operand", form.operands.iter().map(|o| (o.name.as_str(), o.span)), out);
        twice("modifier", form.modifiers.iter().map(|m| (m.name.as_str(), m.span)), out);
        for operand in &form.operands {
            twice("suffix", operand.suffixes.iter().map(|s| (s.name.as_str(), s.span)), out);
        }
    }
}

/// Reports names that are defined again in another place, and returns whether there were any.
fn twice<'a>(what: &str, names: impl Iterator<Item = (&'a str, Span)>, out: &mut Diagnostics) -> bool {
    let mut first = HashMap::new();
    let mut found = false;
    for (name, span) in names {
        if let Some(earlier) = first.insert(name, span).filter(|earlier| *earlier != span) {
            found = true;
            let message = format!("the {what} `{name}` is defined twice");
            out.push(
                Diagnostic::error("E0102", span, message).label("again here").secondary(earlier, "first defined here"),
            );
        }
    }
    found
}
