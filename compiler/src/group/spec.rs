//! The vocabulary of groups: records, choices, slots, and what follows from what.

use crate::keys::{Accepts, FromNode, Named, OneOrMany, Reader, vocabulary};
use crate::semantics::spec::StateSpec;
use crate::source::Spanned;
use crate::spec::{BitList, FixedBits, Notation, Provenance};
use crate::yaml::{Node, Value};

/// A value of a field as a specification writes it: a name of its enum, a number, `true` or `false`.
pub type Word = Spanned<String>;

/// Conditions on fields of the header: every field must have one of the values given for it.
pub type Condition = Named<OneOrMany<Word>>;

vocabulary! {
    /// Alternative layouts of the same fields.
    pub struct ChoiceSpec {
        /// What stands in such a slot.
        optional doc: String,
        /// The fields that the records share.
        optional fields: Named<SharedFieldSpec>,
        /// The layouts. Encoding takes the first that can say everything.
        required records: Named<RecordSpec>,
    }
}

vocabulary! {
    /// A field that the records of a choice share. Without `enum` or `number` it is a flag.
    pub struct SharedFieldSpec {
        /// What it says.
        optional doc: String,
        /// Its value is one of this enum. A record with fewer bits for it can say only the values that fit.
        optional r_enum ("enum"): Spanned<String>,
        /// Its value is a number, written so.
        optional number: Notation,
        /// Stored less by so much.
        optional minus: u8,
        /// The value one above the greatest that fits is stored as 0.
        optional wrap: bool,
        /// Stored divided by so much.
        optional times: u8,
        /// Stored in two's complement.
        optional signed: bool,
        /// The value where a record does not hold the field; 0 if not given.
        optional default: Word,
        /// It means nothing: what is found is kept, what is written is the default.
        optional meaningless: bool,
    }
}

vocabulary! {
    /// One layout. Bit `n` is bit `n % 8` of byte `n / 8`.
    pub struct RecordSpec {
        /// What is special about it.
        optional doc: String,
        /// Its length, 0 to 8 bytes.
        required bytes: Spanned<u8>,
        /// Constant bits.
        optional fixed: FixedBits,
        /// Where the fields lie.
        optional fields: Named<PlaceSpec>,
        /// Values of fields that it says without bits.
        optional implies: Named<Word>,
        /// Why nothing decodes to it and nothing is encoded with it.
        optional unusable: String,
        /// Nothing public says how it is encoded: it has no bytes, and only `says` which fields it speaks of.
        optional no_encoding ("no encoding"): bool,
        /// The fields that a record without encoding speaks of.
        optional says: Vec<Spanned<String>>,
        /// Where the facts come from.
        optional provenance: Provenance,
        /// Why, when the provenance needs a reason.
        optional note: String,
    }
}

/// Where a record holds a field: bits, or a map with `bits` and a narrower `enum`.
#[derive(Clone, Debug)]
pub struct PlaceSpec {
    /// The bits.
    pub bits: BitList,
    /// Which values this record can say, if not all of the field's that fit.
    pub r_enum: Option<Spanned<String>>,
}

