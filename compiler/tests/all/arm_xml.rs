//! Arm's machine-readable description: one file with a model for each architecture.
//!
//! `data/arm` holds samples of both files, Copyright (C) 2026 Arm Ltd., SPDX-License-Identifier: MIT, as their headers
//! state.

use std::path::{Path, PathBuf};

use isaforge_compiler::diagnostic::Style;
use isaforge_compiler::lower::words;
use isaforge_compiler::{Checked, Settings, check_spec, compile};
use isaforge_core::Isa;
use isaforge_core::decode::decode;
use isaforge_core::parse::parse;
use isaforge_core::print::{Style as Text, print};
use isaforge_core::registers::registers;
use isaforge_core::sample::{Random, check_identities, sample};
use isaforge_core::text::Line;

use crate::seed;

const ARCHITECTURES: [u16; 7] = [9, 10, 11, 12, 13, 14, 15];

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/arm").join(name)
}

fn checked(architecture: u16) -> Checked {
    match check_spec(&Settings::new(data(&format!("v{architecture}.yaml")))) {
        Ok(checked) => checked,
        Err(failure) => panic!("{failure}"),
    }
}

fn isa(architecture: u16) -> &'static Isa {
    words(&checked(architecture).isa).isa
}

fn text_of(isa: &'static Isa, word: u64) -> Result<String, String> {
    let opcode = decode(isa, word).map_err(|e| e.to_string())?;
    let mut line = Line::new();
    print(isa, opcode, word, Text::Customary, &mut line);
    Ok(line.as_str().to_owned())
}

/// Compiles the sample for architecture 9 with some text of it replaced, and returns the messages.
fn mistake(replacements: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut xml = std::fs::read_to_string(data("isa-v9-v14.xml")).expect("the sample is part of the repository");
    for (from, to) in replacements {
        assert!(xml.contains(from), "`{from}` is in the sample");
        xml = xml.replacen(from, to, 1);
    }
    std::fs::write(folder.path().join("isa-v9-v14.xml"), xml).expect("the folder is writable");
    std::fs::copy(data("v9.yaml"), folder.path().join("v9.yaml")).expect("the folder is writable");
    let settings = Settings { root: Some(folder.path().to_owned()), ..Settings::new(folder.path().join("v9.yaml")) };
    match check_spec(&settings) {
        Ok(checked) => checked.diagnostics.render(&checked.sources, Style::default()),
        Err(failure) => failure.render(Style::default()),
    }
}

#[test]
fn every_architecture_compiles_without_a_warning_and_round_trips() {
    for architecture in ARCHITECTURES {
        let checked = checked(architecture);
        assert!(checked.diagnostics.is_empty(), "{}", checked.diagnostics.render(&checked.sources, Style::default()));
        let isa = words(&checked.isa).isa;
        check_identities(isa, 500, |word| decode(isa, word).ok().map(|_| word));
    }
}

#[test]
fn since_and_until_choose_what_exists() {
    let names = |architecture| isa(architecture).forms.iter().map(|f| f.name.str).collect::<Vec<_>>();
    assert!(names(9).contains(&"LD_VAR_BUF_IMM.f32") && !names(11).contains(&"LD_VAR_BUF_IMM.f32"));
    assert!(names(13).contains(&"BLEND") && !names(14).contains(&"BLEND"));
    assert!(names(14).contains(&"F32_TO_S32") && !names(13).contains(&"F32_TO_S32"));
    assert_eq!(names(15), ["ACMPXCHG.i32", "ADR", "AND.i32"]);
    let unit = |architecture| isa(architecture).forms.iter().find(|f| f.name.str == "CLPER").map(|f| f.unit);
    assert_eq!((unit(10), unit(11)), (Some("sfu"), Some("cvt")));
    // Values as well: architecture 14 has operations that 13 does not have, and 10 has a flow that 9 does not have.
    assert!(parse(isa(14), "CLPER.subgroup2.prefix r0, r1, r2").is_ok());
    assert!(parse(isa(13), "CLPER.subgroup2.prefix r0, r1, r2").is_err());
    assert!(
        parse(isa(10), "FABS.f32.wait_resource r0, r1").is_ok()
            && parse(isa(9), "FABS.f32.wait_resource r0, r1").is_err()
    );
}

