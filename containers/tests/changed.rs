//! Files of every format with random changes: reading them ends soon, and nothing panics.

mod files;
#[path = "../../runtime/tests/seed/mod.rs"]
mod seed;

use std::io::Write;
use std::time::{Duration, Instant};

use files::Elf;
use flate2::Compression;
use flate2::write::{DeflateEncoder, ZlibEncoder};
use isaforge_containers::{Search, open};

/// A generator of random numbers: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A small file of each format.
fn all() -> Vec<Vec<u8>> {
    const CODE: [u8; 16] = [0xc0; 16];
    let elf = Elf { is_wide: false, kind: 2, machine: 243, address: 0x1000, code: &CODE, main: 8, places: &[0, 4] };
    let content = [&words(&[16])[..], &CODE, &[7; 40]].concat();
    let size = content.len() as u32;
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&content).unwrap();
    let packed = packed.finish().unwrap();
    let item = [&b"\x01panfrost\0Mali-G57\0\x08"[..], &[0; 8], &words(&[1, 1]), &[9; 20], &words(&[7, size]), &packed];
    let item = item.concat();
    let len = item.len() as u32;
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::default());
    deflated.write_all(&item).unwrap();
    let deflated = deflated.finish().unwrap();
    let record =
        |form: u32, stored: &[u8]| [&[b'a'; 40][..], &words(&[stored.len() as u32, form, 1, len]), stored].concat();
    let code = [&b"CVER"[..], &words(&[8, 1, 2]), b"OBJC", &words(&[16]), &CODE].concat();
    let shaders = [&b"MBS2"[..], &words(&[code.len() as u32 + 4, 5]), &code].concat();
    let cache = [&words(&[32, 1, 0x13b5, 0x9091, 1, 2, 3, 4, 1, 7, 4, size])[..], &[9; 4], &[0; 4], &content].concat();
    vec![
        elf.bytes(),
        Elf { is_wide: true, kind: 1, ..elf }.bytes(),
        shaders.clone(),
        [&b"MPB1"[..], &words(&[2, 0, 0]), &shaders].concat(),
        [&b"\x81FOSSILIZEDB\0\0\0\x06"[..], &record(1, &item), &record(2, &deflated)].concat(),
        [&b"MESA_DB\0\x01\0\0\0........"[..], &[5; 20], &words(&[1, len]), &item].concat(),
        item,
        cache,
    ]
}

/// Looks at all that a file has. `valid` bytes begin with `c`.
fn read(bytes: &[u8]) -> usize {
    let valid = |bytes: &[u8]| 4 * bytes.chunks(4).take_while(|word| word.iter().all(|byte| byte >> 4 == 0xc)).count();
    let Some(container) = open(bytes) else { return 0 };
    let mut search = Search::new();
    for symbol in &container.symbols {
        assert!(symbol.offset < container.parts[symbol.part].stored.len());
    }
    let found = container.parts.iter().filter_map(|part| search.code(part, &|bytes| valid(bytes).min(bytes.len())));
    found.filter(|(bytes, range)| bytes.get(range.clone()).is_some()).count()
}

#[test]
fn changed_files_are_read_soon_and_without_panic() {
    let mut random = Random(seed::seed(1));
    for file in all() {
        assert!(read(&file) > 0, "{file:x?}");
        for end in 0..file.len() {
            read(&file[..end]);
        }
        for _ in 0..2000 * seed::rounds() {
            let mut changed = file.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(changed.len());
                match random.below(4) {
                    0 => changed[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
                    1 => changed[at..].iter_mut().take(4).for_each(|byte| *byte = 0xff),
                    2 => changed.truncate(at.max(1)),
                    _ => changed[at] ^= 1 << random.below(8),
                }
            }
            let started = Instant::now();
            read(&changed);
            assert!(started.elapsed() < Duration::from_secs(30), "{changed:x?}");
        }
    }
}
