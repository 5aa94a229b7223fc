//! Layout of the tables that describe an instruction set.
//!
//! Everything is `'static` and plain: the compiler either prints these values as Rust source (a generated crate) or
//! builds them in memory (a specification used without generating code). The other modules read them.

use core::fmt;

use crate::bits::Bits;
use crate::text::{Label, Text};

/// An instruction set whose words have a fixed size.
#[derive(Debug)]
pub struct Isa {
    /// The name by which the command line knows the set.
    pub name: &'static str,
    /// A description of the instruction set.
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
    /// Finds the form of a word.
    pub decoder: Decoder,
    /// Finds a form by its name.
    pub names: Names,
    /// The bits of the shared fields …
    pub usual_mask: u64,
    /// … and their defaults. [`Kind::texts`] and [`Form::script`] are valid only for words that have them.
    pub usual_value: u64,
    /// The labels that the steps of [`Form::script`] copy.
    pub labels: &'static [Label],
    /// Rules for assembly that the encoding cannot express.
    pub limits: &'static [Limit],
}

/// The source of a statement in the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// A published document.
    Document,
    /// Programs compiled by the vendor's own tools.
    VendorBinary,
    /// Mesa's compiler or its tables.
    Mesa,
    /// No source: a decision of the specification, with a reason.
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
    /// A value of an enum: index into [`Isa::enums`].
    Enum(u16),
    /// An index into a table of constants, printed as the constant: index into [`Isa::constants`].
    Constant(u16),
    /// An index into a register bank: index into [`Isa::banks`].
    Register(u16),
}

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
    /// Bits that have the same value in all alternatives that some of [`Isa::limits`] counts …
    pub limited_mask: u64,
    /// … and that value. No limit counts an operand with other bits. When no limit concerns the kind, the mask is 0 and
    /// the value 1, which never match.
    pub limited_value: u64,
    /// The reverse lookup: an open-addressed hash table of indices into `texts`, either empty or a power of two in
    /// size. [`Decoder::NONE`] marks free slots. A text that does not determine the operand is left out.
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
    /// Shared fields that must have a certain value for this reading: (index into [`Isa::shared`], value).
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
        /// Index into [`Isa::kinds`].
        kind: u16,
        /// The operand's first bit in the word.
        at: u8,
    },
    /// A list of consecutive registers; the word encodes the first.
    List {
        /// Index into [`Isa::kinds`]; the kind has a single alternative whose first field is the register.
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

/// An element of a syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// Fixed text.
    Text(Text),
    /// A field of the alternative: index into [`Alternative::fields`].
    Field(u8),
    /// The name of the instruction.
    Mnemonic,
    /// All modifiers that are not placed by a [`Token::Modifier`].
    Modifiers,
    /// One modifier: index into [`Form::modifiers`].
    Modifier(u8),
    /// One operand: index into [`Form::operands`].
    Operand(u8),
}

/// One instruction.
#[derive(Debug)]
pub struct Form {
    /// The mnemonic.
    pub name: Text,
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
    /// Bits that distinguish this instruction from all others …
    pub match_mask: u64,
    /// … and their values.
    pub match_value: u64,
    /// All bits with a fixed value, [`match_mask`](Form::match_mask) included …
    pub fixed_mask: u64,
    /// … and their values.
    pub fixed_value: u64,
    /// Bits that have no meaning and may have any value.
    pub ignored: u64,
    /// The word with every modifier at its default (0 where it has none), the shared fields at their defaults, and all
    /// operand bits clear.
    pub initial: u64,
    /// The modifiers, in the order in which they print.
    pub modifiers: &'static [Modifier],
    /// Bits of the modifiers …
    pub quiet_mask: u64,
    /// … and their values when no modifier prints, as for [`Operand`].
    pub quiet_value: u64,
    /// The operands, in the order of the specification.
    pub operands: &'static [Operand],
    /// Its syntax.
    pub syntax: &'static [Token],
    /// Modifiers that the syntax places individually, as a bit set.
    pub placed: u32,
    /// The bound that each of [`Isa::limits`] sets for this instruction.
    pub limits: &'static [u8],
    /// A faster equivalent of [`syntax`](Form::syntax).
    pub script: Script,
}

/// A fast way to print an instruction in the customary style while the shared fields have their defaults: its name,
/// then these steps.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    /// Bits of all modifiers that have a default, including suffixes of operands …
    pub mask: u64,
    /// … and their defaults.
    pub value: u64,
    /// The steps when all these modifiers have their defaults.
    pub short: &'static [Step],
    /// The steps otherwise; empty when the instruction must be printed by its syntax.
    pub long: &'static [Step],
    /// Whether the text can be read word by word, because no modifier's text has several words.
    pub scans: bool,
}

/// A step of a [`Script`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The first of the [`Isa::labels`] that the bits select from; [`Step::NO_LABEL`] for an operand without labels.
    pub first: u16,
    /// Mask of the bits, applied after the shift.
    pub mask: u16,
    /// The lowest of the bits; the index of the operand when there is no label.
    pub shift: u8,
}

impl Step {
    /// Marks a step without a label.
    pub const NO_LABEL: u16 = u16::MAX;

    /// Copies the label that the masked bits select.
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
    /// The branches of all nodes: a form, or a node if [`Decoder::INNER`] is set, or [`Decoder::NONE`].
    pub branches: &'static [u16],
}

impl Decoder {
    /// No instruction.
    pub const NONE: u16 = 0xffff;
    /// Set on a branch that leads to another node.
    pub const INNER: u16 = 0x8000;
}

/// A node of the decision tree. It tests `width` bits from `shift`.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// The lowest bit tested.
    pub shift: u8,
    /// The number of bits.
    pub width: u8,
    /// Index of the branch for the value 0.
    pub first: u32,
}

/// A lookup table of instructions by name: an open-addressed hash table.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// The slots, a power of two of them. Each is a form or [`Decoder::NONE`].
    pub slots: &'static [u16],
    /// The largest number of dots in a name.
    pub dots: u8,
}

/// The hash function of [`Names`] and [`Kind::slots`]. It consumes the text eight bytes at a time, padded with zeros.
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

/// One step of [`hash_name`].
#[inline(always)]
pub(crate) const fn mix(hash: u64, chunk: u64) -> u64 {
    // Every input bit affects the highest byte of the product, which the swap makes the lowest of the hash.
    (hash ^ chunk).wrapping_mul(0x9e37_79b9_7f4a_7c15).swap_bytes()
}

/// A rule on the operands of an instruction that the encoding cannot express: a bound on their distinct values.
///
/// Words that break it decode and print; the assembler rejects them.
#[derive(Debug)]
pub struct Limit {
    /// The name of the limited resource, for messages.
    pub name: &'static str,
    /// The reason.
    pub doc: &'static str,
    /// The kind of operand counted.
    pub kind: u16,
    /// The alternatives counted, as a bit set.
    pub alternatives: u32,
    /// The number of low operand bits to ignore when comparing.
    pub drop: u8,
}
