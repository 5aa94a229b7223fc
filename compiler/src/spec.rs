//! The vocabulary of specifications: every key that an `isa.yaml` may contain.
//!
//! These types define what may be written; `resolve` interprets it. `specs/README.md` documents the same keys for
//! authors of specifications.

pub(crate) mod bits;
mod generation;
mod instruction;
mod kinds;
pub(crate) mod numbers;
pub(crate) mod provenance;
mod xml;

pub use self::bits::*;
pub use self::generation::{Constant, GenerationsSpec};
pub use self::instruction::*;
pub use self::kinds::*;
pub use self::numbers::*;
pub use self::provenance::*;
pub use self::xml::*;
use crate::keys::{Accepts, FromNode, Named, OneOrMany, Reader, Vocabulary, vocabulary};
use crate::source::{Kind, Span, Spanned, has_key};
use crate::yaml::{Node, Value};

vocabulary! {
    /// A specification file: the entry, or a part that it imports.
    pub struct File {
        /// The name of the instruction set, also used for the generated module. Only in the entry.
        optional isa: Spanned<String>,
        /// A description of the instruction set.
        optional doc: String,
        /// A specification that this one builds on: maps are merged, any other value here replaces the one there, and
        /// `~` removes a key.
        optional base: Spanned<String>,
        /// Other files, whose definitions count as part of this one.
        optional import: OneOrMany<Spanned<String>>,
        /// The width of an instruction word in bits: 8, 16, 32 or 64. Any other multiple of 8 up to 256, or a list of
        /// widths, makes the set a stream.
        optional word: OneOrMany<Spanned<u16>>,
        /// Bytes come in groups of this size, most significant byte first; without it, the first byte holds the lowest
        /// bits. It must divide the length of every instruction in bytes.
        optional swap: Spanned<u8>,
        /// The hardware generations that the specification distinguishes: the first and the last number, or names with
        /// numbers.
        optional generations: GenerationsSpec,
        /// Definitions that several instructions share, by name; see `like`.
        optional templates: Named<Node>,
        /// Where facts come from, unless an instruction states otherwise.
        optional provenance: Provenance,
        /// Works that the specification is based on, for credit.
        optional credits: Vec<Credit>,
        /// Names for the values of fields.
        optional enums: Named<EnumSpec>,
        /// Tables of constants.
        optional constants: Named<ConstantsSpec>,
        /// Banks of registers.
        optional banks: Named<BankSpec>,
        /// Fields that several operands of a word share.
        optional shared: Named<SharedSpec>,
        /// Kinds of operands with several alternatives.
        optional kinds: Named<KindSpec>,
        /// How instructions are written, unless one states otherwise.
        optional syntax: Spanned<String>,
        /// Properties of all instructions.
        optional every: EverySpec,
        /// Limits on operands that the encoding cannot express.
        optional limits: Vec<LimitSpec>,
        /// Decisions where the documents are silent or contradictory.
        optional rulings: Named<RulingSpec>,
        /// What the texts that define the meaning of instructions may use.
        optional semantics: crate::semantics::spec::SemanticsSpec,
        /// How programs execute, beyond the texts of instructions: for `Machine` in the generated module and for
        /// `isaforge run --spec`.
        optional machine: crate::machine::spec::MachineSpec,
        /// The instructions, by name.
        optional instructions: Named<InstructionSpec>,
        /// Instructions as groups of records, in place of `word`.
        optional group: crate::group::spec::GroupSpec,
        /// Alternative layouts of records.
        optional choices: Named<crate::group::spec::ChoiceSpec>,
        /// How registers and wires are written in the text of groups.
        optional operands: Named<crate::group::spec::WireSpec>,
        /// How the registers of groups are written; the first match applies.
        optional registers: Vec<crate::group::spec::RegisterNameSpec>,
        /// What groups do, part by part.
        optional operations: Named<crate::group::spec::OperationSpec>,
        /// Instructions, enums and constants from an XML file in Mesa's schema.
        optional xml: XmlSpec,
        /// Instructions, enums and constants of one architecture from Arm's machine-generated description.
        optional arm: crate::resolve::arm_xml::spec::ArmSpec,
        /// Corrections to the XML file.
        optional errata: Vec<Erratum>,
    }
}

/// YAML: a map with a key of a specification.
pub const YAML: &Kind = &Kind {
    endings: &["yaml", "yml"],
    is: |text| has_key(text, &File::keys().iter().map(|key| key.name).collect::<Vec<_>>()),
};

vocabulary! {
    /// A decision of the specification where its documents leave something open. Instructions that depend on it refer
    /// to it.
    pub struct RulingSpec {
        /// The decision.
        required rule: String,
        /// The reason for it.
        required reason: String,
    }
}

vocabulary! {
    /// A work that a specification is based on.
    pub struct Credit {
        /// The title of the work.
        required title: String,
        /// The author.
        optional by: String,
        /// Its licence.
        optional licence: String,
    }
}

vocabulary! {
    /// Names for the values of a field.
    pub struct EnumSpec {
        /// What the values choose between.
        optional doc: String,
        /// The width in bits of the fields that hold it.
        optional bits: Spanned<u8>,
        /// The values in order, starting at 0; `~` reserves a value.
        required values: Vec<ValueSpec>,
        /// An enum whose values continue this list.
        optional then: Spanned<String>,
        /// The value if none is written.
        optional default: Spanned<String>,
    }
}

