//! Layout of the tables that describe operands: their kinds, the readings of their bits, branch targets.

use core::fmt;

use super::field::{Modifier, Token, Type};
use crate::bits::Bits;
use crate::text::Text;

/// A field of an operand.
#[derive(Debug)]
pub struct Field {
    /// The name in the specification.
    pub name: &'static str,
    /// Its position, relative to the operand.
    pub bits: Bits,
    /// Its interpretation.
    pub ty: Type,
}

/// A field on which all operands that use it must agree, such as the page that all uniforms of a word share.
#[derive(Debug)]
pub struct Shared {
    /// The name in the specification.
    pub name: &'static str,
    /// Its position in the word.
    pub bits: Bits,
    /// Its value when no operand uses it.
    pub default: u64,
    /// Whether every instruction prints it as a modifier. The text then gives its value, which need not be the default
    /// when no operand uses it.
    pub printed: bool,
    /// Modifiers that set its value in assembly. Operands must agree with that value, and a reading that depends on it
    /// is then written in one of its other spellings ([`Alternative::also`]), if it has any.
    pub words: &'static [(&'static str, u64)],
}

/// A kind of operand: one or more alternative readings of the same bits.
#[derive(Debug)]
pub struct Kind {
    /// The name in the specification.
    pub name: &'static str,
    /// A description of such operands.
    pub doc: &'static str,
    /// The number of bits it takes, from its first bit.
    pub width: u8,
    /// The readings; at most one fits any word.
    pub alternatives: &'static [Alternative],
    /// Indexed by the operand's bits: its text while the shared fields have their defaults; empty where there is none.
    /// The whole list is empty when the kind is too wide to tabulate.
    pub texts: &'static [Text],
    /// Bits that have the same value in all alternatives that some of [`Isa::limits`](super::Isa::limits) counts …
    pub limited_mask: u64,
    /// … and that value. No limit counts an operand with other bits. When no limit concerns the kind, the mask is 0 and
    /// the value 1, which never match.
    pub limited_value: u64,
    /// The reverse lookup: an open-addressed hash table of indices into `texts`, either empty or a power of two in
    /// size. [`Decoder::NONE`](super::Decoder::NONE) marks free slots. A text that does not determine the operand is
    /// left out.
    pub slots: &'static [u16],
}

impl Kind {
    /// The operand's own bits, from its first bit: its whole width, unless its pieces have other fields' bits between
    /// them.
    pub fn own_bits(&self) -> u64 {
        self.alternatives.iter().fold(0, |mask, a| {
            let pieces = a.fields.iter().flat_map(|f| f.bits.pieces()).filter(|(piece, _)| !piece.shared);
            pieces.fold(mask | a.mask, |mask, (piece, _)| mask | Bits::new(piece.at, piece.width).mask(0))
        })
    }
}

/// One reading of an operand's bits.
#[derive(Debug)]
pub struct Alternative {
    /// The name in the specification.
    pub name: &'static str,
    /// A description of this reading.
    pub doc: &'static str,
    /// Operand bits that select this reading …
    pub mask: u64,
    /// … and their value.
    pub value: u64,
    /// Shared fields that must have a certain value for this reading: (index into
    /// [`Isa::shared`](super::Isa::shared), value).
    pub when: &'static [(u8, u64)],
    /// Shared fields that this reading uses in any way, as a bit set of indices.
    pub uses: u32,
    /// The fields; [`Token::Field`] is an index into this list.
    pub fields: &'static [Field],
    /// Its syntax.
    pub text: &'static [Token],
    /// Other spellings, which are accepted but never printed.
    pub also: &'static [Spelling],
}

/// A spelling of an operand's reading that is accepted but never printed.
#[derive(Debug)]
pub struct Spelling {
    /// Its syntax.
    pub text: &'static [Token],
    /// Fields that the spelling implies: (index into [`Alternative::fields`], value).
    pub with: &'static [(u8, u64)],
}

/// How an instruction accesses an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Not a register: a number or a label.
    None,
    /// Reads it.
    Read,
    /// Writes it.
    Write,
    /// Reads it, then writes it.
    ReadWrite,
}

