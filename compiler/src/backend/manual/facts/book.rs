//! The facts of an instruction set as the pages show them, and the texts that are common to words, groups and streams.

use isaforge_core::annotate::Role;
use isaforge_core::bits::ones;
use isaforge_core::table;

/// An instruction set.
#[derive(Debug)]
pub struct Book {
    /// Its name.
    pub name: String,
    /// A description of it.
    pub doc: String,
    /// How instructions are stored: "64-bit words".
    pub shape: String,
    /// The instructions, in the order of the specification.
    pub entries: Vec<Entry>,
    /// Named values.
    pub enums: Vec<Names>,
    /// Kinds of operands, and the choices of slots.
    pub kinds: Vec<Kind>,
    /// Register banks.
    pub banks: Vec<Bank>,
    /// The parts of a group in byte order; empty unless instructions are groups.
    pub slots: Vec<Slot>,
    /// The opcode bits of each instruction, if most instructions have them in the same place.
    pub opcodes: Vec<Opcode>,
}

/// An instruction.
#[derive(Debug, Default)]
pub struct Entry {
    /// The file name of its page, without `.html`.
    pub slug: String,
    /// Its mnemonic.
    pub name: String,
    /// A short description.
    pub title: String,
    /// What it does.
    pub doc: String,
    /// The unit that executes it, or the part of a group that it is in.
    pub unit: String,
    /// File and line of its definition.
    pub source: String,
    /// The provenance of the facts.
    pub provenance: &'static str,
    /// The reason, where the provenance needs one.
    pub note: String,
    /// Its encodings.
    pub layouts: Vec<Layout>,
    /// Operands and modifiers.
    pub parts: Vec<Part>,
    /// The text of its meaning; empty if the specification does not define it.
    pub operation: String,
    /// The intrinsics that the meaning calls: name and description.
    pub intrinsics: Vec<(&'static str, &'static str)>,
    /// How faithful its execution is to the hardware: the class and details.
    pub fidelity: Option<(&'static str, String)>,
    /// Examples of text with the encoded words.
    pub examples: Vec<Example>,
    /// Instructions with the same stem, as indices.
    pub related: Vec<usize>,
}

/// One encoding of an instruction.
#[derive(Debug, Default)]
pub struct Layout {
    /// How it differs from the others; may be empty.
    pub name: String,
    /// Remarks on it.
    pub doc: String,
    /// Its length in bits.
    pub bits: u16,
    /// All bits, highest first.
    pub runs: Vec<Run>,
    /// How it is written.
    pub syntax: Vec<Piece>,
    /// Conditions that its fields must satisfy.
    pub conditions: Vec<String>,
}

/// Adjacent bits with the same meaning.
#[derive(Clone, Debug)]
pub struct Run {
    /// Highest bit.
    pub high: u16,
    /// Lowest bit.
    pub low: u16,
    /// Their role.
    pub role: Role,
    /// The field; empty for constant bits.
    pub name: String,
    /// The constant bits; empty for a field.
    pub digits: String,
}

/// A piece of a syntax.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The text as shown.
    pub text: String,
    /// The part that explains it, by name; empty for fixed text.
    pub part: String,
}

/// An operand or a modifier.
#[derive(Debug)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// The positions of its bits: `47..40`, with commas between pieces.
    pub bits: String,
    /// What it is for.
    pub doc: String,
    /// How the instruction accesses it: "read"; empty if it is not an operand.
    pub access: &'static str,
    /// The width of one value in bits; 0 if that does not apply.
    pub size: u16,
    /// The possible values.
    pub values: Values,
    /// The value if none is written.
    pub default: Option<u64>,
}

/// The possible values of a part.
#[derive(Debug)]
pub enum Values {
    /// Written or not, with the text.
    Flag(String),
    /// One of the named values, by index in [`Book::enums`].
    Enum(usize),
    /// One of the alternatives of a kind, by index in [`Book::kinds`].
    Kind(usize),
    /// A description in words.
    Text(String),
}

/// Named values.
#[derive(Debug)]
pub struct Names {
    /// The name of the list.
    pub name: String,
    /// The anchor on its page.
    pub slug: String,
    /// What they choose between.
    pub doc: String,
    /// Value, text, description.
    pub values: Vec<(u64, String, String)>,
    /// The default.
    pub default: Option<u64>,
}

