//! The vocabulary of specifications: every key that an `isa.yaml` may have.
//!
//! These types say what may be written, not what it means; `resolve` gives it meaning. `specs/README.md` documents the
//! same keys for authors.

mod generation;

use isaforge_core::table::{Base, Target};

pub use self::generation::{Constant, GenerationsSpec};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::keys::{Accepts, FromNode, Named, OneOrMany, Reader, choices, vocabulary};
use crate::source::{Span, Spanned};
use crate::yaml::{Node, Value};

/// A run of bits or the name of a shared field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Bits `high` down to `low`.
    Run {
        /// Highest bit.
        high: u8,
        /// Lowest bit.
        low: u8,
    },
    /// The bits of a shared field.
    Shared(String),
}

/// Where a field lies: `7..0`, `5`, or a list with the most significant piece first.
#[derive(Clone, Debug)]
pub struct BitList {
    /// The whole value.
    pub span: Span,
    /// The pieces, most significant first.
    pub pieces: Vec<Spanned<Piece>>,
}

/// What [`parse_run`] takes, as a regular expression.
const RUN: &str = r"^\s*[0-9]+\s*(\.\.\s*[0-9]+\s*)?$";

/// Reads `high..low` or `bit`. `None` when the text is neither; the error says why it is not acceptable.
pub fn parse_run(text: &str) -> Option<Result<(u8, u8), String>> {
    let number = |t: &str| t.trim().parse::<u32>().ok();
    let (high, low) = match text.split_once("..") {
        Some((high, low)) => (number(high)?, number(low)?),
        None => (number(text)?, number(text)?),
    };
    Some(if high < low {
        Err(format!("write the high bit first: `{low}..{high}`"))
    } else if high > 255 {
        Err("bits are numbered 0 to 255".to_owned())
    } else if high - low > 63 {
        Err("a run has at most 64 bits; write two".to_owned())
    } else {
        Ok((high as u8, low as u8))
    })
}

impl FromNode for Spanned<Piece> {
    const EXPECTED: &'static str = "a run of bits such as `7..0`, or a bit number";

    fn accepts() -> Accepts {
        Accepts::Either(vec![Accepts::Number(0, 255), Accepts::Text])
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        let text = match &node.value {
            Value::Int(n) => n.to_string(),
            Value::Text(text) => text.clone(),
            _ => {
                r.wrong_kind(node, Self::EXPECTED);
                return None;
            }
        };
        match parse_run(&text) {
            Some(Ok((high, low))) => Some(Spanned::new(Piece::Run { high, low }, node.span)),
            Some(Err(help)) => {
                r.out.push(Diagnostic::error("E0030", node.span, format!("`{text}` is not a run of bits")).help(help));
                None
            }
            None => Some(Spanned::new(Piece::Shared(text), node.span)),
        }
    }
}

impl FromNode for BitList {
    const EXPECTED: &'static str = "bits such as `7..0`, a bit number, or a list of them";

    fn accepts() -> Accepts {
        let piece = Spanned::<Piece>::accepts();
        Accepts::Either(vec![piece.clone(), Accepts::List(Box::new(piece))])
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        let pieces = match &node.value {
            Value::List(items) if !items.is_empty() => {
                items.iter().map(|item| Spanned::<Piece>::from_node(item, r)).collect::<Option<_>>()?
            }
            Value::Int(_) | Value::Text(_) => vec![Spanned::<Piece>::from_node(node, r)?],
            _ => {
                r.wrong_kind(node, Self::EXPECTED);
                return None;
            }
        };
        Some(BitList { span: node.span, pieces })
    }
}

/// Constant bits: a map from runs to values, `{ 15..12: 0b0001, 3: 0 }`.
#[derive(Clone, Debug, Default)]
pub struct FixedBits(pub Vec<Fixed>);

/// One run of constant bits.
#[derive(Clone, Debug)]
pub struct Fixed {
    /// Highest bit.
    pub high: u8,
    /// Lowest bit.
    pub low: u8,
    /// What the bits are.
    pub value: u64,
    /// The run in the file.
    pub span: Span,
}

impl FromNode for FixedBits {
    const EXPECTED: &'static str = "a map from bits to their value, such as `{ 15..12: 0b0001 }`";

    fn accepts() -> Accepts {
        // A text may be a parameter of a row.
        Accepts::Keyed(RUN, Box::new(Accepts::Either(vec![u64::accepts(), Accepts::Text])))
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        let Value::Map(entries) = &node.value else {
            r.wrong_kind(node, Self::EXPECTED);
            return None;
        };
        let mut fixed = Vec::new();
        let mut ok = true;
        for (key, value) in entries {
            let run = match parse_run(&key.value) {
                Some(Ok(run)) => Some(run),
                other => {
                    let help = match other {
                        Some(Err(help)) => help,
                        _ => "write the highest and the lowest bit: `15..12`, or one bit: `3`".to_owned(),
                    };
                    let message = format!("`{}` is not a run of bits", key.value);
                    r.out.push(Diagnostic::error("E0030", key.span, message).help(help));
                    None
                }
            };
            match (run, u64::from_node(value, r)) {
                (Some((high, low)), Some(number)) => {
                    let width = u32::from(high - low) + 1;
                    if number > isaforge_core::bits::ones(width) {
                        let message = format!("{number:#b} does not fit {width} bits");
                        r.out.push(Diagnostic::error("E0031", value.span, message).secondary(key.span, "these bits"));
                        ok = false;
                    }
                    fixed.push(Fixed { high, low, value: number, span: key.span.to(value.span) });
                }
                _ => ok = false,
            }
        }
        ok.then_some(FixedBits(fixed))
    }
}

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

