//! The model of an instruction stream: the contents of the tables of [`isaforge_core::stream`], with places in the
//! source.
//!
//! Readers of foreign documents map to this model, too. All of it is plain data, in the order of trying or printing;
//! the first [`Set`] is that of the instructions.

use isaforge_core::semantics::Node;

use crate::source::{Span, Spanned};
use crate::spec::{Access, Provenance};

pub use isaforge_core::stream::{Input, Notation, Piece, Role, Wide};

/// An instruction set that is decoded from a byte stream. Enums are those of [`crate::model::Isa`].
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// The alignment of instructions in bytes.
    pub unit: u8,
    /// The length of the longest instruction in bytes.
    pub longest: u8,
    /// The size in bytes of groups stored most significant byte first; 1 for none.
    pub swap: u8,
    /// The first and the last generation that are distinguished.
    pub generations: (u32, u32),
    /// The names of generations; empty if they have only numbers.
    pub generation_names: Vec<(String, u32)>,
    /// Whether it describes a foreign decoder: words that match two instructions are then invalid, and texts need not
    /// represent all bits.
    pub exclusive: bool,
    /// Instructions as sequences of operands, in place of layouts; a reader makes the tables.
    pub sequence: Option<&'static isaforge_core::stream::sequence::Sequence>,
    /// Register banks.
    pub banks: Vec<Bank>,
    /// Sets of layouts; the first is that of the instructions.
    pub sets: Vec<Set>,
    /// The instructions that the layouts of the first set belong to.
    pub instructions: Vec<Instruction>,
}

/// Why no generation was selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoGeneration {
    /// The message, to follow the name of the set.
    pub message: String,
    /// How to select one.
    pub help: String,
}

impl Stream {
    /// Drops everything that does not exist in a generation.
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
            // An instruction needs a layout other than aliases.
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
    /// The width of one register in bits.
    pub width: u16,
    /// The text before and after a register number.
    pub prints: (String, String),
    /// Names printed instead of numbers, by number; empty where the number is printed.
    pub names: Vec<String>,
    /// Other names with their numbers, which are parsed but never printed.
    pub also: Vec<(String, u32)>,
}

impl Bank {
    /// The number of the register with a name; `None` if there is none.
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

/// The instructions, or the alternatives of an operand.
#[derive(Clone, Debug)]
pub struct Set {
    /// Its name.
    pub name: String,
    /// A description.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// The width of an operand in bits, at most 64; 0 for instructions.
    pub bits: u16,
    /// The parameters, which instructions set for their operands.
    pub parameters: Vec<String>,
    /// Its layouts. If two match, the one with more constant bits wins, then the earlier one.
    pub layouts: Vec<Layout>,
    /// Whether a word may match two layouts neither of which contains the other; the first one then wins.
    pub first_wins: bool,
}

/// An instruction, independent of its layouts.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Its name.
    pub name: String,
    /// A short description.
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
    /// Why, if the provenance needs a reason.
    pub note: String,
}

/// A pattern with conditions, fields and a text.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Its name.
    pub name: String,
    /// Where it is defined.
    pub span: Span,
    /// The instruction, as an index into [`Stream::instructions`]; 0 for alternatives of operands.
    pub opcode: usize,
    /// Its role.
    pub role: Role,
    /// Its maximum length in bits.
    pub bits: u16,
    /// Its length in bytes, if it is variable.
    pub length: Option<Expr>,
    /// The first generation that has it.
    pub since: u32,
    /// The last generation that has it.
    pub until: u32,
    /// The mask of the constant bits that distinguish it from others.
    pub mask: Wide,
    /// The value of those bits.
    pub value: Wide,
    /// The mask of all bits that must equal [`fixed_value`](Self::fixed_value), including those of `mask`.
    pub fixed_mask: Wide,
    /// The value of those bits.
    pub fixed_value: Wide,
    /// Bits that are ignored.
    pub ignored: Wide,
    /// Where constant bits are defined, as far as it is known.
    pub said: Vec<(Wide, Span)>,
    /// Where bits are declared ignored, as far as it is known.
    pub ignored_at: Vec<(Wide, Span)>,
    /// Conditions that must hold for it to match.
    pub conditions: Vec<Expr>,
    /// Conditions that must not hold, since layouts that are tried earlier would match. They are optional, and used
    /// when text is parsed.
    pub otherwise: Vec<Expr>,
    /// Whether another layout of the instruction parses all of its texts, too; this one must then be tried before that
    /// one.
    pub preferred: bool,
    /// The fields.
    pub fields: Vec<Field>,
    /// Its syntax.
    pub text: Vec<Token>,
    /// Where the syntax is defined.
    pub text_span: Span,
    /// The fields that are operands.
    pub operands: Vec<Operand>,
    /// The fields that are modifiers; those of an operand are named `operand.name`.
    pub modifiers: Vec<usize>,
}

