//! riscv-unified-db: a small folder in its schema, and its own documents if they are present next to the project.

use std::path::{Path, PathBuf};
use std::process::Command;

use isaforge_core::stream::{Decoded, Engine, registers};
use isaforge_core::text::Line;

use crate::support::{assembled, bytes, open_both};

const RV32: usize = 0;
const RV64: usize = 1;

fn text(engine: Engine, hex: &str) -> Result<String, String> {
    let bytes = bytes(hex);
    let decoded = engine.decode(&bytes).map_err(|error| error.to_string())?;
    if usize::from(decoded.len) != bytes.len() {
        return Err(format!("{} bytes", decoded.len));
    }
    let mut line = Line::new();
    engine.print(&decoded, &mut line);
    Ok(line.as_str().to_owned())
}

fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/riscv-unified-db")
}

#[test]
fn words_of_both_generations_read_both_ways() {
    let engines = open_both(&own()).unwrap_or_else(|why| panic!("{why}"));
    for (generations, bits, expected) in [
        (&[RV32, RV64][..], "1305b5ff", "addi a0, a0, -5"),
        (&[RV32, RV64], "1395f501", "slli a0, a1, 31"),
        (&[RV64], "1395f503", "slli a0, a1, 63"),
        (&[RV32, RV64], "e30cb5fe", "beq a0, a1, -8"),
        (&[RV64], "33f5c540", "andn a0, a1, a2"),
        (&[RV32, RV64], "0f00300f", "fence iorw, rw"),
        (&[RV32, RV64], "0f000001", "fence w, 0"),
        (&[RV32, RV64], "2fa50510", "lr.w a0, (a1)"),
        (&[RV32, RV64], "2fa50512", "lr.w.rl a0, (a1)"),
        (&[RV32, RV64], "2fa50516", "lr.w.aqrl a0, (a1)"),
        (&[RV32, RV64], "73150530", "csrrw a0, mstatus, a0"),
        (&[RV32], "731505c8", "csrrw a0, cycleh, a0"),
        (&[RV64], "731505c8", "csrrw a0, 3200, a0"),
        (&[RV32, RV64], "5775e50d", "vsetvli a0, a0, e64, mf4, ta, ma"),
        (&[RV32, RV64], "5775450c", "vsetvli a0, a0, 196"),
        (&[RV32, RV64], "07050502", "vle8.v v10, (a0)"),
        (&[RV32, RV64], "07050500", "vle8.v v10, (a0), v0.t"),
        (&[RV32, RV64], "8160", "c.mop.1"),
        (&[RV32, RV64], "8167", "c.mop.15"),
        (&[RV32, RV64], "8173", "c.lui t2, 1048544"),
        (&[RV32, RV64], "2a85", "c.mv a0, a0"),
        (&[RV32, RV64], "8282", "c.jr t0"),
        (&[RV64], "cc6d", "c.ld a1, 152(a1)"),
        (&[RV32], "cc6d", "c.flw fa1, 28(a1)"),
        (&[RV32, RV64], "0000", "c.unimp"),
    ] {
        for generation in generations {
            let engine = engines[*generation];
            assert_eq!(text(engine, bits).as_deref(), Ok(expected), "{bits} in generation {generation}");
            assert_eq!(assembled(engine, expected).as_deref(), Ok(bits), "{expected} in generation {generation}");
        }
    }
}

#[test]
fn names_of_hints_are_read() {
    let [_, engine] = open_both(&own()).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(assembled(engine, "pause").as_deref(), Ok("0f000001"));
}