#[test]
fn known_words_have_known_texts() {
    let v9 = isa(9);
    let cases = [
        ("FADD.f32 r0, r1, 0x3F800000", 0x00a4_c000_0000_d001),
        ("FADD.f32.wait0.round_up.clamp_0_1 r0.h0, r1.h1.abs.neg, ^r2.neg", 0x08a4_40d3_6000_4201),
        ("FADD_IMM.f32 r2, ^r2, #0x4847C6C0", 0x0114_c248_47c6_c042),
        ("MOV_IMM.i32.reconverge r4, #0x1", 0x5110_c400_0000_01c0),
        ("BRANCH.reconverge ^r1.h0, #-8", 0x501f_c027_ffff_f841),
        ("LOAD.i32.slot0 @r2, u0, #0", 0x0060_8282_1800_0080),
        ("LOAD.i32.slot0.d0.zext @r2:r3, u0, #0", 0x0060_8294_1800_0080),
        ("LOAD.i32.slot0.d0.sext @r2:r3, u0, #0", 0x0060_8214_1800_0080),
        ("ACMPXCHG.i32.slot0 @r1, @r2:r3, u0, #0x14", 0x0120_c204_1fc1_1480),
    ];
    for (text, word) in cases {
        let read = parse(v9, text).map(|(_, word)| word).map_err(|e| e.to_string());
        assert_eq!(read, Ok(word), "{text}: {:#018x}", read.as_ref().copied().unwrap_or(0));
        assert_eq!(text_of(v9, word).as_deref(), Ok(text));
    }
}

#[test]
fn computed_fields_follow_what_is_written_and_must_agree() {
    let v9 = isa(9);
    // One register without a lane, two with one. The count is part of the word, and a word with a wrong count is
    // rejected.
    let word = parse(v9, "LOAD.i32.slot0 @r2, u0, #0").expect("valid").1;
    assert_eq!(word >> 33 & 7, 1);
    assert!(text_of(v9, word ^ 3 << 33).is_err_and(|e| e.contains("reserved value")));
    assert!(
        parse(v9, "LOAD.i32.slot0.d0.sext @r2, u0, #0")
            .is_err_and(|e| e.to_string() == "the list must have 2 registers")
    );
    // `none` is stored as `zext`; a word that stores `sext` without a lane is invalid.
    assert!(text_of(v9, word ^ 1 << 39).is_err());
    // The sign of the third source of a multiplication depends on the rounding.
    let v14 = isa(14);
    let neg2 = |text: &str| parse(v14, text).expect("valid").1 >> 34 & 1;
    assert_eq!((neg2("FMUL.f32 r0, r1, r2"), neg2("FMUL.f32.round_down r0, r1, r2")), (1, 0));
    // A register format determines how many registers four components take.
    assert!(parse(v9, "BLEND.slot0.v4.f16 @r0:r1, u0, #0, r2").is_ok());
    assert!(
        parse(v9, "BLEND.slot0.v4.f32 @r0:r1, u0, #0, r2")
            .is_err_and(|e| e.to_string() == "the list must have 4 registers")
    );
    // Tables 60 to 63 are stored in four bits.
    let table =
        |n: u64| parse(v9, &format!("LEA_TEX_IMM.slot0 @r0:r1:r2, r0, r1, #0x0, #{n}")).map(|(_, w)| w >> 16 & 15);
    assert_eq!((table(11).ok(), table(63).ok(), table(12).ok()), (Some(11), Some(15), None));
    // Offsets are multiples of four.
    assert!(parse(v9, "ACMPXCHG.i32.slot0 @r1, @r2:r3, u0, #0x15").is_err());
}

