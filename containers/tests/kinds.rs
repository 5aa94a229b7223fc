//! Files of each format, built from the published layouts. None of them was written by the usual program.

#[path = "files/caches.rs"]
mod caches;

use std::io::Write;

use caches::{checksum, fossilize, item, mbs2, mesa_db, panfrost, pipeline_cache, words, zlib, zstd};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use isaforge_containers::{Container, Search, open};

/// A stand-in for code: bytes `c0` to `cf`, four at a time.
fn valid(bytes: &[u8]) -> usize {
    4 * bytes.chunks(4).take_while(|word| word.len() == 4 && word.iter().all(|byte| byte & 0xf0 == 0xc0)).count()
}

const CODE: [u8; 12] = [0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb];

/// The names and the code of all parts with code.
fn found(container: &Container<'_>) -> Vec<(String, Vec<u8>)> {
    searched(container).0
}

/// The same, and the search.
fn searched(container: &Container<'_>) -> (Vec<(String, Vec<u8>)>, Search) {
    let mut search = Search::new();
    let shaders = container.parts.iter().filter_map(|part| Some((part, search.code(part, &valid)?)));
    let shaders = shaders.map(|(part, (bytes, range))| (part.name.clone(), bytes[range].to_vec())).collect();
    (shaders, search)
}

#[test]
fn output_of_the_offline_compiler_names_the_stages() {
    let file = mbs2(&[(b"CVER", &words(&[1, 2])), (b"OBJC", &CODE), (b"CFRA", &[]), (b"OBJC", &CODE[..4])]);
    for file in [file.clone(), [&b"MPB1"[..], &words(&[2, 0, 0]), &file].concat()] {
        let opened = open(&file).unwrap();
        assert_eq!(opened.kind, "output of Arm's offline compiler (MBS2)");
        assert_eq!(found(&opened), [("vertex0".into(), CODE.to_vec()), ("fragment1".into(), CODE[..4].to_vec())]);
    }
    // A size that extends past the end of the file yields no code.
    assert_eq!(open(&[&b"MBS2"[..], &words(&[99, 1]), b"OBJC", &words(&[u32::MAX])].concat()).unwrap().parts, []);
}

#[test]
fn sizes_of_blocks_that_differ_from_the_file_are_damage() {
    let file = |size: u32, code: u32| [&b"MBS2"[..], &words(&[size, 5]), b"OBJC", &words(&[code]), &CODE].concat();
    let damage = |size, code| open(&file(size, code)).unwrap().damage;
    assert_eq!(damage(24, 12), Vec::<String>::new());
    assert_eq!(damage(25, 12), ["its block `MBS2` at 0x0 has 25 bytes by its head, and 24 in the file"]);
    assert_eq!(damage(20, 12), ["its block `MBS2` at 0x0 has 20 bytes by its head, and 24 in the file"]);
    assert_eq!(damage(24, 13), ["its block `OBJC` at 0xc has 13 bytes by its head, and 12 in the file"]);
    // The block in another one may be followed by more, and cannot be longer.
    let within = |size, code| open(&[&b"MPB1"[..], &words(&[2, 0, 0]), &file(size, code)].concat()).unwrap().damage;
    assert_eq!(within(20, 12), Vec::<String>::new());
    assert_eq!(within(25, 12), ["its block `MBS2` at 0x10 has 25 bytes by its head, and 24 in the file"]);
}