vocabulary! {
    /// A field of a record that allows fewer values than the choice does.
    pub struct NarrowPlaceSpec {
        /// Where it lies.
        required bits: BitList,
        /// An enum with the values that this record can hold.
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
    /// How groups are built: instructions are groups of records, not words.
    pub struct GroupSpec {
        /// The length of every group is a multiple of this many bytes.
        required unit: Spanned<u8>,
        /// The longest group, in bytes.
        required longest: Spanned<u8>,
        /// The slots in the order of their bytes. The first is the header.
        required slots: Named<SlotSpec>,
        /// Fields whose value follows from the rest of the group.
        optional derived: Vec<DerivedSpec>,
        /// What fields of the header allow others to be.
        optional rules: Vec<RuleSpec>,
        /// How a group is filled up to its length.
        required padding: PaddingSpec,
        /// How groups make a program.
        required program: ProgramSpec,
        /// The slots in the order in which text has them; those left out follow.
        optional order: Vec<Spanned<String>>,
        /// What recorded cases of others call fields and values, and what they are here: a name or a number.
        optional aliases: Named<Word>,
        /// What carries values from one part of a group to another: states that begin at 0 in every group. Operands that are
        /// wires of this name are read and written so.
        optional wires: Named<StateSpec>,
        /// The field of the header that says how often a group is executed; registers step by one each time.
        optional repeats: Spanned<String>,
        /// Registers that do not step.
        optional stays: Vec<StaysSpec>,
        /// What a group does each time. `slot()` is what the operations in a slot do, `has.slot` says whether it is there,
        /// `slot.field` is one of its fields; `repetition` counts from 0 to `repetitions` - 1.
        optional does: Spanned<String>,
        /// Who executes a group, and how; a machine asks.
        optional execution: ExecutionSpec,
    }
}

vocabulary! {
    /// Who executes a group, and how.
    pub struct ExecutionSpec {
        /// What happens before a group, in all lanes: a text that sets states, over fields of the group.
        optional before: Spanned<String>,
        /// The state that says, after that, which lanes execute the group; all of them if not given.
        optional mask: Spanned<String>,
        /// What fields of the header are in groups that are executed in all lanes, whatever the state says.
        optional everyone: Condition,
        /// What fields of the header are in groups that lanes execute one after another.
        optional in_turn ("in turn"): Condition,
    }
}

vocabulary! {
    /// Registers that stay the same when a group repeats.
    pub struct StaysSpec {
        /// The operands that name them.
        required operands: Vec<Spanned<String>>,
        /// They stay in groups with this slot.
        required slot: Spanned<String>,
        /// What its fields must be.
        optional when: Condition,
        /// What its fields must not be, all together.
        optional unless: Condition,
    }
}

vocabulary! {
    /// A place in a group.
    pub struct SlotSpec {
        /// What stands there.
        optional doc: String,
        /// The choice of records.
        required choice: Spanned<String>,
        /// The records that may stand here, if not all.
        optional only: Vec<Spanned<String>>,
        /// Records that may not stand here.
        optional except: Vec<Spanned<String>>,
        /// When the slot is there: one of these conditions holds.
        optional when: OneOrMany<Condition>,
        /// The chain it belongs to: slots of a chain follow one another, and each may be left out, but not all.
        optional chain: Spanned<String>,
        /// The field that says that a part is the last of its chain.
        optional ends: Spanned<String>,
        /// It is there whenever it can be; unused, it has its defaults.
        optional filler: bool,
        /// No header announces it, since nothing that can stand in it has a public encoding.
        optional no_encoding ("no encoding"): bool,
        /// What the roles in the syntax of operations are in this slot: operands.
        optional roles: Named<Word>,
    }
}

vocabulary! {
    /// A field whose value follows from the rest of the group. One of `length` and `offset` says how.
    pub struct DerivedSpec {
        /// The field of the header.
        required field: Spanned<String>,
        /// Only in groups for which this holds.
        optional when: OneOrMany<Condition>,
        /// It is the length of the group, padding included, in units.
        optional length: bool,
        /// It is where this slot starts, or would start, in bytes.
        optional offset: Spanned<String>,
        /// It is 0 unless one of these slots is there.
        optional if_any ("if any"): Vec<Spanned<String>>,
    }
}

vocabulary! {
    /// What fields of the header must be.
    pub struct RuleSpec {
        /// What holds, to follow "but".
        required doc: String,
        /// Where it applies.
        optional when: Condition,
        /// What must hold.
        required need: Condition,
    }
}

vocabulary! {
    /// How a group is filled up to its length.
    pub struct PaddingSpec {
        /// Fills the last unit.
        required odd: u8,
        /// Starts whole units of padding; their number is added to it.
        required first: u8,
        /// Fills the rest of them.
        required rest: u8,
    }
}

vocabulary! {
    /// How groups make a program.
    pub struct ProgramSpec {
        /// The last group starts and ends at a multiple of this many bytes.
        required align: Spanned<u8>,
        /// A group for which one of these holds is the last.
        required ends: OneOrMany<Condition>,
        /// Fields that hold branch targets.
        optional targets: Vec<BranchSpec>,
    }
}

vocabulary! {
    /// A field that holds a branch target, in bytes from the first byte of its group.
    pub struct BranchSpec {
        /// The slot.
        required slot: Spanned<String>,
        /// The field.
        required field: Spanned<String>,
        /// A flag of the same slot that says that it counts from the start of the program.
        optional absolute: Spanned<String>,
    }
}

vocabulary! {
    /// An operation: what a part of a group does.
    ///
    /// Its syntax is text with fields in braces: `{flag}` prints `.flag` if it is set, `{.field}` a dot and the value,
    /// `{.field?}` the same unless it is the default, `{field}` the value, `{field:a|b}` a word for each value,
    /// `{field?: text}` text and value unless it is the default, `{field#a|b}` a suffix for each bit (`{field#|a|b}`: nothing where none is set). `{slot.field}` is a
    /// field of another slot; names in capitals are operands and roles.
    pub struct OperationSpec {
        /// What it does.
        required doc: String,
        /// The slots it may stand in.
        required slots: OneOrMany<Spanned<String>>,
        /// Fields that make a slot this operation, and their values.
        optional is: Condition,
        /// What it is a part of, where several operations share a slot.
        optional part: String,
        /// It is not written when this operand has been.
        optional unless: Spanned<String>,
        /// It does not put its slot into a group, it only speaks of it.
        optional remark: bool,
        /// Operands that it writes although they are sources.
        optional writes: OneOrMany<Spanned<String>>,
        /// How it is written.
        required syntax: Spanned<String>,
        /// Other ways to write it.
        optional also: OneOrMany<Spanned<String>>,
        /// What it computes, over operands, roles, wires and fields; see `semantics`. Fields of its slot go by their names,
        /// those of others are `slot.field`.
        optional does: Spanned<String>,
        /// Why it has no encoding.
        optional no_encoding ("no encoding"): String,
        /// Where the facts come from.
        optional provenance: Provenance,
        /// Why, when the provenance needs a reason.
        optional note: String,
    }
}

vocabulary! {
    /// What stands for a register or a wire in text. One of `wire`, `register`, `select` and `follow` says what it is.
    pub struct WireSpec {
        /// What it is.
        optional doc: String,
        /// It is always written so.
        optional wire: String,
        /// A register, named in the first of these places that is there.
        optional register: OneOrMany<RegisterPlaceSpec>,
        /// The field, with its slot, that says which of several operands it is.
        optional select: Spanned<String>,
        /// The same, but text does not set the field: another part of the group does.
        optional follow: Spanned<String>,
        /// The operand for each value of that field.
        optional from: Named<Word>,
    }
}

vocabulary! {
    /// Where a register is named.
    pub struct RegisterPlaceSpec {
        /// The slot.
        required slot: Spanned<String>,
        /// The field of its bank.
        required bank: Spanned<String>,
        /// The field of its number.
        required number: Spanned<String>,
        /// The field that counts the registers of the slot.
        optional count: Spanned<String>,
        /// How many there must be for this one.
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
        /// The first of them; 0 if not given.
        optional from: u32,
        /// The last; any number if not given.
        optional to: u32,
        /// What the first is called, if not by its number.
        optional first: u32,
        /// So many low bits of the number say something else.
        optional low: u8,
        /// What those bits are.
        optional is: u8,
        /// The operands that can be such a register, where the assembler has a choice; any if not given.
        optional through: Vec<Spanned<String>>,
        /// How they are written, `{n}` standing for the number.
        required prints: Spanned<String>,
        /// The register of a bank that the first of them is; a machine asks.
        optional at: Spanned<String>,
        /// A register whose value is added to the number of that one.
        optional index: Spanned<String>,
    }
}
