//! Kinds of operands and what they are read as.

use super::{BitList, Constant, EncodeSpec, FixedBits, ModifierSpec, NumberSpec, TargetWord};
use crate::keys::{Accepts, FromNode, Named, OneOrMany, Reader, vocabulary};
use crate::source::Spanned;
use crate::yaml::{Node, Value};

vocabulary! {
    /// A field that several operands share.
    pub struct SharedSpec {
        /// What it is.
        optional doc: String,
        /// Where it lies.
        required bits: BitList,
        /// Its value when no operand uses it.
        optional default: u64,
        /// The enum that names its values: then every instruction prints it as a modifier, and it may have any of them.
        optional r_enum ("enum"): Spanned<String>,
        /// Words that the assembler takes for values of it where modifiers stand. They never print: operands decide the
        /// value. After such a word, readings that need it are written in their other ways (`also`), if they have any.
        optional words: Named<Spanned<u64>>,
    }
}

vocabulary! {
    /// A kind of operand.
    pub struct KindSpec {
        /// What such an operand is.
        optional doc: String,
        /// How many bits it takes.
        required width: Spanned<u8>,
        /// What its readings must be told of the instruction; operands say it with `with`.
        optional parameters: Vec<Spanned<String>>,
        /// Its readings; their fixed bits tell them apart.
        required alternatives: Named<AlternativeSpec>,
        /// Modifiers written after every such operand, with bits relative to it.
        optional suffixes: Named<ModifierSpec>,
        /// Rulings that instructions with such an operand rest on.
        optional rulings: Vec<Spanned<String>>,
    }
}

vocabulary! {
    /// One reading of an operand's bits.
    pub struct AlternativeSpec {
        /// What this reading means.
        optional doc: String,
        /// Bits of the operand that choose this reading.
        optional fixed: FixedBits,
        /// Shared fields that must have a certain value for it.
        optional when: Named<u64>,
        /// Conditions on its fields and parameters that must hold for it.
        optional r_where ("where"): OneOrMany<Spanned<String>>,
        /// The first generation that has it.
        optional since: Constant<u32>,
        /// The last generation that has it.
        optional until: Constant<u32>,
        /// The fields, with bits relative to the operand.
        optional fields: Named<FieldSpec>,
        /// What an instruction reads in it: an expression of its fields. Without this it is the register or the number that its
        /// only field holds.
        optional value: Spanned<String>,
        /// Whether a machine keeps nothing of what is written to it, as to what belongs to other programs.
        optional discards: bool,
        /// How it is written; `{field}` stands for a field, a register with its bank's text.
        required text: Spanned<String>,
        /// Other ways to write it, which are read and never printed.
        optional also: OneOrMany<SpellingSpec>,
    }
}

vocabulary! {
    /// A way to write an operand that leaves fields out.
    pub struct ShortSpelling {
        /// How it is written; `{field}` stands for a field, a register with its bank's text.
        required text: Spanned<String>,
        /// What the fields are that it does not write.
        required with: Named<Spanned<u64>>,
    }
}

/// A way to write an operand: a text, or a map with `text`.
#[derive(Clone, Debug)]
pub struct SpellingSpec {
    /// How it is written.
    pub text: Spanned<String>,
    /// What the fields are that it does not write.
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
    /// A field of an operand. One of `bank`, `enum`, `constants`, `number` or `kind` says what it holds; with `number` beside
    /// `enum`, values without a name are written as numbers.
    pub struct FieldSpec {
        /// What it says.
        optional doc: String,
        /// Where it lies, relative to the operand.
        optional bits: BitList,
        /// How its value follows from `bits`, what its own bits hold, and from other fields.
        optional value: Spanned<String>,
        /// The way back, where none is found: what its bits are, or fields by name, each from `value` and from fields that are known.
        optional encode: EncodeSpec,
        /// The value where the text does not say it; 0 if not given.
        optional default: Spanned<i128>,
        /// An operand of this kind.
        optional kind: Spanned<String>,
        /// What the parameters of the kind are: fields.
        optional with: Named<Spanned<String>>,
        /// A register of this bank.
        optional bank: Spanned<String>,
        /// A value of this enum.
        optional r_enum ("enum"): Spanned<String>,
        /// A constant of this table.
        optional constants: Spanned<String>,
        /// A number, written so.
        optional number: NumberSpec,
        /// The number is a branch target and may be a label.
        optional target: TargetWord,
    }
}