#[test]
fn a_wrong_checksum_is_named_and_the_code_is_found() {
    let content = panfrost(&CODE);
    let good = item(&content, &zlib(&content), None);
    let at = good.len() - zlib(&content).len() - 8;
    let with = |number: u32| [&good[..at], &words(&[number]), &good[at + 4..]].concat();
    // Older versions compute it of the uncompressed content.
    for item in [good.clone(), with(checksum(&content))] {
        let (found, search) = searched(&open(&item).unwrap());
        assert_eq!((found.len(), search.altered), (1, vec![]));
    }
    let (found, search) = searched(&open(&with(7)).unwrap());
    assert_eq!((found.len(), search.altered, search.broken), (1, vec!["shader".to_owned()], vec![]));

    // Databases have one of each record. Fossilize complements it, and 0 is none.
    let sum = checksum(&good);
    let foz = |number| fossilize(&"ab".repeat(20), false, number, good.len(), &good);
    let db = |number| mesa_db(&[(5, number, &good)]);
    for (file, wrong) in
        [(foz(sum), false), (foz(!sum), false), (foz(0), false), (foz(1), true), (db(sum), false), (db(0), true)]
    {
        let (found, search) = searched(&open(&file).unwrap());
        assert_eq!((found.len(), search.altered.len()), (1, usize::from(wrong)));
    }
}

#[test]
fn items_of_the_cache_are_unpacked() {
    let content = panfrost(&CODE);
    for file in [
        item(&content, &content, None),
        item(&content, &zlib(&content), None),
        item(&content, &zstd(&content), Some(3)),
    ] {
        let opened = open(&file).unwrap();
        assert_eq!(opened.kind, "an item of Mesa's cache for Mali-G57 (panfrost)");
        assert_eq!(found(&opened), [("shader".into(), CODE.to_vec())]);
    }
    let broken = item(&content, &zlib(&content)[..20], None);
    let (found, search) = searched(&open(&broken).unwrap());
    assert_eq!((found.len(), search.broken), (0, vec!["shader".to_owned()]));
}

#[test]
fn databases_of_the_cache_have_items() {
    let content = panfrost(&CODE);
    let item = item(&content, &zstd(&content), None);
    let mut file = mesa_db(&[(1, 0, &item), (2, 0, &item)]);
    // The last record is incomplete.
    file.extend([3; 30]);
    let opened = open(&file).unwrap();
    assert_eq!(opened.unread, 30);
    assert_eq!(opened.kind, "Mesa's cache (MESA_DB)");
    assert_eq!(found(&opened), [("01".repeat(20), CODE.to_vec()), ("02".repeat(20), CODE.to_vec())]);

    let mut file = fossilize(&"ab".repeat(20), false, 0, item.len(), &item);
    let opened = open(&file).unwrap();
    assert_eq!(opened.kind, "Mesa's cache in a Fossilize database");
    assert_eq!(found(&opened), [("ab".repeat(20), CODE.to_vec())]);
    assert_eq!(opened.unread, 0);
    // A name is forty hexadecimal digits.
    file.extend(["\n".repeat(40).as_bytes(), &[0; 16]].concat());
    let opened = open(&file).unwrap();
    assert_eq!((opened.parts.len(), opened.unread), (1, 56));
}

#[test]
fn what_applications_give_fossilize_is_named_and_no_code() {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&[5; 64]).unwrap();
    let packed = encoder.finish().unwrap();
    let name = format!("{}04{}", "0".repeat(22), "0123456789abcdef");
    let file = fossilize(&name, true, 0, 64, &packed);
    let opened = open(&file).unwrap();
    assert_eq!(opened.kind, "a Fossilize database");
    let part = &opened.parts[0];
    assert_eq!(part.name, "SPIR-V module 0123456789abcdef");
    assert_eq!(Search::new().unpack(part).unwrap()[..], [5; 64]);
    assert_eq!(found(&opened), []);
}

#[test]
fn pipeline_caches_of_mesa_have_objects_and_those_of_others_do_not() {
    let file = pipeline_cache(&CODE);
    let head = &file[..32];
    let opened = open(&file).unwrap();
    assert_eq!(opened.kind, "a Vulkan pipeline cache of Arm, device 0x9091");
    assert_eq!(found(&opened), [("aa".repeat(5), CODE.to_vec())]);
    let other = [head, &[0x55; 100]].concat();
    assert_eq!(open(&other).unwrap().parts, []);
    // A number starts at a multiple of four, whatever the length before it; what does not belong is counted.
    let mut odd = [head, &words(&[3]), &words(&[1, 1, 3]), &[0xbb; 4], &[9; 7]].concat();
    odd.resize(odd.len().next_multiple_of(4), 0);
    odd.extend(&file[36..]);
    odd.resize(odd.len().next_multiple_of(8), 0);
    let opened = open(&odd).unwrap();
    assert_eq!(opened.parts.len(), 2);
    assert!(opened.unread > 0, "{opened:?}");
}

