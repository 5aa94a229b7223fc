//! The vocabulary of groups: records, choices, slots, and derived fields.

use crate::keys::{Accepts, FromNode, Named, OneOrMany, Reader, vocabulary};
use crate::semantics::spec::StateSpec;
use crate::source::Spanned;
use crate::spec::bits::{BitList, FixedBits};
use crate::spec::numbers::Notation;
use crate::spec::provenance::Provenance;
use crate::yaml::{Node, Value};

/// A value of a field as written in a specification: a name of its enum, a number, `true` or `false`.
pub type Word = Spanned<String>;

/// Conditions on fields of the header: every field must have one of its listed values.
pub type Condition = Named<OneOrMany<Word>>;

vocabulary! {
    /// Alternative layouts of the same fields.
    pub struct ChoiceSpec {
        /// A description of what such a slot holds.
        optional doc: String,
        /// The fields that the records share.
        optional fields: Named<SharedFieldSpec>,
        /// The records. Encoding uses the first one that can hold all values.
        required records: Named<RecordSpec>,
    }
}

vocabulary! {
    /// A field that the records of a choice share. Without `enum` or `number` it is a flag.
    pub struct SharedFieldSpec {
        /// What it means.
        optional doc: String,
        /// The enum of its values. A record with fewer bits for it can hold only the values that fit.
        optional r_enum ("enum"): Spanned<String>,
        /// The notation, if its value is a number.
        optional number: Notation,
        /// The number that is subtracted from the value when it is stored.
        optional minus: u8,
        /// Whether the value one above the largest that fits is stored as 0.
        optional wrap: bool,
        /// The number that the value is divided by when it is stored.
        optional times: u8,
        /// Whether it is stored in two's complement.
        optional signed: bool,
        /// The value in records without the field; 0 by default.
        optional default: Word,
        /// Whether it has no meaning: decoding preserves its value, and text encodes to the default.
        optional meaningless: bool,
    }
}

vocabulary! {
    /// A record. Bit `n` is bit `n % 8` of byte `n / 8`.
    pub struct RecordSpec {
        /// How it differs from the others.
        optional doc: String,
        /// Its length in bytes, 0 to 8.
        required bytes: Spanned<u8>,
        /// Constant bits.
        optional fixed: FixedBits,
        /// The positions of the fields.
        optional fields: Named<PlaceSpec>,
        /// Values of fields that it implies without storing them.
        optional implies: Named<Word>,
        /// Why it is neither decoded nor encoded.
        optional unusable: String,
        /// Whether its encoding is not public: it has no bytes, and `says` lists its fields.
        optional no_encoding ("no encoding"): bool,
        /// The fields of a record without encoding.
        optional says: Vec<Spanned<String>>,
        /// Where the facts come from.
        optional provenance: Provenance,
        /// The reason, where the provenance needs one.
        optional note: String,
    }
}

/// The position of a field in a record: bits, or a map with `bits` and a narrower `enum`.
#[derive(Clone, Debug)]
pub struct PlaceSpec {
    /// The bits.
    pub bits: BitList,
    /// The enum of the values that this record can hold, if not all of the field's that fit.
    pub r_enum: Option<Spanned<String>>,
}

vocabulary! {
    /// A field of a record that allows fewer values than the choice does.
    pub struct NarrowPlaceSpec {
        /// Its position.
        required bits: BitList,
        /// The enum of the values that this record can hold.
        optional r_enum ("enum"): Spanned<String>,
    }
}

impl FromNode for PlaceSpec {
    const EXPECTED: &'static str = "bits such as `7..0`, or a map with `bits`";

    fn accepts() -> Accepts {
        Accepts::Either(vec![BitList::accepts(), NarrowPlaceSpec::accepts()])
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        if let Value::Map(_) = node.value {
            let NarrowPlaceSpec { bits, r_enum, .. } = NarrowPlaceSpec::from_node(node, r)?;
            return Some(PlaceSpec { bits, r_enum });
        }
        Some(PlaceSpec { bits: BitList::from_node(node, r)?, r_enum: None })
    }
}

