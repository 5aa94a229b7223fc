//! Sections for instructions from a document in the schema of Mesa's Valhall description.

use super::bits::{BitList, FixedBits};
use super::kinds::ModifierSpec;
use super::numbers::TargetWord;
use super::provenance::Provenance;
use crate::keys::{Named, OneOrMany, vocabulary};
use crate::source::Spanned;

vocabulary! {
    /// An XML file in the schema of Mesa's Valhall description, and how its elements are encoded.
    pub struct XmlSpec {
        /// The file, relative to this file.
        required file: Spanned<String>,
        /// The position of the primary opcode.
        required opcode: BitList,
        /// The position of the secondary opcode: the first matching rule applies.
        optional opcode2: Vec<Opcode2Rule>,
        /// The width of an instruction's values in bits by its name: the first match applies.
        optional sizes: Vec<SizeRule>,
        /// The width of an instruction's values in bits if no rule matches.
        required size: u16,
        /// How `<src>` is encoded.
        required sources: XmlSources,
        /// How `dests="1"` is encoded.
        required destination: XmlDestination,
        /// How `<sr>` is encoded.
        required staging: XmlStaging,
        /// How `<imm>` is written.
        required immediates: XmlImmediates,
        /// The elements that define a modifier, by name.
        required modifiers: Named<ModifierSpec>,
        /// Attributes that do not affect the encoding.
        optional ignore: Vec<String>,
        /// Further spellings that the assembler accepts, by enum of the document and by value.
        optional also: Named<Named<OneOrMany<String>>>,
    }
}

vocabulary! {
    /// A rule for the position of the secondary opcode.
    pub struct Opcode2Rule {
        /// The instruction has this modifier.
        optional modifier: Spanned<String>,
        /// The instruction's name starts with one of these.
        optional names: Vec<Spanned<String>>,
        /// The instruction has this primary opcode.
        optional opcode: Spanned<u64>,
        /// The number of the instruction's sources is one of these.
        optional sources: OneOrMany<u64>,
        /// Its second source has one of these attributes.
        optional second ("second source"): Vec<Spanned<String>>,
        /// The lowest bit of the field.
        required at: Spanned<u8>,
        /// The mask of the field, relative to its lowest bit.
        required mask: Spanned<u64>,
    }
}

vocabulary! {
    /// The size that a name implies.
    pub struct SizeRule {
        /// The instruction's name starts with one of these.
        optional names: Vec<Spanned<String>>,
        /// The instruction's name ends with this.
        optional suffix: String,
        /// The size in bits.
        required size: u16,
    }
}

impl SizeRule {
    /// Whether the rule applies to the instruction with this name.
    pub fn applies(&self, name: &str) -> bool {
        let starts = |names: &Vec<Spanned<String>>| names.iter().any(|start| name.starts_with(start.as_str()));
        self.names.as_ref().is_none_or(starts) && self.suffix.as_ref().is_none_or(|suffix| name.ends_with(suffix))
    }

    /// Whether the rule applies wherever the other one does.
    pub fn covers(&self, other: &SizeRule) -> bool {
        let starts = |name: &Spanned<String>| self.names.iter().flatten().any(|start| name.starts_with(start.as_str()));
        let names = self.names.is_none() || other.names.as_ref().is_some_and(|names| names.iter().all(starts));
        let ends = |suffix: &String| other.suffix.as_ref().is_some_and(|other| other.ends_with(suffix));
        names && self.suffix.as_ref().is_none_or(ends)
    }
}

vocabulary! {
    /// How sources are encoded.
    pub struct XmlSources {
        /// Their kind.
        required kind: Spanned<String>,
        /// The first bit of each place, in order.
        required at: Vec<Spanned<u8>>,
        /// A source of this size takes two places, unless the instruction's own size is the same.
        optional pair: u16,
        /// The suffixes that each attribute adds, in print order.
        required attributes: Named<OneOrMany<SourceField>>,
    }
}

vocabulary! {
    /// A suffix that an attribute adds to a source.
    pub struct SourceField {
        /// The name of the field.
        required name: String,
        /// Only for sources of this size.
        optional size: u16,
        /// The enum it chooses from, with `{size}` for the size of the source; without it, the suffix is a flag.
        optional r_enum ("enum"): Spanned<String>,
        /// The width of the field; 1 for a flag.
        optional width: u8,
        /// How many values of the enum are allowed, counted from the first.
        optional first: Spanned<u64>,
        /// The lowest bit, for each source; not needed for an attribute whose value is a bit number.
        required at: OneOrMany<Spanned<u8>>,
    }
}

vocabulary! {
    /// How a destination is encoded.
    pub struct XmlDestination {
        /// Its kind.
        required kind: Spanned<String>,
        /// Its first bit.
        required at: Spanned<u8>,
        /// Constant bits of instructions with neither destination nor staging registers, unless a modifier uses them.
        optional absent: FixedBits,
    }
}

vocabulary! {
    /// How staging registers are encoded.
    pub struct XmlStaging {
        /// The bank.
        required bank: Spanned<String>,
        /// The text before the list.
        required open: String,
        /// The text between two registers.
        required separator: String,
        /// The first register of a list of more than one must be a multiple of this.
        optional align: Spanned<u8>,
        /// The field of the first register.
        required register: BitList,
        /// The field of the first register of a written list without flags of its own.
        required result: BitList,
        /// The bit that is set if the list is read.
        required read: Spanned<u8>,
        /// The bit that is set if it is written.
        required write: Spanned<u8>,
        /// The modifier that holds the number of registers.
        required count: Spanned<String>,
        /// The modifier that holds the number of registers of a written list, if the instruction has it.
        required result_count ("result count"): Spanned<String>,
        /// The number to add to that modifier for the count.
        optional result_plus ("result plus"): u8,
        /// The position of an instruction's second list, if it does not depend on its flags.
        optional second: XmlSecondStaging,
    }
}

vocabulary! {
    /// The second list of staging registers.
    pub struct XmlSecondStaging {
        /// The field of its first register.
        required register: BitList,
        /// Constant bits at the position of its flags.
        optional fixed: FixedBits,
    }
}

vocabulary! {
    /// How immediates are written.
    pub struct XmlImmediates {
        /// The text before an unsigned immediate, with `{name}` for its name.
        required unsigned: String,
        /// The text before a signed one.
        required signed: String,
        /// Prefixes for immediates with particular names.
        optional prefixes: Named<String>,
        /// The immediates that are branch targets.
        optional targets: Vec<XmlTarget>,
    }
}

vocabulary! {
    /// An immediate that is a branch target.
    pub struct XmlTarget {
        /// The instruction.
        required instruction: Spanned<String>,
        /// The immediate.
        required immediate: Spanned<String>,
        /// How the target is computed.
        required target: TargetWord,
    }
}

vocabulary! {
    /// A correction to the XML file, which itself stays unmodified.
    pub struct Erratum {
        /// The instructions.
        required instructions: Vec<Spanned<String>>,
        /// The attribute to correct.
        required attribute: Spanned<String>,
        /// The value in the file; a file that already has another value needs no correction.
        required was: u64,
        /// The correct value.
        required is: u64,
        /// Where the correction comes from.
        required provenance: Provenance,
        /// The reason.
        required reason: String,
    }
}
