//! Layout of the tables of an instruction stream.

use super::expression::Expression;
use super::piece::{Piece, extract};
use super::wide::Wide;
use crate::registers::RegisterName;
use crate::table::{Access, Enum, Provenance, Target};
use crate::text::Text;

/// An instruction set whose instructions are read from a stream of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// The name by which the command line knows the set.
    pub name: &'static str,
    /// A description of the instruction set.
    pub doc: &'static str,
    /// The alignment of instructions, in bytes.
    pub unit: u8,
    /// The length of the longest instruction in bytes, at most [`Wide::BYTES`].
    pub longest: u8,
    /// The size in bytes of groups that are stored most significant byte first; 1 if instructions are little-endian.
    pub swap: u8,
    /// The least and greatest generation that the specification distinguishes; equal if there is only one.
    pub generations: (u32, u32),
    /// Names of generations; empty if they only have numbers.
    pub generation_names: &'static [(&'static str, u32)],
    /// Whether the tables describe an existing decoder. Then bits that fit two instructions are invalid, and texts need
    /// not distinguish all bits.
    pub exclusive: bool,
    /// Whether texts have asides ([`Token::Aside`]).
    pub asides: bool,
    /// For instructions that are sequences of operands: the tables that replace layouts.
    pub sequence: Option<&'static super::sequence::Sequence>,
    /// Names of values.
    pub enums: &'static [Enum],
    /// Register banks.
    pub banks: &'static [Bank],
    /// The sets of layouts. The first one holds the instructions.
    pub sets: &'static [Set],
    /// All layouts; those of a set are contiguous.
    pub layouts: &'static [Layout],
    /// The instructions to which the layouts of the first set belong. An index into this list is an *opcode*.
    pub instructions: &'static [Instruction],
    /// Conditions and computed values.
    pub expressions: &'static [Expression],
    /// Fast tests of layouts; empty if every word takes the exact path.
    pub quick: &'static [Quick],
    /// The generations with fast tests, and the tests of their layouts.
    pub tested: &'static [Tested],
}

/// The fast tests of a generation.
#[derive(Clone, Copy, Debug)]
pub struct Tested {
    /// The generation.
    pub generation: u32,
    /// The test of each layout of an instruction: index into [`Stream::quick`], or one of the constants of this type.
    pub tests: &'static [u16],
}

impl Tested {
    /// Only the exact path can decide.
    pub const EXACT: u16 = u16::MAX;
    /// No word of this generation fits the layout.
    pub const NEVER: u16 = u16::MAX - 1;
}

/// A test of a word for one layout that evaluates no expressions. It covers everything that the exact path checks:
/// pattern and conditions, then the validity of the other bits. It fits in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Quick {
    /// The constant bits among the lowest 64.
    pub low: Constants,
    /// Lookups for conditions, followed by lookups for valid values.
    pub lookups: &'static [Lookup],
    /// The number of lookups for conditions.
    pub conditions: u8,
    /// The length in bytes.
    pub len: u8,
    /// If the length depends on bits: a tree that gives it, or no candidate where only the exact path can decide.
    pub lengths: Option<&'static Tree>,
    /// Tests that few layouts need.
    pub more: Option<&'static More>,
}

/// Tests of the high bits of long words, and of values with many bits.
#[derive(Clone, Copy, Debug)]
pub struct More {
    /// The constant bits above the lowest 64, in chunks of 64.
    pub high: &'static [Constants],
    /// Trees for valid values: a value is valid if its leaf has a candidate.
    pub trees: &'static [Tree],
}

/// Constant bits in a chunk of 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Constants {
    /// Bits that pattern and conditions require …
    pub mask: u64,
    /// … all bits that are constant in valid words …
    pub fixed: u64,
    /// … and their values.
    pub value: u64,
}

/// The valid values of some bits. The first piece is the least significant.
#[derive(Clone, Copy, Debug)]
pub struct Lookup {
    /// The pieces, least significant first; unused ones have width 0.
    pub pieces: [Piece; Lookup::PIECES],
    /// One bit for each value.
    pub allowed: &'static [u64],
}

impl Lookup {
    /// The maximum number of pieces.
    pub const PIECES: usize = 4;

