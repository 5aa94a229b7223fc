//! The model: an instruction set with every name bound and every bit position computed.
//!
//! Plain data. Readers produce it, checks examine it, back ends print it. It hides whether the specification was XML or
//! YAML; spans remain only so that checks can point into the source.
//!
//! - here: the set, its definitions and its instructions
//! - `bits`: where the bits of a field are
//! - `operands`: operands and modifiers, their kinds, and how they are written
//!
//! Definitions refer to each other by index: an operand to its kind, and a field of the kind to its bank or enum.

pub(crate) mod bits;
mod operands;

use std::collections::BTreeMap;

use crate::group::model::Groups;
use crate::machine::model::Machine;
use crate::semantics::model::Semantics;
use crate::source::{FileId, Span, Spanned};
use crate::spec::Provenance;
use crate::stream::model::{NoGeneration, Stream};
use crate::suggest::one_of;

pub use bits::{Bits, Piece};
pub use operands::{Alternative, Count, Field, Kind, Modifier, Operand, Shape, Spelling, Token, Type};

/// An instruction set.
#[derive(Clone, Debug, Default)]
pub struct Isa {
    /// Its name.
    pub name: String,
    /// A description.
    pub doc: String,
    /// The width of a word in bits.
    pub word_bits: u8,
    /// Where the name is written.
    pub span: Option<Span>,
    /// Enums.
    pub enums: Vec<Enum>,
    /// Tables of constants.
    pub constants: Vec<Constants>,
    /// Register banks.
    pub banks: Vec<Bank>,
    /// Shared fields.
    pub shared: Vec<Shared>,
    /// Kinds of operands.
    pub kinds: Vec<Kind>,
    /// Limits on operands.
    pub limits: Vec<Limit>,
    /// The instructions.
    pub forms: Vec<Form>,
    /// The parameters of instructions that are members of a family, by instruction name: parameter name and value.
    pub parameters: BTreeMap<String, (String, u64)>,
    /// The files of the specifications that this one builds on, as opposed to its own files.
    pub bases: Vec<FileId>,
    /// Positions in the source that are more precise than the spans of definitions.
    pub places: Places,
    /// Whether an instruction may be a special case of another, with all of its constant bits and more. The special
    /// case wins.
    pub special_cases: bool,
    /// The meaning of the instructions, if the specification defines it.
    pub semantics: Option<Semantics>,
    /// The machine that executes programs, if the specification defines what instructions do.
    pub machine: Option<Machine>,
    /// How instructions are encoded.
    pub encoding: Encoding,
}

/// How instructions are encoded.
#[derive(Clone, Debug, Default)]
pub enum Encoding {
    /// Each is a word of [`Isa::word_bits`] bits; [`Isa::forms`] are the instructions.
    #[default]
    Words,
    /// Each is a group of records.
    Groups(Groups),
    /// They follow one another in a byte stream and have several lengths or more than 64 bits.
    Stream(Stream),
}

impl Isa {
    /// The groups. Returns `None` if instructions are words or a stream.
    pub fn groups(&self) -> Option<&Groups> {
        match &self.encoding {
            Encoding::Groups(groups) => Some(groups),
            Encoding::Words | Encoding::Stream(_) => None,
        }
    }

    /// The stream. Returns `None` if instructions are words or groups.
    pub fn stream(&self) -> Option<&Stream> {
        match &self.encoding {
            Encoding::Stream(stream) => Some(stream),
            Encoding::Words | Encoding::Groups(_) => None,
        }
    }

    /// Like [`stream`](Self::stream), but mutable.
    pub fn stream_mut(&mut self) -> Option<&mut Stream> {
        match &mut self.encoding {
            Encoding::Stream(stream) => Some(stream),
            Encoding::Words | Encoding::Groups(_) => None,
        }
    }

    /// The number of a generation that is given by name or number. Not needed for a set without generations.
    ///
    /// # Errors
    /// When the generation does not exist, or none is given although there are several.
    pub fn generation(&self, wanted: Option<&str>) -> Result<u32, NoGeneration> {
        let (generations, names) =
            self.stream().map_or(((0, 0), &[][..]), |stream| (stream.generations, &stream.generation_names));
        let (first, last) = generations;
        let known = match (names, first == last) {
            ([_, ..], _) => one_of(names.iter().map(|(name, _)| name)),
            ([], true) => {
                let none =
                    || NoGeneration { message: "has no generations".to_owned(), help: "leave it out".to_owned() };
                return wanted.map_or(Ok(first), |_| Err(none()));
            }
            ([], false) if last == u32::MAX => format!("the numbers from {first}"),
            ([], false) => format!("{first} to {last}"),
        };
        let Some(wanted) = wanted else {
            let message = "describes several generations".to_owned();
            return Err(NoGeneration { message, help: format!("choose a `generation`: {known}") });
        };
        let named = names.iter().find(|(name, _)| name == wanted).map(|(_, number)| *number);
        let is_known = |number: &u32| match names {
            [] => (first..=last).contains(number),
            _ => names.iter().any(|(_, known)| known == number),
        };
        named.or_else(|| wanted.parse().ok().filter(is_known)).ok_or_else(|| NoGeneration {
            message: format!("has no generation {wanted}"),
            help: format!("its generations are {known}"),
        })
    }
}

/// The part of a definition that a place in [`Places`] refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The whole definition.
    Whole,
    /// Constant bits.
    Fixed,
    /// Bits declared ignored.
    Ignored,
    /// The list of values.
    List,
    /// The field that holds the length of a register list.
    Count,
}

