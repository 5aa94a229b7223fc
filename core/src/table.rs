//! The shapes of the tables that describe an instruction set.
//!
//! Everything is `'static` and plain: the compiler either prints these values as Rust source (a generated crate) or
//! builds them in memory (a specification in use before code is generated). Reading them is the business of the other
//! modules.

use core::fmt;

use crate::bits::Bits;
use crate::text::{Label, Text};

/// One instruction set with words of a fixed size.
#[derive(Debug)]
pub struct Isa {
    /// The name, as the command line knows it.
    pub name: &'static str,
    /// What the instruction set is.
    pub doc: &'static str,
    /// Bits of a word, at most 64.
    pub word_bits: u8,
    /// Named values of fields.
    pub enums: &'static [Enum],
    /// Tables of constants that operands name by index.
    pub constants: &'static [Constants],
    /// Register banks.
    pub banks: &'static [Bank],
    /// Kinds of operands.
    pub kinds: &'static [Kind],
    /// Fields that several operands share.
    pub shared: &'static [Shared],
    /// The instructions, in the order of the specification. An index into this list is an *opcode* everywhere else.
    pub forms: &'static [Form],
    /// How to find the form of a word.
    pub decoder: Decoder,
    /// How to find a form by its name.
    pub names: Names,
    /// Bits of the shared fields …
    pub usual_mask: u64,
    /// … and their defaults: the words for which [`Kind::texts`] and [`Form::script`] hold.
    pub usual_value: u64,
    /// What the steps of [`Form::script`] copy.
    pub labels: &'static [Label],
    /// Rules that text has to keep beyond what the encoding can say.
    pub limits: &'static [Limit],
}

/// Where a statement of the specification comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// A published document says so.
    Document,
    /// Programs made by the vendor's own tools show it.
    VendorBinary,
    /// Mesa's compiler or its tables do it so.
    Mesa,
    /// Nothing says so; it is a decision of the specification, with a reason.
    Assumed,
}

impl Provenance {
    /// The spelling used in specifications.
    pub const fn as_str(self) -> &'static str {
        match self {
            Provenance::Document => "document",
            Provenance::VendorBinary => "vendor-binary",
            Provenance::Mesa => "mesa",
            Provenance::Assumed => "assumed",
        }
    }
}

/// Names for the values of a field.
#[derive(Debug)]
pub struct Enum {
    /// The name in the specification.
    pub name: &'static str,
    /// What the values choose between.
    pub doc: &'static str,
    /// The values that have a name, in ascending order.
    pub values: &'static [Value],
    /// Indexed by the bits of the field: the text after a dot, empty where the value is reserved or missing.
    pub dotted: &'static [Text],
    /// The value that is meant, and printed as nothing, when none is written.
    pub default: Option<u64>,
}

impl Enum {
    /// The named value with these bits.
    pub fn value(&self, bits: u64) -> Option<&'static Value> {
        self.values.iter().find(|v| v.bits == bits)
    }

    /// True when these bits have a name.
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
    /// The word that stands for it in assembly: the name, unless the specification says otherwise.
    pub text: &'static str,
    /// What it means.
    pub doc: &'static str,
}

/// A table of constants.
#[derive(Debug)]
pub struct Constants {
    /// The name in the specification.
    pub name: &'static str,
    /// What the table is for.
    pub doc: &'static str,
    /// The constants in order of their index.
    pub values: &'static [Constant],
}

/// An entry of a table of constants.
#[derive(Debug)]
pub struct Constant {
    /// The value.
    pub value: u64,
    /// What it stands for.
    pub doc: &'static str,
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
}

/// What the bits of a field stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// One bit, yes or no.
    Flag,
    /// A number, printed in decimal.
    Decimal,
    /// A number, printed in hexadecimal.
    Hex,
    /// A number in two's complement, printed in decimal.
    Signed,
    /// An index into [`Isa::enums`]' values.
    Enum(u16),
    /// An index into a table of [`Isa::constants`], printed as the constant.
    Constant(u16),
    /// An index into a bank of [`Isa::banks`].
    Register(u16),
}

