//! What the manual says, as data: the same for words, groups and streams, so that pages have one shape.
//!
//! `words`, `groups` and `streams` read their tables; the facts of an example word come from
//! [`isaforge_core::explain`], as those of `isaforge explain` do.

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
    /// Kinds of operands, and what slots of a group hold.
    pub kinds: Vec<Kind>,
    /// Register banks.
    pub banks: Vec<Bank>,
    /// The parts of a group in the order of their bytes; empty unless instructions are groups.
    pub slots: Vec<Slot>,
    /// The opcode bits of each instruction, if they are at one place in most.
    pub opcodes: Vec<Opcode>,
}

/// An instruction.
#[derive(Debug, Default)]
pub struct Entry {
    /// The file name of its page, without `.html`.
    pub slug: String,
    /// Its mnemonic.
    pub name: String,
    /// A few words on it.
    pub title: String,
    /// What it does.
    pub doc: String,
    /// The unit that executes it, or the part of a group that it stands in.
    pub unit: String,
    /// File and line of the specification.
    pub source: String,
    /// What the facts rest on.
    pub provenance: &'static str,
    /// Why, where that needs a reason.
    pub note: String,
    /// Its encodings.
    pub layouts: Vec<Layout>,
    /// Operands and modifiers.
    pub parts: Vec<Part>,
    /// The text of its meaning; empty where the specification does not say it.
    pub operation: String,
    /// The functions that the meaning calls and no expression defines: name, description.
    pub intrinsics: Vec<(&'static str, &'static str)>,
    /// How true its execution is to the hardware: the class, and details.
    pub fidelity: Option<(&'static str, String)>,
    /// Text and its words.
    pub examples: Vec<Example>,
    /// Instructions with the same stem, as indices.
    pub related: Vec<usize>,
}

/// One encoding of an instruction.
#[derive(Debug, Default)]
pub struct Layout {
    /// What tells it from the others; may be empty.
    pub name: String,
    /// Remarks on it.
    pub doc: String,
    /// Its length in bits.
    pub bits: u16,
    /// All bits, the highest first.
    pub runs: Vec<Run>,
    /// How it is written.
    pub syntax: Vec<Piece>,
    /// Conditions that its fields must meet.
    pub conditions: Vec<String>,
}

/// Adjacent bits of one meaning.
#[derive(Clone, Debug)]
pub struct Run {
    /// Highest bit.
    pub high: u16,
    /// Lowest bit.
    pub low: u16,
    /// What they are.
    pub role: Role,
    /// The field; empty for constant bits.
    pub name: String,
    /// The constant bits; empty for a field.
    pub digits: String,
}

/// A piece of a syntax.
#[derive(Clone, Debug)]
pub struct Piece {
    /// As it is shown.
    pub text: String,
    /// The part that explains it, by name; empty for fixed text.
    pub part: String,
}

/// An operand or a modifier.
#[derive(Debug)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// Where its bits are: `47..40`, with commas between pieces.
    pub bits: String,
    /// What it is for.
    pub doc: String,
    /// What the instruction does with it: "read"; empty for what is no operand.
    pub access: &'static str,
    /// Bits of one value; 0 if that is no question.
    pub size: u16,
    /// What it may be.
    pub values: Values,
    /// The value that is meant when none is written.
    pub default: Option<u64>,
}

/// What a part may be.
#[derive(Debug)]
pub enum Values {
    /// Written or not.
    Flag(String),
    /// Names of [`Book::enums`].
    Enum(usize),
    /// A kind of [`Book::kinds`].
    Kind(usize),
    /// Something that words say.
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
    /// Bits, text, description.
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
    /// What it is.
    pub doc: String,
    /// Bits it takes.
    pub width: u16,
    /// What it can be.
    pub readings: Vec<Reading>,
}

/// One thing that an operand can be.
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
    /// Constants it can be: bits, text, description.
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
    /// Bits in one.
    pub width: u16,
    /// The first and the last, as they are written.
    pub ends: (String, String),
}

/// A part of a group.
#[derive(Debug)]
pub struct Slot {
    /// Its name.
    pub name: String,
    /// What stands there.
    pub doc: String,
    /// The kind with its records.
    pub kind: usize,
    /// The operations that may stand there, as indices of entries.
    pub operations: Vec<usize>,
}

/// Where an instruction is among the opcodes.
#[derive(Clone, Debug)]
pub struct Opcode {
    /// The instruction.
    pub entry: usize,
    /// Bits that tell it from others, the lowest 64.
    pub mask: u64,
    /// What they are.
    pub value: u64,
}

/// Text with its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Assembly.
    pub text: String,
    /// In hexadecimal digits, as the decoder reads them.
    pub code: String,
    /// Its data path as SVG; empty where there is none.
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

    /// Drops the instructions that the generation at hand does not have.
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

/// The part of a name that related instructions share: up to the first dot, or without a type at the end.
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

/// A name for files and anchors that nothing else has: letters, digits and hyphens.
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

/// Bits as text: `47..40, 3`.
fn places(runs: impl IntoIterator<Item = (u16, u16)>) -> String {
    let text = |(high, low): (u16, u16)| if high == low { low.to_string() } else { format!("{high}..{low}") };
    runs.into_iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Constant bits as digits.
fn digits(value: u64, width: u32) -> String {
    (0..width.min(64)).rev().map(|bit| if value >> bit & 1 == 0 { '0' } else { '1' }).collect()
}

/// The values that a number of a width in bits can have.
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
            // Other words that the assembler reads.
            Some((_, text, _)) => *text = format!("{text}, {}", value.text),
            None => values.push((value.bits, value.text.to_owned(), value.doc.to_owned())),
        }
    }
    Names { name: list.name.to_owned(), slug: String::new(), doc: list.doc.to_owned(), values, default: list.default }
}

/// Puts runs in order, the highest first, and fills holes with bits of no meaning.
fn complete(mut runs: Vec<Run>, bits: u16) -> Vec<Run> {
    runs.sort_by_key(|run| std::cmp::Reverse(run.high));
    let mut all: Vec<Run> = Vec::new();
    let mut next = bits;
    let hole = |high: u16, low: u16| Run { high, low, role: Role::Ignored, name: String::new(), digits: String::new() };
    for run in runs {
        if run.high >= next {
            // Bits that operands share are already there.
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
