//! Generations, and constants that may be given by name.

use crate::keys::{Accepts, FromNode, Named, OneOrMany, Reader};
use crate::source::{Span, Spanned};
use crate::yaml::{Node, Value};

/// The generations of a set: the first and the last number, or names with numbers.
#[derive(Clone, Debug)]
pub enum GenerationsSpec {
    /// Numbers: the first and the last generation.
    Range(Vec<Spanned<u32>>),
    /// Names, each with its number.
    Names(Named<Spanned<u32>>),
}

impl GenerationsSpec {
    /// Where the first entry is written.
    pub fn span(&self) -> Option<Span> {
        match self {
            GenerationsSpec::Range(numbers) => numbers.first().map(|number| number.span),
            GenerationsSpec::Names(names) => names.iter().map(|(name, _)| name.span).next(),
        }
    }
}

impl FromNode for GenerationsSpec {
    const EXPECTED: &'static str = "the first and the last generation, or a map from names to numbers";

    fn accepts() -> Accepts {
        Accepts::Either(vec![OneOrMany::<Spanned<u32>>::accepts(), Named::<Spanned<u32>>::accepts()])
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        match &node.value {
            Value::Map(_) => Named::from_node(node, r).map(GenerationsSpec::Names),
            _ => OneOrMany::from_node(node, r).map(|numbers| GenerationsSpec::Range(numbers.0)),
        }
    }
}

/// A number or the name of one: of a generation, an enum value or a register.
#[derive(Clone, Debug)]
pub enum Constant<T> {
    /// The number.
    Number(Spanned<T>),
    /// Its name.
    Name(Spanned<String>),
}

impl<T: Copy> Constant<T> {
    /// The number; `None` for a name.
    pub fn number(&self) -> Option<T> {
        match self {
            Constant::Number(number) => Some(number.value),
            Constant::Name(_) => None,
        }
    }
}

impl<T> Constant<T> {
    /// Where it is written.
    pub fn span(&self) -> Span {
        match self {
            Constant::Number(number) => number.span,
            Constant::Name(name) => name.span,
        }
    }
}

impl<T: FromNode> FromNode for Constant<T> {
    const EXPECTED: &'static str = "a whole number, or the name of one";

    fn accepts() -> Accepts {
        Accepts::Either(vec![Spanned::<T>::accepts(), Accepts::Text])
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        match &node.value {
            Value::Text(_) => Spanned::from_node(node, r).map(Constant::Name),
            _ => Spanned::from_node(node, r).map(Constant::Number),
        }
    }
}
