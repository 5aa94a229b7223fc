//! Mutants of YAML: names, constants and definitions.

use super::*;

pub(super) fn in_fixed(text: &str, at: usize) -> bool {
    let (start, line) = line_at(text, at);
    line[..at - start].contains("fixed:")
}

/// Changes every range of bits and every single bit.
pub(super) fn runs(file: &str, text: &str, change: fn(u32, u32) -> Option<(u32, u32)>) -> Vec<Mutant> {
    if !yaml(file) {
        return Vec::new();
    }
    let mut mutants = Vec::new();
    for (at, _) in text.match_indices("..").filter(|(at, _)| is_run(text, *at) && !is_prose(file, text, *at)) {
        let first = text[..at].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |found| found + 1);
        let last = text[at + 2..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |found| at + 2 + found);
        let number = |text: &str| text.parse::<u32>().expect("digits");
        if let Some((high, low)) = change(number(&text[first..at]), number(&text[at + 2..last])) {
            mutants.push(edit(file, text, first..last, &format!("{high}..{low}")));
        }
    }
    mutants
}

pub(super) fn flip_constants(file: &str, text: &str) -> Vec<Mutant> {
    let all = replace_all(file, text, "0b", "0b", yaml, in_fixed);
    let mut mutants = Vec::new();
    for (at, _) in
        text.match_indices("0b").filter(|(at, _)| !all.is_empty() && in_fixed(text, *at) && !is_prose(file, text, *at))
    {
        let last = text[at + 2..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |found| at + 2 + found);
        let flipped = if text[..last].ends_with('0') { "1" } else { "0" };
        mutants.push(edit(file, text, last - 1..last, flipped));
    }
    mutants
}

/// Gives the constants of one instruction to the next one that fixes the same bits.
pub(super) fn duplicate_yaml_opcodes(file: &str, text: &str) -> Vec<Mutant> {
    if !yaml(file) {
        return Vec::new();
    }
    let mut mutants = Vec::new();
    let mut earlier: Option<(&str, &str)> = None;
    for (at, _) in text.match_indices("    fixed: { ").filter(|(at, _)| text[..*at].ends_with('\n')) {
        let start = at + "    fixed: { ".len();
        let (_, line) = line_at(text, at);
        let Some((run, value)) = line["    fixed: { ".len()..].split_once(':') else { continue };
        let Some(value) = value.strip_suffix(" }").map(str::trim).filter(|value| !value.contains(',')) else {
            continue;
        };
        if let Some((_, other)) = earlier.filter(|(other_run, other)| *other_run == run && *other != value) {
            let from = start + run.len() + 2;
            mutants.push(edit(file, text, from..from + value.len(), other));
        }
        earlier = Some((run, value));
    }
    mutants
}

/// The words that the reader accepts as keys.
pub(super) const KEYS: &[&str] = &[
    "bits",
    "enum",
    "bank",
    "kind",
    "fixed",
    "fields",
    "text",
    "values",
    "default",
    "width",
    "alternatives",
    "operands",
    "modifiers",
    "syntax",
    "count",
    "prints",
    "ignored",
    "access",
    "at",
    "immediate",
    "number",
    "constants",
    "unused",
    "sources",
    "name",
    "mask",
    "size",
    "suffix",
    "kinds",
    "enums",
    "banks",
    "instructions",
    "every",
    "word",
    "file",
    "opcode",
    "choice",
    "slots",
    "records",
    "bytes",
    "operations",
    "when",
];

/// The word without one letter, or with two letters swapped.
pub fn misspelt(word: &str) -> Option<String> {
    let mut letters: Vec<char> = word.chars().collect();
    match letters.len() {
        0 | 1 => None,
        2 => {
            letters.push(letters[1]);
            Some(letters.into_iter().collect())
        }
        n => {
            letters.swap(n / 2 - 1, n / 2);
            let swapped: String = letters.iter().collect();
            if swapped != word {
                return Some(swapped);
            }
            letters.remove(n / 2);
            Some(letters.into_iter().collect())
        }
    }
}

pub(super) fn misspell_keys(file: &str, text: &str) -> Vec<Mutant> {
    if !yaml(file) {
        return Vec::new();
    }
    let mut mutants = Vec::new();
    for key in KEYS {
        for (at, _) in text.match_indices(&format!("{key}:")) {
            let before = text[..at].chars().next_back();
            let after = text[at + key.len() + 1..].chars().next();
            let is_key =
                before.is_none_or(|c| matches!(c, ' ' | '\n' | '{')) && after.is_none_or(|c| matches!(c, ' ' | '\n'));
            // A name chosen by the specification looks the same; those are in the sections of names.
            if is_key && !is_prose(file, text, at) && !text[at + key.len()..].starts_with(": {") {
                mutants.extend(misspelt(key).map(|word| edit(file, text, at..at + key.len(), &word)));
            }
        }
    }
    mutants
}

