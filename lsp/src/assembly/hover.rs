//! The description of an instruction and the meaning of its bits.

use std::fmt::Write;

use isaforge_analysis::fields::fields;
use isaforge_analysis::{Instruction, Register, Set};
use isaforge_core::Tables;
use isaforge_core::assembly::Placed;
use isaforge_core::bits::word_of;
use isaforge_core::decode::decode;
use isaforge_core::explain::words as explained;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

use super::Source;
use super::complete::{Offer, mnemonics};
use super::names::label_at;
use super::words::hexadecimal;
use crate::text::run_at;

/// The hover text at a position.
pub fn hover(source: &Source, position: Position) -> Option<Hover> {
    let line = position.line as usize;
    let code = source.code(line);
    let byte = source.text.byte(position);
    if byte > code.len() {
        return None;
    }
    let (text, range) = match label_at(source, position) {
        Some((label, range)) => (of_label(source, &label)?, range),
        None => match source.at_line(line) {
            Some((placed, instruction)) => {
                let start = code.len() - code.trim_start().len();
                (of_instruction(source, placed, instruction), start..code.trim_end().len())
            }
            None => {
                let range = run_at(code, byte, |c| super::is_word(c) || c == '.');
                (of_name(&source.set, code.get(range.clone())?)?, range)
            }
        },
    };
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text });
    Some(Hover { contents, range: Some(source.text.range(line, range)) })
}

fn of_label(source: &Source, name: &str) -> Option<String> {
    let (at, label) = source.assembly.addresses().find(|(_, label)| label.name == name)?;
    Some(format!("label `{name}`: line {}, address `{at:#x}`", label.line + 1))
}

/// A description for an instruction with errors, found by the longest mnemonic that its line starts with.
fn of_name(set: &Set, written: &str) -> Option<String> {
    let all = mnemonics(set.tables);
    let starts = |name: &str| written.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let best = all.iter().filter(|offer| starts(&offer.name)).max_by_key(|offer| offer.name.len())?;
    Some(described(best))
}

fn described(offer: &Offer) -> String {
    let mut out = format!("**{}**", offer.name);
    if !offer.title.is_empty() {
        let _ = write!(out, " — {}", offer.title);
    }
    if !offer.doc.is_empty() {
        let _ = write!(out, "\n\n{}", offer.doc);
    }
    out
}

fn of_instruction(source: &Source, placed: &Placed, instruction: &Instruction) -> String {
    let bytes = source.bytes(placed);
    let tables = source.set.tables;
    let mut out = String::new();
    let names: Vec<&str> = match tables {
        Tables::Groups(_) => instruction.mnemonic.split(" | ").collect(),
        _ => vec![&instruction.mnemonic],
    };
    for name in names {
        out.push_str(&described(&by_name(tables, name)));
        out.push_str("\n\n");
    }
    let _ = writeln!(out, "`{}` at `{:#x}`: `{}`\n", hexadecimal(tables, bytes), placed.at, instruction.text);
    if let Some(does) = operation(&source.set, bytes) {
        let _ = writeln!(out, "```\n{does}\n```\n");
    }
    let names = |registers: &mut dyn Iterator<Item = Register>| {
        let names: Vec<String> = registers.map(|register| format!("`{}`", source.set.name(register))).collect();
        names.join(", ")
    };
    let reads = names(&mut instruction.reads.iter().copied());
    let writes = names(&mut instruction.writes.iter().map(|(register, _)| *register));
    for (verb, registers) in [("reads", reads), ("writes", writes)] {
        if !registers.is_empty() {
            let _ = writeln!(out, "{verb} {registers}  ");
        }
    }
    out.push_str("\n| bits | field | value | meaning |\n|---|---|---|---|\n");
    for field in fields(tables, bytes) {
        let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
        let text = if field.text.is_empty() { String::new() } else { format!("`{}`", cell(&field.text)) };
        let _ = writeln!(out, "| {} | {} | {text} | {} |", field.bits(), cell(&field.name), cell(&field.meaning));
    }
    out
}

/// Finds an instruction by its name in the specification.
fn by_name(tables: Tables, name: &str) -> Offer {
    let (title, doc) = match tables {
        Tables::Words(isa) => isa.forms.iter().find(|form| form.name.str == name).map(|form| (form.title, form.doc)),
        Tables::Groups(isa) => isa.operations.iter().find(|one| one.name == name).map(|one| ("", one.doc)),
        Tables::Streams(engine) => {
            engine.stream.instructions.iter().find(|one| one.name == name).map(|one| (one.title, one.doc))
        }
    }
    .unwrap_or_default();
    Offer { name: name.to_owned(), title, doc }
}

/// The semantics of this particular word, with its modifiers known.
fn operation(set: &Set, bytes: &[u8]) -> Option<String> {
    let Tables::Words(isa) = set.tables else { return None };
    let word = word_of(bytes);
    Some(explained::operation(isa, set.semantics?, decode(isa, word).ok()?, word)?.1)
}
