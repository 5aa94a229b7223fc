//! Tests of the decoder of the pages against the tables of the generated crates.

mod sets;

use isaforge_core::Isa;
use isaforge_core::Tables;
use isaforge_core::decode::decode;
use isaforge_core::explain::groups::example;
use isaforge_core::group::text::SEPARATOR;
use isaforge_core::group::{self, GroupIsa};
use isaforge_core::print::{Style, print};
use isaforge_core::sample::{Random, sample};
use isaforge_core::text::Line;
use isaforge_page::Page;
use serde_json::Value;

fn ask(page: &mut Page, command: &str, about: &str) -> Value {
    serde_json::from_str(&page.answer(&format!("{command}\n{about}"))).expect("JSON")
}

fn seed() -> u64 {
    let seed = std::env::var("ISAFORGE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(2026);
    println!("ISAFORGE_SEED={seed}");
    seed
}

#[test]
fn the_page_decodes_every_instruction_as_the_crate_does() {
    let mut random = Random(seed());
    for (name, subject) in sets::subjects() {
        let mut page = sets::page(&subject);
        match subject.tables {
            Tables::Words(isa) => words(name, isa, &mut page, &mut random),
            Tables::Groups(isa) => groups(isa, &mut page, &mut random),
            Tables::Streams(_) => unreachable!("no built-in set is a stream"),
        }
    }
}

fn words(name: &str, isa: &'static Isa, page: &mut Page, random: &mut Random) {
    let digits = usize::from(isa.word_bits).div_ceil(4);
    for opcode in 0..isa.forms.len() as u16 {
        let mut all: Vec<u64> = (0..20).map(|_| sample(isa, opcode, random)).collect();
        // Neighbours of valid words are often invalid, in many different ways.
        let flipped: Vec<u64> = all.iter().map(|word| word ^ 1 << random.below(isa.word_bits.into())).collect();
        all.extend(flipped);
        let source: Vec<String> = all.iter().map(|word| format!("{word:0digits$x}")).collect();
        let found = ask(page, "program", &source.join("\n"));
        assert_eq!(found["swapped"], false, "{name}");
        for (index, word) in all.iter().enumerate() {
            let row = &found["rows"][index];
            match decode(isa, *word) {
                Ok(opcode) => {
                    let mut line = Line::new();
                    print(isa, opcode, *word, Style::Customary, &mut line);
                    assert_eq!(row["text"], line.as_str(), "{name}: {word:#x}");
                }
                Err(error) => assert_eq!(row["error"], error.to_string(), "{name}: {word:#x}"),
            }
        }
        let explained = ask(page, "explain", &source[0]);
        assert_eq!(explained["text"], found["rows"][0]["text"], "{name}");
        assert_eq!(explained["code"], source[0], "{name}");
    }
}

fn groups(isa: &'static GroupIsa, page: &mut Page, random: &mut Random) {
    let mut valid = 0;
    for operation in isa.operations {
        let Some(group) = example(isa, operation) else { continue };
        for round in 0..90 {
            let mut bytes = group.as_bytes().to_vec();
            for _ in 0..round % 4 {
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] ^= 1 << random.below(8);
            }
            let code: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let explained = ask(page, "explain", &code);
            match group::decode(isa, &bytes) {
                Ok(found) => {
                    let mut line = Line::new();
                    group::print(isa, &found, SEPARATOR, &mut line);
                    assert_eq!(explained["text"], line.as_str(), "{code}");
                    valid += 1;
                }
                Err(error) => assert_eq!(explained["error"], error.to_string(), "{code}"),
            }
        }
    }
    assert!(valid > 1000, "only {valid} groups were valid");
}

#[test]
fn assembly_gives_the_code_that_prints_as_it() {
    let mut random = Random(seed());
    for (name, subject) in sets::subjects() {
        let Tables::Words(isa) = subject.tables else { continue };
        let mut page = sets::page(&subject);
        for opcode in 0..isa.forms.len() as u16 {
            for _ in 0..5 {
                let word = sample(isa, opcode, &mut random);
                let mut line = Line::new();
                print(isa, opcode, word, Style::Exact, &mut line);
                let Ok((_, read)) = isaforge_core::parse::parse(isa, line.as_str()) else { continue };
                let found = ask(&mut page, "program", line.as_str());
                let digits = usize::from(isa.word_bits).div_ceil(4);
                assert_eq!(found["rows"][0]["code"], format!("{read:0digits$x}"), "{name}: {}", line.as_str());
            }
        }
    }
}

#[test]
fn a_mistake_in_assembly_has_a_place_and_a_help() {
    let subjects = sets::subjects();
    let mut page = sets::page(&subjects[0].1);
    let found = ask(&mut page, "program", "NOP\nFADD.f33 r0, r1, r2");
    let error = &found["errors"][0];
    assert_eq!((error["line"].as_u64(), error["column"].as_u64()), (Some(2), Some(1)), "{found}");
    assert!(error["help"].as_str().is_some_and(|help| help.contains("FADD.f32")), "{found}");
}

#[test]
fn code_is_read_in_every_spelling() {
    let subjects = sets::subjects();
    let mut page = sets::page(&subjects[0].1);
    let words = ["FADD.f32 r0, r1, r2", "MOV.i32 r4, r5"]
        .map(|text| ask(&mut page, "program", text)["rows"][0]["code"].as_str().expect("a code").to_owned());
    let bytes = |word: &str| -> Vec<String> { (0..8).rev().map(|at| word[2 * at..2 * at + 2].to_owned()).collect() };
    let all: Vec<String> = words.iter().flat_map(|word| bytes(word)).collect();
    let dump =
        format!("00000000: {}  ........\n", all.chunks(2).map(|pair| pair.concat()).collect::<Vec<_>>().join(" "));
    let canonical = format!("00000000  {}  |........|\n00000010\n", all.join(" "));
    for (text, swapped) in [
        (words.join("\n"), false),
        (words.join(", 0x"), false),
        (all.join(" "), false),
        (words.iter().map(|word| bytes(word).concat()).collect::<Vec<_>>().join("\n"), true),
        (dump, true),
    ] {
        let found = ask(&mut page, "program", &text);
        assert_eq!(found["rows"][0]["code"], words[0], "{text}: {found}");
        assert_eq!(found["rows"][1]["code"], words[1], "{text}: {found}");
        assert_eq!(found["swapped"], swapped, "{text}");
    }
    let found = ask(&mut page, "program", canonical.lines().next().expect("a line"));
    assert_eq!(found["rows"][1]["code"], words[1], "{found}");
}

#[test]
fn a_field_that_is_set_is_the_only_one_that_changes() {
    let subjects = sets::subjects();
    let mut page = sets::page(&subjects[0].1);
    let code = ask(&mut page, "program", "FADD.f32 r0, r1, r2")["rows"][0]["code"].as_str().expect("a code").to_owned();
    let before = ask(&mut page, "explain", &code);
    let field =
        before["parts"][0]["fields"].as_array().expect("fields").iter().find(|field| field["role"] == "operand");
    let runs = field.expect("an operand")["runs"][0].clone();
    let set = ask(&mut page, "set", &format!("{code}\n{} {}\n5", runs[0], runs[1]));
    assert_ne!(set["code"], before["code"]);
    let changed = u64::from_str_radix(set["code"].as_str().expect("a code"), 16).expect("digits")
        ^ u64::from_str_radix(&code, 16).expect("digits");
    let (high, low) = (runs[0].as_u64().expect("a bit"), runs[1].as_u64().expect("a bit"));
    assert_eq!(changed & !((u64::MAX >> (63 - high)) >> low << low), 0, "{changed:#x}");
}
