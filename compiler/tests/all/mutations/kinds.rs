//! The kinds of errors, each of which generates all its mutants of a file.

use super::texts;

/// A file with one error.
pub struct Mutant {
    /// The file, relative to `specs/`.
    pub file: String,
    /// Its new text.
    pub text: String,
    /// The lines of the error, from 1: one line, or both sides of removed text.
    pub lines: Vec<usize>,
    /// A description of the change.
    pub what: String,
}

/// A kind of errors.
pub struct Kind {
    /// A description of the change.
    pub name: &'static str,
    /// The reason why such a change may also be a correct specification of another instruction set, if it may.
    pub another: Option<&'static str>,
    /// The reason why the error may only be visible on another line, if it may.
    pub elsewhere: Option<&'static str>,
    /// Generates all mutants of a file from its name and text.
    pub mutants: fn(&str, &str) -> Vec<Mutant>,
}

const FREE_BITS: Option<&str> = Some("`unused: zero` takes the bit, and nothing else wants it");
const ENTRY: Option<&str> = Some("what the line said was optional, like an instruction");
const GONE: Option<&str> = Some("what is gone is missed where it is used");
const LIST: Option<&str> = Some("a list, and nothing says how long it is");
const MOVED: Option<&str> = Some("a value later in the list has no room any more");
const CALLED: Option<&str> = Some("a text of several lines, or a function, which is wrong where it is called");
const NUMBER: Option<&str> = Some("the number is as good as the other one, and free");

