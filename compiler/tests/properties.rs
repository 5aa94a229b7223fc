//! The fuzz targets on stable: random bytes, and texts that were right before they were changed at random.

#[path = "../../runtime/tests/seed/mod.rs"]
mod seed;
#[path = "../../fuzz/src/targets.rs"]
mod targets;

use isaforge_compiler::catalogue;
use isaforge_core::Isa;
use isaforge_core::group;
use isaforge_core::group::listing::disassemble;
use isaforge_core::print::Style;
use isaforge_core::program;
use isaforge_core::sample::{Random, sample};

fn bytes(random: &mut Random, most: u64) -> Vec<u8> {
    (0..random.below(most)).map(|_| random.next() as u8).collect()
}

/// A text with some of its bytes changed, its parts left out, doubled or moved, or signs put in.
fn changed(text: &[u8], random: &mut Random) -> Vec<u8> {
    const SIGNS: [&str; 24] = [
        "\n",
        " ",
        "  ",
        ":",
        ",",
        "{",
        "}",
        "[",
        "]",
        "~",
        "-",
        "\"",
        "'",
        "#",
        "&",
        "*",
        "<",
        ">",
        "0",
        "99999999999999999999",
        "0x",
        "\u{e9}",
        "\u{202e}",
        "\0",
    ];
    let mut text = text.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(text.len() as u64 + 1) as usize;
        let end = (at + random.below(24) as usize).min(text.len());
        let part = text[at..end].to_vec();
        match random.below(6) {
            0 => drop(text.drain(at..end)),
            1 => drop(text.splice(at..at, part)),
            2 => {
                let to = random.below(text.len() as u64 + 1) as usize;
                drop(text.splice(to..to, part));
            }
            3 if at < text.len() => text[at] ^= 1 << random.below(7),
            _ => {
                let sign = SIGNS[random.below(SIGNS.len() as u64) as usize];
                drop(text.splice(at..at, sign.bytes()));
            }
        }
    }
    text
}

/// All files of a language on the pages of the catalogue.
fn pages(language: &str) -> Vec<&'static str> {
    let files = catalogue::all().flat_map(|page| page.wrong.into_iter().chain(page.right));
    files.filter(|file| file.language == language).map(|file| file.text).collect()
}

fn one_of<'a>(texts: &[&'a str], random: &mut Random) -> &'a str {
    texts[random.below(texts.len() as u64) as usize]
}

#[test]
fn words_print_and_are_read_again() {
    let mut random = Random(seed::seed(101));
    for _ in 0..10_000 * seed::rounds() {
        targets::words(&random.next().to_le_bytes());
    }
    // Words that are instructions, and those beside them.
    for isa in [isaforge_valhall::ISA, isaforge_valhall_2021::ISA, isaforge_vpu::ISA] {
        for round in 0..1_000 * seed::rounds() {
            let opcode = (round % isa.forms.len() as u64) as u16;
            let word = sample(isa, opcode, &mut random);
            targets::words(&word.to_le_bytes());
            targets::words(&(word ^ 1 << random.below(isa.word_bits.into())).to_le_bytes());
        }
    }
}

#[test]
fn groups_encode_print_and_are_read_again() {
    let mut random = Random(seed::seed(102));
    for _ in 0..1_000 * seed::rounds() {
        targets::group_bytes(&bytes(&mut random, 48));
    }
    // Of the starts that there are, chance finds few: they are tried one after the other.
    for first in 0..=255 {
        for _ in 0..10 * seed::rounds() {
            let mut data = bytes(&mut random, 48);
            data.insert(0, first);
            targets::group_bytes(&data);
        }
    }
}

/// Programs of valid words, as text.
fn listing(isa: &'static Isa, random: &mut Random) -> String {
    let words: Vec<u64> = (0..1 + random.below(4))
        .map(|_| {
            let opcode = random.below(isa.forms.len() as u64) as u16;
            sample(isa, opcode, random)
        })
        .collect();
    let mut text = String::new();
    program::disassemble(isa, &words, Style::Customary, &mut text);
    text
}

#[test]
fn any_text_is_assembled_or_refused() {
    let mut random = Random(seed::seed(103));
    for _ in 0..250 * seed::rounds() {
        for isa in [isaforge_valhall::ISA, isaforge_valhall_2021::ISA, isaforge_vpu::ISA] {
            let text = listing(isa, &mut random);
            targets::assemble(&changed(text.as_bytes(), &mut random));
        }
        targets::assemble(&bytes(&mut random, 64));
    }
}

#[test]
fn any_text_of_groups_is_assembled_or_refused() {
    let mut random = Random(seed::seed(104));
    let isa = isaforge_usc::ISA;
    for _ in 0..250 * seed::rounds() {
        let data: Vec<u8> = bytes(&mut random, 24).into_iter().chain([0; 8]).collect();
        let text = match group::decode(isa, &data) {
            Ok(group) => disassemble(isa, group.as_bytes()),
            Err(_) => disassemble(isa, &data),
        };
        targets::assemble_groups(&changed(text.as_bytes(), &mut random));
        targets::assemble_groups(&bytes(&mut random, 64));
    }
}

#[test]
fn any_specification_compiles_or_has_mistakes() {
    let mut random = Random(seed::seed(105));
    let pages = pages("yaml");
    assert!(pages.len() > 100);
    for _ in 0..200 * seed::rounds() {
        let page = one_of(&pages, &mut random);
        targets::spec(&changed(page.as_bytes(), &mut random));
    }
}

#[test]
fn any_document_compiles_or_has_mistakes() {
    let mut random = Random(seed::seed(106));
    let pages = pages("xml");
    assert!(pages.len() > 20);
    for _ in 0..200 * seed::rounds() {
        let page = one_of(&pages, &mut random);
        targets::xml(&changed(page.as_bytes(), &mut random));
    }
}