/// A field as an operand.
#[derive(Clone, Debug)]
pub struct Operand {
    /// The field.
    pub field: usize,
    /// How the instruction accesses it.
    pub access: Access,
    /// The width of one value in bits.
    pub size: u16,
    /// The field that holds the width, instead of `size`.
    pub sized: Option<usize>,
}

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What it means.
    pub doc: String,
    /// Where it is defined.
    pub span: Span,
    /// How its value is obtained.
    pub source: Source,
    /// The width of the value in bits.
    pub width: u8,
    /// Whether the value is in two's complement.
    pub signed: bool,
    /// The value if the text does not contain it.
    pub default: u64,
    /// How it is written.
    pub ty: Type,
}

/// How the value of a field is obtained.
#[derive(Clone, Debug)]
pub enum Source {
    /// Stored in bits, least significant piece first.
    Bits(Vec<Piece>),
    /// Computed by an expression over other fields. The inverse consists of fields with expressions over this field.
    Computed {
        /// The value.
        value: Expr,
        /// The inverse, if it is given.
        inverse: Vec<(usize, Expr)>,
    },
    /// Passed by the layout that contains the operand: the parameter with this index.
    Outer(usize),
}

/// How a value is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// As a number.
    Number(Notation),
    /// As a name of an enum, given by an index into [`crate::model::Isa::enums`]; unnamed values as a number.
    Enum(usize, Option<Notation>),
    /// As a register of a bank.
    Register(usize),
    /// As the layout of a set that matches, with the fields that are its arguments.
    Set(usize, Vec<usize>),
    /// As a float of this width in bits.
    Float(u8),
}

/// A piece of a syntax.
#[derive(Clone, Debug)]
pub enum Token {
    /// Fixed text.
    Text(String),
    /// A field.
    Field(usize),
    /// Blanks up to a column.
    Column(u8),
    /// Text that is present if a condition holds.
    If(Expr, Vec<Token>),
    /// The bits of a field as a number, whatever its type.
    Bits(usize, Notation),
    /// A remark after the whole text.
    Aside(Vec<Token>),
}

/// An expression over fields of a layout. The operands in its graph are its inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Expr {
    /// The text.
    pub text: String,
    /// The graph; the last node is the value.
    pub nodes: Vec<Node>,
    /// Arguments of nodes with more arguments than fit into a node.
    pub lists: Vec<u16>,
    /// The constants.
    pub constants: Vec<u64>,
    /// The inputs that its operands refer to.
    pub inputs: Vec<Input>,
}

impl Layout {
    /// An empty layout that exists in all generations.
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
            ignored_at: Vec::new(),
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

    /// Appends constant text to the syntax.
    pub fn push_text(&mut self, text: &str) {
        match self.text.last_mut() {
            Some(Token::Text(last)) => last.push_str(text),
            _ => self.text.push(Token::Text(text.to_owned())),
        }
    }

    /// The mask of a field in pieces.
    pub fn bits_of(pieces: &[Piece]) -> Wide {
        let mut bits = Wide::ZERO;
        for piece in pieces {
            bits.set(piece.at.into(), piece.width.into(), u64::MAX);
        }
        bits
    }

    /// The fields that other fields, conditions, the length or operands depend on, as a bit set.
    pub fn used_fields(&self) -> u64 {
        let input = |input: &Input| if let Input::Field(field) = input { 1 << (field & 63) } else { 0 };
        let of = |expr: &Expr| expr.inputs.iter().map(input).fold(0, |a, b| a | b);
        let conditions = self.conditions.iter().chain(&self.length).map(of);
        let fields = self.fields.iter().map(|field| {
            let computed = if let Source::Computed { value, .. } = &field.source { of(value) } else { 0 };
            let passed = if let Type::Set(_, arguments) = &field.ty { arguments.as_slice() } else { &[] };
            passed.iter().fold(computed, |used, argument| used | 1 << (argument & 63))
        });
        let sizes = self.operands.iter().filter_map(|operand| operand.sized).map(|field| 1 << (field & 63));
        conditions.chain(fields).chain(sizes).fold(0u64, |a, b: u64| a | b)
    }

    /// The fields that each field depends on and that are stored or passed in, as bit sets.
    pub fn leaves(&self) -> Vec<u64> {
        let mut leaves: Vec<u64> = vec![0; self.fields.len()];
        // Fields may be in any order; a cycle reaches a fixed point.
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

    /// The bits that nothing defines.
    pub(crate) fn undefined(&self) -> Wide {
        let fields =
            self.fields.iter().filter_map(|f| if let Source::Bits(pieces) = &f.source { Some(pieces) } else { None });
        let defined = fields.fold(self.fixed_mask | self.ignored, |all, pieces| all | Layout::bits_of(pieces));
        Wide::ones(self.bits.into()) & !defined
    }
}

impl Expr {
    /// The fields that it depends on, given those of each field.
    pub fn leaves(&self, leaves: &[u64]) -> u64 {
        let of = |input: &Input| match input {
            Input::Field(field) => leaves.get(usize::from(*field)).copied().unwrap_or(0),
            _ => 0,
        };
        self.inputs.iter().map(of).fold(0, |a, b| a | b)
    }
}
