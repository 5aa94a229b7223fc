//! A difference as JSON.

use isaforge_core::stream::Wide;

use super::change::Change;
use super::difference::{DefinitionDiff, Diff, Example, Fate, Instruction, InstructionDiff, Reading};
use super::revision::Side;
use crate::json::{Json, array, object, plain, string};

pub(super) fn render(diff: &Diff) -> String {
    let counts = Fate::ALL.iter().map(|f| (f.as_str(), plain(diff.count(*f))));
    let decoding = object([
        ("alike", plain(diff.alike)),
        ("different", plain(diff.different)),
        ("unproven", plain(diff.unproven)),
    ]);
    let bits = diff.old.word_bits.max(diff.new.word_bits);
    let json = object([
        ("old", side(&diff.old)),
        ("new", side(&diff.new)),
        ("decodes_alike", plain(diff.decodes_alike())),
        ("decoding", decoding),
        ("operations_changed", plain(diff.operations_changed())),
        ("summary", object(counts)),
        ("instructions", array(diff.instructions.iter().map(|i| instruction(i, bits)))),
        ("common", array(diff.common.iter().map(change))),
        ("definitions", array(diff.definitions.iter().map(definition))),
    ]);
    format!("{json}\n")
}

fn side(side: &Side) -> Json {
    object([
        ("name", string(&side.name)),
        ("word_bits", plain(side.word_bits)),
        ("instructions", plain(side.instructions)),
        ("enums", plain(side.enums)),
    ])
}

fn instruction(entry: &InstructionDiff, bits: u16) -> Json {
    let one = |i: &Option<Instruction>| match i {
        Some(i) => object([
            ("name", string(&i.name)),
            ("mask", hex(i.pattern.mask, bits)),
            ("value", hex(i.pattern.value, bits)),
        ]),
        None => plain("null"),
    };
    object([
        ("fate", string(entry.fate.as_str())),
        ("name", string(entry.name())),
        ("old", one(&entry.old)),
        ("new", one(&entry.new)),
        ("related", array(entry.related.iter().map(|n| string(n)))),
        ("decoding", entry.decoding.map_or(plain("null"), |d| string(d.as_str()))),
        ("changes", array(entry.changes.iter().map(change))),
        ("examples", array(entry.examples.iter().map(example))),
    ])
}

fn definition(entry: &DefinitionDiff) -> Json {
    let renamed = if entry.renamed.is_empty() { plain("null") } else { string(&entry.renamed) };
    object([
        ("sort", string(entry.sort.as_str())),
        ("how", string(entry.how.as_str())),
        ("name", string(&entry.name)),
        ("renamed", renamed),
        ("changes", array(entry.changes.iter().map(change))),
    ])
}

fn change(change: &Change) -> Json {
    object([
        ("subject", string(change.subject.as_str())),
        ("how", string(change.how.as_str())),
        ("name", string(&change.name)),
        ("old", string(&change.old)),
        ("new", string(&change.new)),
    ])
}

fn example(example: &Example) -> Json {
    let reading = |r: &Reading| match r {
        Reading::Text(text) => object([("text", string(text))]),
        Reading::Invalid(why) => object([("invalid", string(why))]),
    };
    object([("word", string(&example.word)), ("old", reading(&example.old)), ("new", reading(&example.new))])
}

/// A word as text, since JSON numbers are not always precise to 64 bits.
fn hex(value: Wide, bits: u16) -> Json {
    let digits = usize::from(bits.div_ceil(4));
    Json::Text(format!("{value:0digits$x}"))
}
