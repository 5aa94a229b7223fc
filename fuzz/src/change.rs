//! Initial texts and random changes to them.

use isaforge_core::sample::Random;

/// Documents in each external format, by the file name that identifies the format. They describe fictitious machines.
pub const DOCUMENTS: [(&str, &str); 6] = [
    ("isa.xml", include_str!("../../compiler/tests/data/bifrost.xml")),
    ("isa.xml", include_str!("../../compiler/tests/data/isaspec/loom.xml")),
    ("isa.jsonl", include_str!("../../compiler/tests/data/amdgpu.jsonl")),
    ("isa.json", include_str!("../../compiler/tests/data/spirv.json")),
    (
        "spec/std/isa/inst/I/addi.yaml",
        include_str!("../../compiler/tests/data/riscv-unified-db/std/isa/inst/I/addi.yaml"),
    ),
    (
        "spec/std/isa/inst/Z/vle8.v.yaml",
        include_str!("../../compiler/tests/data/riscv-unified-db/std/isa/inst/Z/vle8.v.yaml"),
    ),
];

/// A file that one of the documents imports.
pub const PART: (&str, &str) = ("threads.xml", include_str!("../../compiler/tests/data/isaspec/threads.xml"));

/// Returns a text with bytes changed, parts removed, duplicated or moved, or characters inserted.
pub fn changed(text: &[u8], random: &mut Random) -> Vec<u8> {
    const SIGNS: &str = "\n \u{20} :,{}[]~-\"'#&*<>0\u{e9}\u{202e}\0";
    const NUMBERS: [&str; 4] = ["  ", "99999999999999999999", "0x", "-1"];
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
                let signs: Vec<char> = SIGNS.chars().collect();
                let sign = match random.below(6) {
                    0 => NUMBERS[random.below(4) as usize].to_owned(),
                    _ => signs[random.below(signs.len() as u64) as usize].to_string(),
                };
                drop(text.splice(at..at, sign.into_bytes()));
            }
        }
    }
    text
}