vocabulary! {
    /// How groups are built, for sets whose instructions are groups of records instead of words.
    pub struct GroupSpec {
        /// The length of every group is a multiple of this, in bytes.
        required unit: Spanned<u8>,
        /// The maximum length of a group in bytes.
        required longest: Spanned<u8>,
        /// The slots in byte order. The first is the header.
        required slots: Named<SlotSpec>,
        /// Fields that are computed from the rest of the group.
        optional derived: Vec<DerivedSpec>,
        /// Constraints between fields of the header.
        optional rules: Vec<RuleSpec>,
        /// How a group is padded to its length.
        required padding: PaddingSpec,
        /// How groups form a program.
        required program: ProgramSpec,
        /// The order of slots in text; those left out follow.
        optional order: Vec<Spanned<String>>,
        /// Names that recorded cases from other sources use for fields and values, each with the name or number here.
        optional aliases: Named<Word>,
        /// Values passed between the parts of a group: states that are 0 at the start of every group. Operands that are
        /// wires of the same name access them.
        optional wires: Named<StateSpec>,
        /// The field of the header that holds how often a group is executed; register numbers step by one each time.
        optional repeats: Spanned<String>,
        /// Registers whose numbers do not step.
        optional stays: Vec<StaysSpec>,
        /// What a group does in each repetition. `slot()` executes the operations in a slot, `has.slot` tells whether
        /// it is present, and `slot.field` is one of its fields; `repetition` counts from 0 to `repetitions` - 1.
        optional does: Spanned<String>,
        /// Which lanes execute a group, and how; used by a machine.
        optional execution: ExecutionSpec,
    }
}

vocabulary! {
    /// Which lanes execute a group, and how.
    pub struct ExecutionSpec {
        /// What to execute before a group in all lanes: a text that sets states, and may use fields of the group.
        optional before: Spanned<String>,
        /// The state that then selects the lanes that execute the group; all of them by default.
        optional mask: Spanned<String>,
        /// The header fields of groups that all lanes execute, whatever that state holds.
        optional everyone: Condition,
        /// The header fields of groups that lanes execute in turn.
        optional in_turn ("in turn"): Condition,
    }
}

vocabulary! {
    /// Registers that stay the same when a group repeats.
    pub struct StaysSpec {
        /// The operands that refer to them.
        required operands: Vec<Spanned<String>>,
        /// The slot that must be present.
        required slot: Spanned<String>,
        /// The required values of its fields.
        optional when: Condition,
        /// Values that its fields must not all have.
        optional unless: Condition,
    }
}

vocabulary! {
    /// A place in a group.
    pub struct SlotSpec {
        /// A description of its contents.
        optional doc: String,
        /// The choice of records.
        required choice: Spanned<String>,
        /// The records allowed in it, if not all.
        optional only: Vec<Spanned<String>>,
        /// Records not allowed in it.
        optional except: Vec<Spanned<String>>,
        /// Conditions for its presence; one must hold.
        optional when: OneOrMany<Condition>,
        /// Its chain: the slots of a chain follow one another, and each may be absent, but not all.
        optional chain: Spanned<String>,
        /// The field that marks a part as the last of its chain.
        optional ends: Spanned<String>,
        /// Whether it is present whenever it can be; if it is unused, its fields have their defaults.
        optional filler: bool,
        /// Whether no header announces it, because none of its records has a public encoding.
        optional no_encoding ("no encoding"): bool,
        /// The operands that the roles in the syntax of operations stand for in this slot.
        optional roles: Named<Word>,
    }
}

vocabulary! {
    /// A field that is computed from the rest of the group, by either `length` or `offset`.
    pub struct DerivedSpec {
        /// The field of the header.
        required field: Spanned<String>,
        /// The condition that groups must satisfy.
        optional when: OneOrMany<Condition>,
        /// Whether it holds the length of the group in units, including padding.
        optional length: bool,
        /// The slot whose start it holds in bytes, even if the slot is absent.
        optional offset: Spanned<String>,
        /// It is 0 unless one of these slots is present.
        optional if_any ("if any"): Vec<Spanned<String>>,
    }
}

vocabulary! {
    /// A constraint on fields of the header.
    pub struct RuleSpec {
        /// The constraint in words, to follow "but" in a message.
        required doc: String,
        /// When it applies.
        optional when: Condition,
        /// The constraint.
        required need: Condition,
    }
}

vocabulary! {
    /// How a group is padded to its length.
    pub struct PaddingSpec {
        /// The byte that fills the last unit.
        required odd: u8,
        /// The first byte of whole units of padding; their number is added to it.
        required first: u8,
        /// The byte that fills the rest of them.
        required rest: u8,
    }
}

