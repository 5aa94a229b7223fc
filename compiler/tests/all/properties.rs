//! The fuzz targets on stable Rust: random bytes, and valid texts with random changes.

#[path = "../../../fuzz/src/change.rs"]
mod change;
#[path = "../../../fuzz/src/targets.rs"]
mod targets;

use isaforge_compiler::catalogue;
use isaforge_core::Isa;
use isaforge_core::group;
use isaforge_core::group::listing::disassemble;
use isaforge_core::print::Style;
use isaforge_core::program;
use isaforge_core::sample::{Random, sample};

use change::{DOCUMENTS, changed};

use crate::seed;

fn bytes(random: &mut Random, most: u64) -> Vec<u8> {
    (0..random.below(most)).map(|_| random.next() as u8).collect()
}

/// All files in a language on the pages of the catalogue.
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
    // Valid words and words near them.
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
    // Random data rarely has an existing first byte, so all of them are tested.
    for first in 0..=255 {
        for _ in 0..10 * seed::rounds() {
            let mut data = bytes(&mut random, 48);
            data.insert(0, first);
            targets::group_bytes(&data);
        }
    }
}

/// The text of a program of valid words.
fn listing(isa: &'static Isa, random: &mut Random) -> String {
    let words: Vec<u64> = (0..1 + random.below(4))
        .map(|_| {
            let opcode = random.below(isa.forms.len() as u64) as u16;
            sample(isa, opcode, random)
        })
        .collect();
    let mut text = String::new();
    program::disassemble(isa, &words, Style::Customary, &mut text).expect("a text takes everything");
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

#[test]
fn any_document_of_others_is_read_or_has_mistakes() {
    let mut random = Random(seed::seed(107));
    for (number, (_, text)) in DOCUMENTS.iter().enumerate() {
        targets::reader(&[&[number as u8], text.as_bytes()].concat());
        for _ in 0..30 * seed::rounds() {
            let mut data = vec![number as u8];
            data.extend(changed(text.as_bytes(), &mut random));
            targets::reader(&data);
        }
    }
}

#[test]
fn bytes_of_streams_print_and_are_read_again() {
    let mut random = Random(seed::seed(108));
    for _ in 0..300 * seed::rounds() {
        targets::streams(&bytes(&mut random, 48));
    }
    // Valid instructions and bytes near them.
    for engine in targets::stream_engines() {
        for round in 0..300 * seed::rounds() {
            let layouts = engine.stream.layouts_of(0);
            let layout = &layouts[round as usize % layouts.len()];
            let random_bits = isaforge_core::stream::Wide(std::array::from_fn(|_| random.next()));
            let mut data = engine.store(random_bits & !layout.fixed_mask | layout.fixed_value).to_vec();
            targets::streams(&data);
            let at = random.below(8 * data.len() as u64);
            data[at as usize / 8] ^= 1 << (at % 8);
            targets::streams(&data);
        }
    }
}

#[test]
fn any_text_of_a_stream_is_assembled_or_refused() {
    let mut random = Random(seed::seed(109));
    for _ in 0..100 * seed::rounds() {
        let data = bytes(&mut random, 64);
        for engine in targets::stream_engines() {
            let mut text = String::new();
            isaforge_core::stream::listing::disassemble(*engine, &data, &mut text);
            targets::assemble_streams(&changed(text.as_bytes(), &mut random));
        }
        targets::assemble_streams(&data);
    }
}