pub(super) fn misspell_values(file: &str, text: &str, keys: &[&str]) -> Vec<Mutant> {
    if !yaml(file) {
        return Vec::new();
    }
    let mut mutants = Vec::new();
    for key in keys {
        for (at, mark) in text.match_indices(&format!("{key}: ")) {
            let start = at + mark.len();
            let end = start + text[start..].find([',', '}', ']', '\n']).unwrap_or(0);
            let word = text[start..end].trim_end();
            let before = text[..at].chars().next_back();
            let plain = !word.is_empty()
                && !word.starts_with(['{', '[', '"', '~', '&', '*'])
                && before.is_none_or(|c| matches!(c, ' ' | '\n'));
            if plain && !is_prose(file, text, at) {
                mutants.extend(misspelt(word).map(|new| edit(file, text, start..start + word.len(), &new)));
            }
        }
    }
    mutants
}

/// Misspells names in sections that define things used by name.
pub(super) fn misspell_definitions(file: &str, text: &str) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    let (mut section, mut at) = ("", 0);
    for line in text.split_inclusive('\n').filter(|_| yaml(file)) {
        let name = line.trim_end().split(':').next().unwrap_or_default();
        if !line.starts_with([' ', '#', '\n']) {
            section = name;
        } else if ["enums", "constants", "banks", "shared", "kinds", "rulings"].contains(&section)
            && line.starts_with("  ")
            && !line[2..].starts_with([' ', '#'])
        {
            let word = name.trim_start();
            if line.contains(':') {
                mutants.extend(misspelt(word).map(|new| edit(file, text, at + 2..at + 2 + word.len(), &new)));
            }
        }
        at += line.len();
    }
    mutants
}

pub(super) fn drop_yaml_values(file: &str, text: &str) -> Vec<Mutant> {
    if !yaml(file) {
        return Vec::new();
    }
    let mut mutants = Vec::new();
    let (mut inside, mut at) = (None, 0);
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        if let Some(open) = line.find("values: [") {
            let start = at + open + "values: [".len();
            let list = &text[start..start + text[start..].find(']').unwrap_or(0)];
            // The middle item; constants are numbers and have no names that could be lost.
            let items: Vec<&str> = list.split(", ").collect();
            if items.len() > 2 && !list.starts_with(|c: char| c.is_ascii_digit()) && !list.contains('{') {
                let first: usize = items[..items.len() / 2].iter().map(|item| item.len() + 2).sum();
                mutants.push(edit(file, text, start + first..start + first + items[items.len() / 2].len() + 2, ""));
            }
        }
        match inside {
            Some(depth) if indent > depth && line.trim_start().starts_with("- ") => {
                let number = line.trim_start()[2..].starts_with(|c: char| c.is_ascii_digit());
                let mut mutant = edit(file, text, at..at + line.len(), "");
                mutant.lines = vec![mutant.lines[0].saturating_sub(1), mutant.lines[0]];
                mutants.extend((!line.contains("value:") && !number).then_some(mutant));
            }
            Some(depth) if indent <= depth && !line.trim().is_empty() => inside = None,
            _ => {}
        }
        if line.trim() == "values:" {
            inside = Some(indent);
        }
        at += line.len();
    }
    mutants
}

pub(super) fn misspell_templates(file: &str, text: &str) -> Vec<Mutant> {
    if !yaml(file) {
        return Vec::new();
    }
    let mut mutants = Vec::new();
    for (at, _) in text.match_indices('{').filter(|(at, _)| !is_prose(file, text, *at)) {
        let (start, line) = line_at(text, at);
        let before = &line[..at - start];
        let quoted = before.matches('"').count() % 2 == 1 && (before.contains("text:") || before.contains("syntax:"));
        let word = text[at + 1..].split(['}', '=', '|', '\n']).next().unwrap_or_default();
        if quoted && !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            let new = misspelt(word).unwrap_or_else(|| format!("{word}{word}"));
            mutants.push(edit(file, text, at + 1..at + 1 + word.len(), &new));
        }
    }
    mutants
}

/// Excludes aliases by requiring a field to both have and not have a value.
pub(super) fn exclude_aliases(file: &str, text: &str) -> Vec<Mutant> {
    if !yaml(file) {
        return Vec::new();
    }
    let mut mutants = Vec::new();
    for (at, found) in text.match_indices("with: { ").filter(|(at, _)| !is_prose(file, text, *at)) {
        let (_, line) = line_at(text, at);
        let said = text[at + found.len()..].split([',', '}']).next().and_then(|said| said.split_once(": "));
        let Some((field, value)) = said.filter(|(_, value)| value.trim().bytes().all(|byte| byte.is_ascii_digit()))
        else {
            continue;
        };
        if !line.contains("where:") {
            mutants.push(edit(file, text, at..at, &format!("where: {field} != {}, ", value.trim())));
        }
    }
    mutants
}

pub(super) fn drop_brackets(file: &str, text: &str) -> Vec<Mutant> {
    if !yaml(file) {
        return Vec::new();
    }
    let is_bracket = |at: usize| {
        let (start, line) = line_at(text, at);
        line[..at - start].matches('"').count() % 2 == 0 && !is_prose(file, text, at)
    };
    let found = text.match_indices(['{', '}', '[', ']']).filter(|(at, _)| is_bracket(*at));
    let mut mutants: Vec<Mutant> = found.map(|(at, _)| edit(file, text, at..at + 1, "")).collect();
    // The parser notices an open bracket only after it, on the next line.
    mutants.iter_mut().for_each(|mutant| mutant.lines.push(mutant.lines[0] + 1));
    mutants
}