/// The number of registers in a list.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    /// The field that holds the count, if there is one.
    pub bits: Option<Bits>,
    /// The name of that field; empty when its bits belong to a modifier, which then determines the length of the list
    /// in the text.
    pub name: &'static str,
    /// Added to the field; the count itself when there is no field.
    pub plus: u8,
}

impl Count {
    /// Whether a modifier gives the count, so that the text cannot contain a list of another length.
    pub fn is_given(&self) -> bool {
        self.bits.is_some() && self.name.is_empty()
    }
}

/// The position of an operand's bits and how to read them.
#[derive(Debug)]
pub enum Shape {
    /// One operand of a kind.
    One {
        /// Index into [`Isa::kinds`](super::Isa::kinds).
        kind: u16,
        /// The operand's first bit in the word.
        at: u8,
    },
    /// A list of consecutive registers; the word encodes the first.
    List {
        /// Index into [`Isa::kinds`](super::Isa::kinds); the kind has a single alternative whose first field is the
        /// register.
        kind: u16,
        /// The operand's first bit in the word.
        at: u8,
        /// The number of registers.
        count: Count,
        /// Written before the list.
        open: &'static str,
        /// Written between registers.
        separator: &'static str,
        /// A list of more than one register starts at a multiple of this number.
        align: u8,
    },
    /// A plain number.
    Number {
        /// Its position.
        bits: Bits,
        /// Its interpretation.
        ty: Type,
        /// Written before the number.
        prefix: &'static str,
        /// For a branch target: how the number becomes an address.
        target: Option<Target>,
    },
}

/// The origin of a branch target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// The first byte of the branch itself.
    This,
    /// The first byte of the next instruction.
    Next,
    /// This address, in bytes; 0 is the start of the program.
    Fixed(u64),
}

/// How the number of a branch target becomes an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The origin.
    pub base: Base,
    /// The number of bytes per unit of the number.
    pub unit: u16,
}

impl fmt::Display for Target {
    /// Describes the origin and the unit, as part of a sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.base {
            Base::This => f.write_str("counted from the branch itself in ")?,
            Base::Next => f.write_str("counted from the next instruction in ")?,
            Base::Fixed(address) => write!(f, "counted from address {address:#x} in ")?,
        }
        match self.unit {
            1 => f.write_str("bytes"),
            unit => write!(f, "units of {unit} bytes"),
        }
    }
}

impl Target {
    /// Returns the number that encodes the address `label` in a branch at `this`, where `next` is the address of the
    /// following instruction; all addresses are in bytes. `None` when the distance is not a multiple of the unit.
    pub fn number(self, label: u64, this: u64, next: u64) -> Option<i64> {
        let distance = label.wrapping_sub(self.origin(this, next)) as i64;
        let unit = i64::from(self.unit.max(1));
        (distance % unit == 0).then_some(distance / unit)
    }

    /// Returns the address that a number encodes: the inverse of [`number`](Self::number).
    pub fn address(self, number: i64, this: u64, next: u64) -> u64 {
        let distance = number.wrapping_mul(i64::from(self.unit.max(1)));
        self.origin(this, next).wrapping_add(distance as u64)
    }

    fn origin(self, this: u64, next: u64) -> u64 {
        match self.base {
            Base::This => this,
            Base::Next => next,
            Base::Fixed(address) => address,
        }
    }
}

/// An operand of an instruction.
#[derive(Debug)]
pub struct Operand {
    /// The name in the specification.
    pub name: &'static str,
    /// Its purpose.
    pub doc: &'static str,
    /// How the instruction accesses it.
    pub access: Access,
    /// Size of the value in bits: 64 means a pair of 32-bit registers.
    pub size: u16,
    /// Its position and interpretation.
    pub shape: Shape,
    /// Modifiers written after it.
    pub suffixes: &'static [Modifier],
    /// Bits of all suffixes …
    pub quiet_mask: u64,
    /// … and their values when no suffix prints. A mask of 0 with a value of 1 means that some suffix always prints.
    pub quiet_value: u64,
}
