//! A group description with every name bound. Plain data; spans remain so that checks can point.

use crate::source::Spanned;
use isaforge_core::bits::ones;
use isaforge_core::group::table::{Encoding, Type};

use crate::model::Bits;
use crate::source::Span;
use crate::spec::Provenance;

/// How groups are built.
#[derive(Clone, Debug)]
pub struct Groups {
    /// The length of a group is a multiple of this.
    pub unit: u8,
    /// The longest.
    pub longest: u8,
    /// What can stand in slots.
    pub choices: Vec<Choice>,
    /// The slots.
    pub slots: Vec<Slot>,
    /// Fields that follow.
    pub derived: Vec<Derived>,
    /// Rules of the header.
    pub rules: Vec<Rule>,
    /// Padding bytes: odd, first, rest.
    pub padding: [u8; 3],
    /// Alignment of the last group.
    pub align: u8,
    /// Which groups are last.
    pub ends: Vec<Condition>,
    /// Branch targets: slot, field, absolute flag.
    pub targets: Vec<(usize, usize, Option<usize>)>,
    /// Operations.
    pub operations: Vec<Operation>,
    /// Operands of text.
    pub operands: Vec<Operand>,
    /// Names of registers.
    pub registers: Vec<RegisterName>,
    /// The order of slots in text.
    pub order: Vec<usize>,
    /// Other names of fields and values.
    pub aliases: Vec<(String, String)>,
    /// Where the description stands.
    pub span: Span,
}

/// Values that fields of the header must have: field, allowed values.
pub type Condition = Vec<(usize, Vec<i64>)>;

/// Alternative layouts.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Its name.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// The fields that its records share.
    pub fields: Vec<Field>,
    /// The layouts.
    pub records: Vec<Record>,
}

/// A field of a choice.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What it says.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// What it holds.
    pub ty: Type,
    /// How it is stored.
    pub encoding: Encoding,
    /// Its value where it is absent.
    pub default: i64,
    /// It means nothing.
    pub form: bool,
}

/// Where a record holds a field.
#[derive(Clone, Debug)]
pub struct Place {
    /// The field.
    pub field: usize,
    /// The bits.
    pub bits: Bits,
    /// The enum of the values that this record allows, if it is not the field's own.
    pub narrowed: Option<usize>,
    /// Where it is written.
    pub span: Span,
}

/// Constant bits.
#[derive(Clone, Debug)]
pub struct Fixed {
    /// The bits.
    pub mask: u64,
    /// What they are.
    pub value: u64,
    /// Where they are written.
    pub span: Span,
}

/// One layout.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its name.
    pub name: String,
    /// What is special about it.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// File and line of the definition.
    pub source: String,
    /// Its length.
    pub bytes: u8,
    /// Constant bits.
    pub fixed: Vec<Fixed>,
    /// Where its fields lie.
    pub places: Vec<Place>,
    /// Values that it says without bits.
    pub implies: Vec<(usize, i64)>,
    /// Why it is not used.
    pub unusable: String,
    /// It has no public encoding.
    pub no_encoding: bool,
    /// The fields that it speaks of without one.
    pub says: Vec<usize>,
    /// Where the facts come from.
    pub provenance: Provenance,
    /// Why.
    pub note: String,
}

impl Record {
    /// The constant bits and their value.
    pub fn pattern(&self) -> (u64, u64) {
        self.fixed.iter().fold((0, 0), |(m, v), f| (m | f.mask, v | f.value))
    }

    /// All its bits.
    pub fn all(&self) -> u64 {
        ones(u32::from(self.bytes) * 8)
    }
}

/// A place in a group.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Its name.
    pub name: String,
    /// What stands there.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// The choice.
    pub choice: usize,
    /// The records that may stand here.
    pub records: Vec<usize>,
    /// When it is there; always if empty.
    pub when: Vec<Condition>,
    /// Its chain, 0 for none.
    pub chain: u8,
    /// The field that ends the chain.
    pub ends: Option<usize>,
    /// It is there whenever it can be.
    pub filler: bool,
    /// No header announces it.
    pub no_encoding: bool,
    /// Roles and their operands.
    pub roles: Vec<(String, usize)>,
}

