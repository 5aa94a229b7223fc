//! The vocabulary of specifications: every key that an `isa.yaml` may have.
//!
//! These types say what may be written, not what it means; `resolve` gives it meaning. `specs/README.md` documents the
//! same keys for authors.

mod bits;
mod generation;
mod instruction;
mod kinds;
mod numbers;
mod xml;

pub use self::bits::*;
pub use self::generation::{Constant, GenerationsSpec};
pub use self::instruction::*;
pub use self::kinds::*;
pub use self::numbers::*;
pub use self::xml::*;
use crate::keys::{Accepts, FromNode, Named, OneOrMany, Reader, choices, vocabulary};
use crate::source::{Span, Spanned};
use crate::yaml::{Node, Value};

choices! {
    /// Where a fact comes from.
    pub enum Provenance {
        /// A published document says so.
        Document = "document",
        /// Programs made by the vendor's own tools show it.
        VendorBinary = "vendor-binary",
        /// Mesa's compiler or its tables do it so.
        Mesa = "mesa",
        /// A decision of this specification, with a reason.
        Assumed = "assumed",
    }
}

vocabulary! {
    /// A specification file: the entry, or a part that it imports.
    pub struct File {
        /// The name of the instruction set; the generated module is called so. Only in the entry.
        optional isa: Spanned<String>,
        /// What the instruction set is.
        optional doc: String,
        /// A specification that this one builds on: maps are merged, anything else here replaces what stands there, and
        /// `~` takes a key away.
        optional base: Spanned<String>,
        /// Other files whose definitions count as if they stood here.
        optional import: OneOrMany<Spanned<String>>,
        /// Bits of an instruction word: 8, 16, 32 or 64. Any other multiple of 8 up to 256, or a list of lengths, makes the set a
        /// stream.
        optional word: OneOrMany<Spanned<u16>>,
        /// Bytes come in groups of this size, the most significant first; without it the first byte holds the lowest bits.
        optional swap: Spanned<u8>,
        /// The generations of the hardware that the specification tells apart: the first and the last, or names for numbers.
        optional generations: GenerationsSpec,
        /// What several instructions have in common, by name; see `like`.
        optional templates: Named<Node>,
        /// Where facts come from unless an instruction says otherwise.
        optional provenance: Provenance,
        /// Works that the specification draws on, for credit.
        optional credits: Vec<Credit>,
        /// Names for the values of fields.
        optional enums: Named<EnumSpec>,
        /// Tables of constants.
        optional constants: Named<ConstantsSpec>,
        /// Banks of registers.
        optional banks: Named<BankSpec>,
        /// Fields that several operands of one word share.
        optional shared: Named<SharedSpec>,
        /// Kinds of operands with more than one reading.
        optional kinds: Named<KindSpec>,
        /// How instructions are written unless one says otherwise.
        optional syntax: Spanned<String>,
        /// What every instruction has.
        optional every: EverySpec,
        /// Rules on operands that the encoding cannot express.
        optional limits: Vec<LimitSpec>,
        /// Decisions where the documents are silent or contradict each other.
        optional rulings: Named<RulingSpec>,
        /// What the texts that say what instructions do may use.
        optional semantics: crate::semantics::spec::SemanticsSpec,
        /// What executes programs, beyond what the texts of instructions say: `Machine` of the generated module, and
        /// `isaforge run --spec`.
        optional machine: crate::machine::spec::MachineSpec,
        /// The instructions, by name.
        optional instructions: Named<InstructionSpec>,
        /// How instructions are groups of records; instead of `word`.
        optional group: crate::group::spec::GroupSpec,
        /// Alternative layouts of records.
        optional choices: Named<crate::group::spec::ChoiceSpec>,
        /// What stands for registers and wires in the text of groups.
        optional operands: Named<crate::group::spec::WireSpec>,
        /// How the registers of groups are written; the first that fits.
        optional registers: Vec<crate::group::spec::RegisterNameSpec>,
        /// What groups do, part by part.
        optional operations: Named<crate::group::spec::OperationSpec>,
        /// Instructions, enums and constants described by an XML file.
        optional xml: XmlSpec,
        /// Instructions, enums and constants of one architecture from Arm's machine-generated description.
        optional arm: crate::resolve::arm_xml::spec::ArmSpec,
        /// Corrections of the XML file.
        optional errata: Vec<Erratum>,
    }
}

vocabulary! {
    /// A decision of the specification, for what its documents leave open. Instructions that rest on it name it.
    pub struct RulingSpec {
        /// What is decided.
        required rule: String,
        /// Why.
        required reason: String,
    }
}

vocabulary! {
    /// A work that a specification draws on.
    pub struct Credit {
        /// What the work is called.
        required title: String,
        /// Who made it.
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
        /// Width of the fields that hold it.
        optional bits: Spanned<u8>,
        /// The values in order from 0; `~` is a reserved value.
        required values: Vec<ValueSpec>,
        /// An enum whose values follow these.
        optional then: Spanned<String>,
        /// The value that is meant when none is written.
        optional default: Spanned<String>,
    }
}

/// A value of an enum.
#[derive(Clone, Debug)]
pub struct ValueSpec {
    /// The entry.
    pub span: Span,
    /// Its name; `None` for a reserved value.
    pub name: Option<Spanned<String>>,
    /// How it is written, if not as its name.
    pub prints: Option<String>,
    /// Other words that the assembler takes for it.
    pub also: Vec<String>,
    /// Its bits, if they do not follow from the position.
    pub value: Option<Spanned<u64>>,
    /// What it means.
    pub doc: Option<String>,
    /// The first generation that has it.
    pub since: Option<Constant<u32>>,
    /// The last generation that has it.
    pub until: Option<Constant<u32>>,
}

vocabulary! {
    /// A value of an enum with more than a name.
    pub struct NamedValue {
        /// Its name, and the word that stands for it in assembly.
        required name: Spanned<String>,
        /// That word, if it is not the name.
        optional prints: String,
        /// Other words that the assembler takes for it; they never print.
        optional also: OneOrMany<String>,
        /// Its bits, if they do not follow from the position.
        optional value: Spanned<u64>,
        /// What it means.
        optional doc: String,
        /// The first generation that has it.
        optional since: Constant<u32>,
        /// The last generation that has it.
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
    /// The entry.
    pub span: Span,
    /// The value.
    pub value: u64,
    /// What it stands for.
    pub doc: Option<String>,
}

vocabulary! {
    /// A constant with more than a value.
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
        /// Bits in a register.
        optional width: u16,
        /// How a register is written, `{n}` standing for its number.
        optional prints: Spanned<String>,
        /// Names that print in the place of numbers, from number 0; an empty one leaves the number.
        optional names: Vec<String>,
        /// Other names for registers, which are only read, and their numbers.
        optional also: Named<Spanned<u32>>,
        /// The register that is zero whatever is written to it.
        optional zero: Spanned<u32>,
        /// Whether all lanes share the registers. Lanes write one in order, so that the highest wins.
        optional uniform: bool,
        /// Tables of constants that registers hold, and the number of the register with the first value.
        optional holds: Named<Spanned<u32>>,
        /// Whether programs cannot write the registers.
        optional fixed: bool,
        /// Whether registers stay themselves when a group repeats.
        optional stays: bool,
        /// A state that is added to numbers of registers. Those beyond the end read zero, and writing them does nothing.
        optional plus: Spanned<String>,
    }
}
