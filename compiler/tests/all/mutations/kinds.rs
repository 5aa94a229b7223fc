//! The kinds of errors, each of which generates all its mutants of a file.

use super::texts;

mod lines;
mod xml;
mod yaml;

use lines::{delete_closing, delete_lines, delete_matching, drop_quotes, duplicate_lines, indent};
use xml::{
    bare_signs, duplicate_xml_opcodes, misspell_attributes, misspell_elements, misspell_mods, second_defaults,
    widen_xml, xml, xml_numbers,
};
pub use yaml::misspelt;
use yaml::{
    drop_brackets, drop_yaml_values, duplicate_yaml_opcodes, exclude_aliases, flip_constants, in_fixed,
    misspell_definitions, misspell_keys, misspell_templates, misspell_values, runs,
};

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
