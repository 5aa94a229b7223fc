//! Mutants of XML.

use super::*;

pub(super) fn xml(file: &str) -> bool {
    file.ends_with(".xml")
}

// -------------------------------------------------------------------------------------------------------------- XML

/// The values of attributes: the name, its position, and the range of the value.
pub(super) fn attributes<'t>(file: &str, text: &'t str) -> Vec<(&'t str, usize, std::ops::Range<usize>)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("=\"").filter(|_| xml(file)) {
        let start = text[..at].rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map_or(0, |found| found + 1);
        let end = at + 2 + text[at + 2..].find('"').unwrap_or(0);
        if !is_prose(file, text, start) {
            found.push((&text[start..at], start, at + 2..end));
        }
    }
    found
}

pub(super) fn xml_numbers(file: &str, text: &str, names: &[&str], change: fn(u64) -> Option<String>) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for (name, _, value) in attributes(file, text) {
        let number = text[value.clone()].parse().ok().filter(|_| names.contains(&name));
        // Modifiers that start beyond the word have no bits.
        if let Some(new) = number.filter(|number| *number < 128).and_then(change) {
            mutants.push(edit(file, text, value, &new));
        }
    }
    mutants
}

pub(super) fn widen_xml(file: &str, text: &str) -> Vec<Mutant> {
    let mut mutants = xml_numbers(file, text, &["size"], |n| Some((n + 1).to_string()));
    mutants.retain(|mutant| !mutant.what.contains("<src") && !mutant.what.contains("\"128\""));
    mutants
}

/// Gives an instruction the opcodes of the previous one with the same attributes.
pub(super) fn duplicate_xml_opcodes(file: &str, text: &str) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    let mut earlier: Option<(bool, String, String)> = None;
    for (at, _) in text.match_indices("<ins ").filter(|(at, _)| xml(file) && !is_prose(file, text, *at)) {
        let (start, line) = line_at(text, at);
        let value = |key: &str| {
            let from = line.find(&format!(" {key}=\""))? + key.len() + 3;
            Some((from, line[from..].split('"').next()?.to_owned()))
        };
        let Some((from, opcode)) = value("opcode") else { continue };
        let second = value("opcode2");
        // Opcodes of grouped instructions may be elsewhere, as given by rules.
        let grouped = line.starts_with("    ");
        let rest = second.as_ref().map_or_else(String::new, |(_, value)| value.clone());
        if let Some((_, other, _)) = earlier.as_ref().filter(|(other_grouped, other, other_rest)| {
            *other_grouped == grouped && *other != opcode && *other_rest == rest && !grouped && rest.is_empty()
        }) {
            mutants.push(edit(file, text, start + from..start + from + opcode.len(), other));
        }
        earlier = Some((grouped, opcode, rest));
    }
    mutants
}

pub(super) fn misspell_elements(file: &str, text: &str) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for (at, _) in text.match_indices('<').filter(|(at, _)| xml(file) && !is_prose(file, text, *at)) {
        let name = text[at + 1..].split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default();
        if !name.is_empty() {
            mutants.extend(misspelt(name).map(|new| edit(file, text, at + 1..at + 1 + name.len(), &new)));
        }
    }
    mutants
}

pub(super) fn misspell_attributes(file: &str, text: &str) -> Vec<Mutant> {
    let all = attributes(file, text).into_iter();
    all.filter_map(|(name, at, _)| Some(edit(file, text, at..at + name.len(), &misspelt(name)?))).collect()
}

/// Misspells names of modifiers wider than a flag, which are the names of enums.
pub(super) fn misspell_mods(file: &str, text: &str) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for (name, _, value) in attributes(file, text) {
        let (_, line) = line_at(text, value.start);
        if name == "name" && line.contains("<mod ") && !line.contains("size=\"1\"") {
            mutants.extend(misspelt(&text[value.clone()]).map(|new| edit(file, text, value, &new)));
        }
    }
    mutants
}

pub(super) fn second_defaults(file: &str, text: &str) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for (at, _) in text.match_indices("<enum ").filter(|_| xml(file)) {
        let end = at + text[at..].find("</enum>").unwrap_or(0);
        let has = text[at..end].contains("default=\"");
        // The last value, if an earlier one has the default.
        if let Some(last) =
            text[at..end].rfind("<value").filter(|last| has && !text[at + last..end].contains("default"))
        {
            let place = at + last + "<value".len();
            mutants.push(edit(file, text, place..place, " default=\"true\""));
        }
    }
    mutants
}

pub(super) fn bare_signs(file: &str, text: &str) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for (at, _) in text.match_indices("<desc>").filter(|_| xml(file)) {
        let place = at + "<desc>".len();
        mutants.push(edit(file, text, place..place, " a & b "));
        mutants.push(edit(file, text, place..place, " a < b "));
    }
    mutants
}
