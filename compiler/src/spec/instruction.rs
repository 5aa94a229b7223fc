//! Instructions with their operands, modifiers and aliases.

use super::{BitList, Constant, EncodeSpec, FieldSpec, FixedBits, NumberSpec, Piece, Provenance, TargetWord};
use crate::keys::{Named, OneOrMany, choices, vocabulary};
use crate::source::Spanned;
use crate::yaml::Node;

choices! {
    /// What an instruction does with an operand.
    pub enum Access {
        /// Nothing with registers.
        None = "none",
        /// Reads it.
        Read = "read",
        /// Writes it.
        Write = "write",
        /// Reads it, then writes it.
        ReadWrite = "read-write",
    }
}

vocabulary! {
    /// A modifier: a flag, or a choice from an enum.
    pub struct ModifierSpec {
        /// What it changes.
        optional doc: String,
        /// Where it lies.
        required bits: BitList,
        /// The enum it chooses from; without one it is a flag.
        optional r_enum ("enum"): Spanned<String>,
        /// What a flag prints, if not its name.
        optional prints: String,
        /// The value when nothing is written, if the enum says nothing or something else.
        optional default: Spanned<String>,
        /// It never prints: an operand list implies it.
        optional implied: bool,
    }
}

choices! {
    /// What bits are that no instruction says anything about.
    pub enum Unused {
        /// They must be zero.
        Zero = "zero",
        /// They may have any value.
        Ignored = "ignored",
    }
}

vocabulary! {
    /// What every instruction has.
    pub struct EverySpec {
        /// What bits are that nothing else accounts for; without this they are a mistake.
        optional unused: Unused,
        /// Constant bits.
        optional fixed: FixedBits,
        /// Modifiers, printed after the instruction's own.
        optional modifiers: Named<ModifierSpec>,
        /// Rulings that all instructions rest on.
        optional rulings: Vec<Spanned<String>>,
    }
}

vocabulary! {
    /// A rule on the operands of an instruction: a bound on their distinct values.
    pub struct LimitSpec {
        /// What is limited; the message says "too many …".
        required name: String,
        /// Why.
        optional doc: String,
        /// The kind of operand looked at.
        required kind: Spanned<String>,
        /// The alternatives of that kind that count.
        required alternatives: Vec<Spanned<String>>,
        /// Low bits of the operand that do not count.
        optional drop: Spanned<u8>,
        /// How many distinct values are allowed.
        required at_most ("at most"): Spanned<u8>,
        /// Units whose instructions are allowed another number.
        optional except: LimitException,
    }
}

vocabulary! {
    /// Units with another limit.
    pub struct LimitException {
        /// The units.
        required units: Vec<Spanned<String>>,
        /// How many distinct values their instructions may have.
        required at_most ("at most"): Spanned<u8>,
    }
}

vocabulary! {
    /// An instruction, or a family of them.
    pub struct InstructionSpec {
        /// Makes the entry stand for several instructions that differ in a number.
        optional family: FamilySpec,
        /// A few words on what it does.
        optional title: String,
        /// What it does.
        optional doc: String,
        /// The unit that executes it.
        optional unit: String,
        /// What it does, as a text that computes it.
        optional does: Spanned<String>,
        /// Constant bits.
        optional fixed: FixedBits,
        /// Bits that may have any value.
        optional ignored: OneOrMany<Spanned<Piece>>,
        /// Modifiers, in the order they print.
        optional modifiers: Named<ModifierSpec>,
        /// Operands, in the order they print.
        optional operands: Named<OperandSpec>,
        /// How it is written, if not as the others.
        optional syntax: Spanned<String>,
        /// Where the facts come from.
        optional provenance: Provenance,
        /// Why, when the provenance needs a reason.
        optional note: String,
        /// The rulings it rests on; its note lists them.
        optional rulings: Vec<Spanned<String>>,
        /// Templates that it is laid over: maps merge, anything else here replaces what stands there.
        optional like: OneOrMany<Spanned<String>>,
        /// Makes the entry stand for several instructions: for each name what `$parameter` is in the other keys.
        optional rows: Named<Node>,
        /// Its bits, where a stream has words of several lengths; the longest if not given.
        optional word: Spanned<u16>,
        /// Its length in bytes, as an expression, where its fields say it. `word` is the most it can be.
        optional length: Spanned<String>,
        /// The first generation that has it.
        optional since: Constant<u32>,
        /// The last generation that has it.
        optional until: Constant<u32>,
        /// Conditions on its fields that must hold.
        optional r_where ("where"): OneOrMany<Spanned<String>>,
        /// Other ways to write some of its words.
        optional aliases: Named<AliasSpec>,
        /// Fields that are no operands; the syntax, expressions and operands name them.
        optional fields: Named<FieldSpec>,
    }
}

vocabulary! {
    /// Another way to write the words of an instruction whose fields have certain values. It is the same word by its nature.
    pub struct AliasSpec {
        /// What it is good for.
        optional doc: String,
        /// The values that fields must have, which the text does not say: numbers, or names of values and of registers.
        optional with: Named<Constant<i128>>,
        /// Conditions on fields that must hold.
        optional r_where ("where"): OneOrMany<Spanned<String>>,
        /// How it is written; its name, and the operands that `with` leaves open, if not given.
        optional syntax: Spanned<String>,
        /// Whether such words print so; otherwise the assembler alone knows it.
        optional prints: bool,
    }
}

vocabulary! {
    /// A family: the entry becomes one instruction for each number from 0. `{N}`, or whatever `parameter` says, stands for
    /// the number in its name, title, documentation and note.
    pub struct FamilySpec {
        /// The word that stands in braces for the number.
        required parameter: String,
        /// How many instructions there are.
        required count: Spanned<u16>,
        /// Opcode bits that hold the number.
        required bits: BitList,
    }
}

vocabulary! {
    /// An operand. One of `bank`, `kind` or `immediate` says what it is.
    pub struct OperandSpec {
        /// What it is for.
        optional doc: String,
        /// A register of this bank, at `bits`.
        optional bank: Spanned<String>,
        /// An operand of this kind, from bit `at`.
        optional kind: Spanned<String>,
        /// A number at `bits`, written so.
        optional immediate: NumberSpec,
        /// Names for numbers; those without one are written as `immediate` says, or mean nothing without it.
        optional r_enum ("enum"): Spanned<String>,
        /// Where it lies.
        optional bits: BitList,
        /// How its value follows from `bits`, what its own bits hold, and from other fields.
        optional value: Spanned<String>,
        /// The way back, where none is found: what its bits are, or fields by name, each from `value` and from fields that are known.
        optional encode: EncodeSpec,
        /// The value where the text does not say it; 0 if not given.
        optional default: Spanned<i128>,
        /// What the parameters of the kind are: fields.
        optional with: Named<Spanned<String>>,
        /// Its first bit, for a kind.
        optional at: Spanned<u8>,
        /// Written before a number; `#` unless it says otherwise.
        optional prefix: String,
        /// The number is a branch target and may be a label.
        optional target: TargetWord,
        /// What the instruction does with it; `read` unless it says otherwise.
        optional access: Access,
        /// Bits of one value: a number, or the field of a stream that says it.
        optional size: Constant<u16>,
        /// Modifiers written after it.
        optional suffixes: Named<ModifierSpec>,
    }
}
