//! The shapes of the tables of an instruction stream.

use super::expression::Expression;
use super::wide::Wide;
use crate::registers::RegisterName;
use crate::table::{Access, Enum, Provenance, Target};
use crate::text::Text;

/// An instruction set whose instructions are read from a stream of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// The name, as the command line knows it.
    pub name: &'static str,
    /// What the instruction set is.
    pub doc: &'static str,
    /// Instructions start at multiples of this many bytes.
    pub unit: u8,
    /// Bytes of the longest instruction, at most [`Wide::BYTES`].
    pub longest: u8,
    /// The size of the groups of bytes in the order of most significant first; 1 where the first byte of memory is the lowest.
    pub swap: u8,
    /// The least and the greatest generation that the specification tells apart; equal where there is only one.
    pub generations: (u32, u32),
    /// Names of generations; empty where they have numbers alone.
    pub generation_names: &'static [(&'static str, u32)],
    /// Whether it describes a decoder elsewhere: bits that two instructions fit are none then, and texts need not tell all
    /// bits apart.
    pub exclusive: bool,
    /// Whether texts have asides: what [`Token::Aside`] writes.
    pub asides: bool,
    /// Instructions that are sequences of operands, in the place of layouts.
    pub sequence: Option<&'static super::sequence::Sequence>,
    /// Names of values.
    pub enums: &'static [Enum],
    /// Register banks.
    pub banks: &'static [Bank],
    /// The sets of layouts; the first is that of the instructions.
    pub sets: &'static [Set],
    /// All layouts, those of a set side by side.
    pub layouts: &'static [Layout],
    /// What the layouts of the first set are layouts of. An index into this list is an *opcode*.
    pub instructions: &'static [Instruction],
    /// Conditions and computed values.
    pub expressions: &'static [Expression],
    /// Fast tests of layouts; none where every word is to take the exact way.
    pub quick: &'static [Quick],
    /// The generations that have fast tests, and the layouts that these are for.
    pub tested: &'static [Tested],
}

/// The fast tests of a generation.
#[derive(Clone, Copy, Debug)]
pub struct Tested {
    /// The generation.
    pub generation: u32,
    /// The test of each layout of instructions: index into [`Stream::quick`], or one of the constants of this type.
    pub tests: &'static [u16],
}

impl Tested {
    /// Only the exact way can decide.
    pub const EXACT: u16 = u16::MAX;
    /// No word of this generation fits the layout.
    pub const NEVER: u16 = u16::MAX - 1;
}

/// A test that decides about a word of a layout without evaluating anything. It has all that the exact way looks at: pattern
/// and conditions, then what other bits must be. It takes one line of a cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Quick {
    /// What the lowest 64 bits must be.
    pub low: Constants,
    /// What more there is to the conditions, then what values mean something.
    pub lookups: &'static [Lookup],
    /// How many of these are conditions.
    pub conditions: u8,
    /// The length in bytes.
    pub len: u8,
    /// Where bits say the length: leads to it, or to nothing where only the exact way can decide.
    pub lengths: Option<&'static Tree>,
    /// What few layouts have.
    pub more: Option<&'static More>,
}

/// What a test of a long word looks at, and one whose values take many bits.
#[derive(Clone, Copy, Debug)]
pub struct More {
    /// What the bits above the lowest 64 must be, in chunks of 64.
    pub high: &'static [Constants],
    /// What values mean something: leaves that have a candidate are right.
    pub trees: &'static [Tree],
}

/// Constant bits among 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Constants {
    /// Bits that pattern and conditions demand …
    pub mask: u64,
    /// … all that any valid word has …
    pub fixed: u64,
    /// … and what they are.
    pub value: u64,
}

/// The values that some bits may have, the first piece being the least significant.
#[derive(Clone, Copy, Debug)]
pub struct Lookup {
    /// The bits, from the lowest; pieces that are not needed have no width.
    pub pieces: [Piece; Lookup::PIECES],
    /// A bit for each value.
    pub allowed: &'static [u64],
}

impl Lookup {
    /// The most pieces.
    pub const PIECES: usize = 4;

    /// Whether the bits of a word have a value that they may have.
    #[inline]
    pub fn allows(&self, word: &Wide) -> bool {
        let [first, more @ ..] = &self.pieces;
        let mut value = word.get_near(first.at.into(), first.width.into());
        if more[0].width > 0 {
            value |= super::decode::extract(word, more).checked_shl(first.width.into()).unwrap_or(0);
        }
        self.allowed.get((value >> 6) as usize).is_some_and(|row| row >> (value & 63) & 1 != 0)
    }
}

