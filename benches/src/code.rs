//! Real code, in program order.

use std::path::Path;

/// The words of 2,499 Valhall shaders; data/README.md gives their source.
pub fn valhall() -> Vec<u64> {
    let bytes = include_bytes!("../data/valhall-shaders.bin");
    bytes.as_chunks().0.iter().map(|b| u64::from_le_bytes(*b)).collect()
}

/// A part of SQLite, compiled for A64; data/README.md gives its source.
pub fn a64() -> Vec<u32> {
    let bytes = include_bytes!("../data/a64-sqlite3.bin");
    bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect()
}

/// x86 code and its address.
#[derive(Clone, Debug)]
pub struct X86 {
    /// The code.
    pub bytes: Vec<u8>,
    /// The address of the first byte.
    pub address: u64,
}

/// The code of the running benchmark. `None` when it is not an x86-64 ELF file.
pub fn x86() -> Option<X86> {
    let own =
        if Path::new("/proc/self/exe").exists() { "/proc/self/exe".into() } else { std::env::current_exe().ok()? };
    text_section(&std::fs::read(own).ok()?)
}

/// The section `.text` of an x86-64 ELF file. `None` when there is none.
fn text_section(file: &[u8]) -> Option<X86> {
    let number = |at: usize, bytes: usize| {
        let field = file.get(at..at.checked_add(bytes)?)?;
        Some(field.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte)))
    };
    const X86_64: u64 = 62;
    if !file.starts_with(b"\x7fELF\x02\x01") || number(18, 2)? != X86_64 {
        return None;
    }
    let (headers, size) = (number(40, 8)? as usize, number(58, 2)? as usize);
    let (count, names) = (number(60, 2)? as usize, number(62, 2)? as usize);
    let names = number(headers + names * size + 24, 8)? as usize;
    (0..count).find_map(|i| {
        let header = headers + i * size;
        let name = names + number(header, 4)? as usize;
        let (address, offset, len) =
            (number(header + 16, 8)?, number(header + 24, 8)? as usize, number(header + 32, 8)? as usize);
        let found = file.get(name..)?.starts_with(b".text\0");
        found.then(|| file.get(offset..offset + len)).flatten().map(|bytes| X86 { bytes: bytes.to_vec(), address })
    })
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    fn the_benchmark_finds_its_own_code() {
        let code = super::x86().expect("a test is an ELF file on Linux");
        assert!(code.bytes.len() > 100_000);
    }

    #[test]
    fn every_word_of_the_shaders_decodes_prints_and_assembles_to_itself() {
        for word in super::valhall() {
            let instruction = isaforge_valhall::decode(word).expect("a word made by a compiler is valid");
            let text = format!("{instruction:#}");
            let read = isaforge_core::parse::parse(isaforge_valhall::ISA, &text).expect("what prints assembles");
            assert_eq!(read, (instruction.opcode() as u16, word), "{text}");
        }
    }

    #[test]
    fn text_is_read_the_same_fast_and_slowly() {
        for word in super::valhall() {
            let instruction = isaforge_valhall::decode(word).expect("a word made by a compiler is valid");
            for text in [format!("{instruction}"), format!("{instruction:#}")] {
                // Unusual blanks make the fast path fall back to the slow one.
                let spaced = format!("{} ", text.replace(", ", " ,  "));
                let read = |text: &str| isaforge_core::parse::parse(isaforge_valhall::ISA, text);
                assert_eq!(read(&text), read(&spaced), "{text}");
            }
        }
    }

    #[test]
    fn words_with_noise_are_judged_the_same_fast_and_exactly() {
        let isa = isaforge_valhall::ISA;
        let mut noise = 0x9e37_79b9_7f4a_7c15u64;
        for (i, word) in super::valhall().into_iter().enumerate() {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // One to three bits flipped: errors are most likely near valid words.
            let flips = (0..=i % 3).map(|k| 1u64 << (noise >> (8 * k + 32) & 63));
            let word = flips.fold(word, |word, bit| word ^ bit);
            let exactly = isaforge_core::decode::decode(isa, word);
            assert_eq!(isaforge_valhall::decode(word).map(|i| i.opcode() as u16), exactly, "{word:#018x}");
        }
    }
}
