//! The names that a text may use.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use isaforge_core::semantics::{Effects, Modifier, Type};

use super::syntax::Block;
use crate::source::Span;

/// What all texts of an instruction set may use.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// Functions, by name.
    pub functions: BTreeMap<String, Function>,
    /// Functions that stand on the left of `=`, by name.
    pub writers: BTreeMap<String, Function>,
    /// Functions without a text, in the order of their numbers.
    pub intrinsics: Vec<IntrinsicInfo>,
    /// Registers outside of banks, in the order of their numbers.
    pub states: Vec<StateInfo>,
    /// Address spaces, in the order of their numbers.
    pub spaces: Vec<String>,
    /// Faults, in the order of their numbers.
    pub faults: Vec<String>,
    /// Widths of the floats whose arithmetic gives one NaN.
    pub canonical: Vec<u8>,
    /// Type of the program counter and of the targets of branches.
    pub pc: Option<Type>,
    /// What was used, for reports on what was not.
    pub usage: RefCell<Usage>,
}

/// What texts used of a [`Library`].
#[derive(Clone, Debug, Default)]
pub struct Usage {
    /// Functions and writers that were expanded.
    pub functions: BTreeSet<Span>,
    /// Arms of `match`, and whether any modifier reached them.
    pub arms: BTreeMap<Span, bool>,
    /// Intrinsics that were called.
    pub intrinsics: BTreeSet<usize>,
    /// States that were read or written.
    pub states: BTreeSet<usize>,
}

/// A function: expanded wherever it is called.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its parameters; of a writer the last one is the value that is written.
    pub parameters: Vec<String>,
    /// What it computes or does.
    pub body: Block,
    /// Where it is defined.
    pub span: Span,
}

/// What an intrinsic takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A value.
    Value(Type),
    /// An operand itself, which the intrinsic reads or writes. It is passed as its index.
    Operand,
}

/// A function without a text.
#[derive(Clone, Debug)]
pub struct IntrinsicInfo {
    /// Its name.
    pub name: String,
    /// What it computes or does.
    pub doc: String,
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// The names of its parameters, for those that have one.
    pub names: Vec<Option<String>>,
    /// Type of its result.
    pub result: Option<Type>,
    /// What it touches.
    pub effects: Effects,
    /// Where it is declared.
    pub span: Span,
}

/// A register, or an array of them, outside of banks.
#[derive(Clone, Debug)]
pub struct StateInfo {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub doc: String,
    /// Type of one.
    pub ty: Type,
    /// How many there are.
    pub count: u32,
    /// Where it is declared.
    pub span: Span,
}

/// What one text may use.
#[derive(Debug)]
pub struct Scope<'a> {
    /// What all texts of the instruction set may use.
    pub library: &'a Library,
    /// The operands, or the fields of an encoding.
    pub operands: Vec<OperandInfo>,
    /// The modifiers. A name of two parts, `slot.field`, is written so.
    pub modifiers: Vec<ModifierInfo>,
    /// Numbers that are known in advance: the parameter of a family.
    pub numbers: Vec<(String, u64)>,
    /// The slots of a group that the text may call, by name and number.
    pub slots: Vec<(String, u16)>,
    /// Whether an arm cannot give a negative number for an unsigned one: in encodings, where values are written as they are.
    pub exact: bool,
}

impl<'a> Scope<'a> {
    /// No operands and no modifiers yet.
    pub fn new(library: &'a Library) -> Self {
        Scope {
            library,
            operands: Vec::new(),
            modifiers: Vec::new(),
            numbers: Vec::new(),
            slots: Vec::new(),
            exact: false,
        }
    }
}

/// An operand.
#[derive(Clone, Debug)]
pub struct OperandInfo {
    /// Its name.
    pub name: String,
    /// Type of one element, as it is encoded.
    pub ty: Type,
    /// How many elements it has.
    pub elements: u16,
    /// What values it has, which says what arms a `match` needs.
    pub choices: Choices,
    /// Modifiers written after it, then the fields that all readings of its kind have.
    pub suffixes: Vec<ModifierInfo>,
    /// Whether it can be read.
    pub reads: bool,
    /// Whether it can be written.
    pub writes: bool,
    /// Where it is defined.
    pub span: Span,
}

/// A modifier.
#[derive(Clone, Debug)]
pub struct ModifierInfo {
    /// Its name.
    pub name: String,
    /// Its values.
    pub choices: Choices,
    /// How nodes name it.
    pub reference: Modifier,
    /// Where it is defined.
    pub span: Span,
}

/// What values a modifier, or an operand, has.
#[derive(Clone, Debug)]
pub enum Choices {
    /// `false` and `true`.
    Flag,
    /// Named values and their bits.
    Values(Vec<(String, u64)>),
    /// A number of a width in bits.
    Number(u8),
}

impl Choices {
    /// The values by name.
    pub fn named(&self) -> Vec<(&str, u64)> {
        match self {
            Choices::Flag => vec![("false", 0), ("true", 1)],
            Choices::Values(values) => values.iter().map(|(name, bits)| (name.as_str(), *bits)).collect(),
            Choices::Number(_) => Vec::new(),
        }
    }
}
