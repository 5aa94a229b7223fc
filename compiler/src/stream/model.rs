//! The model of an instruction stream: what [`isaforge_core::stream`] has as tables, with the places where it is said.
//!
//! Readers of other documents map them onto this model. Everything is plain data and in the order in which it is tried or
//! printed; the first [`Set`] is that of the instructions.

use isaforge_core::semantics::Node;
pub use isaforge_core::stream::{Input, Notation, Piece, Role, Wide};

use crate::model::Isa;
use crate::source::{Span, Spanned};
use crate::spec::{Access, Provenance};
use crate::suggest::one_of;

/// An instruction set whose instructions are read from a stream of bytes. Enums are those of [`crate::model::Isa`].
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// Instructions start at multiples of this many bytes.
    pub unit: u8,
    /// Bytes of the longest instruction.
    pub longest: u8,
    /// The size in bytes of the groups that lie most significant first; 1 for none.
    pub swap: u8,
    /// The generations that are told apart, the first and the last.
    pub generations: (u32, u32),
    /// Names of generations; empty where they have numbers alone.
    pub generation_names: Vec<(String, u32)>,
    /// Whether it describes a decoder elsewhere: bits that two instructions fit are none then, and texts need not tell all
    /// bits apart.
    pub exclusive: bool,
    /// Instructions that are sequences of operands, in the place of layouts; a reader makes the tables.
    pub sequence: Option<&'static isaforge_core::stream::sequence::Sequence>,
    /// Register banks.
    pub banks: Vec<Bank>,
    /// Sets of layouts; the first is that of the instructions.
    pub sets: Vec<Set>,
    /// What the layouts of the first set are layouts of.
    pub instructions: Vec<Instruction>,
}

/// Why no generation is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoGeneration {
    /// What is wrong, to follow the name of the set.
    pub message: String,
    /// What to say instead.
    pub help: String,
}

impl Isa {
    /// The number of a generation, given by name or by number. A set that tells none apart needs none.
    ///
    /// # Errors
    /// When there is no such generation, or there are several and none is given.
    pub fn generation(&self, wanted: Option<&str>) -> Result<u32, NoGeneration> {
        let (generations, names) =
            self.stream().map_or(((0, 0), &[][..]), |stream| (stream.generations, &stream.generation_names));
        let (first, last) = generations;
        let known = match (names, first == last) {
            ([_, ..], _) => one_of(names.iter().map(|(name, _)| name)),
            ([], true) => {
                let none = || NoGeneration {
                    message: "tells no generations apart".to_owned(),
                    help: "leave it out".to_owned(),
                };
                return wanted.map_or(Ok(first), |_| Err(none()));
            }
            ([], false) if last == u32::MAX => format!("the numbers from {first}"),
            ([], false) => format!("{first} to {last}"),
        };
        let Some(wanted) = wanted else {
            let message = "describes several generations".to_owned();
            return Err(NoGeneration { message, help: format!("say which `generation` is meant: {known}") });
        };
        let named = names.iter().find(|(name, _)| name == wanted).map(|(_, number)| *number);
        let is_known = |number: &u32| match names {
            [] => (first..=last).contains(number),
            _ => names.iter().any(|(_, known)| known == number),
        };
        named.or_else(|| wanted.parse().ok().filter(is_known)).ok_or_else(|| NoGeneration {
            message: format!("has no generation {wanted}"),
            help: format!("its generations are {known}"),
        })
    }
}

impl Stream {
    /// Drops what other generations have.
    pub fn keep(&mut self, generation: u32) {
        self.generations = (generation, generation);
        self.generation_names.retain(|(_, number)| *number == generation);
        for set in &mut self.sets {
            set.layouts.retain(|layout| (layout.since..=layout.until).contains(&generation));
        }
        let Some(set) = self.sets.first_mut() else { return };
        let mut numbers = vec![None; self.instructions.len()];
        let mut kept = Vec::new();
        for (opcode, instruction) in std::mem::take(&mut self.instructions).into_iter().enumerate() {
            // An alias alone is no instruction.
            if set.layouts.iter().any(|layout| layout.opcode == opcode && layout.role == Role::Own) {
                numbers[opcode] = Some(kept.len());
                kept.push(instruction);
            }
        }
        self.instructions = kept;
        set.layouts.retain_mut(|layout| {
            let number = numbers.get(layout.opcode).copied().flatten();
            layout.opcode = number.unwrap_or_default();
            number.is_some()
        });
    }
}

