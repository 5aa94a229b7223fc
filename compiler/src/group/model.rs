//! A description of groups with every name bound. Plain data; spans remain so that checks can point into the source.

use isaforge_core::bits::ones;
use isaforge_core::group::table::{Encoding, Type};

use crate::model::bits::Bits;
use crate::source::{Span, Spanned};
use crate::spec::Provenance;

/// How groups are built.
#[derive(Clone, Debug)]
pub struct Groups {
    /// The length of a group in bytes is a multiple of this.
    pub unit: u8,
    /// The maximum length in bytes.
    pub longest: u8,
    /// The alternative records of slots.
    pub choices: Vec<Choice>,
    /// The slots.
    pub slots: Vec<Slot>,
    /// Fields computed from the rest of the group.
    pub derived: Vec<Derived>,
    /// Rules for fields of the header.
    pub rules: Vec<Rule>,
    /// Padding bytes: `odd`, `first` and `rest`.
    pub padding: [u8; 3],
    /// The alignment of the last group in bytes.
    pub align: u8,
    /// The conditions under which a group is the last.
    pub ends: Vec<Condition>,
    /// Branch targets: slot, field, and the flag for absolute targets.
    pub targets: Vec<(usize, usize, Option<usize>)>,
    /// Operations.
    pub operations: Vec<Operation>,
    /// Operands of text.
    pub operands: Vec<Operand>,
    /// Names of registers.
    pub registers: Vec<RegisterName>,
    /// The order of slots in text; those left out follow.
    pub order: Vec<usize>,
    /// Other names of fields and values.
    pub aliases: Vec<(String, String)>,
    /// Where the description is written.
    pub span: Span,
}

/// Conditions on fields of the header: fields and their allowed values.
pub type Condition = Vec<(usize, Vec<i64>)>;

/// Alternative records.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Its name.
    pub name: String,
    /// A description.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// The fields that its records share.
    pub fields: Vec<Field>,
    /// The records.
    pub records: Vec<Record>,
}

/// A field of a choice.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What it means.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// The type of its value.
    pub ty: Type,
    /// How it is stored.
    pub encoding: Encoding,
    /// Its value in records without the field.
    pub default: i64,
    /// Whether it has no meaning and is only preserved.
    pub form: bool,
}

/// The position of a field in a record.
#[derive(Clone, Debug)]
pub struct Place {
    /// The field.
    pub field: usize,
    /// The bits.
    pub bits: Bits,
    /// The enum of the values that this record allows, if it differs from the field's.
    pub narrowed: Option<usize>,
    /// Where it is written.
    pub span: Span,
}

/// Constant bits.
#[derive(Clone, Debug)]
pub struct Fixed {
    /// The mask of the bits.
    pub mask: u64,
    /// Their value.
    pub value: u64,
    /// Where they are written.
    pub span: Span,
}

/// A record.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its name.
    pub name: String,
    /// How it differs from the others.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// File and line of the definition.
    pub source: String,
    /// Its length in bytes.
    pub bytes: u8,
    /// Constant bits.
    pub fixed: Vec<Fixed>,
    /// The positions of its fields.
    pub places: Vec<Place>,
    /// The values of fields that it implies.
    pub implies: Vec<(usize, i64)>,
    /// Why it is not used; empty if it is used.
    pub unusable: String,
    /// Whether its encoding is not public.
    pub no_encoding: bool,
    /// The fields that a record without encoding has.
    pub says: Vec<usize>,
    /// Where the facts come from.
    pub provenance: Provenance,
    /// Why, if the provenance needs a reason.
    pub note: String,
}

impl Record {
    /// The mask of the constant bits, and their value.
    pub fn pattern(&self) -> (u64, u64) {
        self.fixed.iter().fold((0, 0), |(m, v), f| (m | f.mask, v | f.value))
    }

    /// The mask of all its bits.
    pub fn all(&self) -> u64 {
        ones(u32::from(self.bytes) * 8)
    }
}