/// A bank of registers.
#[derive(Debug)]
pub struct Bank {
    /// The name in the specification.
    pub name: &'static str,
    /// What the registers are for.
    pub doc: &'static str,
    /// How many there are.
    pub count: u32,
    /// Bits in a register.
    pub width: u16,
    /// Written before the number …
    pub open: &'static str,
    /// … and behind it.
    pub close: &'static str,
    /// Names that print in the place of numbers, by number; empty where there is none.
    pub names: &'static [&'static str],
    /// Other names, which are only read, and their numbers.
    pub also: &'static [(&'static str, u32)],
}

impl Bank {
    /// How a register is written.
    #[inline]
    pub fn name(&self, number: u64) -> RegisterName {
        RegisterName::of(number, self.names, self.open, self.close)
    }
}

/// A set of layouts; one fits the bits at hand: the instructions, or the readings of an operand.
#[derive(Debug)]
pub struct Set {
    /// The name in the specification.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Bits of an operand; 0 for instructions.
    pub bits: u16,
    /// What the operand must be told of the instruction: fields that its layouts have as [`Source::Outer`].
    pub parameters: &'static [&'static str],
    /// Its first layout …
    pub first: u16,
    /// … and how many there are.
    pub count: u16,
    /// How to find the one that fits.
    pub tree: Tree,
}

/// A decision tree. Its leaves are lists of layouts in the order in which they are tried.
#[derive(Clone, Copy, Debug)]
pub struct Tree {
    /// Where it begins.
    pub root: Branch,
    /// The branches of all looks.
    pub branches: &'static [Branch],
    /// The lists of leaves that have several candidates.
    pub lists: &'static [&'static [u16]],
}

/// Where a value leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Branch {
    /// To no candidate.
    Nothing,
    /// To one candidate.
    One(u16),
    /// To several: index into [`Tree::lists`].
    List(u32),
    /// To another look.
    Look {
        /// Lowest bit looked at.
        shift: u8,
        /// How many bits.
        width: u8,
        /// Index of the branch for the value 0.
        first: u32,
    },
}

/// What an instruction is, whichever way it is laid out and written.
#[derive(Debug)]
pub struct Instruction {
    /// The name in the specification.
    pub name: &'static str,
    /// A few words on what it does.
    pub title: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// The unit that executes it, empty when the specification does not say.
    pub unit: &'static str,
    /// File and line of the specification.
    pub source: &'static str,
    /// Where the facts come from.
    pub provenance: Provenance,
    /// Why, when the provenance needs a reason.
    pub note: &'static str,
    /// Its layouts of [`Role::Preferred`], in the order in which they are tried.
    pub preferred: &'static [u16],
}

/// What a layout is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It decodes, prints and is read.
    Own,
    /// Words that decode to the layout of its instruction print this way where it fits, and it is read.
    Preferred,
    /// It is read and never printed.
    Assembler,
}

/// One way in which bits are laid out and written: a pattern, fields, a text.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The name in the specification.
    pub name: &'static str,
    /// The instruction it is a layout of; for readings of an operand 0.
    pub opcode: u16,
    /// What it is for.
    pub role: Role,
    /// Bits it takes; of an instruction without [`length`](Layout::length) a multiple of 8.
    pub bits: u16,
    /// The length of the instruction in bytes, where its bits say it: index into [`Stream::expressions`].
    pub length: Option<u16>,
    /// The first generation that has it …
    pub since: u32,
    /// … and the last.
    pub until: u32,
    /// Bits that tell it from others …
    pub mask: Wide,
    /// … and what they are.
    pub value: Wide,
    /// All bits that must have one certain value, those of [`mask`](Layout::mask) included …
    pub fixed_mask: Wide,
    /// … and that value.
    pub fixed_value: Wide,
    /// Bits that mean nothing and may have any value.
    pub ignored: Wide,
    /// What must hold for it to fit: indices into [`Stream::expressions`].
    pub conditions: &'static [u16],
    /// What does not hold, since layouts that are tried before would fit then: indices into [`Stream::expressions`]. Reading
    /// a text needs it, decoding does not.
    pub otherwise: &'static [u16],
    /// The fields.
    pub fields: &'static [Field],
    /// How it is written.
    pub text: &'static [Token],
    /// Text that every way to write it has; empty if there is none.
    pub key: &'static str,
    /// The fields that are operands.
    pub operands: &'static [Operand],
    /// Whether all bits are right once the fixed ones are.
    pub simple: bool,
}

