//! Streams: words of any width and of mixed lengths, computed values, conditions, aliases, generations.

use std::path::{Path, PathBuf};

use isaforge_compiler::load::{Refusal, load};
use isaforge_compiler::{Settings, check_spec, compile};
use isaforge_core::Tables;
use isaforge_core::print::Style;
use isaforge_core::stream::listing::{disassemble, disassemble_at, parts};
use isaforge_core::stream::program::assemble;
use isaforge_core::stream::{DecodeError, Engine, registers, target};
use isaforge_core::text::Line;

use crate::support::{self, assembled, open};

mod checks;
mod messages;
mod names;
mod proofs;
mod sets;
mod tables;
mod texts;
mod values;

/// The engine of a specification given as text.
fn of_text(name: &str, text: &str, generation: u32) -> Result<Engine, String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("streams");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let path = folder.join(format!("{name}.yaml"));
    std::fs::write(&path, text).expect("the file can be written");
    open(&path, generation)
}

fn fixture(name: &str) -> Engine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/specs").join(name);
    open(&path, 0).unwrap_or_else(|why| panic!("{why}"))
}

fn bytes(hex: &str) -> Vec<u8> {
    support::bytes(&hex.split_whitespace().collect::<String>())
}

fn text(engine: Engine, hex: &str) -> Result<String, DecodeError> {
    let bytes = bytes(hex);
    let decoded = engine.decode(&bytes)?;
    assert_eq!(usize::from(decoded.len), bytes.len(), "{hex} is one instruction");
    let mut line = Line::new();
    engine.print(&decoded, &mut line);
    Ok(line.as_str().to_owned())
}

/// Checks that each of the bytes prints as the text, and that the text assembles to the bytes.
fn both_ways(engine: Engine, rows: &[(&str, &str)]) {
    for (bytes, expected) in rows {
        assert_eq!(text(engine, bytes).as_deref(), Ok(*expected), "{bytes}");
        assert_eq!(assembled(engine, expected), Ok(bytes.replace(' ', "")), "{expected}");
    }
}

/// The warnings about an otherwise valid specification of 40-bit words, each with its code and message.
fn warnings(name: &str, rest: &str) -> Vec<String> {
    warnings_of(name, &format!("isa: warned\nword: 40\nprovenance: document\n{rest}"))
}

fn warnings_of(name: &str, text: &str) -> Vec<String> {
    let checked = support::checked(text).unwrap_or_else(|failure| panic!("{name}: {failure}"));
    checked.diagnostics.iter().map(|found| format!("{}: {}", found.code, found.message)).collect()
}

/// A specification with one operand whose value is given by a table.
fn tabled(rest: &str) -> String {
    format!(
        "isa: tabled\nprovenance: document\nword: 24\nenums: {{ Size: {{ values: [byte, half, word, ~] }} }}\n\
         instructions:\n  set: {{ doc: S., fixed: {{ 23..8: 1 }}, {rest} }}\n"
    )
}
