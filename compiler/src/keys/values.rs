//! The types of values that are not maps of known keys: numbers, texts, lists, and maps of names.

use std::ops::Deref;

use super::from_node::{Accepts, FromNode, Reader};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{Sources, Spanned};
use crate::yaml::{Node, Value};

impl FromNode for Node {
    const EXPECTED: &'static str = "any value";

    fn from_node(node: &Node, _: &mut Reader<'_>) -> Option<Self> {
        Some(node.clone())
    }
}

impl FromNode for bool {
    const EXPECTED: &'static str = "`true` or `false`";

    fn accepts() -> Accepts {
        Accepts::Bool
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        match node.value {
            Value::Bool(value) => Some(value),
            _ => {
                r.wrong_kind(node, Self::EXPECTED);
                None
            }
        }
    }
}

macro_rules! whole_numbers {
    ($($int:ty),*) => {$(
        impl FromNode for $int {
            const EXPECTED: &'static str = "a whole number";

            fn accepts() -> Accepts {
                // An `i128` holds the bounds of every type but its own, and no number in a file reaches those.
                Accepts::Number(<$int>::MIN as i128, <$int>::MAX as i128)
            }

            fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
                let Value::Int(value) = node.value else {
                    r.wrong_kind(node, Self::EXPECTED);
                    return None;
                };
                let fitting = <$int>::try_from(value).ok();
                if fitting.is_none() {
                    let range = format!("expected a number from {} to {}", <$int>::MIN, <$int>::MAX);
                    r.out.push(Diagnostic::error("E0024", node.span, format!("`{value}` is out of range")).label(range));
                }
                fitting
            }
        }
    )*};
}

whole_numbers!(u8, u16, u32, u64, i64, i128);

/// Text. A plain number or `true` is taken as spelt (`1.0` stays `1.0`), since a name may look like one.
impl FromNode for String {
    const EXPECTED: &'static str = "text";

    fn accepts() -> Accepts {
        Accepts::Text
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        let text = scalar_text(node, r.sources);
        if text.is_none() {
            r.wrong_kind(node, Self::EXPECTED);
        }
        text.map(str::to_owned)
    }
}

pub(super) fn scalar_text<'a>(node: &'a Node, sources: &'a Sources) -> Option<&'a str> {
    match &node.value {
        Value::Text(text) => Some(text),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => Some(sources.snippet(node.span)),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    }
}

impl<T: FromNode> FromNode for Spanned<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn accepts() -> Accepts {
        T::accepts()
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        Some(Spanned::new(T::from_node(node, r)?, node.span))
    }
}

impl<T: FromNode> FromNode for Box<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn accepts() -> Accepts {
        T::accepts()
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        T::from_node(node, r).map(Box::new)
    }
}

impl<T: FromNode> FromNode for Vec<T> {
    const EXPECTED: &'static str = "a list";

    fn accepts() -> Accepts {
        Accepts::List(Box::new(T::accepts()))
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        let Value::List(items) = &node.value else {
            r.wrong_kind(node, Self::EXPECTED);
            return None;
        };
        // All items are read before a failure is returned, so that the mistakes of each are reported.
        let items: Vec<Option<T>> = items.iter().map(|item| T::from_node(item, r)).collect();
        items.into_iter().collect()
    }
}

/// A list, or a single value in place of a list of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OneOrMany<T>(pub Vec<T>);

impl<T> Deref for OneOrMany<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: FromNode> FromNode for OneOrMany<T> {
    const EXPECTED: &'static str = "a value or a list of values";

    fn accepts() -> Accepts {
        Accepts::Either(vec![T::accepts(), Vec::<T>::accepts()])
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        match node.value {
            Value::List(_) => Vec::from_node(node, r).map(OneOrMany),
            _ => T::from_node(node, r).map(|value| OneOrMany(vec![value])),
        }
    }
}

/// Marks every key within a value that could not be read as broken.
fn mark_keys(node: &Node, out: &mut Diagnostics) {
    match &node.value {
        Value::Map(entries) => {
            for (key, value) in entries {
                out.mark_broken(key);
                mark_keys(value, out);
            }
        }
        Value::List(items) => items.iter().for_each(|item| mark_keys(item, out)),
        _ => {}
    }
}

/// A map whose keys are names chosen by the specification, in file order. Entries with mistakes are left out.
#[derive(Clone, Debug)]
pub struct Named<T>(pub Vec<(Spanned<String>, T)>);

impl<T> Named<T> {
    /// Returns the value for a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(key, _)| key.value == name).map(|(_, value)| value)
    }
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named(Vec::new())
    }
}

impl<T> Deref for Named<T> {
    type Target = Vec<(Spanned<String>, T)>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T: FromNode> FromNode for Named<T> {
    const EXPECTED: &'static str = "a map of names";

    fn accepts() -> Accepts {
        Accepts::Named(Box::new(T::accepts()))
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        let Value::Map(entries) = &node.value else {
            r.wrong_kind(node, Self::EXPECTED);
            return None;
        };
        let mut named = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let (before, first) = (r.out.failures(), r.out.iter().len());
            match T::from_node(value, r) {
                Some(read) if r.out.failures() == before => named.push((key.clone(), read)),
                // The mistake is reported. That the name is therefore unknown must not be reported as well.
                _ => {
                    // If required keys are missing, the map itself may be under the wrong name.
                    if r.sources.line_column(key.span).0 != r.sources.line_column(value.span).0 {
                        let missing =
                            |found: &&mut Diagnostic| found.code == "E0022" && found.primary == Some(value.span);
                        for found in r.out.since(first).iter_mut().filter(missing) {
                            found.secondary.push((key.span, format!("of `{}`", key.value)));
                        }
                    }
                    r.out.mark_broken(key);
                    mark_keys(value, r.out);
                }
            }
        }
        Some(Named(named))
    }
}
