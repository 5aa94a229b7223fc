//! Kinds of operands, their alternatives, and modifiers.

use super::bits::{BitList, FixedBits};
use super::generation::Constant;
use super::numbers::{EncodeSpec, NumberSpec, TargetWord};
use crate::keys::{Accepts, FromNode, Named, OneOrMany, Reader, vocabulary};
use crate::source::Spanned;
use crate::yaml::{Node, Value};

vocabulary! {
    /// A field that several operands share.
    pub struct SharedSpec {
        /// A description.
        optional doc: String,
        /// Its position.
        required bits: BitList,
        /// Its value when no operand uses it.
        optional default: u64,
        /// The enum that names its values. Every instruction then prints it as a modifier, with any of its values.
        optional r_enum ("enum"): Spanned<String>,
        /// Spellings that the assembler accepts as modifiers for values of it. They are never printed, since operands
        /// determine the value. After such a modifier, alternatives that need it are written as in `also`, if they have
        /// that key.
        optional words: Named<Spanned<u64>>,
    }
}

vocabulary! {
    /// A kind of operand.
    pub struct KindSpec {
        /// A description of such an operand.
        optional doc: String,
        /// Its width in bits.
        required width: Spanned<u8>,
        /// Parameters of its alternatives; operands set them with `with`.
        optional parameters: Vec<Spanned<String>>,
        /// Its alternatives; their fixed bits distinguish them.
        required alternatives: Named<AlternativeSpec>,
        /// Modifiers written after every such operand, with bit positions relative to it.
        optional suffixes: Named<ModifierSpec>,
        /// Rulings that instructions with such an operand depend on.
        optional rulings: Vec<Spanned<String>>,
    }
}

vocabulary! {
    /// An alternative: one way to read the bits of an operand.
    pub struct AlternativeSpec {
        /// What this alternative means.
        optional doc: String,
        /// Bits of the operand that select this alternative.
        optional fixed: FixedBits,
        /// Shared fields that must have a given value.
        optional when: Named<u64>,
        /// Conditions that its fields and parameters must satisfy.
        optional r_where ("where"): OneOrMany<Spanned<String>>,
        /// The first generation with this alternative.
        optional since: Constant<u32>,
        /// The last generation with this alternative.
        optional until: Constant<u32>,
        /// The fields, with bit positions relative to the operand.
        optional fields: Named<FieldSpec>,
        /// The value that an instruction reads from it: an expression over its fields. By default, the register or
        /// number in its only field.
        optional value: Spanned<String>,
        /// Whether a machine discards writes to it, as for registers that belong to other programs.
        optional discards: bool,
        /// How it is written; `{field}` stands for a field. Registers are written as their bank defines.
        required text: Spanned<String>,
        /// Other ways to write it, which are parsed but never printed.
        optional also: OneOrMany<SpellingSpec>,
    }
}

vocabulary! {
    /// A way to write an operand that omits fields.
    pub struct ShortSpelling {
        /// How it is written; `{field}` stands for a field. Registers are written as their bank defines.
        required text: Spanned<String>,
        /// The values of the fields that it omits.
        required with: Named<Spanned<u64>>,
    }
}

/// A way to write an operand: a text, or a map with `text`.
#[derive(Clone, Debug)]
pub struct SpellingSpec {
    /// How it is written.
    pub text: Spanned<String>,
    /// The values of the fields that it omits.
    pub with: Named<Spanned<u64>>,
}

impl FromNode for SpellingSpec {
    const EXPECTED: &'static str = "a text, or a map with `text`";

    fn accepts() -> Accepts {
        Accepts::Either(vec![Accepts::Text, ShortSpelling::accepts()])
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        if let Value::Map(_) = node.value {
            let ShortSpelling { text, with, .. } = ShortSpelling::from_node(node, r)?;
            return Some(SpellingSpec { text, with });
        }
        Some(SpellingSpec { text: Spanned::<String>::from_node(node, r)?, with: Named::default() })
    }
}

vocabulary! {
    /// A field of an operand. Exactly one of `bank`, `enum`, `constants`, `number` or `kind` defines its type, except
    /// that `number` may accompany `enum` as the notation of values without a name.
    pub struct FieldSpec {
        /// What it means.
        optional doc: String,
        /// Its position, relative to the operand.
        optional bits: BitList,
        /// How its value is computed from the bits at `bits` and from other fields.
        optional value: Spanned<String>,
        /// The inverse of `value`, where none can be derived: the bits, or fields by name, each computed from `value`
        /// and known fields.
        optional encode: EncodeSpec,
        /// The value if the text does not contain it; 0 by default.
        optional default: Spanned<i128>,
        /// An operand of this kind.
        optional kind: Spanned<String>,
        /// The fields that are the arguments for the parameters of the kind.
        optional with: Named<Spanned<String>>,
        /// A register of this bank.
        optional bank: Spanned<String>,
        /// A value of this enum.
        optional r_enum ("enum"): Spanned<String>,
        /// A constant of this table.
        optional constants: Spanned<String>,
        /// A number, written in this notation.
        optional number: NumberSpec,
        /// How to compute the address if the number is a branch target, which may be written as a label.
        optional target: TargetWord,
    }
}

vocabulary! {
    /// A modifier: a flag, or a choice from an enum.
    pub struct ModifierSpec {
        /// What it changes.
        optional doc: String,
        /// Its position.
        required bits: BitList,
        /// The enum it chooses from; without it, the modifier is a flag.
        optional r_enum ("enum"): Spanned<String>,
        /// The text printed for a flag, if not its name.
        optional prints: String,
        /// The value if none is written; overrides the default of the enum.
        optional default: Spanned<String>,
        /// Whether it is never printed because an operand list implies it.
        optional implied: bool,
    }
}