/// A bank of registers.
#[derive(Clone, Debug)]
pub struct Bank {
    /// Its name.
    pub name: String,
    /// What the registers are for.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// How many there are.
    pub count: u32,
    /// Bits in one.
    pub width: u16,
    /// What is written around a number.
    pub prints: (String, String),
    /// Names in the place of numbers, by number; empty where there is none.
    pub names: Vec<String>,
    /// Other names, which are only read.
    pub also: Vec<(String, u32)>,
}

impl Bank {
    /// The number of the register of a name. `None` if it has none.
    pub(crate) fn number_of(&self, name: &str) -> Option<u32> {
        let also = self.also.iter().map(|(known, number)| (known, *number));
        let named = self.names.iter().zip(0..).chain(also).find(|(known, _)| *known == name);
        let number = match named {
            Some((_, number)) => number,
            None => name.strip_prefix(self.prints.0.as_str())?.strip_suffix(self.prints.1.as_str())?.parse().ok()?,
        };
        (number < self.count).then_some(number)
    }
}

/// The instructions, or the readings of an operand.
#[derive(Clone, Debug)]
pub struct Set {
    /// Its name.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// Bits of an operand, at most 64; 0 for instructions.
    pub bits: u16,
    /// What an operand must be told of the instruction.
    pub parameters: Vec<String>,
    /// Its layouts. Where two fit, the one with more constant bits wins, then the earlier one.
    pub layouts: Vec<Layout>,
    /// Whether a word may fit two layouts neither of which contains the other: then the order decides.
    pub first_wins: bool,
}

/// What an instruction is, whichever way it is laid out and written.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Its name.
    pub name: String,
    /// A few words.
    pub title: String,
    /// What it does.
    pub doc: String,
    /// The unit that executes it.
    pub unit: String,
    /// Where it is defined.
    pub span: Span,
    /// File and line of the definition.
    pub source: String,
    /// Where the facts come from.
    pub provenance: Provenance,
    /// Why.
    pub note: String,
}

/// A pattern, conditions, fields, a text.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Its name.
    pub name: String,
    /// Where it is defined.
    pub span: Span,
    /// The instruction, an index into [`Stream::instructions`]; 0 for readings of operands.
    pub opcode: usize,
    /// What it is for.
    pub role: Role,
    /// Bits that it takes at most.
    pub bits: u16,
    /// The length in bytes, where the bits say it.
    pub length: Option<Expr>,
    /// The first generation that has it …
    pub since: u32,
    /// … and the last.
    pub until: u32,
    /// Constant bits that tell it from others …
    pub mask: Wide,
    /// … and what they are.
    pub value: Wide,
    /// All bits that must be as [`fixed_value`](Self::fixed_value) has them, those of `mask` included.
    pub fixed_mask: Wide,
    /// What these bits are.
    pub fixed_value: Wide,
    /// Bits that may have any value.
    pub ignored: Wide,
    /// Where constant and ignored bits are said, as far as that is known.
    pub said: Vec<(Wide, Span)>,
    /// What must hold for it to fit.
    pub conditions: Vec<Expr>,
    /// What does not hold, since layouts that are tried before would fit then. No layout needs to say it; where it does,
    /// texts are read with it.
    pub otherwise: Vec<Expr>,
    /// Whether another layout of the instruction reads every text of this one, too: it is there to be tried before that one.
    pub preferred: bool,
    /// The fields.
    pub fields: Vec<Field>,
    /// How it is written.
    pub text: Vec<Token>,
    /// Where that is said.
    pub text_span: Span,
    /// The fields that are operands.
    pub operands: Vec<Operand>,
    /// The fields that are modifiers; those of an operand are called `operand.name`.
    pub modifiers: Vec<usize>,
}

