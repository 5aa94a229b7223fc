//! Statistics on whole programs.

use std::collections::BTreeSet;

use arrow_array::StringViewArray;
use isaforge_analysis::{Graph, Liveness, Program, Register};
use isaforge_core::Tables;
use isaforge_core::group::info::operations;
use isaforge_core::group::listing::pieces;
use isaforge_core::print::Style;
use isaforge_core::stream::listing::parts;
use isaforge_core::{group, program, stream};

use crate::set::{CHUNK, INVALID, Set};
use crate::views::{MixedViews, Name};

/// Calls `each` with the valid words of a program and their opcodes.
fn instructions(set: &Set, code: &[u8], mut each: impl FnMut(u64, u16)) {
    let mut opcodes = [INVALID; CHUNK];
    set.words(code, |words| {
        set.opcodes(words, &mut opcodes[..words.len()]);
        for (word, opcode) in words.iter().zip(opcodes) {
            if opcode != INVALID {
                each(u64::from_le_bytes(*word), opcode);
            }
        }
    });
}

/// The number of instructions in a program, including invalid ones.
pub fn length(set: &Set, code: &[u8]) -> usize {
    match set.tables() {
        Tables::Words(_) => code.len().div_ceil(set.tables().unit().clamp(1, 8)),
        Tables::Groups(isa) => pieces(isa, code, &[]).count(),
        Tables::Streams(engine) => parts(engine, code).count(),
    }
}

/// The number of invalid instructions in a program.
pub fn invalid(set: &Set, code: &[u8]) -> usize {
    match set.tables() {
        Tables::Words(_) => {
            let mut invalid = length(set, code);
            instructions(set, code, |_, _| invalid -= 1);
            invalid
        }
        Tables::Groups(isa) => pieces(isa, code, &[]).filter(|piece| piece.group.is_err()).count(),
        Tables::Streams(engine) => parts(engine, code).filter(|part| part.decoded.is_err()).count(),
    }
}

/// Calls `each` with the form of every instruction; if instructions are groups, with those of all operations.
pub fn forms(set: &Set, code: &[u8], mut each: impl FnMut(usize)) {
    match set.tables() {
        Tables::Words(_) => instructions(set, code, |_, form| each(form.into())),
        Tables::Groups(isa) => {
            for group in pieces(isa, code, &[]).filter_map(|piece| piece.group.ok()) {
                operations(isa, &group).for_each(|(_, form, _)| each(form));
            }
        }
        Tables::Streams(engine) => {
            for decoded in parts(engine, code).filter_map(|part| part.decoded.ok()) {
                if engine.stream.sequence.is_none() {
                    each(engine.scope(&decoded).layout.opcode.into());
                }
            }
        }
    }
}

/// The instructions that [`count`] counts: those of a form with certain modifiers.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    forms: Vec<bool>,
    modifiers: Vec<String>,
    /// For sets of words, the modifier values that are wanted.
    names: Vec<Name>,
}

impl Wanted {
    /// Instructions with this name and at least these modifiers. `None` if the set has no such form.
    pub fn new(set: &Set, form: &str, modifiers: &[&str]) -> Option<Wanted> {
        let forms: Vec<bool> = set.forms.iter().map(|known| known.name == form).collect();
        let known = |wanted: &&str| {
            let values = set.plans.iter().flat_map(|plan| &plan.modifiers);
            let at = |modifier: &crate::plan::ModifierPlan| modifier.texts.iter().position(|text| text == wanted);
            values.filter_map(|modifier| Some(modifier.values[at(modifier)?].0)).next()
        };
        let names = modifiers.iter().filter_map(known).collect();
        let modifiers = modifiers.iter().map(|text| (*text).to_owned()).collect();
        forms.contains(&true).then_some(Wanted { forms, modifiers, names })
    }

    fn takes(&self, form: usize) -> bool {
        self.forms.get(form).is_some_and(|wanted| *wanted)
    }
}

/// The texts of all modifiers of a set; `None` if they are not known without instructions.
pub fn modifiers(set: &Set) -> Option<impl Iterator<Item = &str>> {
    let texts = set.plans.iter().flat_map(|plan| &plan.modifiers).flat_map(|modifier| &modifier.texts);
    matches!(set.tables(), Tables::Words(_)).then_some(texts.map(|text| &**text))
}

/// The number of wanted instructions in a program.
pub fn count(set: &Set, code: &[u8], wanted: &Wanted) -> u64 {
    let mut count = 0;
    if wanted.modifiers.is_empty() {
        forms(set, code, |form| count += u64::from(wanted.takes(form)));
        return count;
    }
    if let Tables::Words(_) = set.tables() {
        // No instruction has a modifier that the set does not have.
        if wanted.names.len() < wanted.modifiers.len() {
            return 0;
        }
        instructions(set, code, |word, opcode| {
            let has = |name: &Name| {
                let modifiers = &set.plans[usize::from(opcode)].modifiers;
                modifiers.iter().filter_map(|modifier| modifier.of(word)).any(|(_, found)| found == *name)
            };
            count += u64::from(wanted.takes(opcode.into()) && wanted.names.iter().all(has));
        });
        return count;
    }
    let program = Program::read(&set.analysis, code);
    let instructions = program.entries.iter().filter_map(|entry| entry.instruction.as_ref().ok());
    let is_wanted = |found: &&isaforge_analysis::Instruction| {
        let form = set.forms.iter().position(|form| form.name == found.mnemonic);
        let has = |wanted: &String| found.modifiers.iter().any(|modifier| modifier.text == *wanted);
        form.is_some_and(|form| wanted.takes(form)) && wanted.modifiers.iter().all(has)
    };
    instructions.filter(is_wanted).count() as u64
}