/// A field that follows from the rest.
#[derive(Clone, Debug)]
pub struct Derived {
    /// The field of the header.
    pub field: usize,
    /// Where it applies; always if empty.
    pub when: Vec<Condition>,
    /// The slot whose offset it is; the length of the group without one.
    pub offset: Option<usize>,
    /// It is 0 unless one of these is there.
    pub if_any: Vec<usize>,
    /// Where it is written.
    pub span: Span,
}

/// What fields of the header must be.
#[derive(Clone, Debug)]
pub struct Rule {
    /// What holds.
    pub doc: String,
    /// Where it applies.
    pub when: Condition,
    /// What must hold.
    pub need: Condition,
    /// Where it is written.
    pub span: Span,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Its name.
    pub name: String,
    /// What it does.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// File and line of the definition.
    pub source: String,
    /// The slots it may stand in.
    pub slots: Vec<usize>,
    /// What it is a part of.
    pub part: String,
    /// What makes a slot this operation; `None` is its own slot.
    pub is: Vec<(Option<usize>, usize, Vec<i64>)>,
    /// The operand after which it is not written.
    pub unless: Option<usize>,
    /// It only speaks of its slot.
    pub remark: bool,
    /// Sources that it writes.
    pub writes: Vec<usize>,
    /// How it is written, and other ways to write it.
    pub syntax: Vec<Vec<Token>>,
    /// Why it has no encoding.
    pub no_encoding: String,
    /// Where the facts come from.
    pub provenance: Provenance,
    /// Why.
    pub note: String,
}

/// A piece of a syntax; the slot is `None` for the operation's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// Fixed text.
    Text(String),
    /// Text if a field is not 0.
    Flag(Option<usize>, usize, String),
    /// A dot and a value; hidden at the default or not.
    Suffix(Option<usize>, usize, bool),
    /// A value.
    Value(Option<usize>, usize),
    /// A word for each value.
    Words(Option<usize>, usize, Vec<String>),
    /// Text and a value, or nothing.
    Optional(Option<usize>, usize, String),
    /// A suffix for each bit.
    Bits(Option<usize>, usize, Vec<String>),
    /// An operand.
    Operand(usize),
    /// A role.
    Role(String),
}

/// An operand of text.
#[derive(Clone, Debug)]
pub struct Operand {
    /// Its name.
    pub name: String,
    /// Where it is defined.
    pub span: Span,
    /// What it is.
    pub doc: String,
    /// How it is found.
    pub kind: OperandKind,
}

/// How an operand is found.
#[derive(Clone, Debug)]
pub enum OperandKind {
    /// A wire.
    Wire(String),
    /// A register.
    Register(Vec<RegisterPlace>),
    /// One of several, by a field; whether text sets the field.
    Select(usize, usize, Vec<(i64, usize)>, bool),
}

/// Where a register is named.
#[derive(Clone, Copy, Debug)]
pub struct RegisterPlace {
    /// The slot.
    pub slot: usize,
    /// The field of the bank.
    pub bank: usize,
    /// The field of the number.
    pub number: usize,
    /// The field that counts registers, and how many there must be.
    pub count: Option<(usize, i64)>,
}

/// How some registers are written.
#[derive(Clone, Debug)]
pub struct RegisterName {
    /// The bank.
    pub bank: i64,
    /// The first and the last.
    pub range: (i64, i64),
    /// What the first is called.
    pub first: i64,
    /// Low bits and their value.
    pub low: (u8, i64),
    /// Operands that can be such a register; any if empty.
    pub through: Vec<usize>,
    /// Text before and after the number.
    pub prints: (String, String),
    /// The register of a bank that the first of them is, and the one whose value is added to its number.
    pub at: Option<(Spanned<String>, Option<Spanned<String>>)>,
}
