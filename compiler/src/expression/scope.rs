//! The names that a text may use.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use isaforge_core::semantics::{Effects, Modifier, Registers, Type};

use super::syntax::Block;
use crate::source::Span;

/// The names that all texts of an instruction set may use.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// Functions, by name.
    pub functions: BTreeMap<String, Function>,
    /// Functions that can be the target of an assignment, by name.
    pub writers: BTreeMap<String, Function>,
    /// Functions without a text, in index order.
    pub intrinsics: Vec<IntrinsicInfo>,
    /// Registers that are not in a bank, in index order.
    pub states: Vec<StateInfo>,
    /// Address spaces, in index order.
    pub spaces: Vec<String>,
    /// Faults, in index order.
    pub faults: Vec<String>,
    /// The widths of the float types whose arithmetic returns a canonical NaN.
    pub canonical: Vec<u8>,
    /// The type of the program counter and of branch targets.
    pub pc: Option<Type>,
    /// The names in use, for reports on unused ones.
    pub usage: RefCell<Usage>,
}

/// The parts of a [`Library`] that texts use.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    /// Functions and writers that were expanded.
    pub functions: BTreeSet<Span>,
    /// Arms of `match`, and whether any of them was reachable.
    pub arms: BTreeMap<Span, bool>,
    /// Intrinsics that were called.
    pub intrinsics: BTreeSet<usize>,
    /// States that were read or written.
    pub states: BTreeSet<usize>,
}

/// A function, which is expanded wherever it is called.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its parameters; the last one of a writer is the value to write.
    pub parameters: Vec<String>,
    /// Its text.
    pub body: Block,
    /// Where it is defined.
    pub span: Span,
}

/// A parameter of an intrinsic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A value.
    Value(Type),
    /// An operand that the intrinsic reads or writes, passed as its index.
    Operand,
}

/// A function without a text, provided by the host.
#[derive(Clone, Debug)]
pub struct IntrinsicInfo {
    /// Its name.
    pub name: String,
    /// Its result or effect.
    pub doc: String,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The names of its parameters, if given.
    pub names: Vec<Option<String>>,
    /// The type of its result.
    pub result: Option<Type>,
    /// Its effects.
    pub effects: Effects,
    /// The registers that it accesses.
    pub registers: Vec<Registers>,
    /// Where it is declared.
    pub span: Span,
}

/// A register, or an array of registers, that is not in a bank.
#[derive(Clone, Debug)]
pub struct StateInfo {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub doc: String,
    /// The type of an element.
    pub ty: Type,
    /// The number of elements.
    pub count: u32,
    /// Where it is declared.
    pub span: Span,
}

/// The names that one text may use.
#[derive(Debug)]
pub struct Scope<'a> {
    /// The names that all texts of the instruction set may use.
    pub library: &'a Library,
    /// The operands, or the fields of an encoding.
    pub operands: Vec<OperandInfo>,
    /// The modifiers. Names may have two parts: `slot.field`.
    pub modifiers: Vec<ModifierInfo>,
    /// Numbers that are known at compile time, such as the parameter of a family.
    pub numbers: Vec<(String, u64)>,
    /// The slots of a group that the text may call, by name and index.
    pub slots: Vec<(String, u16)>,
    /// Whether the text is part of an encoding. Values are then written exactly, so that an arm must not return a
    /// negative number as an unsigned one, and there is no thread whose properties could be asked.
    pub in_encoding: bool,
}

impl<'a> Scope<'a> {
    /// A scope without operands and modifiers.
    pub fn new(library: &'a Library) -> Self {
        Scope {
            library,
            operands: Vec::new(),
            modifiers: Vec::new(),
            numbers: Vec::new(),
            slots: Vec::new(),
            in_encoding: false,
        }
    }
}

/// An operand.
#[derive(Clone, Debug)]
pub struct OperandInfo {
    /// Its name.
    pub name: String,
    /// The type of an element, as it is encoded.
    pub ty: Type,
    /// The number of elements.
    pub elements: u16,
    /// Its `size` may be any multiple of this many bits, and decides the type; 0 if the type does not depend on it.
    pub size_step: u16,
    /// Its possible values, which determine the arms that a `match` needs.
    pub choices: Choices,
    /// The modifiers written after it, followed by the fields that all alternatives of its kind have.
    pub suffixes: Vec<ModifierInfo>,
    /// The fields that only some alternatives of its kind have in one form, each with the name of one that has it not.
    pub partial: Vec<(String, String)>,
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
    /// How nodes refer to it.
    pub reference: Modifier,
    /// Where it is defined.
    pub span: Span,
}

/// The possible values of a modifier or an operand.
#[derive(Clone, Debug)]
pub enum Choices {
    /// `false` and `true`.
    Flag,
    /// Named values with their numbers.
    Values(Vec<(String, u64)>),
    /// A number of this width in bits.
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