/// Counts instructions by form. Its memory is reused between programs.
#[derive(Debug)]
pub struct Histogram {
    /// The count of each form; 0 between programs.
    counts: Vec<u64>,
    /// A flag for each form, in blocks of eight: 1 if it occurs. Programs use few of a set's forms.
    seen: Vec<[u8; 8]>,
}

impl Histogram {
    /// A histogram for programs of a set.
    pub fn new(set: &Set) -> Histogram {
        Histogram { counts: vec![0; set.forms.len()], seen: vec![[0; 8]; set.forms.len().div_ceil(8)] }
    }

    /// Calls `each` with every form that occurs in a program, in index order, and its count.
    pub fn count(&mut self, set: &Set, code: &[u8], mut each: impl FnMut(usize, u64)) {
        let Histogram { counts, seen } = self;
        let flags = seen.as_flattened_mut();
        forms(set, code, |form| {
            counts[form] += 1;
            flags[form] = 1;
        });
        for (index, eight) in seen.iter_mut().enumerate() {
            let mut flags = u64::from_le_bytes(std::mem::take(eight));
            while flags != 0 {
                let form = 8 * index + flags.trailing_zeros() as usize / 8;
                each(form, std::mem::take(&mut counts[form]));
                flags &= flags - 1;
            }
        }
    }
}

/// A column of form names, which may come from several sets.
#[derive(Debug, Default)]
pub struct FormNames(MixedViews);

impl FormNames {
    /// Appends the name of the form with this opcode.
    ///
    /// # Panics
    /// If the set has no such form.
    #[inline]
    pub fn push(&mut self, set: &Set, form: usize) {
        self.0.push(set.forms[form].view, &set.texts);
    }

    /// Builds the column.
    pub fn finish(self) -> StringViewArray {
        self.0.finish()
    }
}

/// Calls `each` for every occurrence of a modifier: form, index of the modifier as in [`crate::forms::variants_of`],
/// and value.
pub fn variants(set: &Set, code: &[u8], mut each: impl FnMut(u16, usize, u64)) {
    instructions(set, code, |word, opcode| {
        for (index, modifier) in set.plans[usize::from(opcode)].modifiers.iter().enumerate() {
            each(opcode, index, modifier.bits.get(word, 0));
        }
    });
}

/// The registers that a program reads or writes, by bank and index.
pub fn registers(set: &Set, code: &[u8]) -> BTreeSet<Register> {
    let mut found = BTreeSet::new();
    if let Tables::Words(_) = set.tables() {
        instructions(set, code, |word, opcode| {
            let plan = &set.plans[usize::from(opcode)];
            for operands in [&plan.reads, &plan.writes] {
                found.extend(operands.each(&set.registers, word).map(|register| set.registers.all[register]));
            }
        });
        return found;
    }
    let program = Program::read(&set.analysis, code);
    for instruction in program.entries.iter().filter_map(|entry| entry.instruction.as_ref().ok()) {
        found.extend(instruction.reads.iter().copied());
        found.extend(instruction.writes.iter().map(|(register, _)| *register));
    }
    found
}

/// The maximum number of registers that are live before an instruction that can be reached, in banks that the program
/// writes.
pub fn pressure(set: &Set, code: &[u8]) -> usize {
    let program = Program::read(&set.analysis, code);
    let graph = Graph::new(&program);
    let live = Liveness::new(&program, &graph);
    let reachable = (0..program.entries.len()).filter(|entry| graph.is_reachable(*entry));
    reachable.map(|entry| live.pressure(entry)).max().unwrap_or(0)
}

/// The text of a program, as printed by `isaforge dis`.
pub fn text(set: &Set, code: &[u8]) -> String {
    let mut out = String::new();
    match set.tables() {
        Tables::Words(isa) => {
            let mut all = Vec::new();
            set.words(code, |words| all.extend(words.iter().map(|word| u64::from_le_bytes(*word))));
            // Writing to a string cannot fail.
            let _ = program::disassemble(isa, &all, Style::Customary, &mut out);
        }
        Tables::Groups(isa) => out = group::listing::disassemble(isa, code),
        Tables::Streams(engine) => match engine.stream.sequence {
            Some(sequence) => out = sequence.disassemble(code).unwrap_or_else(|error| format!("# {error}")),
            None => {
                stream::listing::disassemble(engine, code, &mut out);
            }
        },
    }
    out
}
