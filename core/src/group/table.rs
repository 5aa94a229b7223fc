//! The shapes of the tables that describe an instruction set of groups.

use crate::bits::{Bits, ones, sign_extend};
pub use crate::group::operation::{Operand, OperandKind, Operation, RegisterName, RegisterPlace, Token};
use crate::table::{Bank, Constants, Enum, Provenance};

/// The most slots that a group may have.
pub const SLOTS: usize = 32;
/// The longest group that the tables can describe, in bytes.
pub const LONGEST: usize = 32;
/// The most fields that all slots of a group may have together.
pub const FIELDS: usize = 320;

/// One instruction set of groups.
#[derive(Debug)]
pub struct GroupIsa {
    /// The name, as the command line knows it.
    pub name: &'static str,
    /// What the instruction set is.
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
    /// What can stand in slots.
    pub choices: &'static [Choice],
    /// The slots in the order of their bytes. The first is the header, which every group has.
    pub slots: &'static [Slot],
    /// For each record of the header: which slots a group with it has.
    pub plans: &'static [Plan],
    /// Fields whose value follows from the rest of the group.
    pub derived: &'static [Derived],
    /// What fields of the header allow other fields of it to be.
    pub rules: &'static [Rule],
    /// How a group is filled up to its length.
    pub padding: Padding,
    /// How groups make a program.
    pub program: Program,
    /// What groups do, part by part.
    pub operations: &'static [Operation],
    /// What stands for registers and wires in text.
    pub operands: &'static [Operand],
    /// How registers are written.
    pub registers: &'static [RegisterName],
    /// The slots in the order in which text has them.
    pub order: &'static [u8],
    /// What recorded cases of others call fields and values, and what they are here: a name or a number.
    pub aliases: &'static [(&'static str, &'static str)],
    /// The default of every field of every slot, at the number that the slot gives it.
    pub defaults: &'static [i64],
    /// Slots that are there whenever the header allows them, a bit set.
    pub fillers: u32,
    /// The slots of each chain, a bit set.
    pub chains: &'static [u32],
    /// The fields of the header that encoding computes, a bit set.
    pub computed: u64,
}

/// Alternative layouts of the same fields.
#[derive(Debug)]
pub struct Choice {
    /// The name in the specification.
    pub name: &'static str,
    /// What stands in such a slot.
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

/// What the value of a field stands for.
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

/// How the value of a field is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As it is.
    Plain,
    /// Less by so much.
    Minus(u8),
    /// As it is, and the value one above the greatest that fits as 0: a field of four bits holds 1 to 16.
    Wrap,
    /// Divided by so much.
    Times(u8),
    /// Divided by so much, in two's complement.
    SignedTimes(u8),
}

impl Encoding {
    /// The value that `stored` bits in a field of `width` bits stand for.
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

    /// The bits that stand for `value` in a field of `width` bits, if it can hold it.
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

    /// The least and the greatest value of a field of `width` bits.
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
    /// What it says.
    pub doc: &'static str,
    /// What its value stands for.
    pub ty: Type,
    /// How the value is stored.
    pub encoding: Encoding,
    /// The value that records without the field stand for.
    pub default: i64,
    /// It has no meaning: what is found is kept in the [`Form`](crate::group::Form), what is written is the default.
    pub form: bool,
}

/// Where a record holds a field.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The field, an index into [`Choice::fields`].
    pub field: u8,
    /// The bits.
    pub bits: Bits,
    /// Which of their values have a meaning, a bit set; all of them for a field of more than six bits.
    pub allowed: u64,
}

/// A field that not every value of its bits is allowed in.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The field, an index into [`Choice::fields`].
    pub field: u8,
    /// The bits.
    pub bits: Bits,
    /// Which of their values have a meaning, a bit set.
    pub allowed: u64,
}

/// One layout.
#[derive(Debug)]
pub struct Record {
    /// The name in the specification.
    pub name: &'static str,
    /// What is special about it.
    pub doc: &'static str,
    /// Its length, at most 8.
    pub bytes: u8,
    /// Constant bits …
    pub mask: u64,
    /// … and what they are.
    pub value: u64,
    /// The fields it holds.
    pub places: &'static [Place],
    /// Fields it holds no bits of but says the value of.
    pub implies: &'static [(u8, i64)],
    /// Fields without bits here that must have this value, which it implies or which is their default.
    pub needs: &'static [(u8, i64)],
    /// Fields with reserved values.
    pub checks: &'static [Check],
    /// Why neither decoding nor encoding takes it; empty if they do.
    pub unusable: &'static str,
    /// Nothing public says how it is encoded.
    pub no_encoding: bool,
    /// The fields that it speaks of without bits, if it has no encoding.
    pub says: &'static [u8],
    /// Where the facts come from.
    pub provenance: Provenance,
    /// Why, when the provenance needs a reason.
    pub note: &'static str,
    /// File and line of the specification.
    pub source: &'static str,
}

