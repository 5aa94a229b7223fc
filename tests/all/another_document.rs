//! A specification that someone else writes in the schema of Mesa's Valhall document: other instructions, other numbers,
//! words of another size. Everything that is particular to Valhall is data in `specs/valhall`, so none of it shows here.

use std::sync::OnceLock;

use isaforge::core::decode::decode;
use isaforge::core::print::{Style, print};
use isaforge::core::program::assemble;
use isaforge::core::registers::registers;
use isaforge::core::sample::check_identities;
use isaforge::core::text::Line;
use isaforge::core::{DecodeError, Isa};
use isaforge_compiler::{Settings, compile};

fn pebble() -> &'static Isa {
    static ISA: OnceLock<&Isa> = OnceLock::new();
    ISA.get_or_init(compiled)
}

fn compiled() -> &'static Isa {
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/specs/pebble");
    let settings = Settings { root: Some(spec.into()), ..Settings::new(format!("{spec}/isa.yaml")) };
    let compiled = compile(&settings).unwrap_or_else(|failure| panic!("{failure}"));
    let found = &compiled.checked.diagnostics;
    assert!(found.is_empty(), "{}", found.render(&compiled.checked.sources, Default::default()));
    let files: Vec<_> = compiled.checked.files.iter().filter_map(|f| f.file_name()).collect();
    assert_eq!(files, ["isa.yaml", "isa.xml"]);
    compiled.lowered.words().expect("it has words").isa
}

/// Words and text of every instruction, each bit worked out by hand from the two files.
const CASES: [(u32, &str); 14] = [
    (0x1004_0002, "ADD.i32 g1, g2, g0"),
    (0x1004_5002, "ADD.i32.saturate g1, g2.minus, g0"),
    (0x113c_2821, "ADD.i16 g15, 0x1, 0x0.minus"),
    (0x1880_00ff, "FMA.f32.wait g0, port15, g3, g0"),
    (0x1808_2085, "FMA.f32 g2, g5, g2, g2"),
    (0x2000_0022, "NOT.i32 g0, 0xFFFFFFFF"),
    (0x2000_0441, "COUNT.i32.up g0, g1"),
    (0x2008_0883, "FLOOR.f32.down g2, g3"),
    (0x2804_0141, "SHUFFLE.i32.before g1, g1, distance 0x5"),
    (0x4005_c041, "LOAD *g1+g2+g3, g1, offset 1"),
    (0x4122_7fc2, "STORE *g8, g2, offset -1"),
    (0x5000_0003, "JUMP to 3"),
    (0x5080_ffff, "JUMP.wait to -1"),
    (0x5100_0000, "STOP"),
];

#[test]
fn every_instruction_prints_and_assembles() {
    let isa = pebble();
    assert_eq!((isa.name, isa.word_bits, isa.forms.len()), ("pebble", 32, 11));
    for (word, text) in CASES {
        let word = u64::from(word);
        let opcode = decode(isa, word).unwrap_or_else(|error| panic!("{word:#010x} ({text}): {error}"));
        let mut line = Line::new();
        print(isa, opcode, word, Style::Customary, &mut line);
        assert_eq!(line.as_str(), text, "{word:#010x}");
        assert_eq!(assemble(isa, text), Ok(vec![word]), "{text}");
    }
}

#[test]
fn random_words_survive_the_round_trip() {
    check_identities(pebble(), 500, |word| decode(pebble(), word).ok().map(|_| word));
}

#[test]
fn decoding_is_strict() {
    let isa = pebble();
    let refused = |word: u64| decode(isa, word).expect_err("it is no instruction");
    assert!(matches!(refused(0x6000_0000), DecodeError::UnknownOpcode(_)));
    assert!(matches!(refused(0x2000_00c0), DecodeError::UnknownOpcode(_)), "no secondary opcode is 3");
    assert_eq!(refused(0x2000_0c00).to_string(), "NOT.i32: reserved value 3 in `round`");
    assert_eq!(refused(0x2800_c000).to_string(), "SHUFFLE.i32: reserved value 3 in `Shuffle mode`");
    assert_eq!(refused(0x1000_0010).to_string(), "ADD.i32: reserved encoding 0x10 of operand `src0`");
    assert_eq!(refused(0x5140_0000).to_string(), "STOP: reserved bits 22..0 must be zero, found 0x400000");
    assert_eq!(refused(0x403d_8001).to_string(), "LOAD: operand `sr` names number 16, the last is 15");
}

#[test]
fn groups_staging_registers_and_sizes_mean_what_the_document_says() {
    let isa = pebble();
    let form = |name: &str| isa.forms.iter().find(|f| f.name.str == name).unwrap_or_else(|| panic!("no {name}"));
    assert_eq!((form("ADD.i16").title, form("ADD.i16").unit), ("Addition", "ALU"));
    assert_eq!(form("ADD.i16").operands[1].size, 16);
    assert_eq!(form("FLOOR.f32").title, "Functions of one value");
    assert!(form("LOAD").source.starts_with("isa.xml:"), "{}", form("LOAD").source);
    let opcode = decode(isa, 0x4005_c041).expect("a LOAD of three registers");
    let runs = |write| registers(isa, opcode, 0x4005_c041, write).map(|r| (r.first, r.count)).collect::<Vec<_>>();
    assert_eq!((runs(true), runs(false)), (vec![(1, 3)], vec![(1, 1)]));
    let words = assemble(isa, "again: STOP\nJUMP to again\n").expect("labels are targets");
    assert_eq!(words, [0x5100_0000, 0x5000_fffe]);
}