#[test]
fn instructions_access_more_registers_than_their_text_shows() {
    let engines = open_both(&own()).unwrap_or_else(|why| panic!("{why}"));
    for (generation, bits, expected, reads, writes) in [
        (RV64, "0d8d", "c.sub a0, a1", "a0 a1", "a0"),
        (RV64, "0245", "c.lwsp a0, 0(sp)", "sp", "a0"),
        (RV64, "8292", "c.jalr t0", "t0", "ra"),
        (RV64, "57a141b6", "vmacc.vv v2, v3, v4", "v2 v3 v4", "v2"),
        (RV64, "5781415c", "vmerge.vvm v2, v4, v3, v0", "v4 v3 v0", "v2"),
        (RV64, "07050502", "vle8.v v10, (a0)", "a0", "v10"),
        (RV64, "07050500", "vle8.v v10, (a0), v0.t", "a0 v0 v10", "v10"),
        (RV64, "2f46e52c", "amocas.q.aq a2, a4, (a0)", "a2 to a3 a4 to a5 a0", "a2 to a3"),
        (RV64, "af36e52c", "amocas.d.aq a3, a4, (a0)", "a3 a4 a0", "a3"),
        (RV32, "2f36e52c", "amocas.d.aq a2, a4, (a0)", "a2 to a3 a4 to a5 a0", "a2 to a3"),
    ] {
        let engine = engines[generation];
        assert_eq!(text(engine, bits).as_deref(), Ok(expected), "{bits}");
        assert_eq!(assembled(engine, expected).as_deref(), Ok(bits), "{expected}");
        let decoded = engine.decode(&bytes(bits)).unwrap_or_else(|why| panic!("{why}"));
        let names = |write| accessed(engine, &decoded, write).join(" ");
        assert_eq!((names(false).as_str(), names(true).as_str()), (reads, writes), "{expected}");
    }
}

#[test]
fn pairs_of_registers_begin_with_an_even_one() {
    let engines = open_both(&own()).unwrap_or_else(|why| panic!("{why}"));
    for (generation, bits, unread) in [
        (RV64, "af46e52c", "amocas.q.aq a3, a4, (a0)"),
        (RV64, "2f46f52c", "amocas.q.aq a2, a5, (a0)"),
        (RV32, "af36e52c", "amocas.d.aq a3, a4, (a0)"),
        (RV32, "2f36e548", "ssamoswap.d a2, a4, (a0)"),
    ] {
        assert!(text(engines[generation], bits).is_err(), "{bits}");
        assert!(assembled(engines[generation], unread).is_err(), "{unread}");
    }
    assert_eq!(text(engines[RV64], "2f36e548").as_deref(), Ok("ssamoswap.d a2, a4, (a0)"));
}

#[test]
fn what_no_generation_has_is_refused() {
    let engines = open_both(&own()).unwrap_or_else(|why| panic!("{why}"));
    for (generation, bits) in [
        (RV32, "1395f503"),
        (RV32, "33f5c540"),
        // Bits that no text shows.
        (RV64, "8f00300f"),
        (RV64, "0f003083"),
        // A forbidden value, and an instruction shorter than the bytes.
        (RV64, "0161"),
        (RV64, "0280"),
        (RV64, "2a850000"),
    ] {
        assert!(text(engines[generation], bits).is_err(), "{bits}");
    }
    for unread in ["slli a0, a1, 64", "beq a0, a1, 7", "c.lui sp, 1", "c.mop.2", "addi a0, a0, 2048", "fence rw"] {
        assert!(engines.iter().all(|engine| assembled(*engine, unread).is_err()), "{unread}");
    }
}

#[test]
fn every_word_of_16_bits_keeps_its_bits() {
    for engine in open_both(&own()).unwrap_or_else(|why| panic!("{why}")) {
        let mut valid = 0;
        for word in 0..=u16::MAX {
            let Ok(decoded) = engine.decode(&word.to_le_bytes()) else { continue };
            let mut line = Line::new();
            engine.print(&decoded, &mut line);
            assert_eq!(
                assembled(engine, line.as_str()).map(|bits| bytes(&bits)),
                Ok(word.to_le_bytes().to_vec()),
                "{line:?}"
            );
            valid += 1;
        }
        assert!(valid > 1000, "{valid}");
    }
}