/// A place in a group.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Its name.
    pub name: String,
    /// A description of its contents.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// The choice.
    pub choice: usize,
    /// The records allowed in it.
    pub records: Vec<usize>,
    /// The conditions under which it is present; always if empty.
    pub when: Vec<Condition>,
    /// Its chain, 0 for none.
    pub chain: u8,
    /// The field that marks the last part of the chain.
    pub ends: Option<usize>,
    /// Whether it is present whenever it can be.
    pub filler: bool,
    /// Whether no header announces it.
    pub no_encoding: bool,
    /// The roles with their operands.
    pub roles: Vec<(String, usize)>,
}

/// A field computed from the rest of the group.
#[derive(Clone, Debug)]
pub struct Derived {
    /// The field of the header.
    pub field: usize,
    /// The conditions under which it is computed; always if empty.
    pub when: Vec<Condition>,
    /// The slot whose offset it holds; `None` if it holds the length of the group.
    pub offset: Option<usize>,
    /// It is 0 unless one of these slots is present; ignored if empty.
    pub if_any: Vec<usize>,
    /// Where it is written.
    pub span: Span,
}

/// A constraint on fields of the header.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The constraint in words.
    pub doc: String,
    /// When it applies.
    pub when: Condition,
    /// The constraint.
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
    /// The slots it may be in.
    pub slots: Vec<usize>,
    /// What it is a part of, where several operations share a slot.
    pub part: String,
    /// The fields that make a slot this operation, with their allowed values; the slot is `None` for the operation's
    /// own.
    pub is: Vec<(Option<usize>, usize, Vec<i64>)>,
    /// The operand after which it is not printed.
    pub unless: Option<usize>,
    /// Whether it only describes its slot.
    pub remark: bool,
    /// Source operands that it writes.
    pub writes: Vec<usize>,
    /// The syntax, followed by other accepted syntaxes.
    pub syntax: Vec<Vec<Token>>,
    /// Why it has no encoding; empty if it has one.
    pub no_encoding: String,
    /// Where the facts come from.
    pub provenance: Provenance,
    /// Why, if the provenance needs a reason.
    pub note: String,
}

/// A piece of a syntax; the slot is `None` for the operation's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// Fixed text.
    Text(String),
    /// Text that is printed if a field is not 0.
    Flag(Option<usize>, usize, String),
    /// A dot and a value, and whether it is omitted at the default.
    Suffix(Option<usize>, usize, bool),
    /// A value.
    Value(Option<usize>, usize),
    /// A keyword for each value.
    Words(Option<usize>, usize, Vec<String>),
    /// Text and a value, or neither.
    Optional(Option<usize>, usize, String),
    /// A suffix for each bit.
    Bits(Option<usize>, usize, Vec<String>),
    /// An operand.
    Operand(usize),
    /// A role of the slot.
    Role(String),
}

/// An operand of text.
#[derive(Clone, Debug)]
pub struct Operand {
    /// Its name.
    pub name: String,
    /// Where it is defined.
    pub span: Span,
    /// A description.
    pub doc: String,
    /// How it is determined.
    pub kind: OperandKind,
}

/// How an operand is determined.
#[derive(Clone, Debug)]
pub enum OperandKind {
    /// A wire, with its text.
    Wire(String),
    /// A register, named in the first of these places that is present.
    Register(Vec<RegisterPlace>),
    /// One of several operands, selected by a field: slot, field, operand for each value, and whether text sets the
    /// field.
    Select(usize, usize, Vec<(i64, usize)>, bool),
}

/// Where a register number is stored.
#[derive(Clone, Copy, Debug)]
pub struct RegisterPlace {
    /// The slot.
    pub slot: usize,
    /// The field of the bank.
    pub bank: usize,
    /// The field of the number.
    pub number: usize,
    /// The field with the number of registers, and its minimum.
    pub count: Option<(usize, i64)>,
}

/// How some registers are written.
#[derive(Clone, Debug)]
pub struct RegisterName {
    /// The bank.
    pub bank: i64,
    /// The first and the last number.
    pub range: (i64, i64),
    /// The number that the first is printed with.
    pub first: i64,
    /// How many low bits are not part of the number, and their value.
    pub low: (u8, i64),
    /// The operands that can be such a register; any if empty.
    pub through: Vec<usize>,
    /// The text before and after the number.
    pub prints: (String, String),
    /// The register of a bank that the first one refers to, and the register whose value is added to its number.
    pub at: Option<(Spanned<String>, Option<Spanned<String>>)>,
}