#[test]
fn words_that_are_always_written_must_be_written() {
    let v9 = isa(9);
    assert_eq!(text_of(v9, 0x0045_c001_c000_0000).as_deref(), Ok("BARRIER.slot7"));
    assert!(parse(v9, "BARRIER").is_err_and(|e| e.to_string() == "BARRIER needs the modifier `message_slot_index`"));
    assert!(parse(v9, "MKVEC.v2i8 r0, r1, r2, r3").is_err(), "the third source always has `.b01`");
    assert!(parse(v9, "MKVEC.v2i8 r0, r1, r2.b2, r3.b01").is_ok());
}

/// `FABS x` is `FADD |x|, -0`: the special case has priority, but only for its own words.
#[test]
fn a_special_case_wins_over_what_it_is_a_case_of() {
    let v9 = isa(9);
    let (_, general) = parse(v9, "FADD.f32 r0, r1.abs, 0x0.neg").expect("valid");
    assert_eq!(text_of(v9, general).as_deref(), Ok("FABS.f32 r0, r1"));
    for bit in [8, 26, 30, 34, 36, 37, 38, 39] {
        let other = text_of(v9, general ^ 1 << bit);
        assert!(other.as_ref().is_ok_and(|t| t.starts_with("FADD.f32")), "bit {bit}: {other:?}");
    }
    assert_eq!(text_of(v9, parse(v9, "MOV_IMM.i32 r0, #0x7").expect("valid").1).as_deref(), Ok("MOV_IMM.i32 r0, #0x7"));
}

#[test]
fn sources_in_pieces_have_all_their_bits() {
    let v15 = isa(15);
    for (text, low, high) in
        [("r5", 0x05, 0), ("r127", 0x7f, 0), ("^r3", 0x83, 0), ("u1", 0x01, 1), ("0x0", 0xc0, 1), ("pc.w0", 0xfe, 1)]
    {
        let (_, word) = parse(v15, &format!("AND.i32 r0, {text}, r0")).expect("valid");
        assert_eq!((word & 0xff, word >> 48 & 1), (low, high), "{text} as the first source");
        let (_, word) = parse(v15, &format!("AND.i32 r0, r0, {text}")).expect("valid");
        assert_eq!((word >> 16 & 0xff, word >> 50 & 1), (low, high), "{text} as the third source");
    }
    // 0x180..0x1bf are not sources.
    let (_, word) = parse(v15, "AND.i32 r0, u0, r0").expect("valid");
    assert!(text_of(v15, word | 0x80).is_err());
    // Registers encoded in pieces are found too, and no bit has two meanings.
    let (opcode, word) = parse(v15, "AND.i32 r9, ^r100, r101").expect("valid");
    assert_eq!(registers(v15, opcode, word, false).map(|r| r.first).collect::<Vec<_>>(), [100, 101]);
    let mut seen = 0u64;
    isaforge_core::annotate::annotate(v15, opcode, word, &mut |note| {
        let mask = isaforge_core::bits::ones(u32::from(note.high - note.low) + 1) << note.low;
        assert_eq!(seen & mask, 0, "{} {}..{}", note.name, note.high, note.low);
        seen |= mask;
    });
    assert_eq!(seen, u64::MAX);
}