#[test]
fn mistakes_of_a_document_are_told() {
    let from = std::fs::read_to_string(own().join("std/isa/inst/Z/lr.w.yaml")).expect("the document is there");
    for (name, old, new, code) in [
        ("unknown_key", "definedBy", "defined_by", "E0021"),
        ("missing", "name: lr.w", "", "E0022"),
        ("kind", "kind: instruction", "kind: csr", "E0023"),
        ("location", "location: 26", "location: 46", "E0030"),
        ("pattern", "00010--", "0002--", "E0030"),
        ("no_number", "not: 1", "not: one", "E0020"),
        ("condition", "extension: {", "extensions: {", "E0021"),
        ("uncovered", "    - { name: rl, location: 25, not: 1 }\n", "", "E0101"),
        ("twice", "location: 25", "location: 26", "E0107"),
    ] {
        assert!(from.contains(old), "{old}");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("read_riscv_unified_db").join(name);
        let inner = folder.join("std/isa/inst");
        std::fs::create_dir_all(&inner).expect("the folder can be made");
        std::fs::write(inner.join("lr.w.yaml"), from.replacen(old, new, 1)).expect("the file can be written");
        let told = open_both(&folder).err().unwrap_or_default();
        assert!(told.contains(&format!("error[{code}]")), "{name}: {told}");
    }
}

/// Normalizes a text: no blanks after commas, lower case, hexadecimal numbers in decimal.
fn plain(text: &str) -> String {
    let text = text.to_lowercase().replace(", ", ",");
    let mut parts = text.split("0x");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_hexdigit).count();
        let number = u64::from_str_radix(&part[..digits], 16).expect("hexadecimal");
        plain += &format!("{number}{}", &part[digits..]);
    }
    plain
}

/// The documents, unpacked.
fn unpacked() -> Option<PathBuf> {
    let archive =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/documents/riscv-unified-db/inst-and-schemas.tar.gz");
    if !archive.exists() {
        println!("skipped: no {} beside the project", archive.display());
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("riscv-unified-db");
    if !folder.exists() {
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        let status = Command::new("tar").arg("xzf").arg(&archive).arg("-C").arg(&folder).status();
        assert!(status.is_ok_and(|status| status.success()), "tar unpacks the documents");
    }
    Some(folder)
}

#[test]
fn every_recorded_word_reads_both_ways() {
    let Some(folder) = unpacked() else { return };
    let engines = open_both(&folder).unwrap_or_else(|why| panic!("{}", &why[..why.len().min(8000)]));
    let rows = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpora/other/riscv.tsv");
    let rows = std::fs::read_to_string(rows).expect("the rows stand beside the documents");
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in rows.lines().filter(|row| !row.starts_with('#')) {
        let mut columns = row.split('\t');
        let (Some(bits), Some(expected), Some(generation)) = (columns.next(), columns.next(), columns.next()) else {
            panic!("{row} has no three columns");
        };
        let engine = engines[if generation == "rv32" { RV32 } else { RV64 }];
        count += 1;
        match text(engine, bits) {
            Ok(printed) if plain(&printed) == plain(expected) => {}
            other => {
                wrong.push(format!("{bits}: {other:?} and not {expected:?}"));
                continue;
            }
        }
        match assembled(engine, expected) {
            Ok(again) if again == bits => {}
            other => wrong.push(format!("{bits}: {expected} assembles to {other:?}")),
        }
    }
    assert!(count > 3000, "{count} rows");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong[..wrong.len().min(60)].join("\n"));
}

/// The runs of registers that an instruction reads or writes, each once.
fn accessed(engine: Engine, decoded: &Decoded, write: bool) -> Vec<String> {
    let mut names = Vec::new();
    registers(engine, decoded, write, &mut |found| {
        let name = |number: u16| engine.stream.banks[usize::from(found.bank)].name(number.into()).to_string();
        let name = match found.count {
            1 => name(found.first),
            count => format!("{} to {}", name(found.first), name(found.first + count - 1)),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    });
    names
}
