//! Files of other tools: what is shown of them, where it is, and what is said about the rest.

use super::caches::{checksum, fossilize, item, mbs2, mesa_db, panfrost, pipeline_cache, words, zlib, zstd};
use super::files::Elf;
use super::kinds::PREFIXED;
use super::*;

const RISCV: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
const SIEVE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv/programs/sieve.elf");

/// `mv a0, a1` and `ret`.
const CODE: [u8; 8] = [0x13, 0x85, 0x05, 0x00, 0x67, 0x80, 0x00, 0x00];
const PROGRAM: Elf<'_> =
    Elf { is_wide: false, kind: 2, machine: 243, address: 0x1_1000, code: &CODE, main: 0, places: &[] };

/// Runs a command with `--spec` on a file for RISC-V.
fn riscv(command: &[&str], bytes: &[u8]) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("file"), bytes).expect("it is written");
    isaforge_in(folder.path(), &[command, &["--spec", RISCV, "file"]].concat(), b"")
}

#[test]
fn code_of_an_elf_file_has_the_addresses_at_which_it_runs() {
    let listing = isaforge(&["dis", "--comments", "--spec", RISCV, SIEVE]).expect(0);
    assert!(listing.out().lines().nth(1).is_some_and(|line| line.contains("// 0x100b4 ")), "{}", listing.out());
    let objects = isaforge(&["dis", "--json", "--spec", RISCV, SIEVE]).expect(0);
    assert!(objects.out().starts_with(&format!("{{\"address\":{},", 0x100b4)), "{}", objects.out());
    assert!(objects.out().contains(&format!("\"target\":\"main\",\"target_address\":{}", 0x100b4)));
    let explained = isaforge_with(&["explain", "--json", "--spec", RISCV, "-"], fs::read(SIEVE).expect("it is there"));
    assert!(explained.expect(0).out().starts_with(&format!("{{\"address\":{},", 0x100b4)));
    for command in ["lint", "graph"] {
        isaforge(&[command, "--spec", RISCV, SIEVE, "--entry", "0x100b8"]).expect(0);
        let run = isaforge(&[command, "--spec", RISCV, SIEVE, "--entry", "0x4"]).expect(2);
        assert!(run.err.contains("no instruction starts at 0x4"), "{}", run.err);
    }
    assert!(isaforge(&["lint", "--spec", RISCV, SIEVE]).expect(0).err.contains("sieve.elf:0x10168: `ret`"));
    let own = isaforge(&["dis", "--comments", "--spec", RISCV, SIEVE, "--address", "0x40"]).expect(0);
    assert!(own.out().contains("// 0x0040 ") && !own.out().contains("0x100b4"), "{}", own.out());
    // An object has no addresses yet.
    let object = Elf { kind: 1, address: 0, ..PROGRAM }.bytes();
    assert!(riscv(&["dis", "--comments"], &object).expect(0).out().contains("// 0x0000 "));
}

#[test]
fn branches_to_addresses_have_labels_in_an_elf_file() {
    let code = [0x01, 0x00, 0x01, 0x03, 0x04, 0x02];
    let bytes = Elf { machine: 7, address: 0x400, code: &code, main: 0, ..PROGRAM }.bytes();
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("isa.yaml"), PREFIXED).expect("it is written");
    let run = isaforge_in(folder.path(), &["dis", "--spec", "isa.yaml"], &bytes).expect(0);
    assert_eq!(run.out(), "main:\nLD $1\nl1:\nJMP l1\n");
}

#[test]
fn an_elf_file_without_section_headers_is_read_by_its_segments() {
    let mut bytes = PROGRAM.bytes();
    bytes[32..36].fill(0);
    for command in [&["dis"][..], &["lint", "--pressure"], &["graph", "--format", "dot"]] {
        let run = riscv(command, &bytes).expect(0);
        assert!(run.out().contains("mv a0, a1") && run.err.contains("segment 0 at 0x54"), "{}", run.err);
    }
}