/// A field of an operand.
#[derive(Debug)]
pub struct Field {
    /// The name in the specification.
    pub name: &'static str,
    /// Where it lies, relative to the operand.
    pub bits: Bits,
    /// What it stands for.
    pub ty: Type,
}

/// A field that every operand which uses it must agree on, such as the page that all uniforms of a word share.
#[derive(Debug)]
pub struct Shared {
    /// The name in the specification.
    pub name: &'static str,
    /// Where it lies in the word.
    pub bits: Bits,
    /// Its value when no operand uses it.
    pub default: u64,
    /// Every instruction prints it as a modifier: text says its value, and it need not be the default when unused.
    pub printed: bool,
    /// Words that are read for values of it where modifiers stand. Operands must agree, and those with a reading that
    /// needs the field are written in their other ways, if they have any.
    pub words: &'static [(&'static str, u64)],
}

/// A kind of operand: one or more alternative ways to read the same bits.
#[derive(Debug)]
pub struct Kind {
    /// The name in the specification.
    pub name: &'static str,
    /// What such an operand is.
    pub doc: &'static str,
    /// How many bits it takes, from its first bit.
    pub width: u8,
    /// The readings; at most one fits any word.
    pub alternatives: &'static [Alternative],
    /// Indexed by the operand's bits: its text while the shared fields have their defaults, empty where there is none.
    /// The whole list is empty when the kind is too wide to tabulate.
    pub texts: &'static [Text],
    /// Bits on which all alternatives agree that some of [`Isa::limits`] looks at …
    pub limited_mask: u64,
    /// … and what they are; 1 with a mask of 0, which never compare equal, when there is no such limit.
    pub limited_value: u64,
    /// The way back: an open-addressed hash table of indices into `texts`, a power of two of them or none at all.
    /// A text is left out when it is not enough to know the operand: [`Decoder::NONE`] fills the free slots.
    pub slots: &'static [u16],
}

impl Kind {
    /// The bits that are an operand's own, from its first bit: all of its width, unless it is in pieces with bits of
    /// others between them.
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
    /// What this reading means.
    pub doc: &'static str,
    /// Bits of the operand that choose this reading …
    pub mask: u64,
    /// … and what they must be.
    pub value: u64,
    /// Shared fields that must have a certain value for this reading: index into [`Isa::shared`], value.
    pub when: &'static [(u8, u64)],
    /// Shared fields that this reading uses in any way, as a bit set of indices.
    pub uses: u32,
    /// The fields, whose indices [`Token::Field`] names.
    pub fields: &'static [Field],
    /// How it is written.
    pub text: &'static [Token],
    /// Other ways to write it, which are only read.
    pub also: &'static [Spelling],
}

/// A way to write a reading of an operand that is never printed.
#[derive(Debug)]
pub struct Spelling {
    /// How it is written.
    pub text: &'static [Token],
    /// Fields that are not written: index into [`Alternative::fields`], value.
    pub with: &'static [(u8, u64)],
}

/// What an instruction does with an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing with registers: a number or a label.
    None,
    /// Reads it.
    Read,
    /// Writes it.
    Write,
    /// Reads it, then writes it.
    ReadWrite,
}

/// A modifier: a flag or a choice written after a dot.
#[derive(Debug)]
pub struct Modifier {
    /// The name in the specification; also what a flag prints.
    pub name: &'static str,
    /// What it changes.
    pub doc: &'static str,
    /// Where it lies.
    pub bits: Bits,
    /// A [`Type::Flag`] or a [`Type::Enum`].
    pub ty: Type,
    /// The value that is meant when nothing is written; without one it must be written.
    pub default: Option<u64>,
    /// For a flag: the text printed when it is set, with its dot.
    pub flag: Text,
    /// A second spelling that is never printed: for flags that print alike, the one that tells them apart.
    pub also: &'static str,
}

/// How many registers a list holds.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    /// The field that says it, if one does.
    pub bits: Option<Bits>,
    /// The name of that field; empty when its bits belong to a modifier, which then says how many registers the text has.
    pub name: &'static str,
    /// Added to the field; the count itself where there is no field.
    pub plus: u8,
}

