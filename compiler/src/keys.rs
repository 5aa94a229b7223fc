//! Typed reading of a located tree: turns a [`Node`](crate::yaml::Node) into the structs of the spec
//! language.
//!
//! A struct declared with [`vocabulary!`](crate::vocabulary) is read from a map and knows its keys and their
//! documentation. An enum declared with [`choices!`](crate::choices) is read from one word. Reading does not stop at
//! the first mistake: every key of every map is read, and each mistake becomes one diagnostic.
//!
//! - here: the macros that declare structs and enums
//! - `from_node`: what a type must provide to be read
//! - `read`: reads maps of known keys and words, for the types that the macros declare
//! - `values`: the types of single values, lists, and maps of names
//!
//! Reading begins with the struct of a whole file: `read` checks the keys of its map, and the value of each key is read
//! by its own type, down to those in `values`.
//!
//! | code  | meaning |
//! |-------|---------|
//! | E0020 | a value of the wrong kind |
//! | E0021 | an unknown key |
//! | E0022 | a missing key |
//! | E0023 | a word that is not one of the choices |
//! | E0024 | a number out of range |

mod from_node;
mod read;
mod values;

pub use from_node::{Accepts, FromNode, KeyDoc, MapDoc, Reader, Vocabulary};
pub use values::{Named, OneOrMany};

#[doc(inline)]
pub use crate::{choices, vocabulary};
#[doc(hidden)]
pub use read::{KeyedMap, read_choice};

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
