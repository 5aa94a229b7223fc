//! What a type must provide to be read, what it accepts, and the context of reading.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Sources;
use crate::yaml::{Node, Value};

/// The context of reading: the texts, and where to report mistakes.
pub struct Reader<'a> {
    /// The texts that spans point into.
    pub sources: &'a Sources,
    /// Collects the mistakes.
    pub out: &'a mut Diagnostics,
}

impl Reader<'_> {
    /// Reports a value of the wrong kind: "expected a whole number, found text `foo`".
    pub fn wrong_kind(&mut self, node: &Node, expected: &str) {
        let message = format!("expected {expected}, found {}", node.value.describe());
        let mut error = Diagnostic::error("E0020", node.span, message).label(format!("expected {expected}"));
        match &node.value {
            Value::Null => error = error.help("give a value, or remove the key"),
            Value::Text(text) if is_number_with_zeros(text) && expected.contains("number") => {
                let digits = text.trim_start_matches('0');
                error = error.help(format!("write `{digits}` for a decimal number, `0o{digits}` for an octal one"));
            }
            _ => {}
        }
        self.out.push(error);
    }
}

fn is_number_with_zeros(text: &str) -> bool {
    text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()) && text.bytes().any(|byte| byte != b'0')
}

/// A type that can be read from a [`Node`].
pub trait FromNode: Sized {
    /// The expected value, with its article: `a whole number`, `a list`.
    const EXPECTED: &'static str;

    /// The expected value in machine-readable form, for programs such as editors, as far as it can be expressed.
    fn accepts() -> Accepts {
        Accepts::Anything
    }

    /// Reads the value. `None` when at least one mistake was reported.
    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self>;
}

/// The values that a type can be read from.
#[derive(Clone, Debug)]
pub enum Accepts {
    /// Anything.
    Anything,
    /// The null value, `~`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A whole number in a range, both ends included.
    Number(i128, i128),
    /// Text, or a plain scalar that looks like a number and is taken as text.
    Text,
    /// One of these words.
    Words(&'static [&'static str]),
    /// A list of values.
    List(Box<Accepts>),
    /// A map whose keys are names chosen by the specification.
    Named(Box<Accepts>),
    /// A map whose keys match this regular expression.
    Keyed(&'static str, Box<Accepts>),
    /// A map with the keys of a [`Vocabulary`].
    Map(MapDoc),
    /// Any of these.
    Either(Vec<Accepts>),
}

/// A [`Vocabulary`] as a value.
#[derive(Clone, Copy, Debug)]
pub struct MapDoc {
    /// [`Vocabulary::NAME`].
    pub name: &'static str,
    /// [`Vocabulary::DOC`].
    pub doc: &'static str,
    /// [`Vocabulary::keys`].
    pub keys: fn() -> Vec<KeyDoc>,
}

/// A struct that is read from a map, and the documentation of its keys.
pub trait Vocabulary: FromNode {
    /// The struct's name.
    const NAME: &'static str;
    /// The struct's documentation.
    const DOC: &'static str;

    /// The keys, in the order of declaration.
    fn keys() -> Vec<KeyDoc>;
}

/// One key of a [`Vocabulary`].
#[derive(Clone, Copy, Debug)]
pub struct KeyDoc {
    /// The key as written in a specification.
    pub name: &'static str,
    /// Its documentation, as one line.
    pub doc: &'static str,
    /// Whether the key is required.
    pub required: bool,
    /// The expected value ([`FromNode::EXPECTED`]).
    pub expected: &'static str,
    /// [`FromNode::accepts`] of its value.
    pub accepts: fn() -> Accepts,
}
