//! The formats of recorded cases.

use isaforge_core::Isa;

use super::judges::{Judge, JudgeRuns, Judges};
use super::text;
use crate::output::count;
use crate::target::Target;
use crate::words::word_digits;

/// Judges one row of a table, split at tabs.
pub type RowCheck = fn(&'static Isa, &[&str]) -> Result<(), String>;

/// A format of recorded cases.
#[derive(Clone, Copy, Debug)]
pub enum Format {
    /// A table of words, one case per line.
    Table(&'static Isa, RowCheck),
    /// A table of bytes and texts, one case per line.
    Rows,
    /// Lines that the instruction set's runtime judges.
    Lines(Judge),
    /// Lines with programs; each run is a case.
    Runs(JudgeRuns),
    /// A file that is a single case.
    File(Judge),
}

impl Format {
    /// Recognises a format by its first case.
    ///
    /// # Errors
    /// When the text has none of the known formats.
    pub fn recognise(target: &Target, isa: &'static Isa, text: &str) -> Result<Format, String> {
        let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
        let Some(first) = first else { return Err("it is empty".to_owned()) };
        if first.trim_start().starts_with('{') {
            return json(target, text, first);
        }
        let columns: Vec<&str> = first.split('\t').collect();
        let is_word = |text: &str| text.len() == word_digits(isa) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_words = |text: &str| !text.trim().is_empty() && text.split_whitespace().all(is_word);
        let starts_with_word = columns.first().is_some_and(|first| is_word(first));
        if let Some(judges) = target.judges {
            let judge = match columns[..] {
                [_, reason] if starts_with_word && is_reason(reason) => judges.refused,
                [_, _, _, _] | [_, _, _, _, _, _, _, _, _, _] if starts_with_word => judges.fields,
                [_, _, inputs, _, basis] if !starts_with_word && is_inputs(inputs) && !is_words(basis) => {
                    judges.operation
                }
                _ => None,
            };
            if let Some(judge) = judge {
                return Ok(Format::Lines(judge));
            }
        }
        let check: RowCheck = match columns.len() {
            2 if starts_with_word => text::word_and_text,
            2 => text::rejected_line,
            5 if starts_with_word => text::random_word,
            5 if is_words(columns[4]) => text::shader,
            6 if starts_with_word => text::assembler_case,
            columns => {
                let columns = count(columns as u64, "column");
                return Err(format!("its first line has {columns} and fits no known table"));
            }
        };
        Ok(Format::Table(isa, check))
    }
}

/// Whether a text lists the input words of an operation.
fn is_inputs(text: &str) -> bool {
    text == "-" || text.split(',').all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Whether a text is the reason why a word is invalid. No assembly text reads like this.
fn is_reason(text: &str) -> bool {
    ["undefined opcode ", "reserved bit "].iter().any(|start| text.starts_with(start))
}

/// Whether a file is a single recorded case.
pub fn is_case(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str(text).is_ok_and(|value| has(&value, CASE_KEYS))
}

/// The keys that every such case has.
const CASE_KEYS: &[&str] = &["words", "fau", "stage"];

/// The formats of recorded programs that only `conform` takes, by the keys of their first object: the set, what the
/// file holds, and the keys.
const REPLAYED: &[(&str, &str, &[&str])] = &[
    ("valhall", "a recorded kernel", KERNEL_KEYS),
    ("valhall", "recorded shaders", SHADER_KEYS),
    ("vpu", "recorded programs", PROGRAM_KEYS),
    ("usc", "recorded programs", &["bytes", "outputs", "runs"]),
];
const KERNEL_KEYS: &[&str] = &["words", "groups", "ssbo_base"];
const SHADER_KEYS: &[&str] = &["name", "words", "runs"];
const PROGRAM_KEYS: &[&str] = &["words", "start", "expect"];

/// Describes a file of recorded programs that only `conform` takes: its set, and what it holds. `None` if it is none.
pub fn replayed(text: &str) -> Option<(&'static str, &'static str)> {
    let first = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>().next()?.ok()?;
    let found = REPLAYED.iter().find(|(_, _, keys)| has(&first, keys));
    found.map(|(set, what, _)| (*set, *what))
}

fn has(value: &serde_json::Value, keys: &[&str]) -> bool {
    keys.iter().all(|key| value.get(key).is_some())
}

fn json(target: &Target, text: &str, first_line: &str) -> Result<Format, String> {
    let format = |found: &dyn Fn(&Judges) -> Option<Format>| {
        let found = target.judges.and_then(found);
        found.ok_or_else(|| format!("no machine runs such programs of {}", target.name))
    };
    if let Ok(value) = serde_json::from_str(first_line) {
        if has(&value, SHADER_KEYS) {
            return format(&|judges| judges.shader.map(Format::Runs));
        }
        if has(&value, PROGRAM_KEYS) {
            return format(&|judges| judges.program.map(Format::Lines));
        }
    }
    match serde_json::from_str(text) {
        Ok(value) if has(&value, KERNEL_KEYS) => format(&|judges| judges.kernel.map(Format::File)),
        Ok(value) if has(&value, CASE_KEYS) => format(&|judges| judges.case.map(Format::File)),
        Ok(_) => Err("it is JSON in another format".to_owned()),
        Err(error) => Err(format!("it is not JSON: {error}")),
    }
}