/// A field as an operand.
#[derive(Clone, Debug)]
pub struct Operand {
    /// The field.
    pub field: usize,
    /// What the instruction does with it.
    pub access: Access,
    /// Bits of one value.
    pub size: u16,
    /// The field that says how many bits there are, in the place of `size`.
    pub sized: Option<usize>,
}

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What it says.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// Where its value comes from.
    pub source: Source,
    /// Bits of the value.
    pub width: u8,
    /// Whether the value is in two's complement.
    pub signed: bool,
    /// The value where the text says none.
    pub default: u64,
    /// How it is written.
    pub ty: Type,
}

/// Where the value of a field comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// From bits, the least significant piece first.
    Bits(Vec<Piece>),
    /// From an expression over other fields, with the way back: fields and expressions whose only field is this one.
    Computed {
        /// The value.
        value: Expr,
        /// The way back, where it is given.
        inverse: Vec<(usize, Expr)>,
    },
    /// From the layout around the operand: the parameter with this index.
    Outer(usize),
}

/// How a value is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// As a number.
    Number(Notation),
    /// As a name of an enum, an index into [`crate::model::Isa::enums`]; other values as a number.
    Enum(usize, Option<Notation>),
    /// As a register of a bank.
    Register(usize),
    /// As the layout of a set that fits, with the fields that are its parameters.
    Set(usize, Vec<usize>),
    /// As a float of a width in bits.
    Float(u8),
}

/// A piece of a text.
#[derive(Clone, Debug)]
pub enum Token {
    /// Fixed text.
    Text(String),
    /// A field.
    Field(usize),
    /// Blanks up to a column.
    Column(u8),
    /// Text that is there where a condition holds.
    If(Expr, Vec<Token>),
    /// The bits of a field as a number, whatever its type.
    Bits(usize, Notation),
    /// A remark behind the whole text.
    Aside(Vec<Token>),
}

/// An expression over fields of a layout. Its operands are its inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Expr {
    /// The text.
    pub text: String,
    /// The graph; the last node is the value.
    pub nodes: Vec<Node>,
    /// Arguments of nodes that have more of them than fit.
    pub lists: Vec<u16>,
    /// The constants.
    pub constants: Vec<u64>,
    /// What the operands stand for.
    pub inputs: Vec<Input>,
}

impl Layout {
    /// A layout of nothing yet, in all generations.
    pub fn new(name: &Spanned<String>, opcode: usize, bits: u16, role: Role) -> Layout {
        Layout {
            name: name.value.clone(),
            span: name.span,
            opcode,
            role,
            bits,
            length: None,
            since: 0,
            until: u32::MAX,
            mask: Wide::ZERO,
            value: Wide::ZERO,
            fixed_mask: Wide::ZERO,
            fixed_value: Wide::ZERO,
            ignored: Wide::ZERO,
            said: Vec::new(),
            conditions: Vec::new(),
            preferred: false,
            otherwise: Vec::new(),
            fields: Vec::new(),
            text: Vec::new(),
            text_span: name.span,
            operands: Vec::new(),
            modifiers: Vec::new(),
        }
    }

    /// The bits that a field in pieces takes.
    pub fn bits_of(pieces: &[Piece]) -> Wide {
        let mut bits = Wide::ZERO;
        for piece in pieces {
            bits.set(piece.at.into(), piece.width.into(), u64::MAX);
        }
        bits
    }

    /// The fields with bits of their own, or from outside, that decide each field, as bit sets.
    pub fn leaves(&self) -> Vec<u64> {
        let mut leaves: Vec<u64> = vec![0; self.fields.len()];
        // Fields may be in any order; a circle stops growing.
        for _ in 0..=self.fields.len() {
            for (i, field) in self.fields.iter().enumerate() {
                leaves[i] = match &field.source {
                    Source::Computed { value, .. } => value.leaves(&leaves),
                    _ => 1 << (i & 63),
                };
            }
        }
        leaves
    }
}

impl Expr {
    /// The fields that decide it, `leaves` being those of each field.
    pub fn leaves(&self, leaves: &[u64]) -> u64 {
        let of = |input: &Input| match input {
            Input::Field(field) => leaves.get(usize::from(*field)).copied().unwrap_or(0),
            _ => 0,
        };
        self.inputs.iter().map(of).fold(0, |a, b| a | b)
    }
}
