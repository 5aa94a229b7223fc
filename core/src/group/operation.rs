//! The shapes of operations and of what text is made of.

#[allow(unused_imports, reason = "for documentation")]
use crate::group::table::{GroupIsa, Slot};
use crate::table::Provenance;

/// An operation: what a part of a group does.
#[derive(Debug)]
pub struct Operation {
    /// The name.
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// The slots it may stand in, a bit set.
    pub slots: u32,
    /// What it is a part of where several operations share a slot.
    pub part: &'static str,
    /// What makes a slot this operation: slot ([`Token::OWN`] for its own), field, values.
    pub is: &'static [(u8, u8, &'static [i64])],
    /// The operand after which it need not be written; [`Slot::NEVER`] for none.
    pub unless: u8,
    /// It does not put its slot into the group, it only speaks of it.
    pub remark: bool,
    /// Operands that it writes although they are sources, a bit set.
    pub writes: u64,
    /// How it is written.
    pub syntax: &'static [Token],
    /// Other ways to write it.
    pub also: &'static [&'static [Token]],
    /// Why it has no encoding; empty if it has one.
    pub no_encoding: &'static str,
    /// Where the facts come from.
    pub provenance: Provenance,
    /// Why, when the provenance needs a reason.
    pub note: &'static str,
    /// File and line of the specification.
    pub source: &'static str,
}

/// A piece of the syntax of an operation. A slot of [`Token::OWN`] is the operation's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// Fixed text.
    Text(&'static str),
    /// Written when a field is not 0.
    Flag(u8, u8, &'static str),
    /// A dot and the value of a field; with `true`, nothing at the default.
    Suffix(u8, u8, bool),
    /// The value of a field.
    Value(u8, u8),
    /// A word for each value of a field.
    Words(u8, u8, &'static [&'static str]),
    /// Some text and the value of a field; nothing at the default.
    Optional(u8, u8, &'static str),
    /// A suffix for each bit of a field, `.none` for 0; with an empty word before the others, nothing for 0.
    Bits(u8, u8, &'static [&'static str]),
    /// An operand, an index into [`GroupIsa::operands`].
    Operand(u8),
    /// The operand in a role of the slot.
    Role(&'static str),
}

impl Token {
    /// The operation's own slot.
    pub const OWN: u8 = 0xff;
}

/// What stands for a register or a wire in text.
#[derive(Debug)]
pub struct Operand {
    /// The name in the specification.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// How it is found.
    pub kind: OperandKind,
}

/// How an operand is found.
#[derive(Clone, Copy, Debug)]
pub enum OperandKind {
    /// It is always the same.
    Wire(&'static str),
    /// A register, in the first of these places that is there.
    Register(&'static [RegisterPlace]),
    /// A field says which of several operands it is.
    Select {
        /// The slot.
        slot: u8,
        /// The field.
        field: u8,
        /// Each value and its operand.
        options: &'static [(i64, u8)],
        /// Text sets the field; otherwise another part of the group does.
        sets: bool,
    },
}

/// Where a register is named.
#[derive(Clone, Copy, Debug)]
pub struct RegisterPlace {
    /// The slot.
    pub slot: u8,
    /// The field of its bank.
    pub bank: u8,
    /// The field of its number.
    pub number: u8,
    /// A field that counts the registers of the slot, and how many there must be for this one; [`Slot::NEVER`] for none.
    pub count: (u8, i64),
}

/// How some registers are written.
#[derive(Debug)]
pub struct RegisterName {
    /// The bank.
    pub bank: i64,
    /// The first of them.
    pub from: i64,
    /// The last.
    pub to: i64,
    /// What the first is called.
    pub first: i64,
    /// So many low bits of the number …
    pub low: u8,
    /// … have this value, and the rest is the number.
    pub is: i64,
    /// Operands that can be such a register, a bit set; 0 for any. Only the assembler's choices keep to it.
    pub through: u64,
    /// Text before the number.
    pub before: &'static str,
    /// Text after it.
    pub after: &'static str,
}
