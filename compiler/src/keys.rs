//! Typed reading of a located tree: turns a [`Node`] into the structs of the spec language.
//!
//! A struct declared with [`vocabulary!`](crate::vocabulary) is read from a map and knows its keys and their
//! documentation. An enum declared with [`choices!`](crate::choices) is read from one word. Reading does not stop at
//! the first mistake: every key of every map is read, and each mistake becomes one diagnostic.
//!
//! | code  | meaning |
//! |-------|---------|
//! | E0020 | a value of the wrong kind |
//! | E0021 | an unknown key |
//! | E0022 | a missing key |
//! | E0023 | a word that is not one of the choices |
//! | E0024 | a number out of range |

use std::ops::Deref;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{Sources, Span, Spanned};
use crate::suggest::one_of;
use crate::yaml::{Node, Value};

#[doc(inline)]
pub use crate::{choices, vocabulary};

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

fn scalar_text<'a>(node: &'a Node, sources: &'a Sources) -> Option<&'a str> {
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

/// Declares a struct that is read from a map. Each field is a key, and its doc comment documents the key.
///
/// ```
/// isaforge_compiler::vocabulary! {
///     /// A bank of registers.
///     pub struct Bank {
///         /// How many registers there are.
///         required count: u32,
///         /// How a register prints.
///         optional prints: String,
///         /// The type of one register.
///         optional r_type ("type"): String,
///     }
/// }
/// ```
///
/// The struct has these fields, as `Option` if optional, and `span`, the position of the map.
#[macro_export]
macro_rules! vocabulary {
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $name:ident {
            $( $(#[doc = $field_doc:literal])* $need:ident $field:ident $(($key:literal))? : $ty:ty ),* $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug)]
        $vis struct $name {
            /// Where the map was written.
            pub span: $crate::source::Span,
            $( $(#[doc = $field_doc])* pub $field: $crate::vocabulary!(@type $need $ty), )*
        }

        impl $crate::keys::FromNode for $name {
            const EXPECTED: &'static str = "a map";

            fn accepts() -> $crate::keys::Accepts {
                $crate::keys::Accepts::Map($crate::keys::MapDoc {
                    name: <Self as $crate::keys::Vocabulary>::NAME,
                    doc: <Self as $crate::keys::Vocabulary>::DOC,
                    keys: <Self as $crate::keys::Vocabulary>::keys,
                })
            }

            fn from_node(node: &$crate::yaml::Node, r: &mut $crate::keys::Reader<'_>) -> Option<Self> {
                let keys = <Self as $crate::keys::Vocabulary>::keys();
                let map = $crate::keys::KeyedMap::open(node, &keys, r)?;
                $( let $field = map.read::<$ty>($crate::vocabulary!(@key $field $($key)?), r); )*
                if !map.is_complete() {
                    return None;
                }
                Some($name { span: node.span, $( $field: $crate::vocabulary!(@value $need $field), )* })
            }
        }

        impl $crate::keys::Vocabulary for $name {
            const NAME: &'static str = stringify!($name);
            const DOC: &'static str = concat!($($doc),*).trim_ascii();

            fn keys() -> Vec<$crate::keys::KeyDoc> {
                vec![$( $crate::keys::KeyDoc {
                    name: $crate::vocabulary!(@key $field $($key)?),
                    doc: concat!($($field_doc),*).trim_ascii(),
                    required: $crate::vocabulary!(@required $need),
                    expected: <$ty as $crate::keys::FromNode>::EXPECTED,
                    accepts: <$ty as $crate::keys::FromNode>::accepts,
                } ),*]
            }
        }
    };
    (@type required $ty:ty) => { $ty };
    (@type optional $ty:ty) => { Option<$ty> };
    (@required required) => { true };
    (@required optional) => { false };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
    // `map.is_complete()` was tested before, so a required key is present, and `??` never returns early for an absent
    // one.
    (@value required $field:ident) => { $field?? };
    (@value optional $field:ident) => { $field? };
}

/// Declares a fieldless enum that is read from one word. It gets `ALL`, `as_str()` and `Display`.
///
/// ```
/// isaforge_compiler::choices! {
///     /// What an instruction does to an operand.
///     pub enum Access {
///         /// It only looks.
///         Read = "read",
///         Write = "write",
///     }
/// }
/// assert_eq!(Access::ALL.len(), 2);
/// assert_eq!(Access::Write.as_str(), "write");
/// ```
#[macro_export]
macro_rules! choices {
    (
        $(#[doc = $doc:literal])*
        $vis:vis enum $name:ident {
            $( $(#[doc = $choice_doc:literal])* $choice:ident = $text:literal ),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis enum $name {
            $( $(#[doc = $choice_doc])* #[doc = concat!("Written `", $text, "`.")] $choice, )+
        }

        impl $name {
            /// All choices, in the order of declaration.
            pub const ALL: &'static [Self] = &[$( $name::$choice ),+];

            /// The word as written in a specification.
            pub const fn as_str(self) -> &'static str {
                match self { $( $name::$choice => $text, )+ }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::keys::FromNode for $name {
            const EXPECTED: &'static str = $crate::choices!(@expected $($text),+);

            fn accepts() -> $crate::keys::Accepts {
                $crate::keys::Accepts::Words(&[$( $text ),+])
            }

            fn from_node(node: &$crate::yaml::Node, r: &mut $crate::keys::Reader<'_>) -> Option<Self> {
                const ALL: &[($name, &str)] = &[$( ($name::$choice, $text) ),+];
                $crate::keys::read_choice(node, r, ALL, <Self as $crate::keys::FromNode>::EXPECTED)
            }
        }
    };
    (@expected $only:literal) => { concat!("`", $only, "`") };
    (@expected $first:literal $(, $rest:literal)+) => { concat!("one of `", $first, "`" $(, ", `", $rest, "`")+) };
}