vocabulary! {
    /// How groups form a program.
    pub struct ProgramSpec {
        /// The alignment of the start and the end of the last group, in bytes.
        required align: Spanned<u8>,
        /// Conditions under which a group is the last; one must hold.
        required ends: OneOrMany<Condition>,
        /// Fields that hold branch targets.
        optional targets: Vec<BranchSpec>,
    }
}

vocabulary! {
    /// A field that holds a branch target in bytes, relative to the first byte of its group.
    pub struct BranchSpec {
        /// The slot.
        required slot: Spanned<String>,
        /// The field.
        required field: Spanned<String>,
        /// A flag of the same slot that makes the target relative to the start of the program.
        optional absolute: Spanned<String>,
    }
}

vocabulary! {
    /// An operation: what a part of a group does.
    ///
    /// Its syntax is text with fields in braces: `{flag}` prints `.flag` if it is set, `{.field}` a dot and the value,
    /// `{.field?}` the same unless it is the default, `{field}` the value, `{field:a|b}` a keyword for each value,
    /// `{field?: text}` text and value unless it is the default, `{field#a|b}` a suffix for each set bit
    /// (`{field#|a|b}` prints nothing if none is set). `{slot.field}` is a field of another slot; names in capitals are
    /// operands and roles.
    pub struct OperationSpec {
        /// What it does.
        required doc: String,
        /// The slots it may be in.
        required slots: OneOrMany<Spanned<String>>,
        /// The values of fields that make a slot this operation.
        optional is: Condition,
        /// What it is a part of, where several operations share a slot.
        optional part: String,
        /// The operand after which it is not printed.
        optional unless: Spanned<String>,
        /// Whether it only describes its slot, without adding it to a group.
        optional remark: bool,
        /// Source operands that it writes.
        optional writes: OneOrMany<Spanned<String>>,
        /// How it is written.
        required syntax: Spanned<String>,
        /// Other ways to write it.
        optional also: OneOrMany<Spanned<String>>,
        /// What it computes from operands, roles, wires and fields; see `semantics`. It refers to the fields of its
        /// slot by name, and to those of others as `slot.field`.
        optional does: Spanned<String>,
        /// Why it has no encoding.
        optional no_encoding ("no encoding"): String,
        /// Where the facts come from.
        optional provenance: Provenance,
        /// The reason, where the provenance needs one.
        optional note: String,
    }
}

vocabulary! {
    /// How a register or a wire is written in text. Exactly one of `wire`, `register`, `select` and `follow` defines
    /// it.
    pub struct WireSpec {
        /// A description.
        optional doc: String,
        /// A wire with this text.
        optional wire: String,
        /// A register, named in the first of these places that is present.
        optional register: OneOrMany<RegisterPlaceSpec>,
        /// The field, with its slot, that selects one of several operands.
        optional select: Spanned<String>,
        /// Like `select`, but another part of the group sets the field, not the text.
        optional follow: Spanned<String>,
        /// The operand for each value of that field.
        optional from: Named<Word>,
    }
}

vocabulary! {
    /// Where a register number is stored.
    pub struct RegisterPlaceSpec {
        /// The slot.
        required slot: Spanned<String>,
        /// The field with its bank.
        required bank: Spanned<String>,
        /// The field with its number.
        required number: Spanned<String>,
        /// The field with the number of registers of the slot.
        optional count: Spanned<String>,
        /// The minimum of that number for this register to be present.
        optional at_least ("at least"): u8,
    }
}

vocabulary! {
    /// How some registers of a bank are written.
    pub struct RegisterNameSpec {
        /// The enum of banks.
        required r_enum ("enum"): Spanned<String>,
        /// The bank.
        required bank: Spanned<String>,
        /// The first number; 0 by default.
        optional from: u32,
        /// The last number; unlimited by default.
        optional to: u32,
        /// The number that the first is printed with, if not its own.
        optional first: u32,
        /// How many low bits are not part of the number.
        optional low: u8,
        /// The value of those bits.
        optional is: u8,
        /// The operands that can be such a register, where the assembler has a choice; any by default.
        optional through: Vec<Spanned<String>>,
        /// How they are written, with `{n}` for the number.
        required prints: Spanned<String>,
        /// The register of a bank that the first one refers to; used by a machine.
        optional at: Spanned<String>,
        /// A register whose value is added to the number of that register.
        optional index: Spanned<String>,
    }
}
