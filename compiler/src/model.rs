//! The model: an instruction set with every name bound and every bit position computed.
//!
//! Plain data. Readers produce it, checks judge it, back ends print it; none of them sees XML or YAML through it. Spans
//! remain only so that checks can point.

use std::collections::BTreeMap;

use isaforge_core::bits::ones;
use isaforge_core::table::Target;

use crate::group::model::Groups;
use crate::source::{FileId, Span, Spanned};
use crate::spec::{Access, Provenance};
use crate::stream::model::Stream;

/// A run of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Lowest bit.
    pub at: u8,
    /// Number of bits.
    pub width: u8,
    /// The shared field these bits belong to; their place is then absolute even inside an operand.
    pub shared: Option<usize>,
}

/// Where a field lies, least significant piece first.
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

    /// The bits that are the owner's alone, not shared.
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

    /// The same field relative to an owner that starts at `base`, at or below its lowest bit.
    pub fn moved_down(&self, base: u8) -> Bits {
        let moved = |p: &Piece| Piece { at: if p.shared.is_some() { p.at } else { p.at.saturating_sub(base) }, ..*p };
        Bits(self.0.iter().map(moved).collect())
    }
}

fn piece_mask(piece: Piece, base: u8) -> u64 {
    let at = u32::from(piece.at) + if piece.shared.is_some() { 0 } else { u32::from(base) };
    ones(u32::from(piece.width)).checked_shl(at).unwrap_or(0)
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Yes or no.
    Flag,
    /// A number in decimal.
    Decimal,
    /// A number in hexadecimal.
    Hex,
    /// A number in two's complement.
    Signed,
    /// A value of an enum.
    Enum(usize),
    /// A constant of a table.
    Constant(usize),
    /// A register of a bank.
    Register(usize),
}

/// An instruction set.
#[derive(Clone, Debug, Default)]
pub struct Isa {
    /// Its name.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// Bits of a word.
    pub word_bits: u8,
    /// Where the name stands.
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
    /// Rules on operands.
    pub limits: Vec<Limit>,
    /// The instructions.
    pub forms: Vec<Form>,
    /// The parameter of an instruction that is a member of a family, by the instruction's name: its name and its value.
    pub parameters: BTreeMap<String, (String, u64)>,
    /// Files that the specification builds on, rather than being part of it.
    pub bases: Vec<FileId>,
    /// Where more is said about things than their own spans tell.
    pub places: Places,
    /// Whether an instruction may be a special case of another: all constant bits of that one, and more. It wins.
    pub special_cases: bool,
    /// What the instructions do, if the specification says it.
    pub semantics: Option<crate::semantics::Semantics>,
    /// What executes programs, if the specification says what instructions do.
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
    /// They follow each other in a stream of bytes, in several lengths or in more than 64 bits.
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

    /// The same, to change it.
    pub fn stream_mut(&mut self) -> Option<&mut Stream> {
        match &mut self.encoding {
            Encoding::Stream(stream) => Some(stream),
            Encoding::Words | Encoding::Groups(_) => None,
        }
    }
}

/// What a place of [`Places`] is.
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
    /// The field that counts a list of registers.
    Count,
}

/// Where parts of definitions stand, for messages: by the span of the definition.
#[derive(Clone, Debug, Default)]
pub struct Places(BTreeMap<(Span, Part), Vec<(u64, Span)>>);

impl Places {
    /// Adds a place of a part of the definition at `owner`; `mask` is of bits that are said there, or 0.
    pub fn add(&mut self, owner: Span, part: Part, mask: u64, span: Span) {
        // The members of a family have one definition.
        let places = self.0.entry((owner, part)).or_default();
        if !places.contains(&(mask, span)) {
            places.push((mask, span));
        }
    }

    /// The places of a part of the definition at `owner`, each with the bits that are said there.
    pub fn of(&self, owner: Span, part: Part) -> &[(u64, Span)] {
        self.0.get(&(owner, part)).map_or(&[], Vec::as_slice)
    }

