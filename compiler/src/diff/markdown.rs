//! A difference as Markdown for a pull request.

use std::fmt::Write;

use super::difference::{Decoding, Diff, Fate, InstructionDiff, Reading};

pub(super) fn render(diff: &Diff) -> String {
    let mut out = String::new();
    let mark = if diff.decodes_alike() { "✅" } else { "⚠️" };
    let _ = writeln!(out, "## {} → {}\n", plain(&diff.old.name), plain(&diff.new.name));
    let _ = writeln!(out, "{mark} **{}**\n", diff.verdict());
    let _ = writeln!(out, "| | old | new |\n|---|---|---|");
    let _ = writeln!(out, "| instructions | {} | {} |", diff.old.instructions, diff.new.instructions);
    let _ = writeln!(out, "| enums | {} | {} |\n", diff.old.enums, diff.new.enums);
    let counts: Vec<String> = Fate::ALL.iter().map(|f| format!("{} {}", diff.count(*f), f.as_str())).collect();
    let _ = writeln!(out, "Instructions: {}. Definitions that differ: {}.", counts.join(", "), diff.definitions.len());
    if !diff.common.is_empty() {
        let _ = writeln!(out, "\n### In every instruction\n");
    }
    for change in &diff.common {
        let _ = writeln!(out, "- {}", prose(&change.to_string()));
    }
    for fate in Fate::ALL {
        let entries: Vec<&InstructionDiff> = diff.instructions.iter().filter(|i| i.fate == fate).collect();
        if !entries.is_empty() {
            section(&mut out, fate, &entries);
        }
    }
    if !diff.definitions.is_empty() {
        let _ = writeln!(out, "\n### Definitions\n");
        for d in &diff.definitions {
            let renamed = if d.renamed.is_empty() { String::new() } else { format!(" to {}", code(&d.renamed)) };
            let _ = writeln!(out, "- {} {} {}{renamed}", d.sort.as_str(), code(&d.name), d.how.as_str());
            for change in &d.changes {
                let _ = writeln!(out, "  - {}", prose(&change.to_string()));
            }
        }
    }
    out
}

fn section(out: &mut String, fate: Fate, entries: &[&InstructionDiff]) {
    let mut title = fate.as_str().to_owned();
    title[..1].make_ascii_uppercase();
    let _ = writeln!(out, "\n### {title} instructions ({})\n", entries.len());
    // Long lists are folded, so that a reviewer sees the summary first.
    let folded = entries.len() > 12;
    if folded {
        let _ = writeln!(out, "<details><summary>Show all {}</summary>\n", entries.len());
    }
    for entry in entries {
        let mut line = match (&entry.old, &entry.new) {
            (Some(old), Some(new)) if old.name != new.name => format!("- {} → {}", code(&old.name), code(&new.name)),
            _ => format!("- {}", code(entry.name())),
        };
        if let (Some(old), Some(new)) = (&entry.old, &entry.new)
            && old.pattern != new.pattern
        {
            let _ = write!(line, ": opcode bits {} → {}", old.pattern, new.pattern);
        }
        if !entry.related.is_empty() {
            let names: Vec<String> = entry.related.iter().map(|n| code(n)).collect();
            let when = if fate == Fate::Added { "words were read by" } else { "words are read by" };
            let _ = write!(line, " ({when} {})", names.join(", "));
        }
        let _ = writeln!(out, "{line}");
        for change in &entry.changes {
            let _ = writeln!(out, "  - {}", prose(&change.to_string()));
        }
        if entry.decoding == Some(Decoding::Unproven) {
            let _ = writeln!(out, "  - no word that reads differently was found, but that is not a proof");
        }
        for example in &entry.examples {
            let _ = writeln!(out, "  - {}: {} → {}", code(&example.word), reading(&example.old), reading(&example.new));
        }
    }
    if folded {
        let _ = writeln!(out, "\n</details>");
    }
}

fn reading(reading: &Reading) -> String {
    match reading {
        Reading::Text(text) => code(text),
        Reading::Invalid(why) => format!("*invalid: {}*", prose(why)),
    }
}

/// A code span; assembly may contain backticks.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    if longest > 0 { format!("{fence} {text} {fence}") } else { format!("{fence}{text}{fence}") }
}

/// Escapes text outside of code spans for Markdown. Names in the text keep their backticks.
fn prose(text: &str) -> String {
    let mut out = String::new();
    let mut in_code = false;
    for c in text.chars() {
        in_code ^= c == '`';
        if !in_code && matches!(c, '*' | '_' | '<' | '>' | '|') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn plain(text: &str) -> String {
    prose(text)
}