/// For words that both Arm's description and Mesa's document describe, they agree on the registers.
#[test]
fn arms_words_name_the_same_registers_as_mesas() {
    let arm = isa(9);
    let mesa = match check_spec(&Settings::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/valhall/isa.yaml")))
    {
        Ok(checked) => words(&checked.isa).isa,
        Err(failure) => panic!("{failure}"),
    };
    let mut random = Random(seed::seed(9));
    let mut common: Vec<(&str, &str)> = Vec::new();
    for (i, form) in arm.forms.iter().enumerate() {
        for _ in 0..300 {
            let word = sample(arm, i as u16, &mut random);
            let Ok(other) = decode(mesa, word) else { continue };
            let names = |isa, o, write| {
                let uses = registers(isa, o, word, write).map(|r| (r.bank, r.first));
                let general = uses.filter(|(bank, _)| *bank == 0).map(|(_, first)| first);
                let mut all: Vec<u16> = general.collect();
                all.sort_unstable();
                all
            };
            // Sources fixed by a special case are not operands there.
            for write in [false, true] {
                assert_eq!(
                    names(arm, i as u16, write),
                    names(mesa, other, write),
                    "{:?} / {:?}",
                    text_of(arm, word),
                    text_of(mesa, word)
                );
            }
            let pair = (form.name.str, mesa.forms[other as usize].name.str);
            if !common.contains(&pair) {
                common.push(pair);
            }
        }
    }
    assert!(common.len() >= 12, "{common:?}");
    for pair in
        [("FADD.f32", "FADD.f32"), ("FABS.f32", "FADD.f32"), ("FADD_IMM.f32", "FADD_IMM.f32"), ("LOAD.i32", "LOAD.i32")]
    {
        assert!(common.contains(&pair), "{pair:?} is not in {common:?}");
    }
}

#[test]
fn other_spellings_are_read_and_never_printed() {
    // The sample has an enum with several spellings; this adds a field for it.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let xml = std::fs::read_to_string(data("isa-v9-v14.xml")).expect("the sample is part of the repository");
    let field = r#"<field name="conservative" pos="35" width="1" type="branch_conservative_m" default="none"/>"#;
    assert!(xml.contains(field));
    let xml = xml.replace(field, r#"<field name="conservative" pos="35" width="1" type="tex_width_m"/>"#);
    std::fs::write(folder.path().join("isa-v9-v14.xml"), xml).expect("the folder is writable");
    std::fs::copy(data("v9.yaml"), folder.path().join("v9.yaml")).expect("the folder is writable");
    let compiled = compile(&Settings::new(folder.path().join("v9.yaml"))).unwrap_or_else(|failure| panic!("{failure}"));
    let isa = compiled.lowered.words().expect("it has words").isa;
    let word =
        |width: &str| parse(isa, &format!("BRANCH.{width} r0, #0")).map(|(_, w)| w).expect("all spellings are read");
    assert!(word("dst16") == word("f16") && word("f16") == word("u16") && word("dst32") == word("s32"));
    assert_eq!(text_of(isa, word("u32")).as_deref(), Ok("BRANCH.dst32 r0, #0"));
    let source = compiled.source(Some("mine")).expect("the generated code is Rust");
    let (_, variants) = source.split_once("pub enum TexWidthM {").expect("the field has a type");
    let (variants, _) = variants.split_once('}').expect("the type ends");
    let names: Vec<&str> =
        variants.lines().filter_map(|line| line.trim().split_once(" = ")).map(|(name, _)| name).collect();
    assert_eq!(names, ["Dst16", "Dst32"], "a value is one variant, whatever its spellings");
}

#[test]
fn mistakes_of_the_file_are_named_where_they_are() {
    let cases: [(&[(&str, &str)], &str); 12] = [
        (&[("<reserved pos=\"39\"", "<blank pos=\"39\"")], "error[E0050]: unknown element `<blank>` in an instruction"),
        (
            &[("exec_unit=\"msg\" since", "exec_unitt=\"msg\" since")],
            "error[E0052]: `<instruction>` has an unknown attribute `exec_unitt`",
        ),
        (
            &[("type=\"atom_operation_m\" exact=\"axchg\"", "type=\"atom_operation_m\" exact=\"axchange\"")],
            "error[E0101]: there is no value called `axchange` in `atom_operation_m`",
        ),
        (
            &[("type=\"atom_compare_t\"", "type=\"atom_compre_t\"")],
            "error[E0101]: architecture 9 has no type called `atom_compre_t`",
        ),
        (
            &[("<modifier name=\"message_slot_index\"/>", "")],
            "error[E0080]: the text of `ACMPXCHG.i32` does not show `message_slot_index`",
        ),
        (
            &[("<expression operator=\"rshift\">", "<expression operator=\"rightshift\">")],
            "error[E0081]: unknown operator `rightshift`",
        ),
        (
            &[("<expression identifier=\"lane\"/>", "<expression identifier=\"lame\"/>")],
            "error[E0101]: `extend` depends on `lame`, which does not exist",
        ),
        (
            &[("modifier=\"align(4)\"", "modifier=\"align(3)\"")],
            "error[E0083]: `align(3)` is not a way to store a number",
        ),
        (
            &[("name=\"fau_page_index\" pos=\"57\"", "name=\"fau_page_index\" pos=\"56\"")],
            "error[E0084]: `fau_page_index` does not lie where `fau_page` does",
        ),
        (
            &[("<field name=\"src0\" pos=\"0\" width=\"8\"", "<field name=\"src0\" pos=\"0\" width=\"7\"")],
            "error[E0084]: `src0` has 7 bits, but a `source` has 8",
        ),
        (
            &[("<reserved pos=\"39\" width=\"1\" type=\"zero\"/>", "")],
            "error[E0105]: undefined bit 39 in `ACMPXCHG.i32`",
        ),
        (
            &[("width=\"16\" type=\"int\"", "width=\"16\" type=\"int\" modifier=\"shr(1)\"")],
            "error[E0083]: `offset` is a number that the tables cannot hold",
        ),
    ];
    for (replacements, expected) in cases {
        let messages = mistake(replacements);
        assert!(messages.contains(expected), "{expected}\n{messages}");
        assert!(messages.contains("isa-v9-v14.xml:"), "the message has a place: {messages}");
    }
    // Formulas that are not inverses of each other.
    let broken =
        mistake(&[("<expression literal=\"60\" type=\"uint\"/>", "<expression literal=\"61\" type=\"uint\"/>")]);
    assert!(
        broken.contains("error[E0082]: `texture_table_index` cannot be determined from the bits it is computed from"),
        "{broken}"
    );
}

#[test]
fn an_architecture_that_the_file_does_not_know_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in ["isa-v9-v14.xml", "v9.yaml"] {
        std::fs::copy(data(name), folder.path().join(name)).expect("the folder is writable");
    }
    std::fs::write(folder.path().join("v3.yaml"), "base: v9.yaml\nisa: old\narm: { architecture: 3 }\n")
        .expect("writable");
    let failure = check_spec(&Settings::new(folder.path().join("v3.yaml"))).expect_err("there is nothing for 3");
    let messages = failure.render(Style::default());
    assert!(messages.contains("architecture 3") || messages.contains("there is no"), "{messages}");
}

/// Files with missing, duplicated or swapped lines, or other numbers and names, yield messages or a model without a
/// panic.
#[test]
fn no_damage_to_the_file_brings_the_reader_down() {
    let xml = std::fs::read_to_string(data("isa-v9-v14.xml")).expect("the sample is part of the repository");
    let lines: Vec<&str> = xml.lines().collect();
    let mut random = Random(seed::seed(77));
    let mut compiled = 0;
    for _ in 0..150 {
        let mut changed: Vec<String> = lines.iter().map(|l| (*l).to_owned()).collect();
        for _ in 0..=random.below(2) {
            let at = random.below(changed.len() as u64) as usize;
            let other = random.below(changed.len() as u64) as usize;
            match random.below(6) {
                0 => drop(changed.remove(at)),
                1 => changed.insert(at, changed[other].clone()),
                2 => changed.swap(at, other),
                3 => changed[at] = changed[at].replace(char::is_numeric, &random.below(70).to_string()),
                4 => {
                    changed[at] =
                        changed[at].replacen("operator=\"", "operator=\"l", 1).replacen("type=\"", "type=\"u", 1)
                }
                _ => {
                    changed[at] = changed[at]
                        .replacen("width=\"", "width=\"6", 1)
                        .replacen("shr(3)", "shr(31)", 1)
                        .replacen("align(4)", "minus(200)", 1)
                }
            }
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("isa-v9-v14.xml"), changed.join("\n")).expect("the folder is writable");
        std::fs::copy(data("v9.yaml"), folder.path().join("v9.yaml")).expect("the folder is writable");
        if let Ok(checked) = check_spec(&Settings::new(folder.path().join("v9.yaml"))) {
            compiled += 1;
            let isa = words(&checked.isa).isa;
            check_identities(isa, 3, |word| decode(isa, word).ok().map(|_| word));
        }
    }
    assert!(compiled > 5, "{compiled} of 150 still compile");
}
