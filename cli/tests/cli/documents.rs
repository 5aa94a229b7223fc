//! `dis` and `asm` with `--order memory --tsv` on third-party documents: one line of output per line of input.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{isaforge, isaforge_with, text_of};

/// A small document of the project in the format of a reader.
fn own(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../compiler/tests/data").join(name).display().to_string()
}

/// The output of `dis` or `asm` for some lines.
fn lines(command: &str, document: &str, generation: &str, input: &[&str]) -> Vec<String> {
    let mut arguments = vec![command, "--spec", document];
    if !generation.is_empty() {
        arguments.extend(["--generation", generation]);
    }
    arguments.extend(["--order", "memory", "--tsv", "-"]);
    let run = isaforge_with(&arguments, input.join("\n") + "\n");
    assert!(run.err.is_empty(), "{}", run.err);
    let found: Vec<String> = run.out().lines().map(str::to_owned).collect();
    assert_eq!(found.len(), input.len(), "one line for each");
    let wrong = found.iter().any(|line| line.contains("\tinvalid\t"));
    assert_eq!(run.status, i32::from(wrong), "the status says whether a line is wrong");
    found
}

#[test]
fn a_folder_of_documents_is_named_by_any_folder_on_the_way_to_it() {
    for folder in ["riscv-unified-db", "riscv-unified-db/std/isa", "riscv-unified-db/std/isa/inst"] {
        let read = lines("dis", &own(folder), "rv64", &["13 05 b5 ff", "1305b5", "ffff ffff"]);
        assert_eq!(read[0], "1305b5ff\tok\taddi a0, a0, -5", "{folder}");
        assert!(read[1].starts_with("1305b5\tinvalid\t") && read[2].starts_with("ffffffff\tinvalid\t"), "{read:?}");
        assert_eq!(lines("asm", &own(folder), "rv64", &["addi a0,a0,-5"]), ["1305b5ff"]);
    }
}

#[test]
fn a_module_is_a_line() {
    let text = "%1 = OpTypeInt 32 0\\n%2 = OpTypeInt 16 1";
    let document = own("spirv.json");
    let made = lines("asm", &document, "", &[text]);
    let read = lines("dis", &document, "", &[&made[0]]);
    assert_eq!(read, [format!("{}\tok\t{text}", made[0])]);
}

#[test]
fn every_generation_that_is_missing_is_named() {
    let arguments = ["dis", "--spec", &own("amdgpu.jsonl"), "--order", "memory", "--tsv", "-"];
    let run = isaforge_with(&arguments, "00").expect(1);
    assert!(run.err.contains("gfx1100"), "{}", run.err);
    let loom = own("isaspec/loom.xml");
    let run = isaforge_with(&["dis", "--spec", &loom, "--order", "memory", "--tsv", "-"], "00").expect(2);
    assert!(run.err.contains("several generations") && !run.err.contains("4294967295"), "{}", run.err);
}

/// The folder next to the project with documents and recorded rows.
fn shared() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    if !folder.join("corpora/other").is_dir() {
        println!("skipped: no {} beside the project", folder.display());
        return None;
    }
    Some(folder)
}

/// Replays recorded rows with the command, one call per generation.
fn replay(document: &Path, rows: &Path, generation: Option<usize>, refused: bool, plain: fn(&str) -> String) {
    let text = std::fs::read_to_string(rows).expect("the rows stand beside the documents");
    let rows: Vec<Vec<&str>> =
        text.lines().filter(|row| !row.starts_with('#')).map(|row| row.split('\t').collect()).collect();
    let of = |row: &Vec<&str>| generation.map_or(String::new(), |column| row[column].to_owned());
    let generations: std::collections::BTreeSet<String> = rows.iter().map(of).collect();
    for name in generations {
        let rows: Vec<&Vec<&str>> = rows.iter().filter(|row| of(row) == name).collect();
        let bytes: Vec<&str> = rows.iter().map(|row| row[0]).collect();
        let document = document.display().to_string();
        let read = lines("dis", &document, &name, &bytes);
        let mut texts = Vec::new();
        for (row, line) in rows.iter().zip(&read) {
            let cells: Vec<&str> = line.split('\t').collect();
            if refused {
                assert_eq!(cells[1], "invalid", "{name}: {line}");
                continue;
            }
            assert_eq!((cells[0], cells[1], plain(cells[2])), (row[0], "ok", plain(row[1])), "{name}");
            texts.push(cells[2]);
        }
        if refused {
            continue;
        }
        // A text may assemble to bits that differ in what the text does not show.
        let made = lines("asm", &document, &name, &texts);
        let again = lines("dis", &document, &name, &made.iter().map(String::as_str).collect::<Vec<_>>());
        for (line, text) in again.iter().zip(texts) {
            assert_eq!(line.split('\t').nth(2), Some(text), "{name}");
        }
    }
}

fn whole(text: &str) -> String {
    text.to_owned()
}