    /// Whether the bits of a word have a valid value.
    #[inline]
    pub fn allows(&self, word: &Wide) -> bool {
        let [first, more @ ..] = &self.pieces;
        let mut value = word.get_near(first.at.into(), first.width.into());
        if more[0].width > 0 {
            value |= extract(word, more).checked_shl(first.width.into()).unwrap_or(0);
        }
        self.allowed.get((value >> 6) as usize).is_some_and(|row| row >> (value & 63) & 1 != 0)
    }
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
    /// The text before the number …
    pub open: &'static str,
    /// … and after it.
    pub close: &'static str,
    /// Names that replace numbers, by number; empty where there is none.
    pub names: &'static [&'static str],
    /// Additional names that are accepted but never printed, and their numbers.
    pub also: &'static [(&'static str, u32)],
}

impl Bank {
    /// The spelling of a register.
    #[inline]
    pub fn name(&self, number: u64) -> RegisterName {
        RegisterName::of(number, self.names, self.open, self.close)
    }
}

/// A set of layouts, one of which fits given bits: the instructions, or the readings of an operand.
#[derive(Debug)]
pub struct Set {
    /// The name in the specification.
    pub name: &'static str,
    /// A description.
    pub doc: &'static str,
    /// Width of an operand in bits; 0 for instructions.
    pub bits: u16,
    /// The parameters that the instruction must pass: fields that the layouts have as [`Source::Outer`].
    pub parameters: &'static [&'static str],
    /// Its first layout …
    pub first: u16,
    /// … and the number of layouts.
    pub count: u16,
    /// Finds the candidates for given bits.
    pub tree: Tree,
}

/// A decision tree. Its leaves are lists of layouts, in the order in which they must be tried.
#[derive(Clone, Copy, Debug)]
pub struct Tree {
    /// The root.
    pub root: Branch,
    /// The branches of all inner nodes.
    pub branches: &'static [Branch],
    /// The lists of leaves with several candidates.
    pub lists: &'static [&'static [u16]],
}

/// A branch of a decision tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Branch {
    /// No candidate.
    Nothing,
    /// One candidate.
    One(u16),
    /// Several candidates: index into [`Tree::lists`].
    List(u32),
    /// Another test.
    Look {
        /// The lowest bit tested.
        shift: u8,
        /// The number of bits.
        width: u8,
        /// Index of the branch for the value 0.
        first: u32,
    },
}

/// An instruction, independent of its layouts.
#[derive(Debug)]
pub struct Instruction {
    /// The name in the specification.
    pub name: &'static str,
    /// A title of a few words.
    pub title: &'static str,
    /// A description of what it does.
    pub doc: &'static str,
    /// The unit that executes it; empty when the specification does not say.
    pub unit: &'static str,
    /// File and line in the specification.
    pub source: &'static str,
    /// The source of these facts.
    pub provenance: Provenance,
    /// The reason, where the provenance requires one.
    pub note: &'static str,
    /// Its layouts with [`Role::Preferred`], in the order in which they are tried.
    pub preferred: &'static [u16],
}

/// The role of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is used for decoding, printing and parsing.
    Own,
    /// It is parsed, and printed in place of the instruction's own layout where it fits.
    Preferred,
    /// It is parsed but never printed.
    Assembler,
}

/// An arrangement of bits and its syntax: a pattern, fields, a text.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The name in the specification.
    pub name: &'static str,
    /// The instruction that it belongs to; 0 for readings of an operand.
    pub opcode: u16,
    /// Its role.
    pub role: Role,
    /// Its width in bits: a multiple of 8 for an instruction without [`length`](Layout::length).
    pub bits: u16,
    /// The length of the instruction in bytes if it depends on its bits: index into [`Stream::expressions`].
    pub length: Option<u16>,
    /// The first generation that has this layout …
    pub since: u32,
    /// … and the last.
    pub until: u32,
    /// Bits that distinguish it from others …
    pub mask: Wide,
    /// … and their values.
    pub value: Wide,
    /// All bits with a fixed value, [`mask`](Layout::mask) included …
    pub fixed_mask: Wide,
    /// … and their values.
    pub fixed_value: Wide,
    /// Bits that have no meaning and may have any value.
    pub ignored: Wide,
    /// Conditions for it to fit: indices into [`Stream::expressions`].
    pub conditions: &'static [u16],
    /// Conditions that must be false, since layouts that are tried earlier would fit otherwise: indices into
    /// [`Stream::expressions`]. Only parsing needs them.
    pub otherwise: &'static [u16],
    /// The fields.
    pub fields: &'static [Field],
    /// Its syntax.
    pub text: &'static [Token],
    /// Text that all its spellings contain; empty if there is none.
    pub key: &'static str,
    /// The fields that are operands.
    pub operands: &'static [Operand],
    /// Whether a word is valid once its fixed bits are.
    pub simple: bool,
}