/// All kinds.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "yaml: shift a field up",
        another: FREE_BITS,
        elsewhere: None,
        mutants: |f, t| runs(f, t, |h, l| Some((h + 1, l + 1))),
    },
    Kind {
        name: "yaml: shift a field down",
        another: FREE_BITS,
        elsewhere: None,
        mutants: |f, t| runs(f, t, |h, l| Some((h - 1, l.checked_sub(1)?))),
    },
    Kind {
        name: "yaml: widen a field",
        another: FREE_BITS,
        elsewhere: None,
        mutants: |f, t| runs(f, t, |h, l| Some((h + 1, l))),
    },
    Kind {
        name: "yaml: narrow a field",
        another: FREE_BITS,
        elsewhere: None,
        mutants: |f, t| runs(f, t, |h, l| (h > l).then(|| (h - 1, l))),
    },
    Kind {
        name: "yaml: swap the ends of a run",
        another: None,
        elsewhere: None,
        mutants: |f, t| runs(f, t, |h, l| (h > l).then_some((l, h))),
    },
    Kind {
        name: "yaml: one dot in a run",
        another: None,
        elsewhere: None,
        mutants: |f, t| replace_all(f, t, "..", ".", yaml, is_run),
    },
    Kind {
        name: "yaml: a constant too wide",
        another: None,
        elsewhere: None,
        mutants: |f, t| replace_all(f, t, "0b", "0b1", yaml, in_fixed),
    },
    Kind { name: "yaml: flip a bit of a constant", another: NUMBER, elsewhere: None, mutants: flip_constants },
    Kind {
        name: "yaml: another base (0b as 0x)",
        another: NUMBER,
        elsewhere: None,
        mutants: |f, t| replace_all(f, t, "0b", "0x", yaml, in_fixed),
    },
    Kind {
        name: "yaml: no base (0x missing)",
        another: NUMBER,
        elsewhere: None,
        mutants: |f, t| replace_all(f, t, "0x", "", yaml, |_, _| true),
    },
    Kind { name: "yaml: duplicate an opcode", another: None, elsewhere: None, mutants: duplicate_yaml_opcodes },
    Kind { name: "yaml: misspell a key", another: None, elsewhere: None, mutants: misspell_keys },
    Kind {
        name: "yaml: misspell a reference",
        another: None,
        elsewhere: None,
        mutants: |f, t| misspell_values(f, t, &["enum", "bank", "kind", "constants", "then", "choice"]),
    },
    Kind {
        name: "yaml: misspell a choice",
        another: None,
        elsewhere: None,
        mutants: |f, t| misspell_values(f, t, &["access", "immediate", "number", "unused", "provenance", "target"]),
    },
    Kind {
        name: "yaml: misspell a definition",
        another: Some("nothing refers to it by name"),
        elsewhere: None,
        mutants: misspell_definitions,
    },
    Kind { name: "yaml: drop a value", another: LIST, elsewhere: GONE, mutants: drop_yaml_values },
    Kind { name: "yaml: delete a line", another: ENTRY, elsewhere: GONE, mutants: |f, t| delete_lines(f, t, yaml) },
    Kind {
        name: "yaml: duplicate a line",
        another: Some("a table may have a constant twice"),
        elsewhere: None,
        mutants: |f, t| duplicate_lines(f, t, yaml),
    },
    Kind { name: "yaml: a bracket is missing", another: None, elsewhere: None, mutants: drop_brackets },
    Kind { name: "yaml: a quote is missing", another: None, elsewhere: None, mutants: |f, t| drop_quotes(f, t, yaml) },
    Kind { name: "yaml: one space more", another: None, elsewhere: None, mutants: indent },
    Kind { name: "yaml: an unknown template name", another: None, elsewhere: None, mutants: misspell_templates },
    Kind { name: "yaml: an alias that can never be", another: None, elsewhere: None, mutants: exclude_aliases },
    Kind {
        name: "xml: shift a field",
        another: FREE_BITS,
        elsewhere: None,
        mutants: |f, t| xml_numbers(f, t, &["start"], |n| Some((n + 1).to_string())),
    },
    Kind { name: "xml: widen a field", another: FREE_BITS, elsewhere: None, mutants: |f, t| widen_xml(f, t) },
    Kind {
        name: "xml: a number out of range",
        another: None,
        elsewhere: None,
        mutants: |f, t| xml_numbers(f, t, &["start", "size"], |n| Some((n + 200).to_string())),
    },
    Kind {
        name: "xml: no number",
        another: None,
        elsewhere: None,
        mutants: |f, t| xml_numbers(f, t, &["start", "size"], |n| Some(format!("{n}o"))),
    },
    Kind {
        name: "xml: no base (0x missing)",
        another: NUMBER,
        elsewhere: None,
        mutants: |f, t| replace_all(f, t, "\"0x", "\"", xml, |_, _| true),
    },
    Kind { name: "xml: duplicate an opcode", another: None, elsewhere: None, mutants: duplicate_xml_opcodes },
    Kind { name: "xml: misspell an element", another: None, elsewhere: None, mutants: misspell_elements },
    Kind { name: "xml: misspell an attribute", another: None, elsewhere: None, mutants: misspell_attributes },
    Kind {
        name: "xml: misspell true",
        another: None,
        elsewhere: None,
        mutants: |f, t| replace_all(f, t, "\"true\"", "\"ture\"", xml, |_, _| true),
    },
    Kind { name: "xml: misspell a modifier's enum", another: None, elsewhere: None, mutants: misspell_mods },
    Kind { name: "xml: a second default", another: None, elsewhere: None, mutants: second_defaults },
    Kind { name: "xml: drop a value", another: LIST, elsewhere: GONE, mutants: |f, t| delete_matching(f, t, "<value") },
    Kind { name: "xml: delete a line", another: ENTRY, elsewhere: GONE, mutants: |f, t| delete_lines(f, t, xml) },
    Kind {
        name: "xml: duplicate a line",
        another: Some("one source or value more"),
        elsewhere: MOVED,
        mutants: |f, t| duplicate_lines(f, t, xml),
    },
    Kind {
        name: "xml: a closing tag is missing",
        another: None,
        elsewhere: None,
        mutants: |f, t| delete_closing(f, t),
    },
    Kind { name: "xml: a quote is missing", another: None, elsewhere: None, mutants: |f, t| drop_quotes(f, t, xml) },
    Kind { name: "xml: a bare & or <", another: None, elsewhere: None, mutants: bare_signs },
    Kind {
        name: "text: misspell a name",
        another: Some("a part that an operand may lack is lacking"),
        elsewhere: CALLED,
        mutants: texts::misspell_names,
    },
    Kind { name: "text: misspell a type", another: None, elsewhere: None, mutants: texts::misspell_types },
    Kind { name: "text: a bracket is missing", another: None, elsewhere: CALLED, mutants: texts::drop_text_brackets },
    Kind {
        name: "text: another operator",
        another: Some("as good as the other one; recorded results tell them apart"),
        elsewhere: CALLED,
        mutants: texts::exchange_operators,
    },
    Kind { name: "text: = for ==", another: None, elsewhere: CALLED, mutants: texts::assign_for_compare },
    Kind {
        name: "text: an argument less",
        another: Some("a rounding, a space or a datum may be left out"),
        elsewhere: CALLED,
        mutants: texts::drop_arguments,
    },
    Kind {
        name: "text: an arm less",
        another: Some("`_` takes the values"),
        elsewhere: CALLED,
        mutants: texts::drop_arms,
    },
];

fn yaml(file: &str) -> bool {
    file.ends_with(".yaml")
}

fn xml(file: &str) -> bool {
    file.ends_with(".xml")
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text[..at].matches('\n').count()
}

/// The line around `at`, and its start.
fn line_at(text: &str, at: usize) -> (usize, &str) {
    let start = text[..at].rfind('\n').map_or(0, |found| found + 1);
    let end = text[at..].find('\n').map_or(text.len(), |found| at + found);
    (start, &text[start..end])
}

