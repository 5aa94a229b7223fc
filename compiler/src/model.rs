//! The model: an instruction set with every name bound and every bit position computed.
//!
//! Plain data. Readers produce it, checks examine it, back ends print it. It hides whether the specification was XML or
//! YAML; spans remain only so that checks can point into the source.
//!
//! - here: the set and its definitions, its instructions, and where bits are
//! - `operands`: operands and modifiers, their kinds, and how they are written
//!
//! Definitions refer to each other by index: an operand to its kind, and a field of the kind to its bank or enum.

mod operands;

use std::collections::BTreeMap;

use isaforge_core::bits::ones;

use crate::group::model::Groups;
use crate::source::{FileId, Span, Spanned};
use crate::spec::Provenance;
use crate::stream::model::Stream;

pub use operands::{Alternative, Count, Field, Kind, Modifier, Operand, Shape, Spelling, Token};

/// A run of contiguous bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Lowest bit.
    pub at: u8,
    /// Number of bits.
    pub width: u8,
    /// The shared field these bits belong to. Their position is then absolute, even within an operand.
    pub shared: Option<usize>,
}

/// The position of a field, least significant piece first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Bits(pub Vec<Piece>);

impl Bits {
    /// A field in one piece.
    pub fn run(at: u8, width: u8) -> Self {
        Bits(vec![Piece { at, width, shared: None }])
    }

    /// Number of bits.
    pub fn width(&self) -> u32 {
        self.0.iter().map(|p| u32::from(p.width)).sum()
    }

    /// The bits of the word that the field covers when its owner starts at `base`; bits beyond 63 are lost.
    pub fn mask(&self, base: u8) -> u64 {
        self.0.iter().map(|p| piece_mask(*p, base)).fold(0, |a, b| a | b)
    }

    /// The bits of the field that belong to its owner alone, without those of shared fields.
    pub fn own_mask(&self, base: u8) -> u64 {
        self.0.iter().filter(|p| p.shared.is_none()).map(|p| piece_mask(*p, base)).fold(0, |a, b| a | b)
    }

    /// One above the highest bit covered.
    pub fn end(&self, base: u8) -> u32 {
        let end =
            |p: &Piece| u32::from(p.at) + u32::from(p.width) + if p.shared.is_some() { 0 } else { u32::from(base) };
        self.0.iter().map(end).max().unwrap_or(0)
    }

    /// The shared fields used.
    pub fn shared(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().filter_map(|p| p.shared)
    }

    /// The same field for an owner that starts at `base`.
    pub fn moved(&self, base: u8) -> Bits {
        let moved = |p: &Piece| Piece { at: if p.shared.is_some() { p.at } else { p.at.saturating_add(base) }, ..*p };
        Bits(self.0.iter().map(moved).collect())
    }

    /// The same field relative to an owner that starts at `base`, which is at or below the field's lowest bit.
    pub fn moved_down(&self, base: u8) -> Bits {
        let moved = |p: &Piece| Piece { at: if p.shared.is_some() { p.at } else { p.at.saturating_sub(base) }, ..*p };
        Bits(self.0.iter().map(moved).collect())
    }
}

fn piece_mask(piece: Piece, base: u8) -> u64 {
    let at = u32::from(piece.at) + if piece.shared.is_some() { 0 } else { u32::from(base) };
    ones(u32::from(piece.width)).checked_shl(at).unwrap_or(0)
}

/// The type of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A truth value.
    Flag,
    /// A number in decimal.
    Decimal,
    /// A number in hexadecimal.
    Hex,
    /// A number in two's complement.
    Signed,
    /// A value of an enum.
    Enum(usize),
    /// A constant from a table.
    Constant(usize),
    /// A register of a bank.
    Register(usize),
}

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
    pub semantics: Option<crate::semantics::Semantics>,
    /// The machine that executes programs, if the specification defines what instructions do.
    pub machine: Option<crate::machine::Machine>,
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