#[test]
fn what_is_wrong_with_an_elf_file_is_said() {
    let said = |elf: Elf<'_>| riscv(&["dis"], &elf.bytes()).expect(0).err;
    let plain = said(PROGRAM);
    for (elf, note) in [
        (Elf { kind: 1, places: &[0, 4, 4], ..PROGRAM }, "a linker has yet to fill in 2 places, so operands"),
        (Elf { is_wide: true, ..PROGRAM }, "for processors of 64 bits, and the instruction set has registers of 32"),
    ] {
        assert!(said(elf).contains(note) && !plain.contains(note), "{}", said(elf));
    }
    let whole = PROGRAM.bytes();
    let run = riscv(&["dis"], &whole[..whole.len() - 8]).expect(0);
    let place =
        format!("damaged: its section headers at {:#x} of {:#x} bytes: ", PROGRAM.sections_at(), whole.len() - 8);
    assert!(run.out().contains("mv a0, a1") && run.err.contains(&place), "{}", run.err);
    let run = riscv(&["dis"], &whole[..40]).expect(2);
    assert!(run.err.contains("holds no code of this instruction set; damaged: its headers: "), "{}", run.err);
    assert!(run.err.contains("in 0x28 bytes"), "{}", run.err);
}

#[test]
fn a_wrong_checksum_or_size_is_a_note_and_the_code_is_shown() {
    let code = 0x0091_c100_0000_0002_u64.to_le_bytes();
    let content = [&8_u32.to_le_bytes()[..], &code, &[0; 8]].concat();
    let mut item = b"\x01panfrost\0Mali-G57\0\x08\0\0\0\0\0\0\0\0".to_vec();
    item.extend([0, 0x1234, content.len() as u32].map(u32::to_le_bytes).concat());
    item.extend(&content);
    let run = isaforge_with(&["dis", "valhall"], &item).expect(0);
    assert_eq!(run.out(), "MOV.i32 r1, r2\n");
    assert!(run.err.contains("damaged, the checksum is wrong: shader"), "{}", run.err);

    let mbs2 = [&b"MBS2"[..], &[99, 0, 0, 0, 4, 0, 0, 0], b"OBJC", &[8, 0, 0, 0], &code].concat();
    let run = isaforge_with(&["dis", "valhall"], &mbs2).expect(0);
    assert_eq!(run.out(), "MOV.i32 r1, r2\n");
    let note = "damaged: its block `MBS2` at 0x0 has 99 bytes by its head, and 20 in the file";
    assert!(run.err.contains(note), "{}", run.err);
}

#[test]
fn labels_of_several_shaders_are_the_same_in_all_output() {
    let text = "again: IADD_IMM.i32 r0, r0, #0x1\nBRANCHZ.eq 0x0, again\nNOP.end\n";
    let hex = isaforge_with(&["asm", "valhall"], text).expect(0);
    let words = hex.out().lines().map(|word| u64::from_str_radix(word, 16).expect("digits").to_le_bytes());
    let code = words.collect::<Vec<_>>().concat();
    let block = [&b"OBJC"[..], &(code.len() as u32).to_le_bytes(), &code].concat().repeat(2);
    let mbs2 = [&b"MBS2"[..], &(block.len() as u32 + 4).to_le_bytes(), &[0; 4], &block].concat();
    let listing = isaforge_with(&["dis", "valhall"], &mbs2).expect(0);
    let labels: Vec<&str> = listing.out().lines().filter_map(|line| line.strip_suffix(':')).collect();
    assert_eq!(labels, ["l0_1", "l0_2"]);
    let objects = isaforge_with(&["dis", "valhall", "--json"], &mbs2).expect(0);
    let objects: Vec<serde_json::Value> =
        objects.out().lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    for key in ["label", "target"] {
        let found: Vec<&str> = objects.iter().filter_map(|object| object[key].as_str()).collect();
        assert_eq!(found, labels, "{key}");
    }
}