choices! {
    /// How a number is written.
    pub enum Notation {
        /// In decimal.
        Decimal = "decimal",
        /// In hexadecimal.
        Hex = "hex",
        /// In decimal, two's complement.
        Signed = "signed",
    }
}

choices! {
    /// How a branch target counts, in a word.
    pub enum TargetKind {
        /// In words, from the instruction after the branch.
        Relative = "relative",
        /// In words, from the start of the program.
        Absolute = "absolute",
    }
}

vocabulary! {
    /// How a branch target counts.
    pub struct TargetSpec {
        /// Where it counts from: `this` instruction's first byte, that of the `next`, or an address in bytes, which is 0 for
        /// the start of the program.
        required r_from ("from"): TargetOrigin,
        /// The bytes that one step stands for; those of a word if not given.
        optional unit: Spanned<u16>,
    }
}

/// Where a branch target counts from.
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

/// How a branch target counts: `relative`, `absolute`, or a map with `from`.
#[derive(Clone, Copy, Debug)]
pub struct TargetWord {
    /// From where.
    pub base: Base,
    /// The bytes of a step, if not those of a word.
    pub unit: Option<u16>,
    /// The word it is said with; `None` for a map.
    pub word: Option<&'static str>,
    /// Where it is said.
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
    /// The same with its unit, in a set whose words have `word_bits` bits.
    pub fn target(self, word_bits: u8) -> Target {
        self.target_in(u16::from(word_bits / 8))
    }

    /// The same with its unit, by default `unit` bytes.
    pub fn target_in(self, unit: u16) -> Target {
        Target { base: self.base, unit: self.unit.unwrap_or(unit).max(1) }
    }

    /// Warns of a target whose bits lie in many pieces and which does not say how it counts: sets that scatter bits count
    /// in other steps and from elsewhere as a rule (W0211).
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
    /// How a number is written, in full.
    pub struct NotationSpec {
        /// 2, 8, 10 or 16; 10 if not given.
        optional base: Spanned<u8>,
        /// Written before the digits; `0x` for hexadecimal ones if not given.
        optional prefix: String,
        /// Whether it is in two's complement.
        optional signed: bool,
        /// Whether digits above 9 are capitals.
        optional capitals: bool,
        /// The fewest digits.
        optional digits: Spanned<u8>,
        /// Whether positive numbers have a sign, too.
        optional plus: bool,
        /// Whether zero is written as nothing.
        optional quiet: bool,
        /// It is a float of 16, 32 or 64 bits.
        optional float: Spanned<u8>,
    }
}

/// How a number is written: a word, or a map.
#[derive(Clone, Debug)]
pub enum NumberSpec {
    /// In a word.
    Word(Notation),
    /// In full.
    Full(NotationSpec),
}

impl NumberSpec {
    /// The word; in full it is a decimal.
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

/// The way from a value back to bits: one expression, or one for each field.
#[derive(Clone, Debug)]
pub enum EncodeSpec {
    /// What the field's own bits are.
    Own(Spanned<String>),
    /// What fields are, by name.
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
    }
}

impl FromNode for ValueSpec {
    const EXPECTED: &'static str = "a name, `~` for a reserved value, or a map with `name`";

    fn accepts() -> Accepts {
        Accepts::Either(vec![Accepts::Text, Accepts::Null, NamedValue::accepts()])
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        match &node.value {
            Value::Null => {
                Some(ValueSpec { span: node.span, name: None, prints: None, also: Vec::new(), value: None, doc: None })
            }
            Value::Map(_) => {
                let NamedValue { span, name, prints, also, value, doc } = NamedValue::from_node(node, r)?;
                Some(ValueSpec { span, name: Some(name), prints, also: also.unwrap_or_default().0, value, doc })
            }
            Value::List(_) => {
                r.wrong_kind(node, Self::EXPECTED);
                None
            }
            _ => {
                let name = Spanned::<String>::from_node(node, r)?;
                Some(ValueSpec {
                    span: node.span,
                    name: Some(name),
                    prints: None,
                    also: Vec::new(),
                    value: None,
                    doc: None,
                })
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
        /// The way back, where none is found: what its bits are, or fields by name, each from `value`.
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
        /// The way back, where none is found: what its bits are, or fields by name, each from `value`.
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
        /// Bits of one value.
        optional size: u16,
        /// Modifiers written after it.
        optional suffixes: Named<ModifierSpec>,
    }
}

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
