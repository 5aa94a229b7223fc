//! A difference as text for a terminal.

use std::fmt::Write;

use super::difference::{Decoding, Diff, Fate, InstructionDiff};
use super::revision::Side;

pub(super) fn render(diff: &Diff) -> String {
    let mut out = String::new();
    let side = |s: &Side| format!("{} ({} instructions, {} enums)", s.name, s.instructions, s.enums);
    let _ = writeln!(out, "{} → {}", side(&diff.old), side(&diff.new));
    let _ = writeln!(out, "{}\n", diff.verdict());
    let _ = writeln!(out, "{}", summary(diff));
    if !diff.common.is_empty() {
        let _ = writeln!(out, "\nin every instruction:");
    }
    for change in &diff.common {
        let _ = writeln!(out, "  {change}");
    }
    for fate in Fate::ALL {
        let entries: Vec<&InstructionDiff> = diff.instructions.iter().filter(|i| i.fate == fate).collect();
        if entries.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n{} instructions: {}", fate.as_str(), entries.len());
        for entry in entries {
            instruction(&mut out, entry);
        }
    }
    if !diff.definitions.is_empty() {
        let _ = writeln!(out, "\ndefinitions: {}", diff.definitions.len());
    }
    for definition in &diff.definitions {
        let _ = write!(out, "  {} `{}` {}", definition.sort.as_str(), definition.name, definition.how.as_str());
        let _ = if definition.renamed.is_empty() { writeln!(out) } else { writeln!(out, ": `{}`", definition.renamed) };
        for change in &definition.changes {
            let _ = writeln!(out, "    {change}");
        }
    }
    out
}

/// The counts in one line.
pub(super) fn summary(diff: &Diff) -> String {
    let counts: Vec<String> = Fate::ALL.iter().map(|f| format!("{} {}", diff.count(*f), f.as_str())).collect();
    let untouched = diff.old.instructions - diff.instructions.iter().filter(|i| i.old.is_some()).count();
    format!("instructions: {}, {untouched} the same; definitions: {} differ", counts.join(", "), diff.definitions.len())
}

fn instruction(out: &mut String, entry: &InstructionDiff) {
    let _ = match (&entry.old, &entry.new) {
        (Some(old), Some(new)) if old.name != new.name => writeln!(out, "  {} → {}", old.name, new.name),
        _ => writeln!(out, "  {}", entry.name()),
    };
    if let (Some(old), Some(new)) = (&entry.old, &entry.new)
        && old.pattern != new.pattern
    {
        let _ = writeln!(out, "    opcode bits: {} → {}", old.pattern, new.pattern);
    }
    if !entry.related.is_empty() {
        let when = if entry.fate == Fate::Added { "its words were read by" } else { "its words are read by" };
        let _ = writeln!(out, "    {when} {}", entry.related.join(", "));
    }
    for change in &entry.changes {
        let _ = writeln!(out, "    {change}");
    }
    if entry.decoding == Some(Decoding::Unproven) {
        let _ = writeln!(out, "    no word that reads differently was found, but that is not a proof");
    }
    for example in &entry.examples {
        let digits = example.word.len();
        let _ = writeln!(out, "    {}  old: {}", example.word, example.old);
        let _ = writeln!(out, "    {:digits$}  new: {}", "", example.new);
    }
}
