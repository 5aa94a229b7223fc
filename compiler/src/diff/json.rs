//! A difference as JSON.
//!
//! Written by hand: the shape is small, and the macro's build must not pay for a serializer.

use super::{Change, DefinitionDiff, Diff, Example, Fate, Instruction, InstructionDiff, Reading, Side};

pub(super) fn render(diff: &Diff) -> String {
    let counts = Fate::ALL.iter().map(|f| (f.as_str(), diff.count(*f).to_string()));
    let decoding = object([
        ("alike", diff.alike.to_string()),
        ("different", diff.different.to_string()),
        ("unproven", diff.unproven.to_string()),
    ]);
    let bits = diff.old.word_bits.max(diff.new.word_bits);
    object([
        ("old", side(&diff.old)),
        ("new", side(&diff.new)),
        ("decodes_alike", diff.decodes_alike().to_string()),
        ("decoding", decoding),
        ("summary", object(counts)),
        ("instructions", array(diff.instructions.iter().map(|i| instruction(i, bits)))),
        ("common", array(diff.common.iter().map(change))),
        ("definitions", array(diff.definitions.iter().map(definition))),
    ]) + "\n"
}

fn side(side: &Side) -> String {
    object([
        ("name", string(&side.name)),
        ("word_bits", side.word_bits.to_string()),
        ("instructions", side.instructions.to_string()),
        ("enums", side.enums.to_string()),
    ])
}

fn instruction(entry: &InstructionDiff, bits: u8) -> String {
    let one = |i: &Option<Instruction>| match i {
        Some(i) => object([
            ("name", string(&i.name)),
            ("mask", hex(i.pattern.mask, bits)),
            ("value", hex(i.pattern.value, bits)),
        ]),
        None => "null".to_owned(),
    };
    object([
        ("fate", string(entry.fate.as_str())),
        ("name", string(entry.name())),
        ("old", one(&entry.old)),
        ("new", one(&entry.new)),
        ("related", array(entry.related.iter().map(|n| string(n)))),
        ("decoding", entry.decoding.map_or("null".to_owned(), |d| string(d.as_str()))),
        ("changes", array(entry.changes.iter().map(change))),
        ("examples", array(entry.examples.iter().map(|e| example(e, bits)))),
    ])
}

fn definition(entry: &DefinitionDiff) -> String {
    let renamed = if entry.renamed.is_empty() { "null".to_owned() } else { string(&entry.renamed) };
    object([
        ("sort", string(entry.sort.as_str())),
        ("how", string(entry.how.as_str())),
        ("name", string(&entry.name)),
        ("renamed", renamed),
        ("changes", array(entry.changes.iter().map(change))),
    ])
}

fn change(change: &Change) -> String {
    object([
        ("subject", string(change.subject.as_str())),
        ("how", string(change.how.as_str())),
        ("name", string(&change.name)),
        ("old", string(&change.old)),
        ("new", string(&change.new)),
    ])
}

fn example(example: &Example, bits: u8) -> String {
    let reading = |r: &Reading| match r {
        Reading::Text(text) => object([("text", string(text))]),
        Reading::Invalid(why) => object([("invalid", string(why))]),
    };
    object([("word", hex(example.word, bits)), ("old", reading(&example.old)), ("new", reading(&example.new))])
}

/// A word as text: JSON numbers do not hold 64 bits everywhere.
fn hex(value: u64, bits: u8) -> String {
    let digits = usize::from(bits.div_ceil(4));
    format!("\"{value:0digits$x}\"")
}

fn object<'a>(members: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let members: Vec<String> = members.into_iter().map(|(name, value)| format!("{}:{value}", string(name))).collect();
    format!("{{{}}}", members.join(","))
}

fn array(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
