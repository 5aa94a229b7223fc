//! Examples of instructions, by mnemonic: their bytes, and branches to a label.

use isaforge_analysis::Set;
use isaforge_analysis::entry::entries;
use isaforge_core::Tables;
use isaforge_core::explain::{groups, streams, words};
use isaforge_core::parse::find_name;
use isaforge_core::stream::{Engine, Layout};

use crate::words::word_bytes;

/// The bytes of an example of an instruction, by mnemonic.
pub fn example(tables: Tables, name: &str) -> Option<Vec<u8>> {
    match tables {
        Tables::Words(isa) => {
            let word = words::example(isa, find_name(isa, name.as_bytes())?);
            Some(word.to_le_bytes()[..word_bytes(isa)].to_vec())
        }
        Tables::Groups(isa) => {
            let operation = isa.operations.iter().find(|operation| operation.name.eq_ignore_ascii_case(name))?;
            Some(groups::example(isa, operation)?.as_bytes().to_vec())
        }
        Tables::Streams(engine) => {
            let layout = layout_of(engine, name)?;
            let bytes = engine.store(streams::example(engine, layout));
            let len = engine.decode(&bytes).ok()?.len;
            Some(bytes[..usize::from(len)].to_vec())
        }
    }
}

/// The layout of an instruction or alias in the engine's generation, by mnemonic.
pub fn layout_of(engine: Engine, name: &str) -> Option<&'static Layout> {
    let mut all = engine.stream.layouts_of(0).iter();
    all.find(|layout| layout.name == name && (layout.since..=layout.until).contains(&engine.generation))
}

/// The label of the examples.
pub const LABEL: &str = "loop";

/// The assembly of a branch to [`LABEL`], if the example of this instruction is a branch.
pub fn to_label(tables: Tables, name: &str) -> Option<String> {
    let set = Set::new(tables, None, None);
    let bytes = example(tables, name)?;
    let instruction = entries(&set, &bytes).next()?.instruction.ok()?;
    instruction.flow.target?;
    let text = instruction.text;
    let is_between = |c: char| matches!(c, ' ' | ',');
    let labelled = |(start, part): (usize, &str)| {
        let branch = format!("{}{LABEL}{}", &text[..start], &text[start + part.len()..]);
        let assembly = tables.assemble(&format!("{LABEL}:\n{branch}\n"));
        let leads = entries(&set, &assembly.bytes).next()?.target() == Some(0);
        (assembly.errors.is_empty() && leads).then_some(branch)
    };
    // A label replaces a number, which is usually the last operand.
    let parts = text.split(is_between).scan(0, |at, part| {
        let start = *at;
        *at += part.len() + 1;
        Some((start, part))
    });
    let parts: Vec<(usize, &str)> = parts.filter(|(_, part)| !part.is_empty()).skip(1).collect();
    parts.into_iter().rev().find_map(labelled)
}

/// The first branch of a set, to [`LABEL`].
pub fn first_branch(tables: Tables) -> Option<String> {
    let mut names: Box<dyn Iterator<Item = &str>> = match tables {
        Tables::Words(isa) => Box::new(isa.forms.iter().map(|form| form.name.str)),
        Tables::Groups(isa) => Box::new(isa.operations.iter().map(|operation| operation.name)),
        Tables::Streams(engine) => Box::new(engine.stream.instructions.iter().map(|instruction| instruction.name)),
    };
    names.find_map(|name| to_label(tables, name))
}

/// The remark on an example of an instruction.
pub fn remark(tables: Tables, name: &str) -> String {
    let label = to_label(tables, name).map_or(String::new(), |branch| format!("; with a label: {branch}"));
    format!("an example of it{label}")
}
