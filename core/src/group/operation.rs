//! The layout of the tables of operations and of the elements of their text.

use crate::table::Provenance;

/// An operation: the function of a part of a group.
#[derive(Debug)]
pub struct Operation {
    /// The name.
    pub name: &'static str,
    /// A description.
    pub doc: &'static str,
    /// The slots that may contain it, as a bit set.
    pub slots: u32,
    /// The part that it describes, if several operations share a slot.
    pub part: &'static str,
    /// The condition under which a slot contains this operation: slot ([`Token::OWN`] for its own), field, values.
    pub is: &'static [(u8, u8, &'static [i64])],
    /// An operand that, once printed, makes this operation redundant in text;
    /// [`Slot::NEVER`](crate::group::table::Slot::NEVER) for none.
    pub unless: u8,
    /// Whether it only describes a slot, without adding the slot to the group.
    pub remark: bool,
    /// Operands that it writes although they are sources, as a bit set.
    pub writes: u64,
    /// Its syntax.
    pub syntax: &'static [Token],
    /// Alternative syntaxes.
    pub also: &'static [&'static [Token]],
    /// Why it has no encoding; empty if it has one.
    pub no_encoding: &'static str,
    /// The source of these facts.
    pub provenance: Provenance,
    /// The reason, where the provenance requires one.
    pub note: &'static str,
    /// File and line in the specification.
    pub source: &'static str,
}

/// An element of an operation's syntax. The slot [`Token::OWN`] is the operation's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// Fixed text.
    Text(&'static str),
    /// Text that is written if a field is not 0.
    Flag(u8, u8, &'static str),
    /// A dot and the value of a field. With `true`, the default is omitted.
    Suffix(u8, u8, bool),
    /// The value of a field.
    Value(u8, u8),
    /// A word for each value of a field.
    Words(u8, u8, &'static [&'static str]),
    /// A text and the value of a field; both are omitted at the default.
    Optional(u8, u8, &'static str),
    /// A suffix for each set bit of a field, `.none` for 0. If the first word is empty, nothing is written for 0.
    Bits(u8, u8, &'static [&'static str]),
    /// An operand: index into [`GroupIsa::operands`](crate::group::GroupIsa::operands).
    Operand(u8),
    /// The operand with this role in the slot.
    Role(&'static str),
}

impl Token {
    /// The operation's own slot.
    pub const OWN: u8 = 0xff;

    /// Whether it is written after a dot, so that it may stand in any order with others.
    pub(super) fn is_suffix(&self) -> bool {
        match self {
            Token::Flag(..) | Token::Suffix(..) | Token::Bits(..) => true,
            Token::Words(_, _, words) => words.iter().all(|w| w.is_empty() || w.starts_with('.')),
            _ => false,
        }
    }
}

/// The mnemonic at the start of a syntax, without suffixes.
pub fn mnemonic(syntax: &[Token]) -> Option<&'static str> {
    let Some(Token::Text(text)) = syntax.first() else { return None };
    text.split([' ', '.']).next()
}

/// The words for the bits of a field, and whether 0 is written as nothing.
pub fn named_bits(words: &'static [&'static str]) -> (bool, &'static [&'static str]) {
    match words {
        ["", rest @ ..] => (true, rest),
        all => (false, all),
    }
}

/// A register or a wire in text.
#[derive(Debug)]
pub struct Operand {
    /// The name in the specification.
    pub name: &'static str,
    /// A description.
    pub doc: &'static str,
    /// How it is resolved.
    pub kind: OperandKind,
}

/// How an operand is resolved.
#[derive(Clone, Copy, Debug)]
pub enum OperandKind {
    /// A fixed wire.
    Wire(&'static str),
    /// A register, in the first of these places that is present.
    Register(&'static [RegisterPlace]),
    /// A field selects one of several operands.
    Select {
        /// The slot.
        slot: u8,
        /// The field.
        field: u8,
        /// Each value and its operand.
        options: &'static [(i64, u8)],
        /// Whether text sets the field; otherwise another part of the group does.
        sets: bool,
    },
}

/// The place in which a register is named.
#[derive(Clone, Copy, Debug)]
pub struct RegisterPlace {
    /// The slot.
    pub slot: u8,
    /// The field with its bank.
    pub bank: u8,
    /// The field with its number.
    pub number: u8,
    /// A field with the number of registers in the slot, and the minimum for this one to be present;
    /// [`Slot::NEVER`](crate::group::table::Slot::NEVER) for none.
    pub count: (u8, i64),
}

/// The spelling of a range of registers.
#[derive(Debug)]
pub struct RegisterName {
    /// The bank.
    pub bank: i64,
    /// The number of the first register.
    pub from: i64,
    /// The number of the last register.
    pub to: i64,
    /// The printed number of the first register.
    pub first: i64,
    /// This many low bits of the number …
    pub low: u8,
    /// … must have this value; the remaining bits are the number.
    pub is: i64,
    /// Operands that can be such a register, as a bit set; 0 for all. Only the assembler observes this.
    pub through: u64,
    /// Text before the number.
    pub before: &'static str,
    /// Text after it.
    pub after: &'static str,
}