/// The end of the name of a field that holds the bits from which another field, with the name before it, is computed.
pub const STORED: &str = " in bits";

/// The maximum number of fields in a layout, which the compiler enforces.
pub const MAX_FIELDS: usize = 64;

/// The maximum nesting of operands, which the compiler enforces.
pub const MAX_NESTING: u8 = 4;

/// The maximum number of computed fields that depend on one another in a chain, which the compiler enforces.
pub const MAX_CHAIN: u8 = 24;

/// A field: a number that is stored in bits or computed from other fields.
#[derive(Debug)]
pub struct Field {
    /// The name in the specification.
    pub name: &'static str,
    /// A description.
    pub doc: &'static str,
    /// The source of its value.
    pub source: Source,
    /// Width of the value in bits, at most 64.
    pub width: u8,
    /// Whether the value is in two's complement.
    pub signed: bool,
    /// The value of the field if the text does not specify it.
    pub default: u64,
    /// Its syntax.
    pub ty: Type,
    /// The fields with bits of their own, or from outside, that determine its value, as a bit set.
    pub leaves: u64,
}

/// The source of a field's value.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// Bits, least significant piece first.
    Bits(&'static [Piece]),
    /// An expression over other fields. The inverse, if given, computes those fields, each by an expression over this
    /// field alone.
    Computed {
        /// Index into [`Stream::expressions`].
        value: u16,
        /// The fields and their expressions: indices into [`Stream::expressions`].
        inverse: &'static [(u8, u16)],
    },
    /// A parameter from the layout that contains the operand: index of the parameter.
    Outer(u8),
}

/// The syntax of a value.
#[derive(Clone, Copy, Debug)]
pub enum Type {
    /// A number.
    Number(Notation),
    /// The name in an enum. Values without a name are numbers if there is a notation.
    Enum(u16, Option<Notation>),
    /// A register of a bank.
    Register(u16),
    /// The layout of a set that fits it, with these fields as parameters.
    Set(u16, &'static [u8]),
    /// A float of 16, 32 or 64 bits, with six digits after the decimal point.
    Float(u8),
}

/// The syntax of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Notation {
    /// The radix: 2, 8, 10 or 16.
    pub radix: u8,
    /// Whether digits above 9 are upper-case.
    pub upper: bool,
    /// The minimum number of digits.
    pub digits: u8,
    /// Written before the digits, after a sign.
    pub prefix: &'static str,
    /// Whether positive numbers have a sign too.
    pub plus: bool,
    /// Whether zero is omitted.
    pub quiet_zero: bool,
    /// Whether a negative number is written as the unsigned one with the same bits.
    pub wraps: bool,
    /// For a branch target: how the number becomes an address.
    pub target: Option<Target>,
    /// Whether the target is a function: listings label it `fxn` with a number.
    pub call: bool,
}

impl Notation {
    /// Decimal.
    pub const DECIMAL: Notation = Notation {
        radix: 10,
        upper: false,
        digits: 1,
        prefix: "",
        plus: false,
        quiet_zero: false,
        wraps: false,
        target: None,
        call: false,
    };
    /// Hexadecimal, with the prefix `0x`.
    pub const HEX: Notation = Notation { radix: 16, prefix: "0x", ..Notation::DECIMAL };
}

/// The maximum number of asides of an instruction.
pub const MAX_ASIDES: usize = 4;

/// An element of a text.
#[derive(Clone, Copy, Debug)]
pub enum Token {
    /// Fixed text.
    Text(Text),
    /// A field.
    Field(u8),
    /// Blanks up to this column, relative to the start of the instruction.
    Column(u8),
    /// Tokens that are present if a condition holds: index into [`Stream::expressions`].
    If(u16, &'static [Token]),
    /// The raw bits of a field as a number, whatever its type. If the notation has more than one digit, exactly that
    /// many are parsed.
    Bits(u8, Notation),
    /// An aside: a remark after the whole text, as in `text\t; one, another`. The asides of an instruction are in the
    /// order of the tokens; any beyond [`MAX_ASIDES`] are omitted.
    Aside(&'static [Token]),
}

/// A field as an operand.
#[derive(Debug)]
pub struct Operand {
    /// The field.
    pub field: u8,
    /// How the instruction accesses it.
    pub access: Access,
    /// Size of the value in bits; 0 if it is not a register.
    pub size: u16,
    /// The field that gives the size in bits, in place of `size`.
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