#[test]
fn recorded_rows_of_mesa_replay_by_the_command() {
    let Some(shared) = shared() else { return };
    let (documents, rows) = (shared.join("documents"), shared.join("corpora/other"));
    let isaspec = documents.join("isaspec-mesa-25.0.7");
    replay(&isaspec.join("ir3/ir3.xml"), &rows.join("ir3-programs.tsv"), Some(2), false, whole);
    replay(&isaspec.join("afuc/afuc.xml"), &rows.join("afuc.tsv"), Some(2), false, whole);
    replay(&isaspec.join("afuc/afuc.xml"), &rows.join("afuc-negative.tsv"), Some(2), true, whole);
    replay(&isaspec.join("etnaviv/etnaviv.xml"), &rows.join("etnaviv-negative.tsv"), None, true, whole);
    replay(
        &documents.join("mali-mesa-25.0.7/bifrost-ISA.xml"),
        &rows.join("bifrost-tuples.tsv"),
        Some(2),
        false,
        whole,
    );
}

#[test]
fn recorded_modules_replay_by_the_command() {
    let Some(shared) = shared() else { return };
    let document = shared.join("documents/spirv/spirv.core.grammar.json");
    replay(&document, &shared.join("corpora/other/spirv-modules.tsv"), None, false, whole);
}

#[test]
fn recorded_rows_of_risc_v_replay_by_the_command() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let archive = shared.join("documents/riscv-unified-db/inst-and-schemas.tar.gz");
    let status = Command::new("tar").arg("xzf").arg(&archive).arg("-C").arg(folder.path()).status();
    assert!(status.is_ok_and(|status| status.success()), "tar unpacks the documents");
    // Decimal numbers, lower-case names, no spaces after commas.
    let plain = |text: &str| {
        let lower = text.to_lowercase().replace(", ", ",");
        let mut parts = lower.split("0x");
        let mut all = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let digits = part.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(part.len());
            let number = u64::from_str_radix(&part[..digits], 16).expect("hexadecimal");
            all += &format!("{number}{}", &part[digits..]);
        }
        all
    };
    replay(folder.path(), &shared.join("corpora/other/riscv.tsv"), Some(2), false, plain);
}

#[test]
fn texts_may_have_tabs_and_backslashes() {
    let document = own("spirv.json");
    let made = lines("asm", &document, "", &["OpName %1 \"a\\tb\""]);
    assert_eq!(lines("dis", &document, "", &[&made[0]]), [format!("{}\tok\tOpName %1 \"a\\tb\"", made[0])]);
}

#[test]
fn a_packed_specification_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("blink.yaml.gz");
    let file = std::fs::File::create(&path).expect("the file can be made");
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    packed.write_all(text_of("blink.yaml").as_bytes()).and_then(|()| packed.finish()).expect("the file can be written");
    let run = isaforge(&["check", &path.display().to_string()]).expect(0);
    assert!(run.out().contains("ok"), "{}", run.out());
    std::fs::write(&path, b"\x1f\x8bno more").expect("the file can be written");
    isaforge(&["check", &path.display().to_string()]).expect(1);
}

#[test]
fn a_program_with_labels_is_told_what_they_count_where_the_specification_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = folder.path().join("isa.yaml");
    let text = "isa: hop\nword: 32\nprovenance: document\ninstructions:\n  hop:\n    doc: Jumps.\n    fixed: { 7..0: 1 }\n    \
                operands: { to: { immediate: signed, bits: [31..24, 15..8, 23..16], target: relative } }\n";
    std::fs::write(&spec, text).expect("the file can be written");
    let spec = spec.display().to_string();
    let run = isaforge_with(&["asm", "--spec", &spec, "-"], "l: hop l\n").expect(0);
    assert!(run.err.contains("W0211") && run.err.contains("from the next instruction"), "{}", run.err);
    assert_eq!(isaforge_with(&["asm", "--spec", &spec, "-"], "hop #-1\n").expect(0).err, "");
}

/// Compressed and long forms share a text; the exact text tells them apart.
#[test]
fn the_exact_text_of_a_long_form_assembles_to_it() {
    let riscv = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    let (rows, listed) = (["--order", "memory", "--tsv", "-"], ["--order", "memory", "-"]);
    let dis = |how: &[&str], bytes: &str| {
        isaforge_with(&[&["dis", "--spec", riscv, "--exact"], how].concat(), bytes).expect(0).out().to_owned()
    };
    let asm =
        |text: &str| isaforge_with(&[&["asm", "--spec", riscv], &rows[..]].concat(), text).expect(0).out().to_owned();
    assert_eq!(dis(&rows, "13850500\n2e85\n"), "13850500\tok\tmv a0, a1 ~13850500\n2e85\tok\tmv a0, a1\n");
    assert_eq!(dis(&listed, "13850500 2e85\n"), "mv a0, a1 ~13850500\nmv a0, a1\n");
    assert_eq!(asm("mv a0, a1 ~13850500\nmv a0, a1\n"), "13850500\n2e85\n");
}
