//! Layout of the tables of sequences.

/// A language whose instructions are sequences of 32-bit units.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    /// The instructions, by code.
    pub operations: &'static [Operation],
    /// Extended instructions, in sets that modules import.
    pub sets: &'static [ExtendedSet],
    /// The kinds of operands.
    pub kinds: &'static [Kind],
    /// The header of a module.
    pub header: &'static [HeaderUnit],
}

/// A unit in the header of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderUnit {
    /// Always this value.
    Is(u32),
    /// Any value. Texts do not contain it, and this value is written.
    Any(u32),
    /// The greatest identifier plus one.
    Bound,
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Its name.
    pub name: &'static str,
    /// Additional names that are accepted but never printed.
    pub also: &'static [&'static str],
    /// Its name as an operand of another instruction.
    pub short: &'static str,
    /// The low 16 bits of its first unit; the high bits are its number of units.
    pub code: u32,
    /// Its operands.
    pub operands: &'static [Slot],
    /// What it tells about later instructions.
    pub says: Says,
}

/// A set of extended instructions.
#[derive(Clone, Copy, Debug)]
pub struct ExtendedSet {
    /// The name by which it is imported. A `*` at its end stands for any text: the instructions of all these sets have
    /// identifiers as their operands, whatever else is known of them.
    pub name: &'static str,
    /// Its instructions, by code.
    pub operations: &'static [Operation],
}

/// What an instruction tells about later ones. The numbers are indices of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// Nothing.
    Nothing,
    /// Its result is an integer type: the operands with its width and its signedness.
    Integers(u8, u8),
    /// Its result is a float type: the operand with its width.
    Floats(u8),
    /// Its result is a set of instructions: the operand with its name.
    Imports(u8),
}

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its kind: index into [`Sequence::kinds`].
    pub kind: u16,
    /// How often it occurs.
    pub times: Times,
}

/// How often an operand occurs in an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// Once.
    Once,
    /// At most once.
    Maybe,
    /// Any number of times, up to the end of the instruction.
    Any,
}

/// A kind of operand.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// An identifier.
    Id,
    /// The identifier of the result's type.
    ResultType,
    /// The identifier of the result, which is written first.
    Result,
    /// A number.
    Number,
    /// A string that ends with a zero byte and is padded with zeros to the end of its last unit.
    Text,
    /// A 32-bit float.
    Float,
    /// A number of the result's type.
    OfResult,
    /// A number of the type of the first operand.
    OfFirst,
    /// One of these values.
    Value(&'static [Enumerant]),
    /// A set of named bits. The operands of each bit follow, lowest bit first.
    Bits(&'static [Enumerant]),
    /// Two operands.
    Pair(u16, u16),
    /// The code of another instruction, whose operands follow, without a result.
    Nested,
    /// The code of an instruction of the set that the preceding operand identifies. Its operands follow.
    Extended,
}

/// A named value.
#[derive(Clone, Copy, Debug)]
pub struct Enumerant {
    /// The name.
    pub name: &'static str,
    /// Additional names that are accepted but never printed.
    pub also: &'static [&'static str],
    /// The value.
    pub value: u32,
    /// The operands that follow it.
    pub parameters: &'static [Slot],
}
