//! Layout of the tables that describe an instruction set.
//!
//! Everything is `'static` and plain: the compiler either prints these values as Rust source (a generated crate) or
//! builds them in memory (a specification used without generating code). The other modules read them.
//!
//! - `field`: fields, the names of their values, and how they are written
//! - `operand`: operands, their kinds and the readings of their bits

mod field;
mod operand;

pub use field::{Bank, Constant, Constants, Enum, Modifier, Token, Type, Value};
pub use operand::{Access, Alternative, Base, Count, Field, Kind, Operand, Shape, Shared, Spelling, Target};

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

impl Isa {
    /// The enum of a field, if its values have names.
    pub fn enum_of(&self, ty: Type) -> Option<&'static Enum> {
        match ty {
            Type::Enum(index) => self.enums.get(usize::from(index)),
            _ => None,
        }
    }
}

/// The source of a statement in the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// A published document.
    Document,
    /// Programs compiled by the vendor's own tools.
    VendorBinary,
    /// The source of an open driver: its compiler or its tables.
    Driver,
    /// No source: a decision of the specification, with a reason.
    Assumed,
}

impl Provenance {
    /// The spelling used in specifications.
    pub const fn as_str(self) -> &'static str {
        match self {
            Provenance::Document => "document",
            Provenance::VendorBinary => "vendor-binary",
            Provenance::Driver => "driver",
            Provenance::Assumed => "assumed",
        }
    }
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

/// Finds the form with this name.
pub fn find_name(isa: &'static Isa, name: &[u8]) -> Option<u16> {
    let slots = isa.names.slots;
    let mut slot = hash_name(name) as usize;
    for _ in 0..slots.len() {
        match slots[slot & (slots.len() - 1)] {
            Decoder::NONE => return None,
            opcode if isa.forms[opcode as usize].name.str.as_bytes() == name => return Some(opcode),
            _ => slot += 1,
        }
    }
    None
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
