//! Differences between revisions of streams.

use std::path::Path;

use isaforge_compiler::diff::{Decoding, InstructionDiff, diff_streams};
use isaforge_compiler::{Checked, Failure, Settings, check_spec};
use isaforge_core::sample::Random;
use isaforge_core::stream::{Engine, Wide};
use isaforge_core::text::Line;

use crate::seed;
use crate::support::{checked, replaced};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");

/// The engine of a stream specification.
fn stream(path: &Path) -> Engine {
    engine(check_spec(&Settings::new(path)))
}

/// The engine of a stream specification given as text.
fn of_text(text: &str) -> Engine {
    engine(checked(text))
}

fn engine(checked: Result<Checked, Box<Failure>>) -> Engine {
    let checked = checked.unwrap_or_else(|failure| panic!("{failure}"));
    let stream = checked.isa.stream().expect("it is a stream");
    let stream = isaforge_compiler::stream::lower::lower_exact(&checked.isa, stream);
    Engine { stream, generation: stream.generations.1 }
}

/// The engine of an example with a part of its text replaced.
fn changed_example(name: &str, from: &str, to: &str) -> Engine {
    let text = std::fs::read_to_string(Path::new(EXAMPLES).join(name).join("isa.yaml")).expect("the example is there");
    of_text(&replaced(&text, &[(from, to)]))
}

#[test]
fn a_stream_is_the_same_as_itself() {
    for name in ["riscv", "sm75", "g13"] {
        let path = Path::new(EXAMPLES).join(name).join("isa.yaml");
        let diff = diff_streams(stream(&path), stream(&path));
        assert!(diff.is_empty() && diff.decodes_alike(), "{}", diff.to_text());
        assert_eq!(diff.alike, diff.old.instructions);
    }
}

#[test]
fn whatever_is_proved_of_a_stream_holds_for_random_words() {
    let mut random = Random(seed::seed(0x57));
    for (name, from, to) in [
        ("riscv", "bits: [12, 6..2]", "bits: [6..2, 12]"),
        ("riscv", "where: rd != 0\n", "where: rd != 1\n"),
        ("riscv", "{imm}({rs1})", "[{rs1} + {imm}]"),
        ("riscv", "prints: true } }, doc: Branches if equal.", "prints: false } }, doc: Branches if equal."),
        ("g13", "values: [l, h]", "values: [lo, hi]"),
        ("g13", "where: hint != 0, text", "where: hint != 1, text"),
        ("g13", "value: n + 1", "value: n + 2"),
        ("sm75", "value: bits * 4", "value: bits * 8"),
    ] {
        let old = stream(&Path::new(EXAMPLES).join(name).join("isa.yaml"));
        let new = changed_example(name, from, to);
        let diff = diff_streams(old, new);
        assert!(diff.different > 0, "{name}: {from}: {}", diff.to_text());
        let listed = |name: &str| diff.instructions.iter().find(|i| i.old.as_ref().is_some_and(|old| old.name == name));
        let read = |engine: Engine, bytes: &[u8]| {
            let decoded = engine.decode(bytes).ok()?;
            let mut line = Line::new();
            engine.print(&decoded, &mut line);
            Some((engine.scope(&decoded).layout.opcode, decoded.len, line.as_str().to_owned()))
        };
        for _ in 0..20_000 {
            let layouts = old.stream.layouts_of(0);
            let layout = &layouts[random.below(layouts.len() as u64) as usize];
            let word = Wide(std::array::from_fn(|_| random.next()));
            let bytes = old.store(word & !layout.fixed_mask | layout.fixed_value);
            let Some((opcode, len, text)) = read(old, &bytes) else { continue };
            let name = old.stream.instructions[usize::from(opcode)].name;
            let other = read(new, &bytes[..usize::from(len)]).map(|(_, len, text)| (len, text));
            let differs = other != Some((len, text));
            let alike = listed(name).is_none_or(|i| i.decoding == Some(Decoding::Alike));
            assert!(
                !differs || !alike,
                "{name} is proved to read the same, and {:02x?} does not",
                &bytes[..len.into()]
            );
        }
        for example in diff.instructions.iter().flat_map(|i| &i.examples) {
            assert_ne!(example.old, example.new);
        }
    }
}

const STREAM: &str = "isa: tiny\nword: [16, 32]\nprovenance: document\n\
    banks: { r: { count: 16, prints: 'r{n}', also: { top: 15 } } }\n\
    enums: { Name: { bits: 12, values: [{ name: low, value: 70 }, { name: high, value: 3000 }] } }\n\
    kinds:\n  place:\n    width: 13\n    alternatives:\n      \
    named: { fixed: { 12: 1 }, fields: { n: { enum: Name, bits: 11..0, number: { base: 16 } } }, text: '{n}' }\n      \
    register: { fixed: { 12..4: 0 }, fields: { n: { bank: r, bits: 3..0 } }, text: '{n}' }\n\
    instructions:\n  \
    get: { doc: Gets., word: 32, fixed: { 31..28: 1, 11..0: 0 }, \
    operands: { d: { bank: r, bits: 27..24, access: write }, n: { enum: Name, bits: 23..12, immediate: { base: 16 } } } }\n  \
    put: { doc: Puts., word: 32, fixed: { 31..28: 2, 10..0: 0 }, \
    operands: { d: { bank: r, bits: 27..24, access: write }, p: { kind: place, at: 11 } } }\n  \
    rest: { doc: Rests., word: 16, fixed: { 15..0: 1 } }\n";

#[test]
fn values_of_large_enums_that_moved_are_found() {
    let [old, new] = [of_text(STREAM), of_text(&STREAM.replace("3000", "3001"))];
    for diff in [diff_streams(old, new), diff_streams(new, old)] {
        let names: Vec<&str> = diff.instructions.iter().map(|entry| entry.name()).collect();
        assert_eq!(names, ["get", "put"], "{}", diff.to_text());
        let found = |entry: &InstructionDiff| entry.decoding == Some(Decoding::Different) && !entry.examples.is_empty();
        assert!(diff.instructions.iter().all(found), "{}", diff.to_text());
    }
}

#[test]
fn how_instructions_are_stored_and_other_names_of_registers_are_compared() {
    let against = |from: &str, to: &str| {
        let [old, new] = [of_text(STREAM), of_text(&STREAM.replacen(from, to, 1))];
        diff_streams(old, new).to_text()
    };
    let text = against("prov", "swap: 2\nprov");
    let said = "in every instruction:\n  byte order changed: least significant byte first → units of 2 bytes, most";
    assert!(text.contains(said), "{text}");
    let text = against("top: 15", "top: 14");
    assert!(text.contains("bank `r` changed\n    syntax `other names` changed: `top` is 15 → `top` is 14"), "{text}");
}
