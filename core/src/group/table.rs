//! Layout of the tables that describe an instruction set of groups.

use crate::bits::{Bits, ones, sign_extend};
pub use crate::group::operation::{Operand, OperandKind, Operation, RegisterName, RegisterPlace, Token};
use crate::table::{Bank, Constants, Enum, Provenance};

/// The maximum number of slots in a group.
pub const SLOTS: usize = 32;
/// The maximum length of a group in bytes.
pub const MAX_BYTES: usize = 32;
/// The maximum number of fields in all slots of a group together.
pub const FIELDS: usize = 320;

/// An instruction set of groups.
#[derive(Debug)]
pub struct GroupIsa {
    /// The name by which the command line knows the set.
    pub name: &'static str,
    /// A description of the instruction set.
    pub doc: &'static str,
    /// The length of every group is a multiple of this many bytes.
    pub unit: u8,
    /// The length of the longest group, in bytes.
    pub longest: u8,
    /// Named values of fields.
    pub enums: &'static [Enum],
    /// Tables of constants.
    pub constants: &'static [Constants],
    /// Register banks.
    pub banks: &'static [Bank],
    /// The possible contents of slots.
    pub choices: &'static [Choice],
    /// The slots in byte order. The first is the header, which every group has.
    pub slots: &'static [Slot],
    /// For each record of the header: the slots of a group with that record.
    pub plans: &'static [Plan],
    /// Derived fields, whose values follow from the rest of the group.
    pub derived: &'static [Derived],
    /// Constraints between fields of the header.
    pub rules: &'static [Rule],
    /// The padding of groups.
    pub padding: Padding,
    /// How groups form a program.
    pub program: Program,
    /// The operations of groups.
    pub operations: &'static [Operation],
    /// The operands: registers and wires in text.
    pub operands: &'static [Operand],
    /// The spellings of registers.
    pub registers: &'static [RegisterName],
    /// The slots in text order.
    pub order: &'static [u8],
    /// Names of fields and values in test cases from other projects, with the corresponding name or number here.
    pub aliases: &'static [(&'static str, &'static str)],
    /// The defaults of all fields of all slots, indexed as in [`Slot::fields`].
    pub defaults: &'static [i64],
    /// Slots that are present whenever the header allows them, as a bit set.
    pub fillers: u32,
    /// The slots of each chain, as bit sets.
    pub chains: &'static [u32],
    /// The header fields that encoding computes, as a bit set.
    pub computed: u64,
}

impl GroupIsa {
    fn field(&self, slot: usize, field: usize) -> Option<&'static Field> {
        let choice = self.slots.get(slot).and_then(|s| self.choices.get(s.choice as usize));
        choice.and_then(|c| c.fields.get(field))
    }

    /// The default of a field of a slot.
    pub(super) fn default_of(&self, slot: usize, field: usize) -> i64 {
        self.field(slot, field).map_or(0, |f| f.default)
    }

    /// The type of a field of a slot.
    pub(super) fn type_of(&self, slot: usize, field: usize) -> Type {
        self.field(slot, field).map_or(Type::Decimal, |f| f.ty)
    }
}

/// Alternative layouts of the same fields.
#[derive(Debug)]
pub struct Choice {
    /// The name in the specification.
    pub name: &'static str,
    /// A description of such slots.
    pub doc: &'static str,
    /// The fields that the records share.
    pub fields: &'static [Field],
    /// The layouts.
    pub records: &'static [Record],
}

impl Choice {
    /// The index of a field.
    pub fn field(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|f| f.name == name)
    }

    /// The index of a record.
    pub fn record(&self, name: &str) -> Option<usize> {
        self.records.iter().position(|r| r.name == name)
    }
}

/// The interpretation of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Yes or no.
    Flag,
    /// A number, printed in decimal.
    Decimal,
    /// A number, printed in hexadecimal.
    Hex,
    /// A value of [`GroupIsa::enums`].
    Enum(u16),
}

/// The encoding of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Unchanged.
    Plain,
    /// Minus this number.
    Minus(u8),
    /// Unchanged, except that 0 encodes the value one above the largest that fits: a field of four bits holds 1 to 16.
    Wrap,
    /// Divided by this number.
    Times(u8),
    /// Divided by this number, in two's complement.
    SignedTimes(u8),
}