    /// The first place of a part, or the definition's own.
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
    /// The width it declares.
    pub bits: Option<u8>,
    /// The values with a name.
    pub values: Vec<Value>,
    /// The bits of the default.
    pub default: Option<u64>,
    /// Whether something else than a field uses it: another enum goes on with it, or operands imply its values.
    pub implied: bool,
    /// One above the last value that it lists, reserved ones included.
    pub listed: u64,
    /// Whether what it does not list is reserved, without the list saying so.
    pub open: bool,
}

/// A named value.
#[derive(Clone, Debug)]
pub struct Value {
    /// Its name.
    pub name: String,
    /// The word that stands for it in assembly.
    pub text: String,
    /// Other words that the assembler takes for it.
    pub also: Vec<String>,
    /// Its bits.
    pub bits: u64,
    /// What it means.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
}

impl Value {
    /// All words that stand for it in assembly, the one that prints first.
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
    /// The constants and what they stand for.
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
    /// How many there are.
    pub count: u32,
    /// Bits in one.
    pub width: u16,
    /// How one is written, in two parts around the number.
    pub prints: (String, String),
}

/// A field that operands share.
#[derive(Clone, Debug)]
pub struct Shared {
    /// Its name.
    pub name: String,
    /// Where it is defined.
    pub span: Span,
    /// Where it lies.
    pub bits: Bits,
    /// Its value when unused.
    pub default: u64,
    /// The enum of the modifier that it prints as.
    pub printed: Option<usize>,
    /// Words that are read for values of it, and where they are given.
    pub words: Vec<(String, u64, Span)>,
}

/// A kind of operand.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Its name.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// Bits it takes.
    pub width: u8,
    /// Its readings.
    pub alternatives: Vec<Alternative>,
    /// Modifiers written after it, relative to it.
    pub suffixes: Vec<Modifier>,
}

/// One reading of an operand.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// Its name.
    pub name: String,
    /// What it means.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// Where its text is given.
    pub text_span: Span,
    /// Bits that choose it.
    pub mask: u64,
    /// What they are.
    pub value: u64,
    /// Shared fields it needs at a certain value.
    pub when: Vec<(usize, u64)>,
    /// Its fields.
    pub fields: Vec<Field>,
    /// How it is written.
    pub text: Vec<Token>,
    /// Other ways to write it, which are only read.
    pub also: Vec<Spelling>,
}

impl Kind {
    /// The fields that are the same in all readings: name, place and meaning. By their index in the first reading.
    pub fn common_fields(&self) -> impl Iterator<Item = (usize, &Field)> {
        let (first, others) = self.alternatives.split_first().map_or((&[][..], &[][..]), |(a, b)| (&a.fields[..], b));
        let same = |a: &Field, b: &Field| a.name == b.name && a.bits == b.bits && a.ty == b.ty;
        let everywhere = move |field: &Field| others.iter().all(|other| other.fields.iter().any(|f| same(f, field)));
        first.iter().enumerate().filter(move |(_, field)| everywhere(field))
    }
}

impl Alternative {
    /// All ways to write it, the one that is printed first, each with its place.
    pub fn texts(&self) -> impl Iterator<Item = (&[Token], Span)> {
        let also = self.also.iter().map(|spelling| (&spelling.text[..], spelling.span));
        std::iter::once((&self.text[..], self.text_span)).chain(also)
    }
}

/// A way to write a reading of an operand that is never printed.
#[derive(Clone, Debug)]
pub struct Spelling {
    /// How it is written.
    pub text: Vec<Token>,
    /// Where that is given.
    pub span: Span,
    /// Fields that are not written, and their values.
    pub with: Vec<(usize, u64)>,
}

/// A field of an operand.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Where it lies, relative to the operand.
    pub bits: Bits,
    /// What it holds.
    pub ty: Type,
    /// Where it is defined.
    pub span: Span,
}

/// A piece of a syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// Fixed text.
    Text(String),
    /// A field of the alternative.
    Field(usize),
    /// The name of the instruction.
    Mnemonic,
    /// All modifiers not placed otherwise.
    Modifiers,
    /// One modifier.
    Modifier(usize),
    /// One operand.
    Operand(usize),
}

