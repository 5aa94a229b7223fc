//! The instructions of a set: what each is for, the operands and states that it reads and writes, and how well it is
//! known.

mod operands;

use isaforge_core::Tables;
use isaforge_core::group::GroupIsa;
use isaforge_core::semantics::facts::Fidelity;
use isaforge_core::stream::Engine;
use isaforge_core::table::{Access, Isa};

use crate::access::implied;
use crate::set::Set;
use operands::operands;

/// An instruction of a set, or an operation of a set whose instructions are groups.
#[derive(Clone, Debug, Default)]
pub struct Listed {
    /// Its opcode: its index in the tables.
    pub opcode: usize,
    /// Its mnemonic.
    pub mnemonic: &'static str,
    /// A short description.
    pub title: &'static str,
    /// The description in the specification.
    pub doc: &'static str,
    /// The unit that executes it, or the slots and the part of a group that it may be in.
    pub unit: String,
    /// The operands that it reads, then what it reads without an operand.
    pub reads: Vec<String>,
    /// The operands that it writes, then what it writes without an operand.
    pub writes: Vec<String>,
    /// Its meaning in the language of specifications; empty if it is not defined.
    pub does: &'static str,
    /// The intrinsics that it calls.
    pub intrinsics: Vec<&'static str>,
    /// How closely it matches the hardware, if the specification says so.
    pub fidelity: Option<&'static Fidelity>,
    /// File and line of its definition.
    pub source: &'static str,
}

impl Listed {
    /// Whether all of these lower-case words appear in its mnemonic, title, description or another column.
    pub fn has(&self, words: &[String]) -> bool {
        let texts = [self.mnemonic, self.title, self.doc, &self.unit, self.class().unwrap_or_default()];
        let texts = texts.into_iter().chain(self.reads.iter().chain(&self.writes).map(String::as_str));
        let text = texts.collect::<Vec<_>>().join("\n").to_lowercase();
        words.iter().all(|word| text.contains(word))
    }

    /// Whether all of these lower-case words appear in its mnemonic, title, description or operation, or others with
    /// their beginning, as `reversal` has for `reverse`.
    pub fn resembles(&self, words: &[String]) -> bool {
        let text = [self.mnemonic, self.title, self.doc, self.does, &self.intrinsics.join(" ")];
        let text = text.join("\n").to_lowercase();
        let is_like = |word: &str, known: &str| {
            let same = word.bytes().zip(known.bytes()).take_while(|(a, b)| a == b).count();
            same >= STEM && same + ENDING >= word.len().min(known.len())
        };
        let mut known = text.split(|c: char| !c.is_alphanumeric()).collect::<Vec<_>>();
        known.dedup();
        words.iter().all(|word| text.contains(word) || known.iter().any(|known| is_like(word, known)))
    }

    /// The class of its fidelity.
    pub fn class(&self) -> Option<&'static str> {
        self.fidelity.map(|fidelity| fidelity.class.name())
    }
}

/// The least number of letters that words of one stem share.
const STEM: usize = 5;
/// The number of letters that the ending of the shorter one may have.
const ENDING: usize = 2;

/// Those of some instructions that have all of these lower-case words or, if there are none, words like them.
pub fn filtered(all: Vec<Listed>, words: &[String]) -> Vec<Listed> {
    let (found, others): (Vec<Listed>, Vec<Listed>) = all.into_iter().partition(|one| one.has(words));
    if found.is_empty() { others.into_iter().filter(|one| one.resembles(words)).collect() } else { found }
}

/// The instructions of a set, in the order of its tables; of a stream, those that exist in its generation.
pub fn list(set: &Set) -> Vec<Listed> {
    let mut all = match set.tables {
        Tables::Words(isa) => of_words(isa),
        Tables::Groups(isa) => of_groups(set, isa),
        Tables::Streams(engine) => of_streams(engine),
    };
    for one in &mut all {
        for (names, write) in [(&mut one.reads, false), (&mut one.writes, true)] {
            for found in implied(set, one.opcode, write) {
                if !names.contains(&found.name) {
                    names.push(found.name);
                }
            }
        }
        let Some(semantics) = set.semantics else { continue };
        one.fidelity = u16::try_from(one.opcode).ok().and_then(|opcode| semantics.fidelity_of(opcode));
        if let Some(operation) = semantics.operations.get(one.opcode) {
            let called = operation.intrinsics.iter().filter_map(|i| semantics.intrinsics.get(usize::from(*i)));
            (one.does, one.intrinsics) = (operation.text, called.map(|intrinsic| intrinsic.name).collect());
        }
    }
    all
}