#[test]
fn a_file_that_is_a_module_as_a_whole_is_read_by_the_set_whose_module_it_is() {
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../compiler/tests/data/spirv.json");
    let module: Vec<u8> =
        [0x0723_0203_u32, 0x1_0000, 0, 2, 0, 3 << 16 | 5, 1, 0x61].iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.spv");
    fs::write(&file, &module).expect("the file can be written");
    let path = file.to_str().expect("the path is text");
    for run in [isaforge(&["dis", "--spec", spec, path]), isaforge_with(&["dis", "--spec", spec, "-"], &module)] {
        let run = run.expect(0);
        assert_eq!((run.out(), run.err.as_str()), ("OpName %1 \"a\"\n", ""));
    }
    let run = isaforge(&["dis", "valhall", path]).expect(2);
    assert!(run.err.contains("holds no code of this instruction set"), "{}", run.err);

    for command in ["lint", "graph", "explain"] {
        let run = isaforge_with(&[command, "--spec", spec, "-"], &module).expect(2);
        assert!(run.err.contains("are sequences of operands"), "{command}: {}", run.err);
    }

    // What is wrong in one place does not hide the others.
    let broken = [&module[..], &0x2_0fff_u32.to_le_bytes(), &[7, 0, 0, 0], &module[20..]].concat();
    let run = isaforge_with(&["dis", "--spec", spec, "-"], &broken).expect(1);
    let text = "OpName %1 \"a\"\n.word 0x00020fff 0x00000007 ; no instruction has the code 4095\nOpName %1 \"a\"\n";
    assert_eq!((run.out(), run.err.as_str()), (text, "<stdin>: at byte 32: no instruction has the code 4095\n"));
    let back = isaforge_with(&["asm", "--spec", spec, "--out", "bin", "-"], text).expect(0);
    assert_eq!(back.out[20..], broken[20..]);
}

#[test]
fn code_is_found_in_every_kind_of_file() {
    let code = 0x0091_c100_0000_0002_u64.to_le_bytes();
    let content = panfrost(&code);
    let item = |packed: &[u8]| item(&content, packed, None);
    let plain = item(&content);
    let name = "ab".repeat(20);
    let elf = Elf { machine: 0xfe, address: 0, code: &code, ..PROGRAM };
    for (kind, shader, file) in [
        ("output of Arm's offline compiler (MBS2)", "fragment0", mbs2(&[(b"CFRA", &[]), (b"OBJC", &code)])),
        ("an item of Mesa's cache for Mali-G57 (panfrost)", "shader", item(&zlib(&content))),
        ("an item of Mesa's cache for Mali-G57 (panfrost)", "shader", item(&zstd(&content))),
        ("Mesa's cache (MESA_DB)", &*"01".repeat(20), mesa_db(&[(1, checksum(&plain), &plain)])),
        ("Mesa's cache in a Fossilize database", &name, fossilize(&name, false, 0, plain.len(), &plain)),
        ("a Vulkan pipeline cache of Arm, device 0x9091", &*"aa".repeat(5), pipeline_cache(&code)),
        ("ELF", ".text", elf.bytes()),
    ] {
        let run = isaforge_with(&["dis", "valhall"], &file).expect(0);
        assert!(run.out().lines().any(|line| line == "MOV.i32 r1, r2"), "{kind}: {}", run.out());
        assert!(run.err.contains(kind) && run.err.contains(shader), "{kind}: {}", run.err);
    }
    // The modules of applications are for drivers.
    let name = format!("{}04{}", "0".repeat(22), "0123456789abcdef");
    let module = fossilize(&name, false, 0, 4, &words(&[0x0723_0203]));
    let run = isaforge_with(&["dis", "valhall"], &module).expect(2);
    assert!(run.err.contains("a Fossilize database"), "{}", run.err);
}

#[test]
fn a_file_of_a_known_kind_without_code_is_named() {
    let tar = [&b"shader.bin"[..], &[0; 247], b"ustar\x0000", &[0; 247]].concat();
    for (file, kind) in [
        (&b"\x28\xb5\x2f\xfd\x24\x08\x41\0\0abcdefgh"[..], "is compressed with zstd"),
        (b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46", "is compressed with xz"),
        (b"BZh91AY&SY\x01\x02\x03\x04", "is compressed with bzip2"),
        (b"\x04\x22\x4d\x18\x64\x40\xa7\0", "is compressed with lz4"),
        (&tar, "is a tar archive"),
        (b"poclbin\0\x0a\0\0\0\0\0\0\0", "is a program of PoCL"),
    ] {
        let run = isaforge_with(&["dis", "valhall"], file).expect(2);
        let message = format!("`<stdin>` {kind}, and holds no code of this instruction set");
        assert!(run.out().is_empty() && run.err.contains(&message), "{kind}: {}", run.err);
    }
    // A word like that in a text is no such file.
    let run = isaforge_with(&["asm", "valhall"], "BZh: MOV.i32 r1, r2\n").expect(0);
    assert_eq!(run.out(), "0091c10000000002\n");
}