/// A modifier.
#[derive(Clone, Debug)]
pub struct Modifier {
    /// Its name.
    pub name: String,
    /// What it changes.
    pub doc: String,
    /// Where it lies.
    pub bits: Bits,
    /// A flag or an enum.
    pub ty: Type,
    /// The value when none is written.
    pub default: Option<u64>,
    /// What a flag prints.
    pub prints: String,
    /// Where it is defined.
    pub span: Span,
    /// Where its bits are said, if that is elsewhere: in the `xml` section, for an element of the XML file.
    pub declared: Option<Span>,
}

/// How many registers a list has.
#[derive(Clone, Debug, Default)]
pub struct Count {
    /// The field that says it.
    pub bits: Option<Bits>,
    /// Its name.
    pub name: String,
    /// Added to it, or the count itself.
    pub plus: u8,
}

/// Where an operand lies.
#[derive(Clone, Debug)]
pub enum Shape {
    /// One of a kind.
    One {
        /// The kind.
        kind: usize,
        /// Its first bit.
        at: u8,
    },
    /// A list of consecutive registers.
    List {
        /// The kind of one.
        kind: usize,
        /// Its first bit.
        at: u8,
        /// How many.
        count: Count,
        /// Written before the first.
        open: String,
        /// Written between two.
        separator: String,
        /// A list of more than one starts at a multiple of this.
        align: u8,
    },
    /// A number.
    Number {
        /// Where it lies.
        bits: Bits,
        /// How it is written.
        ty: Type,
        /// Written before it.
        prefix: String,
        /// It is a branch target.
        target: Option<Target>,
    },
}

/// An operand.
#[derive(Clone, Debug)]
pub struct Operand {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// Where its bits are said, if that is elsewhere: in the `xml` section, for an element of the XML file.
    pub declared: Option<Span>,
    /// What the instruction does with it.
    pub access: Access,
    /// Bits of one value.
    pub size: u16,
    /// Where it lies.
    pub shape: Shape,
    /// Modifiers written after it.
    pub suffixes: Vec<Modifier>,
}

/// Constant bits and where they are stated.
#[derive(Clone, Debug)]
pub struct Fixed {
    /// The bits.
    pub mask: u64,
    /// What they are.
    pub value: u64,
    /// Whether they tell the instruction from others.
    pub matches: bool,
    /// Where it is stated.
    pub span: Span,
    /// Where its bits are said, if that is elsewhere: in the `xml` section, for a number of the XML file.
    pub declared: Option<Span>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Form {
    /// Its mnemonic.
    pub name: String,
    /// A few words.
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
    /// Why.
    pub note: String,
    /// Constant bits.
    pub fixed: Vec<Fixed>,
    /// Bits without meaning.
    pub ignored: u64,
    /// Where its syntax is given.
    pub syntax_span: Span,
    /// Modifiers in the order they print.
    pub modifiers: Vec<Modifier>,
    /// Operands in the order they print.
    pub operands: Vec<Operand>,
    /// How it is written.
    pub syntax: Vec<Token>,
    /// How much each limit allows.
    pub limits: Vec<u8>,
}

impl Form {
    /// The bits that tell it from others, and their value.
    pub fn pattern(&self) -> (u64, u64) {
        self.fixed.iter().filter(|f| f.matches).fold((0, 0), |(m, v), f| (m | f.mask, v | f.value))
    }
}

/// A rule on operands.
#[derive(Clone, Debug)]
pub struct Limit {
    /// What is limited.
    pub name: String,
    /// Why.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// The kind looked at.
    pub kind: usize,
    /// The alternatives that count, a bit set.
    pub alternatives: u32,
    /// Low bits that do not count.
    pub drop: u8,
    /// How many distinct values are allowed.
    pub at_most: u8,
    /// Units that are allowed another number.
    pub except: Option<(Vec<Spanned<String>>, u8)>,
}
