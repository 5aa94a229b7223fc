//! ELF files, built from the layout of the System V ABI.

mod files;

use files::Elf;
use isaforge_containers::{Container, Search, open};

const CODE: [u8; 16] = [7; 16];
const PROGRAM: Elf<'_> =
    Elf { is_wide: false, kind: 2, machine: 243, address: 0x1_1000, code: &CODE, main: 8, places: &[] };

/// The name, address and size of all code.
fn code(container: &Container<'_>) -> Vec<(String, u64, usize)> {
    let mut search = Search::new();
    let found = container.parts.iter().filter_map(|part| Some((part, search.code(part, &<[u8]>::len)?)));
    found.map(|(part, (bytes, _))| (part.name.clone(), part.address, bytes.len())).collect()
}

#[test]
fn code_is_where_it_runs() {
    for is_wide in [false, true] {
        let bytes = Elf { is_wide, ..PROGRAM }.bytes();
        let found = open(&bytes).unwrap();
        assert_eq!(code(&found), [(".text".to_owned(), 0x1_1000, 16)]);
        let bits = if is_wide { 64 } else { 32 };
        assert_eq!((found.machine, found.bits, &found.damage[..]), (Some(243), Some(bits), &[][..]));
        let symbol = &found.symbols[0];
        assert_eq!((symbol.name.as_str(), symbol.offset, symbol.address), ("main", 8, 0x1_1008));
    }
}

#[test]
fn without_section_headers_code_is_in_segments() {
    for is_wide in [false, true] {
        let mut bytes = Elf { is_wide, ..PROGRAM }.bytes();
        bytes[if is_wide { 40..48 } else { 32..36 }].fill(0);
        let found = open(&bytes).unwrap();
        // The headers at the start of the segment are no code.
        assert_eq!(code(&found), [("segment 0".to_owned(), 0x1_1000, 16)]);
        assert_eq!(found.damage, Vec::<String>::new());
    }
}

#[test]
fn places_that_a_linker_fills_in_are_counted_in_objects() {
    // Two relocations apply to one place.
    let bytes = Elf { kind: 1, address: 0, places: &[0, 4, 4], ..PROGRAM }.bytes();
    let text = |bytes| open(bytes).unwrap().parts.into_iter().find(|part| part.name == ".text").unwrap();
    assert_eq!((text(&bytes).address, text(&bytes).relocations), (0, 2));
    // What a linker leaves behind in a program is done.
    let bytes = Elf { places: &[0x1_1000], ..PROGRAM }.bytes();
    assert_eq!(text(&bytes).relocations, 0);
}

#[test]
fn damage_has_a_place_and_what_is_left_is_read() {
    let (whole, sections) = (PROGRAM.bytes(), PROGRAM.sections_at());
    // Section headers are at the end.
    let cut = &whole[..sections + 50];
    let found = open(cut).unwrap();
    assert_eq!(code(&found), [("segment 0".to_owned(), 0x1_1000, 16)]);
    let place = format!("its section headers at {sections:#x} of {:#x} bytes: ", sections + 50);
    assert!(found.damage[0].starts_with(&place) && found.damage[0].contains("only its segments"), "{found:?}");
    // Nothing but the headers and half of the code.
    let cut = &whole[..PROGRAM.code_at() + 8];
    let found = open(cut).unwrap();
    assert_eq!(code(&found), [("segment 0".to_owned(), 0x1_1000, 8)]);
    assert!(found.damage[1].starts_with("`segment 0` is at 0x54 to 0x64, and the file has 0x5c bytes"), "{found:?}");
    // Program headers.
    let mut changed = whole.clone();
    changed[28..32].fill(0xff);
    let found = open(&changed).unwrap();
    assert_eq!(code(&found), [(".text".to_owned(), 0x1_1000, 16)]);
    assert!(found.damage[0].starts_with("its program headers at 0xffffffff of "), "{found:?}");
    // Everything.
    let found = open(&whole[..40]).unwrap();
    assert!(found.parts.is_empty() && found.damage[0].ends_with("in 0x28 bytes"), "{found:?}");
    let found = open(&whole).unwrap();
    assert_eq!(found.damage, Vec::<String>::new());
}

#[test]
fn what_overlaps_in_a_file_takes_no_more_than_the_file() {
    // A name of 64 KiB, which twenty thousand sections have, each with all of the file as its code.
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let name = vec![b'n'; 1 << 16];
    let mut bytes = PROGRAM.bytes()[..52].to_vec();
    bytes[28..36].copy_from_slice(&words(&[0, 52]));
    bytes[44..46].fill(0);
    let count = 20_000_u16;
    bytes[48..52].copy_from_slice(&[count.to_le_bytes(), 1_u16.to_le_bytes()].concat());
    let end = 52 + 40 * u32::from(count);
    bytes.extend(words(&[0; 10]));
    bytes.extend(words(&[0, 3, 0, 0, end, name.len() as u32 + 1, 0, 0, 1, 0]));
    bytes.extend(words(&[0, 1, 6, 0, 0, end, 0, 0, 4, 0]).repeat(usize::from(count) - 2));
    bytes.extend(&name);
    bytes.push(0);
    let found = open(&bytes).unwrap();
    let names: usize = found.parts.iter().map(|part| part.name.len()).sum();
    assert!(names < 32 << 20, "{names}");
    assert!(code(&found).iter().map(|(.., size)| size).sum::<usize>() <= bytes.len());
}
