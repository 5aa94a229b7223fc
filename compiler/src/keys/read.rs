//! Reads what `vocabulary!` and `choices!` declare: maps of known keys, and words.

use super::from_node::{FromNode, KeyDoc, Reader};
use super::values::scalar_text;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{Span, Spanned};
use crate::suggest::one_of;
use crate::yaml::{Node, Value};

/// A map that a [`vocabulary!`](crate::vocabulary) struct is being read from, with its keys already checked.
#[doc(hidden)]
pub struct KeyedMap<'n> {
    entries: &'n [(Spanned<String>, Node)],
    complete: bool,
}

impl<'n> KeyedMap<'n> {
    /// Reports a value that is not a map (E0020), unknown keys (E0021), and missing keys (E0022).
    pub fn open(node: &'n Node, keys: &[KeyDoc], r: &mut Reader<'_>) -> Option<Self> {
        let Value::Map(entries) = &node.value else {
            r.wrong_kind(node, &expected_map(keys));
            return None;
        };
        let is_given = |name: &str| entries.iter().any(|(key, _)| key.value == name);
        let mut meant = Vec::new();
        for (key, _) in entries {
            if !keys.iter().any(|known| known.name == key.value) {
                let mut error = Diagnostic::error("E0021", key.span, format!("unknown key `{}`", key.value))
                    .label("not allowed here");
                let open = keys.iter().map(|known| known.name).filter(|name| !is_given(name));
                if let Some(near) =
                    r.out.near(key, open).or_else(|| r.out.near(key, keys.iter().map(|known| known.name)))
                {
                    error = error.help(format!("did you mean `{near}`?"));
                    meant.push(near);
                }
                r.out.push(error.note(format!("allowed here: {}", one_of(keys.iter().map(|known| known.name)))));
            }
        }
        let missing: Vec<&KeyDoc> = keys.iter().filter(|key| key.required && !is_given(key.name)).collect();
        // A misspelt key is one mistake, not two.
        for key in missing.iter().filter(|key| !meant.contains(&key.name)) {
            let error = Diagnostic::error("E0022", node.span, format!("the key `{}` is missing", key.name))
                .label("in this map")
                .help(format!("add `{}:` with {}", key.name, key.expected));
            r.out.push(if key.doc.is_empty() { error } else { error.note(format!("`{}`: {}", key.name, key.doc)) });
        }
        Some(KeyedMap { entries, complete: missing.is_empty() })
    }

    /// Reads the value of a key. `None` if that failed and was reported; `Some(None)` if the key is absent.
    pub fn read<T: FromNode>(&self, key: &str, r: &mut Reader<'_>) -> Option<Option<T>> {
        match self.entries.iter().find(|(given, _)| given.value == key) {
            Some((_, node)) => T::from_node(node, r).map(Some),
            None => Some(None),
        }
    }

    /// Whether all required keys are present.
    pub fn is_complete(&self) -> bool {
        self.complete
    }
}

fn expected_map(keys: &[KeyDoc]) -> String {
    let required: Vec<String> = keys.iter().filter(|key| key.required).map(|key| format!("`{}`", key.name)).collect();
    match required.as_slice() {
        [] => format!("a map with {}", one_of(keys.iter().map(|key| key.name))),
        [only] => format!("a map with {only}"),
        [most @ .., last] => format!("a map with {} and {last}", most.join(", ")),
    }
}

/// Reads one of the words of a [`choices!`](crate::choices) enum.
#[doc(hidden)]
pub fn read_choice<T: Copy>(node: &Node, r: &mut Reader<'_>, all: &[(T, &'static str)], expected: &str) -> Option<T> {
    let Some(word) = scalar_text(node, r.sources) else {
        r.wrong_kind(node, expected);
        return None;
    };
    let found = all.iter().find(|(_, name)| *name == word).map(|(choice, _)| *choice);
    if found.is_none() {
        let error = unknown_choice(node.span, word, all.iter().map(|(_, name)| *name), r.out);
        r.out.push(error);
    }
    found
}

fn unknown_choice(
    span: Span,
    word: &str,
    names: impl Iterator<Item = &'static str> + Clone,
    out: &Diagnostics,
) -> Diagnostic {
    let error = Diagnostic::error("E0023", span, format!("unknown value `{word}`"))
        .label(format!("expected {}", one_of(names.clone())));
    match out.near(word, names) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error,
    }
}