/// A kind of operand.
#[derive(Debug)]
pub struct Kind {
    /// Its name.
    pub name: String,
    /// The anchor on its page.
    pub slug: String,
    /// A description.
    pub doc: String,
    /// Its width in bits.
    pub width: u16,
    /// Its alternatives.
    pub readings: Vec<Reading>,
}

/// An alternative of an operand.
#[derive(Debug)]
pub struct Reading {
    /// Its name.
    pub name: String,
    /// How it is written.
    pub text: String,
    /// Its bits, with a letter for each field: `11nn nnnn`.
    pub bits: String,
    /// What it means.
    pub doc: String,
    /// The possible constants: bits, text, description.
    pub constants: Vec<(u64, String, String)>,
}

/// A bank of registers.
#[derive(Debug)]
pub struct Bank {
    /// Its name.
    pub name: String,
    /// What the registers are for.
    pub doc: String,
    /// How many there are.
    pub count: u32,
    /// The width of one register in bits.
    pub width: u16,
    /// The names of the first and the last register.
    pub ends: (String, String),
}

/// A part of a group.
#[derive(Debug)]
pub struct Slot {
    /// Its name.
    pub name: String,
    /// A description of its contents.
    pub doc: String,
    /// The kind with its records.
    pub kind: usize,
    /// The operations that it may hold, as indices of entries.
    pub operations: Vec<usize>,
}

/// The opcode of an instruction.
#[derive(Clone, Debug)]
pub struct Opcode {
    /// The instruction.
    pub entry: usize,
    /// The bits that distinguish it from others, within the lowest 64.
    pub mask: u64,
    /// The value of those bits.
    pub value: u64,
}

/// Text with the words it assembles to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Assembly.
    pub text: String,
    /// Hexadecimal digits, as the decoder reads them.
    pub code: String,
    /// Its data path as SVG; empty if there is none.
    pub picture: String,
}

/// Formats constant bits as digits.
pub(super) fn digits(value: u64, width: u32) -> String {
    (0..width.min(64)).rev().map(|bit| if value >> bit & 1 == 0 { '0' } else { '1' }).collect()
}

/// Describes the values of a number of a given width in bits.
pub(super) fn range(width: u32, signed: bool) -> String {
    match (width, signed) {
        (0, _) => "0".to_owned(),
        (65.., _) => format!("a number of {width} bits"),
        (_, false) => format!("0 to {}", ones(width)),
        (_, true) => format!("−{} to {}", 1u128 << (width - 1), ones(width - 1)),
    }
}

pub(super) fn access(access: table::Access) -> &'static str {
    match access {
        table::Access::None => "",
        table::Access::Read => "read",
        table::Access::Write => "written",
        table::Access::ReadWrite => "read and written",
    }
}

pub(super) fn names(list: &table::Enum) -> Names {
    let mut values: Vec<(u64, String, String)> = Vec::new();
    for value in list.values {
        match values.last_mut().filter(|(bits, ..)| *bits == value.bits) {
            // Further spellings that the assembler accepts.
            Some((_, text, _)) => *text = format!("{text}, {}", value.text),
            None => values.push((value.bits, value.text.to_owned(), value.doc.to_owned())),
        }
    }
    Names { name: list.name.to_owned(), slug: String::new(), doc: list.doc.to_owned(), values, default: list.default }
}

/// Sorts runs, highest first, and fills gaps with ignored bits.
pub(super) fn complete(mut runs: Vec<Run>, bits: u16) -> Vec<Run> {
    runs.sort_by_key(|run| std::cmp::Reverse(run.high));
    let mut all: Vec<Run> = Vec::new();
    let mut next = bits;
    let hole = |high: u16, low: u16| Run { high, low, role: Role::Ignored, name: String::new(), digits: String::new() };
    for run in runs {
        if run.high >= next {
            // Bits that operands share are already included.
            continue;
        }
        if run.high + 1 < next {
            all.push(hole(next - 1, run.high + 1));
        }
        next = run.low;
        all.push(run);
    }
    if next > 0 {
        all.push(hole(next - 1, 0));
    }
    all
}