impl Count {
    /// Whether a modifier says the count, so that a list of another length cannot be written.
    pub fn is_given(&self) -> bool {
        self.bits.is_some() && self.name.is_empty()
    }
}

/// Where an operand's bits are and how to read them.
#[derive(Debug)]
pub enum Shape {
    /// One operand of a kind, from bit `at`.
    One {
        /// Index into [`Isa::kinds`].
        kind: u16,
        /// Its first bit in the word.
        at: u8,
    },
    /// A list of consecutive registers; the word holds the first.
    List {
        /// Index into [`Isa::kinds`]; the kind has a single alternative whose first field is the register.
        kind: u16,
        /// Its first bit in the word.
        at: u8,
        /// How many.
        count: Count,
        /// Written before the first.
        open: &'static str,
        /// Written between two.
        separator: &'static str,
        /// A list of more than one starts at a multiple of this.
        align: u8,
    },
    /// A number written as itself.
    Number {
        /// Where it lies.
        bits: Bits,
        /// How it is written.
        ty: Type,
        /// Written before it.
        prefix: &'static str,
        /// For a branch target: how it counts.
        target: Option<Target>,
    },
}

/// Where a branch target counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// From the first byte of the branch itself.
    This,
    /// From the first byte of the instruction after it.
    Next,
    /// From this address, in bytes; 0 is the start of the program.
    Fixed(u64),
}

/// How a branch target counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// From where.
    pub base: Base,
    /// The bytes that one step of the number stands for.
    pub unit: u16,
}

impl fmt::Display for Target {
    /// As part of a sentence: where it counts from, and in what.
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
    /// The number for a label at the address `label` in a branch at `this`, `next` being the address behind it; all in
    /// bytes. Returns `None` when no whole number of steps leads there.
    pub fn number(self, label: u64, this: u64, next: u64) -> Option<i64> {
        let distance = label.wrapping_sub(self.origin(this, next)) as i64;
        let unit = i64::from(self.unit.max(1));
        (distance % unit == 0).then_some(distance / unit)
    }

    /// The address that a number leads to; the way back from [`number`](Self::number).
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
    /// What it is for.
    pub doc: &'static str,
    /// What the instruction does with it.
    pub access: Access,
    /// Bits of one value: 64 means a pair of 32-bit registers.
    pub size: u16,
    /// Where it lies.
    pub shape: Shape,
    /// Modifiers written after it.
    pub suffixes: &'static [Modifier],
    /// Bits of all suffixes …
    pub quiet_mask: u64,
    /// … and their values when none of them prints. A mask of 0 with a value of 1 says that one always prints.
    pub quiet_value: u64,
}

/// A piece of a syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// Fixed text.
    Text(Text),
    /// A field of the alternative.
    Field(u8),
    /// The name of the instruction.
    Mnemonic,
    /// All modifiers that no [`Token::Modifier`] places.
    Modifiers,
    /// One modifier.
    Modifier(u8),
    /// One operand.
    Operand(u8),
}

/// One instruction.
#[derive(Debug)]
pub struct Form {
    /// The mnemonic.
    pub name: Text,
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
    /// Bits that tell this instruction from all others …
    pub match_mask: u64,
    /// … and what they are.
    pub match_value: u64,
    /// All bits that must have one certain value, [`match_mask`](Form::match_mask) included …
    pub fixed_mask: u64,
    /// … and that value.
    pub fixed_value: u64,
    /// Bits that mean nothing and may have any value.
    pub ignored: u64,
    /// The word with every modifier at its default (0 where it has none), the shared fields at theirs, and no bit of an
    /// operand set.
    pub initial: u64,
    /// The modifiers, in the order they print.
    pub modifiers: &'static [Modifier],
    /// Bits of the modifiers …
    pub quiet_mask: u64,
    /// … and their values when none prints, as for [`Operand`].
    pub quiet_value: u64,
    /// The operands, in the order of the specification.
    pub operands: &'static [Operand],
    /// How it is written.
    pub syntax: &'static [Token],
    /// Modifiers that the syntax places by name, a bit set.
    pub placed: u32,
    /// How much each of [`Isa::limits`] allows this instruction.
    pub limits: &'static [u8],
    /// The same as [`syntax`](Form::syntax), for speed.
    pub script: Script,
}