/// A value of an enum.
#[derive(Clone, Debug)]
pub struct ValueSpec {
    /// Where the entry is written.
    pub span: Span,
    /// Its name; `None` for a reserved value.
    pub name: Option<Spanned<String>>,
    /// How it is written in assembly, if not by its name.
    pub prints: Option<String>,
    /// Other spellings that the assembler accepts.
    pub also: Vec<String>,
    /// Its number, if it does not follow from the position.
    pub value: Option<Spanned<u64>>,
    /// What it means.
    pub doc: Option<String>,
    /// The first generation with this value.
    pub since: Option<Constant<u32>>,
    /// The last generation with this value.
    pub until: Option<Constant<u32>>,
}

vocabulary! {
    /// A value of an enum, as a map.
    pub struct NamedValue {
        /// Its name, which is also how it is written in assembly.
        required name: Spanned<String>,
        /// How it is written in assembly, if not by its name.
        optional prints: String,
        /// Other spellings that the assembler accepts; they are never printed.
        optional also: OneOrMany<String>,
        /// Its number, if it does not follow from the position.
        optional value: Spanned<u64>,
        /// What it means.
        optional doc: String,
        /// The first generation with this value.
        optional since: Constant<u32>,
        /// The last generation with this value.
        optional until: Constant<u32>,
    }
}

impl ValueSpec {
    fn new(span: Span, name: Option<Spanned<String>>) -> ValueSpec {
        ValueSpec { span, name, prints: None, also: Vec::new(), value: None, doc: None, since: None, until: None }
    }
}

impl FromNode for ValueSpec {
    const EXPECTED: &'static str = "a name, `~` for a reserved value, or a map with `name`";

    fn accepts() -> Accepts {
        Accepts::Either(vec![Accepts::Text, Accepts::Null, NamedValue::accepts()])
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        match &node.value {
            Value::Null => Some(ValueSpec::new(node.span, None)),
            Value::Map(_) => {
                let NamedValue { span, name, prints, also, value, doc, since, until } = NamedValue::from_node(node, r)?;
                let also = also.unwrap_or_default().0;
                Some(ValueSpec { span, name: Some(name), prints, also, value, doc, since, until })
            }
            Value::List(_) => {
                r.wrong_kind(node, Self::EXPECTED);
                None
            }
            _ => {
                let name = Spanned::<String>::from_node(node, r)?;
                Some(ValueSpec::new(node.span, Some(name)))
            }
        }
    }
}

vocabulary! {
    /// A table of constants.
    pub struct ConstantsSpec {
        /// What the table is for.
        optional doc: String,
        /// The constants in order.
        required values: Vec<ConstantSpec>,
    }
}

/// An entry of a table of constants: a number, or a map with `value` and `doc`.
#[derive(Clone, Debug)]
pub struct ConstantSpec {
    /// Where the entry is written.
    pub span: Span,
    /// The value.
    pub value: u64,
    /// What it stands for.
    pub doc: Option<String>,
}

vocabulary! {
    /// A constant with documentation.
    pub struct DocumentedConstant {
        /// The value.
        required value: u64,
        /// What it stands for.
        optional doc: String,
    }
}

impl FromNode for ConstantSpec {
    const EXPECTED: &'static str = "a number, or a map with `value`";

    fn accepts() -> Accepts {
        Accepts::Either(vec![u64::accepts(), DocumentedConstant::accepts()])
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        if let Value::Map(_) = node.value {
            let DocumentedConstant { value, doc, .. } = DocumentedConstant::from_node(node, r)?;
            return Some(ConstantSpec { span: node.span, value, doc });
        }
        Some(ConstantSpec { span: node.span, value: u64::from_node(node, r)?, doc: None })
    }
}

vocabulary! {
    /// A bank of registers.
    pub struct BankSpec {
        /// What the registers are for.
        optional doc: String,
        /// How many there are.
        required count: Spanned<u32>,
        /// The width of a register in bits.
        optional width: u16,
        /// How a register is written, with `{n}` for its number.
        optional prints: Spanned<String>,
        /// Names printed instead of numbers, starting at register 0; an empty name keeps the number.
        optional names: Vec<Spanned<String>>,
        /// Other names for registers, by number, which are parsed but never printed.
        optional also: Named<Spanned<u32>>,
        /// The register that always reads as zero; writes to it are ignored.
        optional zero: Spanned<u32>,
        /// Whether all lanes share the registers. Lanes write in order, so the value of the highest lane remains.
        optional uniform: bool,
        /// Tables of constants that registers hold, each with the number of the register that holds its first value.
        optional holds: Named<Spanned<u32>>,
        /// Whether programs cannot write the registers.
        optional fixed: bool,
        /// Whether register numbers do not step when a group repeats.
        optional stays: bool,
        /// Whether others may read the registers after a program has ended, as outputs: no write to them is without
        /// effect.
        optional live_out ("live out"): bool,
        /// A state that is added to register numbers. Registers beyond the end of the bank read as zero, and writes to
        /// them are ignored.
        optional plus: Spanned<String>,
    }
}
