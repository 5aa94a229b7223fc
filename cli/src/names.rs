//! The names that a set defines: its instructions, their fields, its enums, and how it writes registers.

use isaforge_analysis::fields::fields;
use isaforge_analysis::list::{exists, first_sentence};
use isaforge_core::Tables;
use isaforge_core::explain::words::affixes;
use isaforge_core::table::Enum;

use crate::example::example;

/// The mnemonics and titles of all instructions.
pub fn instructions(tables: Tables) -> Vec<(&'static str, &'static str)> {
    match tables {
        Tables::Words(isa) => isa.forms.iter().map(|form| (form.name.str, form.title)).collect(),
        Tables::Groups(isa) => isa.operations.iter().map(|found| (found.name, first_sentence(found.doc))).collect(),
        Tables::Streams(engine) => {
            let all = engine.stream.instructions.iter().enumerate();
            all.filter(|(index, _)| exists(engine, *index)).map(|(_, found)| (found.name, found.title)).collect()
        }
    }
}

/// The names of the fields of an instruction. Bits without a choice are not listed.
pub fn field_names(tables: Tables, instruction: &str) -> Option<Vec<String>> {
    let names = fields(tables, &example(tables, instruction)?).into_iter().map(|field| field.name);
    let fixed = |name: &String| ["opcode", "constant", "reserved", "ignored"].iter().any(|bits| name.ends_with(bits));
    Some(names.filter(|name| !fixed(name)).collect())
}

/// The enums of a set.
pub fn enums(tables: Tables) -> Vec<Enum> {
    match tables {
        Tables::Words(isa) => isa.enums.to_vec(),
        Tables::Groups(isa) => isa.enums.to_vec(),
        Tables::Streams(engine) => isaforge_core::explain::streams::enums(engine).map(|(_, found)| found).collect(),
    }
}

/// The text before and after the number of a register of the first bank.
pub fn affixes_of(tables: Tables) -> (&'static str, &'static str) {
    let affixes = match tables {
        Tables::Words(isa) => affixes(isa, 0),
        Tables::Groups(_) => None,
        Tables::Streams(engine) => engine.stream.banks.first().map(|bank| (bank.open, bank.close)),
    };
    affixes.unwrap_or(("", ""))
}
