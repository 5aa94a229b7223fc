//! The tutorial specifications in `examples/`, compared with words of other tools.

use std::path::Path;

use isaforge_compiler::{Settings, check_spec};
use isaforge_core::stream::Engine;
use isaforge_core::text::Line;

use crate::support::bytes;

/// The engine of an example, which must have no warnings.
fn open(name: &str) -> Engine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name).join("isa.yaml");
    let checked = check_spec(&Settings::new(path)).unwrap_or_else(|failure| panic!("{failure}"));
    let warnings: Vec<&String> = checked.diagnostics.iter().map(|warning| &warning.message).collect();
    assert!(warnings.is_empty(), "{warnings:?}");
    let stream = checked.isa.stream().expect("it is a stream");
    Engine { stream: isaforge_compiler::stream::lower::lower(&checked.isa, stream), generation: 0 }
}

/// Checks that every row prints as `shown` maps it, and that the whole text assembles to its bytes.
fn both_ways(engine: Engine, rows: &str, shown: impl Fn(&str) -> String) {
    let mut wrong = Vec::new();
    let rows: Vec<_> = rows.lines().filter(|row| !row.starts_with('#')).collect();
    for row in &rows {
        let (hex, expected) = row.split_once('\t').expect("two columns");
        let bytes = bytes(hex);
        let decoded = match engine.decode(&bytes) {
            Ok(decoded) if usize::from(decoded.len) == bytes.len() => decoded,
            Ok(decoded) => {
                wrong.push(format!("{row}: {} bytes", decoded.len));
                continue;
            }
            Err(error) => {
                wrong.push(format!("{row}: {error}"));
                continue;
            }
        };
        let mut line = Line::new();
        engine.print(&decoded, &mut line);
        if shown(line.as_str()) != *expected {
            wrong.push(format!("{row}: {}", line.as_str()));
        }
        match engine.parse(line.as_str()) {
            Ok(parsed) if parsed.decoded == decoded => {}
            Ok(_) => wrong.push(format!("{row}: `{}` assembles to something else", line.as_str())),
            Err(error) => wrong.push(format!("{row}: `{}`: {error}", line.as_str())),
        }
    }
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn sm75_reads_as_the_disassembler_of_the_vendor_does() {
    let engine = open("sm75");
    both_ways(engine, include_str!("../data/sm75.tsv"), |text| text.split(';').next().unwrap_or_default().to_owned());
}

#[test]
fn g13_reads_words_of_two_to_ten_bytes() {
    both_ways(open("g13"), include_str!("../data/g13.tsv"), str::to_owned);
}

#[test]
fn another_spelling_of_an_instruction_is_as_short() {
    let riscv = open("riscv");
    for (text, printed) in [
        ("mv a0, fp", "mv a0, s0"),
        ("mv a0, x8", "mv a0, s0"),
        ("lw a0, 0x4(s0)", "lw a0, 4(s0)"),
        ("li a0, 0x1", "li a0, 1"),
        ("beqz fp, 0", "beqz s0, 0"),
    ] {
        let parsed = |text: &str| riscv.parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(parsed(text), parsed(printed), "{text}");
        assert_eq!(parsed(text).decoded.len, 2, "{text}");
    }
    // The labels of a program stay the targets of its branches.
    let near = "start: beqz fp, end\n nop\nend: bnez x8, start\n";
    let words = isaforge_core::stream::program::assemble(riscv, near).expect("it is a program");
    assert_eq!(words.len(), 6, "{words:x?}");
}
