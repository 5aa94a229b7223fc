//! The contents of the manual as data, which is the same for words, groups and streams, so that all pages have the same
//! structure.
//!
//! `words`, `groups` and `streams` read their tables. The facts of an example word come from
//! [`isaforge_core::explain`], as in `isaforge explain`.

mod groups;
mod streams;
mod words;

use std::collections::BTreeSet;

use isaforge_core::Tables;
use isaforge_core::annotate::Role;
use isaforge_core::bits::ones;
use isaforge_core::table;

use super::Subject;

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

impl Book {
    /// Reads the tables of a subject.
    pub fn new(subject: &Subject) -> Book {
        let mut book = match subject.tables {
            Tables::Words(isa) => words::book(isa),
            Tables::Groups(isa) => groups::book(isa, subject.semantics),
            Tables::Streams(engine) => streams::book(engine),
        };
        book.add_meanings(subject);
        if let Tables::Streams(_) = subject.tables {
            book.drop_absent();
        }
        book.name_pages();
        book.relate();
        book
    }

    /// Drops the instructions that do not exist in the generation.
    fn drop_absent(&mut self) {
        let mut kept = 0..;
        let places: Vec<Option<usize>> =
            self.entries.iter().map(|entry| if entry.layouts.is_empty() { None } else { kept.next() }).collect();
        self.entries.retain(|entry| !entry.layouts.is_empty());
        self.opcodes.retain_mut(|opcode| match places.get(opcode.entry).copied().flatten() {
            Some(entry) => {
                opcode.entry = entry;
                true
            }
            None => false,
        });
    }

    fn add_meanings(&mut self, subject: &Subject) {
        let Some(semantics) = subject.semantics else { return };
        for (entry, operation) in self.entries.iter_mut().zip(semantics.operations) {
            entry.operation = operation.text.trim().to_owned();
            let used = operation.intrinsics.iter().filter_map(|index| semantics.intrinsics.get(usize::from(*index)));
            entry.intrinsics = used.map(|intrinsic| (intrinsic.name, intrinsic.doc)).collect();
        }
        for fact in semantics.fidelity {
            let text = [fact.detail, fact.evidence, fact.note].into_iter().filter(|text| !text.is_empty());
            let text = text.collect::<Vec<_>>().join("; ");
            for opcode in fact.instructions {
                if let Some(entry) = self.entries.get_mut(usize::from(*opcode)) {
                    entry.fidelity = Some((fact.class.name(), text.clone()));
                }
            }
        }
    }

    fn name_pages(&mut self) {
        let mut used = BTreeSet::new();
        for entry in &mut self.entries {
            entry.slug = unique(&entry.name, &mut used);
        }
        let mut used = BTreeSet::new();
        self.enums.iter_mut().for_each(|names| names.slug = unique(&names.name, &mut used));
        let mut used = BTreeSet::new();
        self.kinds.iter_mut().for_each(|kind| kind.slug = unique(&kind.name, &mut used));
    }

    fn relate(&mut self) {
        let stems: Vec<String> = self.entries.iter().map(|entry| stem(&entry.name)).collect();
        for (index, entry) in self.entries.iter_mut().enumerate() {
            let same = stems.iter().enumerate().filter(|(other, found)| *other != index && **found == stems[index]);
            entry.related = same.map(|(other, _)| other).take(24).collect();
        }
    }
}

/// The part of a name that related instructions share: up to the first dot, without a trailing type.
fn stem(name: &str) -> String {
    let name = name.to_lowercase();
    let first = name.split_once('.').map_or(name.as_str(), |(first, _)| first);
    let parts: Vec<&str> = first.split('_').collect();
    match parts.as_slice() {
        [first, second, _, ..] if first.len() <= 2 => format!("{first}_{second}"),
        [first, ..] => (*first).to_owned(),
        [] => String::new(),
    }
}

/// A unique name for files and anchors, made of letters, digits, underscores and hyphens.
fn unique(name: &str, used: &mut BTreeSet<String>) -> String {
    let mut slug = String::new();
    for c in name.to_lowercase().chars() {
        match c {
            'a'..='z' | '0'..='9' | '_' => slug.push(c),
            _ if slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    let base = match slug.trim_matches('-') {
        "" => "x".to_owned(),
        slug => slug.chars().take(80).collect(),
    };
    let mut slug = base.clone();
    for number in 2.. {
        if used.insert(slug.clone()) {
            break;
        }
        slug = format!("{base}-{number}");
    }
    slug
}

/// Formats constant bits as digits.
fn digits(value: u64, width: u32) -> String {
    (0..width.min(64)).rev().map(|bit| if value >> bit & 1 == 0 { '0' } else { '1' }).collect()
}

/// Describes the values of a number of a given width in bits.
fn range(width: u32, signed: bool) -> String {
    match (width, signed) {
        (0, _) => "0".to_owned(),
        (65.., _) => format!("a number of {width} bits"),
        (_, false) => format!("0 to {}", ones(width)),
        (_, true) => format!("−{} to {}", 1u128 << (width - 1), ones(width - 1)),
    }
}

fn access(access: table::Access) -> &'static str {
    match access {
        table::Access::None => "",
        table::Access::Read => "read",
        table::Access::Write => "written",
        table::Access::ReadWrite => "read and written",
    }
}

fn names(list: &table::Enum) -> Names {
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
fn complete(mut runs: Vec<Run>, bits: u16) -> Vec<Run> {
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