/// How to print an instruction fast, in the customary style and while the shared fields have their defaults: its name, then
/// these steps.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    /// Bits of the modifiers that have a default, those of operands included …
    pub mask: u64,
    /// … and the defaults.
    pub value: u64,
    /// The steps when all of these modifiers are at their defaults.
    pub short: &'static [Step],
    /// The steps otherwise; none when the instruction has to be printed by its syntax.
    pub long: &'static [Step],
    /// Whether the text can be read word by word: no modifier has a text of several words.
    pub scans: bool,
}

/// A step of a [`Script`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The first of [`Isa::labels`] that the bits choose from; [`Step::NO_LABEL`] for an operand that has no labels.
    pub first: u16,
    /// Mask of the bits, after the shift.
    pub mask: u16,
    /// Lowest of the bits; the index of the operand when there is no label.
    pub shift: u8,
}

impl Step {
    /// There is no label of this index.
    pub const NO_LABEL: u16 = u16::MAX;

    /// Copies the label that the bits `mask`, after a shift, choose.
    pub const fn label(first: u16, shift: u8, mask: u16) -> Self {
        Step { first, mask, shift }
    }

    /// Prints an operand.
    pub const fn operand(index: u8) -> Self {
        Step { first: Step::NO_LABEL, mask: 0, shift: index }
    }
}

/// A decision tree over bit fields.
#[derive(Clone, Copy, Debug)]
pub struct Decoder {
    /// The nodes; the first is the root.
    pub nodes: &'static [Node],
    /// The branches of all nodes: a form, or a node where [`Decoder::INNER`] is set, or [`Decoder::NONE`].
    pub branches: &'static [u16],
}

impl Decoder {
    /// No instruction.
    pub const NONE: u16 = 0xffff;
    /// Set on a branch that leads to another node.
    pub const INNER: u16 = 0x8000;
}

/// A node of the decision tree: look at `width` bits from `shift`.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Lowest bit looked at.
    pub shift: u8,
    /// How many bits.
    pub width: u8,
    /// Index of the branch for the value 0.
    pub first: u32,
}

/// Instructions by name: an open-addressed hash table.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// Slots, a power of two of them; a form or [`Decoder::NONE`].
    pub slots: &'static [u16],
    /// The largest number of dots in any name.
    pub dots: u8,
}

/// The hash behind [`Names`] and [`Kind::slots`]: takes a text eight bytes at a time, zeros behind its end.
pub const fn hash_name(name: &[u8]) -> u32 {
    let mut hash = 0;
    let mut i = 0;
    while i < name.len() {
        let mut chunk = 0;
        let mut k = 0;
        while k < 8 && i + k < name.len() {
            chunk |= (name[i + k] as u64) << (8 * k);
            k += 1;
        }
        hash = mix(hash, chunk);
        i += 8;
    }
    hash as u32
}

/// A step of [`hash_name`].
#[inline(always)]
pub(crate) const fn mix(hash: u64, chunk: u64) -> u64 {
    // Every bit of the input reaches the highest byte of the product, which becomes the lowest of the hash.
    (hash ^ chunk).wrapping_mul(0x9e37_79b9_7f4a_7c15).swap_bytes()
}

/// A rule on the operands of one instruction that the encoding cannot express: a bound on their distinct values.
///
/// Decoding prints such a word; assembling refuses it.
#[derive(Debug)]
pub struct Limit {
    /// What is limited, for the message.
    pub name: &'static str,
    /// Why.
    pub doc: &'static str,
    /// The kind of operand looked at.
    pub kind: u16,
    /// The alternatives looked at, a bit set.
    pub alternatives: u32,
    /// Low bits of the operand that do not count.
    pub drop: u8,
}
