//! The shapes of the tables.

/// A language of instructions that are sequences of units of 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    /// The instructions, by code.
    pub operations: &'static [Operation],
    /// Instructions that are chosen by a set that a module imports.
    pub sets: &'static [ExtendedSet],
    /// How operands are written.
    pub kinds: &'static [Kind],
    /// What stands before the instructions of a module.
    pub header: &'static [HeaderUnit],
}

/// A unit before the instructions of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderUnit {
    /// Always this.
    Is(u32),
    /// Anything; a text does not say it, and this is written.
    Any(u32),
    /// One more than the greatest number of an identifier.
    Bound,
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Its name.
    pub name: &'static str,
    /// Other names, which are only read.
    pub also: &'static [&'static str],
    /// Its name where another instruction names it as an operand.
    pub short: &'static str,
    /// The low 16 bits of its first unit; the high ones are how many units it takes.
    pub code: u32,
    /// Its operands.
    pub operands: &'static [Slot],
    /// What it says about instructions behind it.
    pub says: Says,
}

/// Instructions of a set.
#[derive(Clone, Copy, Debug)]
pub struct ExtendedSet {
    /// The name that it is imported by.
    pub name: &'static str,
    /// Its instructions, by code.
    pub operations: &'static [Operation],
}

/// What an instruction says about those behind it. The numbers are places in its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// Nothing.
    Nothing,
    /// Its result is a type of integers: the operands that are its width and whether it has a sign.
    Integers(u8, u8),
    /// Its result is a type of floats: the operand that is its width.
    Floats(u8),
    /// Its result is a set of instructions: the operand that is its name.
    Imports(u8),
}

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// An index into [`Sequence::kinds`].
    pub kind: u16,
    /// How often it stands there.
    pub times: Times,
}

/// How often an operand stands in an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// Once.
    Once,
    /// Once, unless the instruction ends before.
    Maybe,
    /// As often as fits.
    Any,
}

/// How an operand is written.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// The number of an identifier.
    Id,
    /// The type of the result.
    ResultType,
    /// The identifier that is defined, which is written in front.
    Result,
    /// A number.
    Number,
    /// Text that ends with a zero, and zeros up to the end of a unit.
    Text,
    /// A float of 32 bits.
    Float,
    /// A number of the type of the result.
    OfResult,
    /// A number of the type that the first operand has.
    OfFirst,
    /// One of some values.
    Value(&'static [Enumerant]),
    /// Bits, each with a name, and what belongs to each, the lowest first.
    Bits(&'static [Enumerant]),
    /// Two operands.
    Pair(u16, u16),
    /// The code of another instruction, whose operands follow without its result.
    Nested,
    /// The code of an instruction of the set that the operand before it names; its operands follow.
    Extended,
}

/// A value with a name.
#[derive(Clone, Copy, Debug)]
pub struct Enumerant {
    /// The name.
    pub name: &'static str,
    /// Other names, which are only read.
    pub also: &'static [&'static str],
    /// The value.
    pub value: u32,
    /// The operands that follow it.
    pub parameters: &'static [Slot],
}
