//! Instructions with their operands, modifiers and aliases.

use super::bits::{BitList, FixedBits, Piece};
use super::generation::Constant;
use super::kinds::{FieldSpec, ModifierSpec};
use super::numbers::{EncodeSpec, NumberSpec, TargetWord};
use super::provenance::Provenance;
use crate::keys::{Named, OneOrMany, choices, vocabulary};
use crate::source::Spanned;
use crate::yaml::Node;

choices! {
    /// What an instruction does with an operand.
    pub enum Access {
        /// It does not access registers.
        None = "none",
        /// Reads it.
        Read = "read",
        /// Writes it.
        Write = "write",
        /// Reads it, then writes it.
        ReadWrite = "read-write",
    }
}

choices! {
    /// What the value of bits may be that an instruction does not define.
    pub enum Unused {
        /// They must be zero.
        Zero = "zero",
        /// They may have any value.
        Ignored = "ignored",
    }
}

vocabulary! {
    /// Properties of all instructions.
    pub struct EverySpec {
        /// The values allowed in bits that nothing else defines; without this key, such bits are a mistake.
        optional unused: Unused,
        /// Constant bits.
        optional fixed: FixedBits,
        /// Modifiers, printed after the instruction's own.
        optional modifiers: Named<ModifierSpec>,
        /// Rulings that all instructions depend on.
        optional rulings: Vec<Spanned<String>>,
    }
}

vocabulary! {
    /// A limit on the operands of an instruction: on the number of their distinct values.
    pub struct LimitSpec {
        /// A name for the operands, as in the message "too many …".
        required name: String,
        /// The reason.
        optional doc: String,
        /// The operand kind it applies to.
        required kind: Spanned<String>,
        /// The alternatives of that kind that are counted.
        required alternatives: Vec<Spanned<String>>,
        /// The number of low bits of the operand to drop before comparing.
        optional drop: Spanned<u8>,
        /// How many distinct values are allowed.
        required at_most ("at most"): Spanned<u8>,
        /// Units whose instructions have a different limit.
        optional except: LimitException,
    }
}

vocabulary! {
    /// Units with a different limit.
    pub struct LimitException {
        /// The units.
        required units: Vec<Spanned<String>>,
        /// How many distinct values their instructions may use.
        required at_most ("at most"): Spanned<u8>,
    }
}

vocabulary! {
    /// An instruction, or a family of them.
    pub struct InstructionSpec {
        /// Makes the entry define several instructions that differ in a number.
        optional family: FamilySpec,
        /// A short description.
        optional title: String,
        /// What it does.
        optional doc: String,
        /// The unit that executes it.
        optional unit: String,
        /// What it does, as a text that is compiled.
        optional does: Spanned<String>,
        /// Constant bits.
        optional fixed: FixedBits,
        /// Bits that the hardware ignores.
        optional ignored: OneOrMany<Spanned<Piece>>,
        /// Modifiers, in print order.
        optional modifiers: Named<ModifierSpec>,
        /// Operands, in print order.
        optional operands: Named<OperandSpec>,
        /// How it is written, if not in the default syntax.
        optional syntax: Spanned<String>,
        /// Where the facts come from.
        optional provenance: Provenance,
        /// The reason, where the provenance needs one.
        optional note: String,
        /// The rulings it depends on; its note lists them.
        optional rulings: Vec<Spanned<String>>,
        /// Templates that it extends: maps are merged, any other value here replaces the template's.
        optional like: OneOrMany<Spanned<String>>,
        /// Makes the entry define several instructions: maps each name to the values of `$parameter` in the other keys.
        optional rows: Named<Node>,
        /// The width of its word in bits, in a stream with several; the largest by default.
        optional word: Spanned<u16>,
        /// Its length in bytes as an expression, where it depends on fields; `word` is then the maximum.
        optional length: Spanned<String>,
        /// The first generation with this instruction.
        optional since: Constant<u32>,
        /// The last generation with this instruction.
        optional until: Constant<u32>,
        /// Conditions that its fields must satisfy.
        optional r_where ("where"): OneOrMany<Spanned<String>>,
        /// Other ways to write some of its encodings.
        optional aliases: Named<AliasSpec>,
        /// Fields that are not operands; the syntax, expressions and operands may refer to them.
        optional fields: Named<FieldSpec>,
    }
}

vocabulary! {
    /// Another way to write an instruction whose fields have certain values. It encodes to the same word.
    pub struct AliasSpec {
        /// When it is useful.
        optional doc: String,
        /// The values of fields that the text omits: numbers, or names of enum values or registers.
        optional with: Named<Constant<i128>>,
        /// Conditions that fields must satisfy.
        optional r_where ("where"): OneOrMany<Spanned<String>>,
        /// How it is written; by default its name and the operands that `with` does not set.
        optional syntax: Spanned<String>,
        /// Whether the disassembler prints it; otherwise only the assembler accepts it.
        optional prints: bool,
    }
}

vocabulary! {
    /// A family: the entry defines one instruction for each number from 0. `{N}`, or the name given by `parameter`,
    /// stands for the number in its name, title, documentation and note.
    pub struct FamilySpec {
        /// The name that stands for the number, written in braces.
        required parameter: String,
        /// How many instructions there are.
        required count: Spanned<u16>,
        /// The opcode bits that hold the number.
        required bits: BitList,
    }
}

vocabulary! {
    /// An operand. Exactly one of `bank`, `kind` or `immediate` defines it.
    pub struct OperandSpec {
        /// What it is for.
        optional doc: String,
        /// A register of this bank, at `bits`.
        optional bank: Spanned<String>,
        /// An operand of this kind, from bit `at`.
        optional kind: Spanned<String>,
        /// A number at `bits`, written in this notation.
        optional immediate: NumberSpec,
        /// Names for numbers. Other numbers are written in the notation of `immediate`, or are invalid without it.
        optional r_enum ("enum"): Spanned<String>,
        /// Its position.
        optional bits: BitList,
        /// How its value is computed from the bits at `bits` and from other fields.
        optional value: Spanned<String>,
        /// The inverse of `value`, where none can be derived: the bits, or fields by name, each computed from `value`
        /// and known fields.
        optional encode: EncodeSpec,
        /// The value if the text does not contain it; 0 by default.
        optional default: Spanned<i128>,
        /// The fields that are the arguments for the parameters of the kind.
        optional with: Named<Spanned<String>>,
        /// Its first bit, for a kind.
        optional at: Spanned<u8>,
        /// The text before a number; `#` by default.
        optional prefix: String,
        /// How to compute the address if the number is a branch target, which may be written as a label.
        optional target: TargetWord,
        /// What the instruction does with it; `read` by default.
        optional access: Access,
        /// The width of one value in bits: a number, or the field of a stream that holds it. By default that of the
        /// registers of `bank`, and 32 for a `kind`.
        optional size: Constant<u16>,
        /// Modifiers written after it.
        optional suffixes: Named<ModifierSpec>,
    }
}