/// Whether `at` is in a comment, a description, the licence at the top, or a semantics text, which has its own kinds.
fn is_prose(file: &str, text: &str, at: usize) -> bool {
    let (start, line) = line_at(text, at);
    let before = &line[..at - start];
    if xml(file) {
        let open = text[..at].rfind("<!--").is_some_and(|open| !text[open..at].contains("-->"));
        let described = text[..at].rfind("<desc>").is_some_and(|open| !text[open..at].contains("</desc>"));
        return open || described || before.contains("desc=\"") && before.matches('"').count() % 2 == 1;
    }
    if texts::is_in_text(file, text, at) {
        return true;
    }
    let prose = ["doc:", "title:", "note:", "rule:", "reason:", "help:"];
    before.trim_start().starts_with('#') || before.contains(" # ") || prose.iter().any(|key| before.contains(key))
}

pub fn edit(file: &str, text: &str, range: std::ops::Range<usize>, with: &str) -> Mutant {
    let line = line_of(text, range.start);
    let (_, old) = line_at(text, range.start);
    let what = format!("`{}` becomes `{with}` in `{}`", &text[range.clone()], old.trim());
    let text = format!("{}{with}{}", &text[..range.start], &text[range.end..]);
    Mutant { file: file.to_owned(), text, lines: vec![line], what }
}

fn replace_all(
    file: &str,
    text: &str,
    from: &str,
    to: &str,
    of: fn(&str) -> bool,
    is_right: fn(&str, usize) -> bool,
) -> Vec<Mutant> {
    if !of(file) {
        return Vec::new();
    }
    let found = text.match_indices(from).filter(|(at, _)| !is_prose(file, text, *at) && is_right(text, *at));
    found.map(|(at, _)| edit(file, text, at..at + from.len(), to)).collect()
}

// ------------------------------------------------------------------------------------------------------------- YAML

/// Whether the dots at `at` are those of a range of bits.
fn is_run(text: &str, at: usize) -> bool {
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    digit(text.as_bytes().get(at.wrapping_sub(1))) && digit(text.as_bytes().get(at + 2))
}

fn in_fixed(text: &str, at: usize) -> bool {
    let (start, line) = line_at(text, at);
    line[..at - start].contains("fixed:")
}