impl Encoding {
    /// Decodes `stored` in a field of `width` bits.
    #[inline]
    pub const fn value(self, stored: u64, width: u32) -> i64 {
        match self {
            Encoding::Plain => stored as i64,
            Encoding::Minus(n) => stored as i64 + n as i64,
            Encoding::Wrap if stored == 0 && width < 63 => 1 << width,
            Encoding::Wrap => stored as i64,
            Encoding::Times(n) => stored as i64 * n as i64,
            Encoding::SignedTimes(n) => sign_extend(stored, width).wrapping_mul(n as i64),
        }
    }

    /// Encodes `value` in a field of `width` bits. `None` when it does not fit.
    #[inline]
    pub const fn stored(self, value: i64, width: u32) -> Option<u64> {
        let stored = match self {
            Encoding::Plain => value,
            Encoding::Minus(n) => value.wrapping_sub(n as i64),
            Encoding::Wrap if value == 0 => return None,
            Encoding::Wrap if width < 63 && value == 1 << width => 0,
            Encoding::Wrap => value,
            Encoding::Times(n) | Encoding::SignedTimes(n) if n == 0 || value % n as i64 != 0 => return None,
            Encoding::Times(n) => value / n as i64,
            Encoding::SignedTimes(n) => {
                let stored = value / n as i64;
                return if sign_extend(stored as u64, width) == stored {
                    Some(stored as u64 & ones(width))
                } else {
                    None
                };
            }
        };
        if stored < 0 || stored as u64 > ones(width) { None } else { Some(stored as u64) }
    }

    /// The least and greatest value of a field of `width` bits.
    pub const fn range(self, width: u32) -> (i64, i64) {
        let greatest = ones(if width > 62 { 62 } else { width }) as i64;
        match self {
            Encoding::Plain => (0, greatest),
            Encoding::Minus(n) => (n as i64, greatest.saturating_add(n as i64)),
            Encoding::Wrap => (1, greatest + 1),
            Encoding::Times(n) => (0, greatest.saturating_mul(n as i64)),
            Encoding::SignedTimes(n) => {
                ((-(greatest / 2) - 1).saturating_mul(n as i64), (greatest / 2).saturating_mul(n as i64))
            }
        }
    }
}

/// A field of a choice.
#[derive(Debug)]
pub struct Field {
    /// The name in the specification.
    pub name: &'static str,
    /// A description.
    pub doc: &'static str,
    /// The interpretation of its value.
    pub ty: Type,
    /// The encoding of its value.
    pub encoding: Encoding,
    /// The value in records without the field.
    pub default: i64,
    /// Whether it has no meaning. [`encode`](crate::group::encode()) keeps its value;
    /// [`canonical`](crate::group::canonical) replaces it with the default.
    pub form: bool,
}

/// The position of a field in a record.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The field: index into [`Choice::fields`].
    pub field: u8,
    /// The bits.
    pub bits: Bits,
    /// The valid values of the bits, as a bit set; all ones for a field of more than six bits.
    pub allowed: u64,
}

/// A field with reserved values.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The field: index into [`Choice::fields`].
    pub field: u8,
    /// The bits.
    pub bits: Bits,
    /// The valid values of the bits, as a bit set.
    pub allowed: u64,
}

/// One layout of a choice.
#[derive(Debug)]
pub struct Record {
    /// The name in the specification.
    pub name: &'static str,
    /// A description of the layout.
    pub doc: &'static str,
    /// Its length in bytes, at most 8.
    pub bytes: u8,
    /// Constant bits …
    pub mask: u64,
    /// … and their values.
    pub value: u64,
    /// The fields that it holds in bits.
    pub places: &'static [Place],
    /// Fields that have a fixed value in this record, without bits.
    pub implies: &'static [(u8, i64)],
    /// Fields without bits that must have this value, either implied or the default.
    pub needs: &'static [(u8, i64)],
    /// Fields with reserved values.
    pub checks: &'static [Check],
    /// Why neither decoding nor encoding uses it; empty if they do.
    pub unusable: &'static str,
    /// Whether its encoding is not public.
    pub no_encoding: bool,
    /// The fields that it would hold, if its encoding is not public.
    pub says: &'static [u8],
    /// The source of these facts.
    pub provenance: Provenance,
    /// The reason, where the provenance requires one.
    pub note: &'static str,
    /// File and line in the specification.
    pub source: &'static str,
}

