//! Sections that take instructions from a document in the schema of Mesa's Valhall description.

use super::{BitList, FixedBits, ModifierSpec, Provenance, TargetWord};
use crate::keys::{Named, OneOrMany, vocabulary};
use crate::source::Spanned;

vocabulary! {
    /// An XML file in the schema of Mesa's Valhall description, and what its elements mean in bits.
    pub struct XmlSpec {
        /// The file, relative to this one.
        required file: Spanned<String>,
        /// Where the primary opcode lies.
        required opcode: BitList,
        /// Where the secondary opcode lies: the first rule that applies.
        optional opcode2: Vec<Opcode2Rule>,
        /// Bits of an instruction's values by the end of its name: the first that fits.
        optional sizes: Vec<SizeRule>,
        /// Bits of an instruction's values when no end fits.
        required size: u16,
        /// How `<src>` is encoded.
        required sources: XmlSources,
        /// How `dests="1"` is encoded.
        required destination: XmlDestination,
        /// How `<sr>` is encoded.
        required staging: XmlStaging,
        /// How `<imm>` is written.
        required immediates: XmlImmediates,
        /// The elements that stand for a modifier, by name.
        required modifiers: Named<ModifierSpec>,
        /// Attributes that carry no encoding.
        optional ignore: Vec<String>,
        /// For enums of the document, and values of them by their words: other words that the assembler takes.
        optional also: Named<Named<OneOrMany<String>>>,
    }
}

vocabulary! {
    /// A rule for the place of the secondary opcode.
    pub struct Opcode2Rule {
        /// The instruction has this modifier.
        optional modifier: Spanned<String>,
        /// The instruction's name starts with one of these.
        optional names: Vec<Spanned<String>>,
        /// The instruction has this primary opcode.
        optional opcode: Spanned<u64>,
        /// The instruction has one of these numbers of sources.
        optional sources: OneOrMany<u64>,
        /// Its second source has one of these attributes.
        optional second ("second source"): Vec<Spanned<String>>,
        /// Lowest bit of the field.
        required at: Spanned<u8>,
        /// Bits of the field that count.
        required mask: Spanned<u64>,
    }
}

vocabulary! {
    /// What the end of a name says about size.
    pub struct SizeRule {
        /// The end of the name.
        required suffix: String,
        /// The size in bits.
        required size: u16,
    }
}

vocabulary! {
    /// How sources are encoded.
    pub struct XmlSources {
        /// Their kind.
        required kind: Spanned<String>,
        /// First bits of the places, in order.
        required at: Vec<Spanned<u8>>,
        /// A source of this size takes two places, unless the instruction's own size is as large.
        optional pair: u16,
        /// What each attribute adds, in the order of printing.
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
        /// The enum it chooses from, `{size}` standing for the size of the source; without one it is a flag.
        optional r_enum ("enum"): Spanned<String>,
        /// Width of the field, 1 for a flag.
        optional width: u8,
        /// Only this many values of the enum, from the first.
        optional first: Spanned<u64>,
        /// Lowest bit, for each source; an attribute whose value is a number says it itself.
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
        /// Constant bits of instructions with neither destination nor staging registers, where no modifier needs them.
        optional absent: FixedBits,
    }
}

vocabulary! {
    /// How staging registers are encoded.
    pub struct XmlStaging {
        /// The bank.
        required bank: Spanned<String>,
        /// Written before the list.
        required open: String,
        /// Written between two registers.
        required separator: String,
        /// A list of more than one starts at a multiple of this.
        optional align: Spanned<u8>,
        /// The field of the first register.
        required register: BitList,
        /// That field of a written list without flags of its own.
        required result: BitList,
        /// The bit that says that the list is read.
        required read: Spanned<u8>,
        /// The bit that says that it is written.
        required write: Spanned<u8>,
        /// The modifier that counts the registers.
        required count: Spanned<String>,
        /// The modifier that counts the registers of a written list, where there is one.
        required result_count ("result count"): Spanned<String>,
        /// What that modifier leaves out of the count.
        optional result_plus ("result plus"): u8,
        /// Where the second list of an instruction lies, if that does not depend on its flags.
        optional second: XmlSecondStaging,
    }
}

vocabulary! {
    /// The second list of staging registers.
    pub struct XmlSecondStaging {
        /// The field of its first register.
        required register: BitList,
        /// Constant bits in the place of its flags.
        optional fixed: FixedBits,
    }
}

vocabulary! {
    /// How immediates are written.
    pub struct XmlImmediates {
        /// Written before an unsigned one, `{name}` standing for its name.
        required unsigned: String,
        /// Written before a signed one.
        required signed: String,
        /// Names with a prefix of their own.
        optional prefixes: Named<String>,
        /// Branch targets: instruction, immediate, how it counts.
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
        /// How it counts.
        required target: TargetWord,
    }
}

vocabulary! {
    /// A correction of the XML file, which itself stays as it came.
    pub struct Erratum {
        /// The instructions.
        required instructions: Vec<Spanned<String>>,
        /// What to correct.
        required attribute: Spanned<String>,
        /// What the file says; a file that already says otherwise needs no correction.
        required was: u64,
        /// What is right.
        required is: u64,
        /// Where the correction comes from.
        required provenance: Provenance,
        /// Why.
        required reason: String,
    }
}