/// The instructions whose mnemonic contains a text or, if there are none, those in whose columns
/// all of its words are, or words like them.
pub fn search(set: &Set, what: &str) -> Vec<Listed> {
    let what = what.to_lowercase();
    let words: Vec<String> = what.split_whitespace().map(str::to_owned).collect();
    let (named, others): (Vec<Listed>, Vec<Listed>) =
        list(set).into_iter().partition(|one| one.mnemonic.to_lowercase().contains(&what));
    let mut found = if named.is_empty() { filtered(others, &words) } else { named };
    // For `FMA`: `FMA.f32` before `FMA_RSCALE.f32`, and both before mnemonics that only contain it.
    let after = |one: &Listed| one.mnemonic.to_lowercase().strip_prefix(&what).map(|rest| !rest.starts_with('.'));
    found.sort_by_key(|one| (after(one).is_none(), after(one)));
    if what.is_empty() { Vec::new() } else { found }
}

fn is_used(access: Access, wanted: Access) -> bool {
    access == wanted || access == Access::ReadWrite
}

fn of_words(isa: &'static Isa) -> Vec<Listed> {
    let one = |(opcode, form): (usize, &'static isaforge_core::table::Form)| {
        let operands = |wanted: Access| {
            let used = form.operands.iter().filter(move |operand| is_used(operand.access, wanted));
            used.map(|operand| operand.name.to_owned()).collect()
        };
        Listed {
            opcode,
            mnemonic: form.name.str,
            title: form.title,
            doc: form.doc,
            unit: form.unit.to_owned(),
            reads: operands(Access::Read),
            writes: operands(Access::Write),
            source: form.source,
            ..Listed::default()
        }
    };
    isa.forms.iter().enumerate().map(one).collect()
}

fn of_groups(set: &Set, isa: &'static GroupIsa) -> Vec<Listed> {
    let one = |(opcode, operation): (usize, &'static isaforge_core::group::table::Operation)| {
        let slots = isa.order.iter().filter(|slot| operation.slots >> **slot & 1 != 0).map(|slot| usize::from(*slot));
        let slots: Vec<usize> = slots.collect();
        let names = slots.iter().filter_map(|slot| Some(isa.slots.get(*slot)?.name)).collect::<Vec<_>>().join("/");
        let known = set.semantics.and_then(|semantics| semantics.operations.get(opcode));
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for used in operands(isa, operation, &slots, known.map_or(&[][..], |known| known.nodes)) {
            let list = if used.writes { &mut writes } else { &mut reads };
            if !list.contains(&used.name) {
                list.push(used.name);
            }
        }
        Listed {
            opcode,
            mnemonic: operation.name,
            title: first_sentence(operation.doc),
            doc: operation.doc,
            unit: [names.as_str(), operation.part].join(" ").trim().to_owned(),
            reads,
            writes,
            source: operation.source,
            ..Listed::default()
        }
    };
    isa.operations.iter().enumerate().map(one).collect()
}

fn of_streams(engine: Engine) -> Vec<Listed> {
    let layouts = engine.stream.layouts_of(0);
    let one = |(opcode, known): (usize, &'static isaforge_core::stream::Instruction)| {
        let mut own = layouts.iter().filter(|layout| usize::from(layout.opcode) == opcode);
        // Sequences of operands have no layout.
        let own = own.find(|layout| engine.has(layout));
        let operands = |wanted: Access| {
            let all = own.into_iter().flat_map(|layout| layout.operands.iter().map(move |operand| (layout, operand)));
            let used = all.filter(|(_, operand)| is_used(operand.access, wanted));
            used.filter_map(|(layout, operand)| Some(layout.fields.get(usize::from(operand.field))?.name.to_owned()))
                .collect()
        };
        Listed {
            opcode,
            mnemonic: known.name,
            title: known.title,
            doc: known.doc,
            unit: known.unit.to_owned(),
            reads: operands(Access::Read),
            writes: operands(Access::Write),
            source: known.source,
            ..Listed::default()
        }
    };
    let all = engine.stream.instructions.iter().enumerate();
    all.filter(|(opcode, _)| exists(engine, *opcode)).map(one).collect()
}

/// Whether an instruction of a stream, given by its opcode, exists in the engine's generation.
pub fn exists(engine: Engine, opcode: usize) -> bool {
    let mut own = engine.stream.layouts_of(0).iter().filter(|layout| usize::from(layout.opcode) == opcode).peekable();
    // Sequences of operands have no layout.
    own.peek().is_none() || own.any(|layout| engine.has(layout))
}

/// The first sentence of a description, without its full stop.
pub fn first_sentence(doc: &'static str) -> &'static str {
    doc.split_once(". ").map_or(doc, |(first, _)| first).trim_end_matches('.')
}
