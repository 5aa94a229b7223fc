//! How numbers are written, how branch targets are computed, and inverses of computed values.

use isaforge_core::table::{Base, Target};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::keys::{Accepts, FromNode, Named, Reader, choices, vocabulary};
use crate::source::{Span, Spanned};
use crate::yaml::{Node, Value};

choices! {
    /// How a number is written.
    pub enum Notation {
        /// Decimal.
        Decimal = "decimal",
        /// Hexadecimal.
        Hex = "hex",
        /// Decimal, in two's complement.
        Signed = "signed",
    }
}

choices! {
    /// How a branch target is computed, as a keyword.
    pub enum TargetKind {
        /// In words, relative to the instruction after the branch.
        Relative = "relative",
        /// In words, relative to the start of the program.
        Absolute = "absolute",
    }
}

vocabulary! {
    /// How a branch target is computed.
    pub struct TargetSpec {
        /// What it is relative to: the first byte of `this` instruction, that of the `next`, or an address in bytes,
        /// where 0 is the start of the program.
        required r_from ("from"): TargetOrigin,
        /// The unit in bytes; that of a word by default.
        optional unit: Spanned<u16>,
    }
}

/// What a branch target is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetOrigin(pub Base);

impl FromNode for TargetOrigin {
    const EXPECTED: &'static str = "`this`, `next`, or an address";

    fn accepts() -> Accepts {
        Accepts::Either(vec![Accepts::Words(&["this", "next"]), u64::accepts()])
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        match &node.value {
            Value::Text(text) if text == "this" => Some(TargetOrigin(Base::This)),
            Value::Text(text) if text == "next" => Some(TargetOrigin(Base::Next)),
            Value::Int(_) => u64::from_node(node, r).map(|address| TargetOrigin(Base::Fixed(address))),
            _ => {
                r.wrong_kind(node, Self::EXPECTED);
                None
            }
        }
    }
}

/// How a branch target is computed: `relative`, `absolute`, or a map with `from`.
#[derive(Clone, Copy, Debug)]
pub struct TargetWord {
    /// What it is relative to.
    pub base: Base,
    /// The unit in bytes; `None` for that of a word.
    pub unit: Option<u16>,
    /// The keyword; `None` for a map.
    pub word: Option<&'static str>,
    /// Where it is written.
    pub span: Span,
}

impl FromNode for TargetWord {
    const EXPECTED: &'static str = "`relative`, `absolute`, or a map with `from`";

    fn accepts() -> Accepts {
        Accepts::Either(vec![TargetKind::accepts(), TargetSpec::accepts()])
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        let span = node.span;
        if let Value::Map(_) = node.value {
            let TargetSpec { r_from, unit, .. } = TargetSpec::from_node(node, r)?;
            if let Some(unit) = unit.as_ref().filter(|unit| unit.value == 0) {
                let error = Diagnostic::error("E0024", unit.span, "a step of 0 bytes leads nowhere");
                r.out.push(error.help("say how many bytes a step stands for; 1 counts bytes"));
                return None;
            }
            return Some(TargetWord { base: r_from.0, unit: unit.map(|unit| unit.value), word: None, span });
        }
        let (base, word) = match TargetKind::from_node(node, r)? {
            TargetKind::Relative => (Base::Next, "relative"),
            TargetKind::Absolute => (Base::Fixed(0), "absolute"),
        };
        Some(TargetWord { base, unit: None, word: Some(word), span })
    }
}

impl TargetWord {
    /// The target with its unit resolved, in a set whose words have `word_bits` bits.
    pub fn target(self, word_bits: u8) -> Target {
        self.target_in(u16::from(word_bits / 8))
    }

    /// The target with its unit resolved, which is `unit` bytes by default.
    pub fn target_in(self, unit: u16) -> Target {
        Target { base: self.base, unit: self.unit.unwrap_or(unit).max(1) }
    }

    /// Warns about a keyword on a target whose bits are scattered in many pieces (W0211): instruction sets that scatter
    /// bits usually have other units and other base addresses.
    pub fn doubt(self, pieces: usize, unit: u16, out: &mut Diagnostics) {
        let Some(word) = self.word.filter(|_| pieces > 2) else { return };
        let (place, from) = match self.base {
            Base::Fixed(_) => ("the start of the program", "0"),
            _ => ("the next instruction", "next"),
        };
        let message = format!("`{word}` counts steps of {unit} bytes from {place}");
        let help = format!(
            "if that is meant, write `{{ from: {from}, unit: {unit} }}`; bytes from the branch itself, in steps of two, are \
             `{{ from: this, unit: 2 }}`"
        );
        out.push(Diagnostic::warning("W0211", self.span, message).help(help));
    }
}

vocabulary! {
    /// How a number is written, as a map.
    pub struct NotationSpec {
        /// 2, 8, 10 or 16; 10 by default.
        optional base: Spanned<u8>,
        /// The text before the digits; `0x` by default in hexadecimal. Numbers without it are decimal.
        optional prefix: String,
        /// Whether it is a number in two's complement.
        optional signed: bool,
        /// Whether digits above 9 are upper case.
        optional capitals: bool,
        /// The minimum number of digits, at most 64.
        optional digits: Spanned<u8>,
        /// Whether positive numbers are written with a sign.
        optional plus: bool,
        /// Whether zero is omitted.
        optional quiet: bool,
        /// Whether a negative number is written as the unsigned one with the same bits.
        optional wraps: bool,
        /// The width of a float: 16, 32 or 64 bits.
        optional float: Spanned<u8>,
    }
}

/// How a number is written: a keyword, or a map.
#[derive(Clone, Debug)]
pub enum NumberSpec {
    /// A keyword.
    Word(Notation),
    /// A map.
    Full(NotationSpec),
}

impl NumberSpec {
    /// The keyword; `decimal` for a map.
    pub fn word(&self) -> Notation {
        match self {
            NumberSpec::Word(word) => *word,
            NumberSpec::Full(_) => Notation::Decimal,
        }
    }
}

impl FromNode for NumberSpec {
    const EXPECTED: &'static str = "one of `decimal`, `hex`, `signed`, or a map with `base`";

    fn accepts() -> Accepts {
        Accepts::Either(vec![Notation::accepts(), NotationSpec::accepts()])
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        match &node.value {
            Value::Map(_) => NotationSpec::from_node(node, r).map(NumberSpec::Full),
            _ => Notation::from_node(node, r).map(NumberSpec::Word),
        }
    }
}

/// How a computed value is encoded: one expression, or one for each field.
#[derive(Clone, Debug)]
pub enum EncodeSpec {
    /// The field's own bits.
    Own(Spanned<String>),
    /// The values of fields, by name.
    Fields(Named<Spanned<String>>),
}

impl FromNode for EncodeSpec {
    const EXPECTED: &'static str = "an expression, or a map from fields to expressions";

    fn accepts() -> Accepts {
        Accepts::Either(vec![Accepts::Text, Named::<Spanned<String>>::accepts()])
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        match &node.value {
            Value::Map(_) => Named::from_node(node, r).map(EncodeSpec::Fields),
            _ => Spanned::<String>::from_node(node, r).map(EncodeSpec::Own),
        }
    }
}