#[test]
fn symbols_of_functions_are_places_in_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv/programs/sieve.elf");
    let file = std::fs::read(path).expect("it is there");
    let container = open(&file).expect("it is an ELF file");
    let place = |name: &str| {
        let symbol = container.symbols.iter().find(|symbol| symbol.name == name)?;
        Some((container.parts[symbol.part].name.as_str(), symbol.offset))
    };
    assert_eq!((place("main"), place("number")), (Some((".text", 0)), Some((".text", 0xe8))));
    // Data, and marks of the assembler.
    assert!(place("composite").is_none() && container.symbols.iter().all(|symbol| !symbol.name.starts_with('$')));
}

#[test]
fn what_unpacks_without_end_is_refused() {
    // A hundred megabytes of zeros, with a correct or a wrong size.
    let zeros = zlib(&vec![0; 100 << 20]);
    for size in [100 << 20, 64 << 20, u32::MAX] {
        let mut file = item(&[], &zeros, None);
        let at = file.len() - zeros.len() - 4;
        file[at..at + 4].copy_from_slice(&size.to_le_bytes());
        assert_eq!(Search::new().unpack(&open(&file).unwrap().parts[0]), None, "{size}");
    }
}

#[test]
fn what_many_parts_unpack_to_has_a_limit() {
    // Parts that claim 60 MiB each count, whatever is in them; 1 GiB has room for 17.
    let bomb = |_| {
        let mut bomb = item(&[], &zlib(&CODE), None);
        let at = bomb.len() - zlib(&CODE).len() - 4;
        bomb[at..at + 4].copy_from_slice(&(60_u32 << 20).to_le_bytes());
        bomb
    };
    let good = item(&panfrost(&CODE), &zlib(&panfrost(&CODE)), None);
    let record = |item: Vec<u8>| [&[5; 24][..], &words(&[item.len() as u32]), &item].concat();
    let items = (0..20).map(bomb).chain([good]).map(record);
    let file = [&b"MESA_DB\0\x01\0\0\0........"[..], &items.collect::<Vec<_>>().concat()].concat();
    let container = open(&file).unwrap();
    let (found, search) = searched(&container);
    assert_eq!((container.parts.len(), search.too_large()), (21, 3));
    assert_eq!(found.len(), 1, "what still fits is unpacked");
}

#[test]
fn lengths_everywhere_take_no_longer_however_many_parts_have_them() {
    // Each word is the length of everything after it.
    let size = 1 << 22;
    let content: Vec<u8> = (0..size / 4).flat_map(|at: u32| (size - 4 * at - 4).to_le_bytes()).collect();
    let item = item(&content, &content, None);
    let record = [&[5; 24][..], &words(&[item.len() as u32]), &item].concat();
    let file = [&b"MESA_DB\0\x01\0\0\0........"[..], &record.repeat(5)].concat();
    let opened = open(&file).unwrap();
    let looked_at = std::cell::Cell::new(0);
    // All but the last byte is valid.
    let almost = |bytes: &[u8]| {
        looked_at.set(looked_at.get() + bytes.len());
        bytes.len() - 1
    };
    let mut search = Search::new();
    for part in &opened.parts {
        assert!(search.code(part, &almost).is_none());
    }
    assert!((1..=1 << 27).contains(&looked_at.get()), "{}", looked_at.get());
    assert_eq!(search.cut.len(), opened.parts.len(), "what was not searched is named");
}