/// The most fields of a layout; the compiler checks it.
pub const MAX_FIELDS: usize = 64;

/// How deep operands stand inside of operands at most; the compiler checks it.
pub const MAX_NESTING: u8 = 4;

/// How many computed fields follow from one another at most, from the bits to the last; the compiler checks it.
pub const MAX_CHAIN: u8 = 24;

/// A field: a number that bits hold or that follows from other fields.
#[derive(Debug)]
pub struct Field {
    /// The name in the specification.
    pub name: &'static str,
    /// What it says.
    pub doc: &'static str,
    /// Where its value comes from.
    pub source: Source,
    /// Bits of the value, at most 64.
    pub width: u8,
    /// Whether the value is in two's complement.
    pub signed: bool,
    /// The value that an instruction has whose text does not say it.
    pub default: u64,
    /// How it is written.
    pub ty: Type,
    /// The fields with bits of their own, or from outside, that decide its value; a bit set.
    pub leaves: u64,
}

/// Where the value of a field comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// From bits, the least significant piece first.
    Bits(&'static [Piece]),
    /// From an expression over other fields; the way back, where it is given, says what those fields are: each an expression
    /// whose only field is this one.
    Computed {
        /// Index into [`Stream::expressions`].
        value: u16,
        /// Fields and indices into [`Stream::expressions`].
        inverse: &'static [(u8, u16)],
    },
    /// From the layout around the operand: the parameter with this index.
    Outer(u8),
}

/// A run of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Lowest bit.
    pub at: u16,
    /// How many, at most 64.
    pub width: u8,
}

/// How a value is written.
#[derive(Clone, Copy, Debug)]
pub enum Type {
    /// As a number.
    Number(Notation),
    /// As the name that an enum has for it; values without a name as a number, if there is a way to write one.
    Enum(u16, Option<Notation>),
    /// As a register of a bank.
    Register(u16),
    /// As the layout of a set that fits it. The fields are what its parameters are.
    Set(u16, &'static [u8]),
    /// As a float of 16, 32 or 64 bits with six digits behind the point.
    Float(u8),
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Notation {
    /// 2, 8, 10 or 16.
    pub radix: u8,
    /// Whether digits above 9 are capitals.
    pub upper: bool,
    /// The fewest digits.
    pub digits: u8,
    /// Written before the digits, behind a sign.
    pub prefix: &'static str,
    /// Whether positive numbers have a sign, too.
    pub plus: bool,
    /// Whether zero is written as nothing.
    pub quiet_zero: bool,
    /// For a branch target: how it counts.
    pub target: Option<Target>,
    /// Whether a function is there: listings call the place `fxn` and its number.
    pub call: bool,
}

impl Notation {
    /// In decimal.
    pub const DECIMAL: Notation = Notation {
        radix: 10,
        upper: false,
        digits: 1,
        prefix: "",
        plus: false,
        quiet_zero: false,
        target: None,
        call: false,
    };
    /// In hexadecimal, after `0x`.
    pub const HEX: Notation = Notation { radix: 16, prefix: "0x", ..Notation::DECIMAL };
}

/// The most remarks that are written behind an instruction.
pub const MAX_ASIDES: usize = 4;

/// A piece of a text.
#[derive(Clone, Copy, Debug)]
pub enum Token {
    /// Fixed text.
    Text(Text),
    /// A field.
    Field(u8),
    /// Blanks up to this column, counted from the start of the instruction.
    Column(u8),
    /// More of a text, which is there where a condition holds: index into [`Stream::expressions`].
    If(u16, &'static [Token]),
    /// The bits of a field as a number, whatever its type. With more than one digit, that is their number.
    Bits(u8, Notation),
    /// A remark on the instruction. It stands behind the whole text: `text\t; one, another`. Those of an instruction come in
    /// the order of the tokens, and those beyond [`MAX_ASIDES`] are left out.
    Aside(&'static [Token]),
}

/// A field as an operand.
#[derive(Debug)]
pub struct Operand {
    /// The field.
    pub field: u8,
    /// What the instruction does with it.
    pub access: Access,
    /// Bits of one value; 0 for what is not a register.
    pub size: u16,
    /// The field that says how many bits there are, in the place of `size`.
    pub sized: Option<u8>,
}

impl Stream {
    /// The layouts of a set.
    pub fn layouts_of(&self, set: usize) -> &'static [Layout] {
        let range = self
            .sets
            .get(set)
            .map_or(0..0, |set| usize::from(set.first)..usize::from(set.first) + usize::from(set.count));
        self.layouts.get(range).unwrap_or_default()
    }
}
