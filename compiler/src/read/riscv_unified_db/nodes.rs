//! Extracts values from YAML nodes, and reports those of the wrong kind.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Spanned;
use crate::suggest::did_you_mean;
use crate::yaml::{Node, Value};

fn wrong(node: &Node, expected: &str, out: &mut Diagnostics) {
    let message = format!("expected {expected}, found {}", node.value.describe());
    out.push(Diagnostic::error("E0020", node.span, message));
}

impl Node {
    /// The value of a key; `None` also if the node is not a map.
    pub(super) fn key(&self, name: &str) -> Option<&Node> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|(key, _)| key.value == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The entries of a map.
    pub(super) fn entries(&self, out: &mut Diagnostics) -> &[(Spanned<String>, Node)] {
        match &self.value {
            Value::Map(entries) => entries,
            Value::Null => &[],
            _ => {
                wrong(self, "a map", out);
                &[]
            }
        }
    }

    /// The items of a list; a node that is not a list is a single item.
    pub(super) fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            Value::Null => &[],
            _ => std::slice::from_ref(self),
        }
    }

    /// The text of a scalar, which may be a number.
    pub(super) fn text(&self, out: &mut Diagnostics) -> Option<Spanned<String>> {
        match &self.value {
            Value::Text(text) => Some(Spanned::new(text.clone(), self.span)),
            Value::Int(number) => Some(Spanned::new(number.to_string(), self.span)),
            Value::Null => Some(Spanned::new(String::new(), self.span)),
            _ => {
                wrong(self, "text", out);
                None
            }
        }
    }

    /// A number, at most `most`.
    pub(super) fn number(&self, most: u64, out: &mut Diagnostics) -> Option<u64> {
        match self.value {
            Value::Int(number) if (0..=i128::from(most)).contains(&number) => Some(number as u64),
            Value::Int(number) => {
                let error = Diagnostic::error("E0033", self.span, format!("{number} makes no sense here"));
                out.push(error.label(format!("from 0 to {most}")));
                None
            }
            _ => {
                wrong(self, "a number", out);
                None
            }
        }
    }

    /// A truth value.
    pub(super) fn truth(&self, out: &mut Diagnostics) -> bool {
        match self.value {
            Value::Bool(truth) => truth,
            _ => {
                wrong(self, "`true` or `false`", out);
                false
            }
        }
    }

    /// The value of a required key.
    pub(super) fn needed(&self, name: &str, out: &mut Diagnostics) -> Option<&Node> {
        let found = self.key(name);
        if found.is_none() {
            out.push(Diagnostic::error("E0022", self.span, format!("`{name}` is missing")));
        }
        found
    }

    /// Reports unknown keys.
    pub(super) fn only(&self, known: &[&str], out: &mut Diagnostics) {
        for (key, _) in self.entries(out) {
            if known.contains(&key.value.as_str()) {
                continue;
            }
            let error = Diagnostic::error("E0021", key.span, format!("unknown key `{}`", key.value));
            out.push(match did_you_mean(&key.value, known.iter().copied()) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error,
            });
        }
    }
}