/// Changes every range of bits and every single bit.
fn runs(file: &str, text: &str, change: fn(u32, u32) -> Option<(u32, u32)>) -> Vec<Mutant> {
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

fn flip_constants(file: &str, text: &str) -> Vec<Mutant> {
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
fn duplicate_yaml_opcodes(file: &str, text: &str) -> Vec<Mutant> {
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
const KEYS: &[&str] = &[
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

fn misspell_keys(file: &str, text: &str) -> Vec<Mutant> {
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

fn misspell_values(file: &str, text: &str, keys: &[&str]) -> Vec<Mutant> {
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
fn misspell_definitions(file: &str, text: &str) -> Vec<Mutant> {
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

fn drop_yaml_values(file: &str, text: &str) -> Vec<Mutant> {
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

fn misspell_templates(file: &str, text: &str) -> Vec<Mutant> {
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
fn exclude_aliases(file: &str, text: &str) -> Vec<Mutant> {
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

fn drop_brackets(file: &str, text: &str) -> Vec<Mutant> {
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

fn indent(file: &str, text: &str) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n').filter(|_| yaml(file)) {
        let last_of_its_kind = text[at + line.len()..]
            .lines()
            .next()
            .is_none_or(|next| next.len() - next.trim_start().len() < line.len() - line.trim_start().len());
        if !line.trim().is_empty() && !line.trim_start().starts_with('#') && !last_of_its_kind {
            let mut mutant = edit(file, text, at..at, " ");
            mutant.lines.push(mutant.lines[0] + 1);
            mutants.push(mutant);
        }
        at += line.len();
    }
    mutants
}

// -------------------------------------------------------------------------------------------------------- both formats

fn lines(file: &str, text: &str, of: fn(&str) -> bool) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n').filter(|_| of(file)) {
        let start = at + line.len() - line.trim_start().len();
        if !line.trim().is_empty() && !line.trim_start().starts_with('#') && !is_prose(file, text, start) {
            found.push((at, line.to_owned()));
        }
        at += line.len();
    }
    found
}

fn delete_lines(file: &str, text: &str, of: fn(&str) -> bool) -> Vec<Mutant> {
    let delete = |(at, line): (usize, String)| {
        let mut mutant = edit(file, text, at..at + line.len(), "");
        mutant.lines = around(&mutant.text, mutant.lines[0]);
        mutant.what = format!("`{}` is deleted", line.trim());
        mutant
    };
    lines(file, text, of).into_iter().map(delete).collect()
}

/// The nearest non-empty lines around a gap before line `next`.
fn around(text: &str, next: usize) -> Vec<usize> {
    let gap = |n: &usize| text.lines().nth(n - 1).is_none_or(|line| line.trim().is_empty());
    let before = (1..next).rev().find(|n| !gap(n)).unwrap_or(1);
    let after = (next..=text.lines().count()).find(|n| !gap(n)).unwrap_or(next);
    vec![before, after]
}

fn delete_matching(file: &str, text: &str, mark: &str) -> Vec<Mutant> {
    let mut mutants = delete_lines(file, text, xml);
    mutants.retain(|mutant| mutant.what.contains(mark));
    mutants
}

fn delete_closing(file: &str, text: &str) -> Vec<Mutant> {
    if !xml(file) {
        return Vec::new();
    }
    let found = text.match_indices("</").filter(|(at, _)| !text[*at..].starts_with("</valhall"));
    let mut mutants: Vec<Mutant> =
        found.map(|(at, _)| edit(file, text, at..at + text[at..].find('>').map_or(0, |end| end + 1), "")).collect();
    // An unclosed element is noticed at the next one.
    for mutant in &mut mutants {
        let line = mutant.lines[0];
        mutant.lines.extend(around(&mutant.text, line + 1));
    }
    mutants
}

fn duplicate_lines(file: &str, text: &str, of: fn(&str) -> bool) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for (at, line) in lines(file, text, of) {
        let whole = of(file)
            && xml(file)
            && !line.trim().starts_with("</")
            && line.trim().starts_with('<')
            && (line.contains("/>") || line.contains("</"));
        if whole || yaml(file) {
            let mut mutant = edit(file, text, at..at, &line);
            mutant.lines.push(mutant.lines[0] + 1);
            mutant.what = format!("`{}` is duplicated", line.trim());
            mutants.push(mutant);
        }
    }
    mutants
}

fn drop_quotes(file: &str, text: &str, of: fn(&str) -> bool) -> Vec<Mutant> {
    if !of(file) {
        return Vec::new();
    }
    let outside = |at: usize| !xml(file) || !is_prose(file, text, at) && text[..at].rfind('<') > text[..at].rfind('>');
    let is_comment = |at: usize| {
        let (start, line) = line_at(text, at);
        line[..at - start].trim_start().starts_with('#')
    };
    text.match_indices('"')
        .filter(|(at, _)| outside(*at) && !is_comment(*at))
        .map(|(at, _)| edit(file, text, at..at + 1, ""))
        .collect()
}

// -------------------------------------------------------------------------------------------------------------- XML

/// The values of attributes: the name, its position, and the range of the value.
fn attributes<'t>(file: &str, text: &'t str) -> Vec<(&'t str, usize, std::ops::Range<usize>)> {
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

fn xml_numbers(file: &str, text: &str, names: &[&str], change: fn(u64) -> Option<String>) -> Vec<Mutant> {
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

fn widen_xml(file: &str, text: &str) -> Vec<Mutant> {
    let mut mutants = xml_numbers(file, text, &["size"], |n| Some((n + 1).to_string()));
    mutants.retain(|mutant| !mutant.what.contains("<src") && !mutant.what.contains("\"128\""));
    mutants
}

/// Gives an instruction the opcodes of the previous one with the same attributes.
fn duplicate_xml_opcodes(file: &str, text: &str) -> Vec<Mutant> {
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

fn misspell_elements(file: &str, text: &str) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for (at, _) in text.match_indices('<').filter(|(at, _)| xml(file) && !is_prose(file, text, *at)) {
        let name = text[at + 1..].split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default();
        if !name.is_empty() {
            mutants.extend(misspelt(name).map(|new| edit(file, text, at + 1..at + 1 + name.len(), &new)));
        }
    }
    mutants
}

fn misspell_attributes(file: &str, text: &str) -> Vec<Mutant> {
    let all = attributes(file, text).into_iter();
    all.filter_map(|(name, at, _)| Some(edit(file, text, at..at + name.len(), &misspelt(name)?))).collect()
}

/// Misspells names of modifiers wider than a flag, which are the names of enums.
fn misspell_mods(file: &str, text: &str) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for (name, _, value) in attributes(file, text) {
        let (_, line) = line_at(text, value.start);
        if name == "name" && line.contains("<mod ") && !line.contains("size=\"1\"") {
            mutants.extend(misspelt(&text[value.clone()]).map(|new| edit(file, text, value, &new)));
        }
    }
    mutants
}

fn second_defaults(file: &str, text: &str) -> Vec<Mutant> {
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

fn bare_signs(file: &str, text: &str) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for (at, _) in text.match_indices("<desc>").filter(|_| xml(file)) {
        let place = at + "<desc>".len();
        mutants.push(edit(file, text, place..place, " a & b "));
        mutants.push(edit(file, text, place..place, " a < b "));
    }
    mutants
}
