//! Operands and modifiers of instructions: where their bits are, and how they are written.

use isaforge_core::table::Target;

use super::bits::Bits;
use crate::source::Span;
use crate::spec::Access;

/// A kind of operand.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Its name.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// Its width in bits.
    pub width: u8,
    /// The alternatives, each one way to read the bits.
    pub alternatives: Vec<Alternative>,
    /// Modifiers written after it, relative to it.
    pub suffixes: Vec<Modifier>,
}

/// One way to read the bits of an operand.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// Its name.
    pub name: String,
    /// What it means.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// Where its syntax is defined.
    pub text_span: Span,
    /// The bits that select it.
    pub mask: u64,
    /// The value of those bits.
    pub value: u64,
    /// Shared fields that must have a given value.
    pub when: Vec<(usize, u64)>,
    /// Its fields.
    pub fields: Vec<Field>,
    /// The syntax it is printed in.
    pub text: Vec<Token>,
    /// Other syntaxes that are parsed but never printed.
    pub also: Vec<Spelling>,
}

impl Kind {
    /// The fields that have the same name, position and type in all alternatives, with their index in the first
    /// alternative.
    pub fn common_fields(&self) -> impl Iterator<Item = (usize, &Field)> {
        let first = self.alternatives.first().map_or(&[][..], |first| &first.fields);
        first.iter().enumerate().filter(|(_, field)| self.lacking(field).is_none())
    }

    /// The fields that are not registers and that only some alternatives have in one form, each with the name of one
    /// that has it not.
    pub fn partial_fields(&self) -> Vec<(String, String)> {
        let fields = self.alternatives.iter().flat_map(|alternative| &alternative.fields);
        let fields = fields.filter(|field| !matches!(field.ty, Type::Register(_)));
        fields.filter_map(|field| Some((field.name.clone(), self.lacking(field)?.name.clone()))).collect()
    }

    /// An alternative without a field of the same name, position and type.
    fn lacking(&self, field: &Field) -> Option<&Alternative> {
        let same = |other: &Field| other.name == field.name && other.bits == field.bits && other.ty == field.ty;
        self.alternatives.iter().find(|alternative| !alternative.fields.iter().any(same))
    }
}

impl Alternative {
    /// All syntaxes, the printed one first, each with its place.
    pub fn texts(&self) -> impl Iterator<Item = (&[Token], Span)> {
        let also = self.also.iter().map(|spelling| (&spelling.text[..], spelling.span));
        std::iter::once((&self.text[..], self.text_span)).chain(also)
    }
}

/// A syntax of an alternative that is parsed but never printed.
#[derive(Clone, Debug)]
pub struct Spelling {
    /// The syntax.
    pub text: Vec<Token>,
    /// Where it is defined.
    pub span: Span,
    /// Fields that do not appear in the text, with their values.
    pub with: Vec<(usize, u64)>,
}

/// A field of an operand.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its position, relative to the operand.
    pub bits: Bits,
    /// The type of its value.
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
    /// All modifiers that are not placed explicitly.
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
    /// Its position.
    pub bits: Bits,
    /// A flag or an enum.
    pub ty: Type,
    /// The value when the modifier is not written.
    pub default: Option<u64>,
    /// The text printed for a flag.
    pub prints: String,
    /// Where it is defined.
    pub span: Span,
    /// Where its bits are defined, if that is elsewhere: in the `xml` section, for an element of the XML file.
    pub declared: Option<Span>,
}

/// The number of registers in a list.
#[derive(Clone, Debug, Default)]
pub struct Count {
    /// The field that holds the count.
    pub bits: Option<Bits>,
    /// The name of that field.
    pub name: String,
    /// Added to the field's value; the count itself if there is no field.
    pub plus: u8,
}

/// The position and structure of an operand.
#[derive(Clone, Debug)]
pub enum Shape {
    /// One operand of a kind.
    One {
        /// The kind.
        kind: usize,
        /// Its first bit.
        at: u8,
    },
    /// A list of consecutive registers.
    List {
        /// The kind of each element.
        kind: usize,
        /// Its first bit.
        at: u8,
        /// The number of registers.
        count: Count,
        /// The text before the first register.
        open: String,
        /// The text between two registers.
        separator: String,
        /// The first register of a list of more than one must be a multiple of this.
        align: u8,
    },
    /// A number.
    Number {
        /// Its position.
        bits: Bits,
        /// How it is written.
        ty: Type,
        /// The text before it.
        prefix: String,
        /// How to compute the address, if the number is a branch target.
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
    /// Where its bits are defined, if that is elsewhere: in the `xml` section, for an element of the XML file.
    pub declared: Option<Span>,
    /// Whether the instruction reads or writes it.
    pub access: Access,
    /// The width of one value in bits.
    pub size: u16,
    /// Its position and structure.
    pub shape: Shape,
    /// Modifiers written after it.
    pub suffixes: Vec<Modifier>,
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