/// A position in a group that a record can fill.
#[derive(Debug)]
pub struct Slot {
    /// The name in the specification.
    pub name: &'static str,
    /// A description.
    pub doc: &'static str,
    /// Index into [`GroupIsa::choices`].
    pub choice: u8,
    /// The records of the choice that are allowed here, in the order in which encoding tries them.
    pub records: &'static [u8],
    /// The records that are allowed here but have no public encoding.
    pub without: &'static [u8],
    /// For each value of the first byte: the index of its first test, or [`Slot::NONE`].
    pub first: &'static [u16; 256],
    /// The tests that distinguish records, as consecutive lists.
    pub tests: &'static [Test],
    /// The index of its first field among the fields of all slots.
    pub fields: u16,
    /// The chain that it belongs to, or 0: consecutive slots up to the one that is marked as the last.
    pub chain: u8,
    /// The field that marks the last slot of a chain: index into [`Choice::fields`], or [`Slot::NEVER`].
    pub ends: u8,
    /// Whether it is present whenever the header allows it, with default values unless specified.
    pub filler: bool,
    /// The operations that are allowed here: indices into [`GroupIsa::operations`].
    pub operations: &'static [u16],
    /// The operands that have a role here: name of the role, index into [`GroupIsa::operands`].
    pub roles: &'static [(&'static str, u8)],
}

impl Slot {
    /// Marks the absence of a field.
    pub const NEVER: u8 = 0xff;
    /// Marks the absence of a test.
    pub const NONE: u16 = 0xffff;
}

/// What decoding needs to know about a record, in one place.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// Constant bits …
    pub mask: u64,
    /// … and their values.
    pub value: u64,
    /// Fields with reserved values.
    pub checks: &'static [Check],
    /// The record: index into the records of the choice.
    pub record: u8,
    /// Its length in bytes.
    pub bytes: u8,
    /// Whether it is the last of its list.
    pub last: bool,
}

/// The slots of a group, for one record of the header.
#[derive(Debug)]
pub struct Plan {
    /// The header fields that form the key, lowest bits first.
    pub key: &'static [Place],
    /// For each key: the slots, as a bit set, with either all slots of a chain or none; [`Plan::NONE`] for an invalid
    /// header.
    pub slots: &'static [u32],
    /// The union of the slots of all keys.
    pub any: u32,
    /// The derived fields of this header.
    pub derived: &'static [PlannedField],
    /// The rules for this header: indices into [`GroupIsa::rules`].
    pub rules: &'static [u8],
}

/// A derived field in a header with a known record.
#[derive(Clone, Copy, Debug)]
pub struct PlannedField {
    /// Its position in the record.
    pub bits: Bits,
    /// The encoding of its value.
    pub encoding: Encoding,
    /// Its definition.
    pub rule: Derive,
    /// The field.
    pub field: u8,
}

impl Plan {
    /// No group has such a header.
    pub const NONE: u32 = 0;
}

/// A field whose value follows from the rest of the group.
#[derive(Debug)]
pub struct Derived {
    /// The slot.
    pub slot: u8,
    /// The field of its choice.
    pub field: u8,
    /// The header records to which it applies, as a bit set.
    pub headers: u32,
    /// Its definition.
    pub rule: Derive,
}

/// The definition of a derived field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derive {
    /// The length of the group in units, padding included.
    Length,
    /// The offset of a slot in bytes from the start of the group (if the slot is absent, of the next one); 0 if no slot
    /// of `if_any` is present.
    Offset {
        /// The slot.
        slot: u8,
        /// A bit set of slots, or 0 if the field is always the offset.
        if_any: u32,
    },
}

/// A condition on header fields: every field must have one of its listed values.
pub type When = &'static [(u8, u64)];

/// A constraint on header fields.
#[derive(Debug)]
pub struct Rule {
    /// A description.
    pub doc: &'static str,
    /// The header records to which it applies, as a bit set.
    pub headers: u32,
    /// The condition under which it applies.
    pub when: When,
    /// The condition that must then hold.
    pub need: When,
}

/// The padding of a group.
#[derive(Clone, Copy, Debug)]
pub struct Padding {
    /// The byte that fills the last partial unit.
    pub odd: u8,
    /// The first byte of whole units of padding, to which their number is added.
    pub first: u8,
    /// The remaining bytes of whole units.
    pub rest: u8,
}

/// A field that holds a branch target, in bytes.
#[derive(Debug)]
pub struct Target {
    /// The slot.
    pub slot: u8,
    /// The field.
    pub field: u8,
    /// A field of the same slot. If it is not 0, the target is relative to the start of the program instead of the
    /// group. [`Slot::NEVER`] if there is none.
    pub absolute: u8,
}

/// How groups form a program.
#[derive(Debug)]
pub struct Program {
    /// The alignment of both ends of the last group, in bytes.
    pub align: u8,
    /// A group for which one of these conditions holds is the last.
    pub ends: &'static [When],
    /// Branch targets.
    pub targets: &'static [Target],
}