/// Where parts of definitions are written, for messages; keyed by the span of the definition.
#[derive(Clone, Debug, Default)]
pub struct Places(BTreeMap<(Span, Part), Vec<(u64, Span)>>);

impl Places {
    /// Adds a place for a part of the definition at `owner`; `mask` has the bits that are defined there, or is 0.
    pub fn add(&mut self, owner: Span, part: Part, mask: u64, span: Span) {
        // The members of a family share one definition.
        let places = self.0.entry((owner, part)).or_default();
        if !places.contains(&(mask, span)) {
            places.push((mask, span));
        }
    }

    /// The places of a part of the definition at `owner`, each with the mask of the bits that are defined there.
    pub fn of(&self, owner: Span, part: Part) -> &[(u64, Span)] {
        self.0.get(&(owner, part)).map_or(&[], Vec::as_slice)
    }

    /// The first place of a part, or the span of the definition itself.
    pub fn first(&self, owner: Span, part: Part) -> Span {
        self.of(owner, part).first().map_or(owner, |(_, span)| *span)
    }
}

/// Names for the values of a field.
#[derive(Clone, Debug)]
pub struct Enum {
    /// Its name.
    pub name: String,
    /// What the values choose between.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// The declared width in bits.
    pub bits: Option<u8>,
    /// The named values.
    pub values: Vec<Value>,
    /// The default value.
    pub default: Option<u64>,
    /// Whether it is used other than by a field: another enum extends it, or operands imply its values.
    pub implied: bool,
    /// One more than its highest listed value, including reserved ones.
    pub listed: u64,
    /// Whether unlisted values are implicitly reserved.
    pub open: bool,
}

/// A named value.
#[derive(Clone, Debug)]
pub struct Value {
    /// Its name.
    pub name: String,
    /// How it is written in assembly.
    pub text: String,
    /// Other spellings that the assembler accepts.
    pub also: Vec<String>,
    /// Its bits.
    pub bits: u64,
    /// What it means.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
}

impl Value {
    /// All spellings in assembly, the printed one first.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.text.as_str()).chain(self.also.iter().map(String::as_str))
    }
}

/// A table of constants.
#[derive(Clone, Debug)]
pub struct Constants {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// The constants with their descriptions.
    pub values: Vec<(u64, String)>,
}

/// A bank of registers.
#[derive(Clone, Debug)]
pub struct Bank {
    /// Its name.
    pub name: String,
    /// What the registers are for.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// How many registers there are.
    pub count: u32,
    /// The width of one register in bits.
    pub width: u16,
    /// The text before and after the number when a register is printed.
    pub prints: (String, String),
}

/// A field that operands share.
#[derive(Clone, Debug)]
pub struct Shared {
    /// Its name.
    pub name: String,
    /// Where it is defined.
    pub span: Span,
    /// Its position.
    pub bits: Bits,
    /// Its value in instructions that do not use it.
    pub default: u64,
    /// The enum of the modifier that it is printed as.
    pub printed: Option<usize>,
    /// Spellings that are parsed as one of its values, with the place where each is defined.
    pub words: Vec<(String, u64, Span)>,
}

/// Constant bits and where they are stated.
#[derive(Clone, Debug)]
pub struct Fixed {
    /// The mask of the bits.
    pub mask: u64,
    /// Their value.
    pub value: u64,
    /// Whether they distinguish the instruction from others.
    pub matches: bool,
    /// Where it is stated.
    pub span: Span,
    /// Where its bits are defined, if that is elsewhere: in the `xml` section, for a number of the XML file.
    pub declared: Option<Span>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Form {
    /// Its mnemonic.
    pub name: String,
    /// A short description.
    pub title: String,
    /// What it does.
    pub doc: String,
    /// The unit that executes it.
    pub unit: String,
    /// Where it is defined.
    pub span: Span,
    /// File and line of the definition.
    pub source: String,
    /// Where the facts come from.
    pub provenance: Provenance,
    /// Why, if the provenance needs a reason.
    pub note: String,
    /// Constant bits.
    pub fixed: Vec<Fixed>,
    /// Bits that the hardware ignores.
    pub ignored: u64,
    /// Where its syntax is defined.
    pub syntax_span: Span,
    /// Modifiers in print order.
    pub modifiers: Vec<Modifier>,
    /// Operands in print order.
    pub operands: Vec<Operand>,
    /// The syntax of the whole instruction.
    pub syntax: Vec<Token>,
    /// How many distinct values each limit allows.
    pub limits: Vec<u8>,
}

impl Form {
    /// The mask of the bits that distinguish it from other instructions, and their value.
    pub fn pattern(&self) -> (u64, u64) {
        self.fixed.iter().filter(|f| f.matches).fold((0, 0), |(m, v), f| (m | f.mask, v | f.value))
    }
}

/// A limit on the operands of an instruction.
#[derive(Clone, Debug)]
pub struct Limit {
    /// What is limited.
    pub name: String,
    /// Why.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// The operand kind it applies to.
    pub kind: usize,
    /// The alternatives it applies to, as a bit set.
    pub alternatives: u32,
    /// How many low bits are dropped before values are compared.
    pub drop: u8,
    /// How many distinct values are allowed.
    pub at_most: u8,
    /// Units with a different limit, and that limit.
    pub except: Option<(Vec<Spanned<String>>, u8)>,
}
