//! Layout of the tables that describe fields: the interpretation of their bits, the names of their values, and the
//! elements of a syntax.

use crate::bits::Bits;
use crate::text::Text;

/// Names for the values of a field.
#[derive(Clone, Copy, Debug)]
pub struct Enum {
    /// The name in the specification.
    pub name: &'static str,
    /// A description of the choice.
    pub doc: &'static str,
    /// The values that have names, in ascending order.
    pub values: &'static [Value],
    /// Indexed by the bits of the field: the name after a dot; empty where the value is reserved.
    pub dotted: &'static [Text],
    /// The value that is implied, and not printed, when none is written.
    pub default: Option<u64>,
}

impl Enum {
    /// Returns the named value with these bits.
    pub fn value(&self, bits: u64) -> Option<&'static Value> {
        self.values.iter().find(|v| v.bits == bits)
    }

    /// Whether these bits have a name.
    #[inline]
    pub fn defines(&self, bits: u64) -> bool {
        self.dotted.get(bits as usize).is_some_and(|t| !t.str.is_empty())
    }
}

/// One named value.
#[derive(Debug)]
pub struct Value {
    /// The bits that encode it.
    pub bits: u64,
    /// The name in the specification.
    pub name: &'static str,
    /// Its spelling in assembly: the name, unless the specification says otherwise.
    pub text: &'static str,
    /// A description of the value.
    pub doc: &'static str,
}

/// A table of constants.
#[derive(Debug)]
pub struct Constants {
    /// The name in the specification.
    pub name: &'static str,
    /// The purpose of the table.
    pub doc: &'static str,
    /// The constants, in index order.
    pub values: &'static [Constant],
}

/// An entry of a table of constants.
#[derive(Debug)]
pub struct Constant {
    /// The value.
    pub value: u64,
    /// A description of the value.
    pub doc: &'static str,
}

/// A bank of registers.
#[derive(Debug)]
pub struct Bank {
    /// The name in the specification.
    pub name: &'static str,
    /// The purpose of the registers.
    pub doc: &'static str,
    /// The number of registers.
    pub count: u32,
    /// Bits per register.
    pub width: u16,
}

/// The interpretation of a field's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A single bit: yes or no.
    Flag,
    /// A number, printed in decimal.
    Decimal,
    /// A number, printed in hexadecimal.
    Hex,
    /// A number in two's complement, printed in decimal.
    Signed,
    /// A value of an enum: index into [`Isa::enums`](super::Isa::enums).
    Enum(u16),
    /// An index into a table of constants, printed as the constant: index into
    /// [`Isa::constants`](super::Isa::constants).
    Constant(u16),
    /// An index into a register bank: index into [`Isa::banks`](super::Isa::banks).
    Register(u16),
}

/// A modifier: a flag or a choice, written after a dot.
#[derive(Debug)]
pub struct Modifier {
    /// The name in the specification; for a flag, also its spelling.
    pub name: &'static str,
    /// A description of its effect.
    pub doc: &'static str,
    /// Its position.
    pub bits: Bits,
    /// A [`Type::Flag`] or a [`Type::Enum`].
    pub ty: Type,
    /// The value implied when the modifier is not written. `None` when it must be written.
    pub default: Option<u64>,
    /// For a flag: its text when set, including the dot.
    pub flag: Text,
    /// An unambiguous second spelling for a flag that prints like another one. The customary text never uses it.
    pub also: &'static str,
}

/// An element of a syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// Fixed text.
    Text(Text),
    /// A field of the alternative: index into [`Alternative::fields`](super::Alternative::fields).
    Field(u8),
    /// The name of the instruction.
    Mnemonic,
    /// All modifiers that are not placed by a [`Token::Modifier`].
    Modifiers,
    /// One modifier: index into [`Form::modifiers`](super::Form::modifiers).
    Modifier(u8),
    /// One operand: index into [`Form::operands`](super::Form::operands).
    Operand(u8),
}
