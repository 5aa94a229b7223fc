//! The description of an instruction in the specification, and the registers it accesses.

use isaforge_analysis::Set;
use isaforge_analysis::entry::entries;
use isaforge_analysis::fields::modifiers;
use isaforge_core::Isa;
use isaforge_core::table::Enum;

use crate::paint::{BOLD, DIM, paint, wrap};
use crate::words::word_bytes;

/// Describes an instruction. Its registers are listed only for a valid word.
pub fn describe(set: &Set, isa: &'static Isa, (opcode, word): (u16, u64), valid: bool, width: usize) -> String {
    let form = &isa.forms[opcode as usize];
    let mut out = String::new();
    let title = if form.title.is_empty() { String::new() } else { format!("  {}", form.title) };
    out.push_str(&format!("{}{title}\n", paint(BOLD, form.name.str)));
    if !form.doc.is_empty() {
        for line in wrap(form.doc, width.saturating_sub(2)) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    out.push('\n');
    let mut row = |name: &str, text: &str| {
        if !text.is_empty() {
            for (index, line) in wrap(text, width.saturating_sub(12)).iter().enumerate() {
                let head = if index == 0 { name } else { "" };
                out.push_str(&format!("  {}{line}\n", paint(DIM, &format!("{head:10}"))));
            }
        }
    };
    if valid {
        let bytes = &word.to_le_bytes()[..word_bytes(isa)];
        row("reads", &accesses(set, bytes, false));
        row("writes", &accesses(set, bytes, true));
    }
    for (number, (name, of)) in modifiers(isa, form).iter().enumerate() {
        // Those of operands have no head.
        let head = if number == 0 && !form.modifiers.is_empty() { "modifiers" } else { "" };
        row(head, &values(name, *of));
    }
    row("unit", form.unit);
    row("source", form.source);
    let provenance = form.provenance.as_str();
    let notes: Vec<&str> = form.note.lines().collect();
    match notes[..] {
        [] => row("known by", provenance),
        [note] => row("known by", &format!("{provenance}: {note}")),
        _ => row("known by", &format!("{provenance}, and")),
    }
    for note in notes.iter().filter(|_| notes.len() > 1) {
        row("", note);
    }
    out
}

/// The possible values of a modifier.
fn values(name: &str, of: Option<&'static Enum>) -> String {
    let Some(of) = of else { return format!("{name}: written or not") };
    let mut names: Vec<&str> = of.values.iter().map(|value| value.name).collect();
    names.dedup();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let rest =
        if more > 0 { format!(" and {more} more; `explain` with `{}` lists all", of.name) } else { String::new() };
    format!("{name}: {}{rest}", names.join(", "))
}

/// The maximum number of values that are listed.
const NAMED: usize = 8;

/// The operation of an instruction: the whole text for a mnemonic; for a word, the text specialised for its modifiers.
pub fn operation((text, shown): (&str, String), whole: bool) -> String {
    // Without choices, the specialised text would be the same.
    let here = if whole || shown == text { String::new() } else { statements("here", &shown) };
    statements("does", text) + &here
}

/// Text of the specification, with a head before its first line.
pub fn statements(head: &str, text: &str) -> String {
    let mut out = String::new();
    for (index, line) in text.lines().enumerate() {
        let head = if index == 0 { head } else { "" };
        out.push_str(&format!("  {}{line}\n", paint(DIM, &format!("{head:10}"))));
    }
    out
}

/// Lists what an instruction reads or writes: registers, each with the operands that name it, registers that hold states
/// or that calls take, with the name of the state or of the call, and other states.
pub fn accesses(set: &Set, bytes: &[u8], write: bool) -> String {
    let instruction = entries(set, bytes).next().and_then(|entry| entry.instruction.ok());
    let found: Vec<String> = instruction
        .iter()
        .flat_map(|instruction| instruction.accesses(set, write))
        .map(|access| access.to_string())
        .collect();
    if found.is_empty() { "no registers".to_owned() } else { found.join(", ") }
}