/// A place in a group.
#[derive(Debug)]
pub struct Slot {
    /// The name in the specification.
    pub name: &'static str,
    /// What stands there.
    pub doc: &'static str,
    /// Index into [`GroupIsa::choices`].
    pub choice: u8,
    /// The records of the choice that may stand here, in the order in which encoding tries them.
    pub records: &'static [u8],
    /// The records that may stand here and have no public encoding.
    pub without: &'static [u8],
    /// For each value of the first byte: where its tests start, or [`Slot::NONE`].
    pub first: &'static [u16; 256],
    /// What tells records, list after list.
    pub tests: &'static [Test],
    /// The number of its first field among the fields of all slots.
    pub fields: u16,
    /// The slots of one chain, which stand one after another until one says that it is the last; 0 for none.
    pub chain: u8,
    /// The field that says so, an index into [`Choice::fields`]; [`Slot::NEVER`] if there is none.
    pub ends: u8,
    /// It is there whenever the header allows it, and at its defaults if nothing is said of it.
    pub filler: bool,
    /// The operations that may stand here, indices into [`GroupIsa::operations`].
    pub operations: &'static [u16],
    /// What the roles of operations are here: index into [`GroupIsa::operands`] for each role.
    pub roles: &'static [(&'static str, u8)],
}

impl Slot {
    /// No field.
    pub const NEVER: u8 = 0xff;
    /// No test.
    pub const NONE: u16 = 0xffff;
}

/// What decoding needs of a record, in one place.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// Constant bits …
    pub mask: u64,
    /// … and what they are.
    pub value: u64,
    /// Fields with reserved values.
    pub checks: &'static [Check],
    /// The record, an index into the records of the choice.
    pub record: u8,
    /// Its length.
    pub bytes: u8,
    /// It is the last of its list.
    pub last: bool,
}

/// Which slots a group has, for one record of the header.
#[derive(Debug)]
pub struct Plan {
    /// The fields of the header that decide, the lowest bits of the key first.
    pub key: &'static [Place],
    /// For each key: the slots, a bit set, all slots of a chain or none; [`Plan::NONE`] where the header means nothing.
    pub slots: &'static [u32],
    /// All slots that any key has.
    pub any: u32,
    /// The derived fields of this header.
    pub derived: &'static [PlannedField],
    /// The rules for this header, indices into [`GroupIsa::rules`].
    pub rules: &'static [u8],
}

/// A derived field of a header whose record is known.
#[derive(Clone, Copy, Debug)]
pub struct PlannedField {
    /// Where the record holds it.
    pub bits: Bits,
    /// How it is stored.
    pub encoding: Encoding,
    /// What it is.
    pub rule: Derive,
    /// The field.
    pub field: u8,
}

impl Plan {
    /// No group has such a header.
    pub const NONE: u32 = 0;
}

/// A field whose value follows from the group.
#[derive(Debug)]
pub struct Derived {
    /// The slot.
    pub slot: u8,
    /// The field of its choice.
    pub field: u8,
    /// For which records of the header, a bit set.
    pub headers: u32,
    /// What it is.
    pub rule: Derive,
}

/// What a derived field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derive {
    /// The length of the group in units, padding included.
    Length,
    /// Where a slot starts, or would start, in bytes from the start of the group; 0 when none of some slots is there.
    Offset {
        /// The slot.
        slot: u8,
        /// A bit set of slots, or 0 when it is always the offset.
        if_any: u32,
    },
}

/// A condition on fields of the header: all fields must have one of some values.
pub type When = &'static [(u8, u64)];

/// What a field of the header must be.
#[derive(Debug)]
pub struct Rule {
    /// What holds.
    pub doc: &'static str,
    /// For which records of the header, a bit set.
    pub headers: u32,
    /// Where it applies.
    pub when: When,
    /// What must hold.
    pub need: When,
}

/// How a group is filled up.
#[derive(Clone, Copy, Debug)]
pub struct Padding {
    /// Fills the last unit.
    pub odd: u8,
    /// Starts whole units of padding; their number is added.
    pub first: u8,
    /// Fills the rest of them.
    pub rest: u8,
}

/// A field that holds a branch target, in bytes.
#[derive(Debug)]
pub struct Target {
    /// The slot.
    pub slot: u8,
    /// The field.
    pub field: u8,
    /// A field of the same slot that says, when it is not 0, that the target counts from the start of the program instead
    /// of from the start of the group; [`Slot::NEVER`] if there is none.
    pub absolute: u8,
}

/// How groups make a program.
#[derive(Debug)]
pub struct Program {
    /// The last group starts and ends at a multiple of this many bytes.
    pub align: u8,
    /// A group for which one of these holds is the last.
    pub ends: &'static [When],
    /// Branch targets.
    pub targets: &'static [Target],
}
