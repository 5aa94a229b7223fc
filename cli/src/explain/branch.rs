//! Branches to labels, as examples.

use isaforge_analysis::Set;
use isaforge_analysis::entry::entries;
use isaforge_core::Tables;

use super::objects::example;

/// The label of the examples.
pub const LABEL: &str = "loop";

/// The assembly of a branch to [`LABEL`], if the example of this instruction is a branch.
pub fn to_label(tables: Tables, name: &str) -> Option<String> {
    let set = Set::new(tables, None);
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
pub fn first(tables: Tables) -> Option<String> {
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
