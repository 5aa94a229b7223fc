//! Answers to requests that cannot be fulfilled, or only in part: messages and exit statuses are alike in all commands.

use super::*;

/// Runs a launch file of Valhall without outputs.
fn run(launch: &str, arguments: &[&str]) -> Run {
    isaforge_with(&[&["run", "-"], arguments].concat(), launch)
}

const ENDS: &str = "isa: valhall\nprogram: NOP.end\n";

#[test]
fn nothing_found_has_status_1() {
    for command in [&["list", "valhall"][..], &["fidelity", "valhall"], &["explain", "valhall"]] {
        let run = isaforge(&[command, &["nosuch"]].concat()).expect(1);
        assert!(!run.err.is_empty(), "{command:?}");
    }
}

#[test]
fn an_empty_text_is_no_question() {
    for (text, input) in [("", ""), ("  ", ""), ("-", ""), ("-", "\n")] {
        let run = isaforge_with(&["explain", "valhall", text], input).expect(2);
        assert!(run.err.contains("there is nothing to explain"), "{text:?}: {}", run.err);
    }
}

#[test]
fn schemas_need_no_set() {
    for command in ["dis", "asm", "list", "lint", "explain", "conform", "fidelity", "run", "check", "isas"] {
        let run = isaforge(&[command, "--json-schema"]).expect(0);
        assert!(run.out().starts_with('{') && run.err.is_empty(), "{command}: {}", run.err);
    }
    isaforge(&["dis"]).expect(2);
}

#[test]
fn help_has_a_help() {
    let help = isaforge(&["help"]).expect(0);
    for arguments in [&["help", "--help"], &["help", "-h"]] {
        assert_eq!(isaforge(arguments).expect(0).out(), help.out());
    }
    assert_eq!(isaforge(&["help", "dis", "--help"]).expect(0).out(), isaforge(&["help", "dis"]).expect(0).out());
}

#[test]
fn an_empty_variable_is_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("launch.yaml");
    fs::write(&file, ENDS).expect("it is written");
    let status = |value: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isaforge"));
        command.args(["run", "--quiet"]).arg(&file).env("ISAFORGE_ENGINE", value).env("ISAFORGE_LEVEL", "");
        command.output().expect("it starts").status.code()
    };
    assert_eq!((status(""), status("reference"), status("fast")), (Some(0), Some(0), Some(2)));
}

#[test]
fn a_time_limit_is_a_number_of_seconds() {
    for wrong in ["-1", "nan", "inf", "1e30", "soon"] {
        let run = run(ENDS, &[&format!("--time-limit={wrong}")]).expect(2);
        assert!(run.err.contains("0 or more, such as `2` or `0.5`"), "{wrong}: {}", run.err);
    }
    run(ENDS, &["--time-limit=0.5"]).expect(0);
}

#[test]
fn one_is_singular() {
    let said = run(ENDS, &[]).expect(0).err;
    assert!(said.contains("1 thread in 1 workgroup, 1 instruction in"), "{said}");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rows.tsv");
    fs::write(&file, "nothing\n").expect("it is written");
    let said = isaforge(&["conform", "valhall", file.to_str().expect("a path")]).err;
    assert!(said.contains("has 1 column and"), "{said}");
    let said = isaforge_with(&["lint", "valhall"], "MOV.i32 r1, r2\nNOP.end\n").expect(1).err;
    assert!(said.contains("2 findings in 2 instructions"), "{said}");
}

#[test]
fn a_sheet_without_pictures_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.yaml"), ENDS).expect("it is written");
    let run = isaforge_in(folder.path(), &["run", "a.yaml", "--sheet", "s.png"], b"").expect(2);
    assert!(run.err.contains("no launch draws a picture"), "{}", run.err);
    assert!(!folder.path().join("s.png").exists());
}

#[test]
fn a_wrong_number_does_not_take_its_buffer_away() {
    let launch = |numbers: &str| {
        format!("{ENDS}buffers: {{ a: {{ {numbers} }} }}\noutputs: [{{ print: {{ buffer: a, as: f32 }} }}]\n")
    };
    let said = run(&launch("f32: [nan]"), &[]).expect(1).err;
    assert!(said.contains("write `.nan`") && !said.contains("there is no buffer"), "{said}");
    assert!(run(&launch("words: [1.5, 99999999999]"), &[]).expect(1).err.contains("2 errors"));
    run(&launch("f32: [.nan, -.inf, 1]"), &[]).expect(0);
}

#[test]
fn folders_of_outputs_are_created() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.s"), "NOP.end\n").expect("it is written");
    for arguments in [
        &["asm", "valhall", "a.s", "-o", "asm/deep/a.hex"][..],
        &["graph", "valhall", "a.s", "-o", "graph/a.svg"],
        &["grammar", "valhall", "-o", "grammar/deep/a.json"],
        &["man", "--output", "man/deep"],
        &["man", "--out", "man/old"],
    ] {
        isaforge_in(folder.path(), arguments, b"").expect(0);
        assert!(folder.path().join(arguments[arguments.len() - 1]).exists(), "{arguments:?}");
    }
}

#[test]
fn generations_are_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let check =
        |file: &str, arguments: &[&str]| isaforge_in(folder.path(), &[&["check", file], arguments].concat(), b"");
    let amdgpu = concat!(env!("CARGO_MANIFEST_DIR"), "/../compiler/tests/data/amdgpu.jsonl");
    assert!(check(amdgpu, &[]).expect(1).err.contains("a generation must select one"));
    check(amdgpu, &["--generation", "gfx1100"]).expect(0);
    fs::write(folder.path().join("tiny.yaml"), revisions::STREAM).expect("it is written");
    check("tiny.yaml", &["--generation", "1"]).expect(0);
    assert!(check("tiny.yaml", &["--generation", "3"]).expect(2).err.contains("has no generation 3"));
    let record = r#"{"name":"AADD","cls":[],"Inst":"{ 1, 0 }","Size":"4","DecoderNamespace":"\"RV32Only\"","AsmString":"\"aadd\""}"#;
    fs::write(folder.path().join("riscv.jsonl"), format!("{record}\n")).expect("it is written");
    for arguments in [&[][..], &["--generation", "gfx1100"]] {
        let said = check("riscv.jsonl", arguments).expect(1).err;
        assert!(said.contains("its decoder tables are RV32Only") && !said.contains("must select one"), "{said}");
    }
}

#[test]
fn what_is_no_debug_protocol_is_an_error() {
    let debug = |input: &str| isaforge_with(&["debug", "--dap"], input);
    assert_eq!(debug("").expect(0).err, "");
    for (input, said) in [
        ("nonsense\r\n\r\n", "a header has no value"),
        ("Content-Length: 99999999999999\r\n\r\n{}", "is too long"),
        ("Content-Length: many\r\n\r\n{}", "is not a number"),
        ("Content-Length: 20\r\n\r\n{}", "ends within a message"),
        ("Content-Length: 2\r\n\r\n{]", "is not JSON"),
    ] {
        let run = debug(input).expect(1);
        assert!(run.err.contains("violates the protocol") && run.err.contains(said), "{input:?}: {}", run.err);
    }
}

#[test]
fn lists_of_registers_have_the_length_of_the_access() {
    let lint = |text: &str| {
        let run = isaforge_with(&["lint", "valhall", "--json"], format!("MOV.i32 r60, u0\n{text}\nNOP.end\n"));
        run.out().lines().filter(|line| line.contains("P0011")).map(str::to_owned).collect::<Vec<_>>()
    };
    let found = lint("LOAD.i128.unsigned.slot0.wait0 @r10, r4, offset:0");
    assert!(found.len() == 1 && found[0].contains("accesses 4 registers of the list `sr`, which names 1"), "{found:?}");
    assert_eq!(lint("STORE.i64.slot0 @r10, r4, offset:0").len(), 1);
    assert_eq!(lint("LOAD.i32.unsigned.slot0.wait0 @r10:r11, r4, offset:0").len(), 1);
    for right in [
        "LOAD.i128.unsigned.slot0.wait0 @r10:r11:r12:r13, r4, offset:0",
        "LOAD.i32.unsigned.slot0.wait0 @r10, r4, offset:0",
        "STORE.i64.slot0 @r10:r11, r4, offset:0",
    ] {
        assert!(lint(right).is_empty(), "{right}");
    }
}

#[test]
fn a_stack_from_nowhere_is_explained() {
    let riscv = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    let original = fs::read(format!("{riscv}/programs/sieve.elf")).expect("it is there");
    // The first instructions become `addi sp, sp, -16` and `sw ra, 12(sp)`.
    let header = |at: usize| u32::from_le_bytes(original[at..at + 4].try_into().expect("four bytes")) as usize;
    let (entry, segments) = (header(24), header(28));
    // The first segment holds attributes, the second one the code.
    let (offset, address) = (header(segments + 32 + 4), header(segments + 32 + 8));
    let at = entry - address + offset;
    let mut changed = original.clone();
    changed[at..at + 8].copy_from_slice(&[0x13, 0x01, 0x01, 0xff, 0x23, 0x26, 0x11, 0x00]);
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.elf"), changed).expect("it is written");
    let run = isaforge_in(folder.path(), &["run", "--spec", riscv, "a.elf"], b"").expect(2);
    assert!(run.err.contains("0xfffffffc") && run.err.contains("must set its stack pointer"), "{}", run.err);
}

#[test]
fn coverage_of_one_launch_lists_the_memory_written() {
    let launch = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/launch.yaml");
    let memory = |arguments: &[&str]| {
        let folder = tempfile::tempdir().expect("a folder");
        fs::copy(launch, folder.path().join("launch.yaml")).expect("it is copied");
        let run = isaforge_in(folder.path(), &[&["run", "launch.yaml", "--json"], arguments].concat(), b"").expect(0);
        let object: serde_json::Value = serde_json::from_str(run.out()).expect("it is an object");
        object["memory"].clone()
    };
    let written = memory(&["--coverage"]);
    assert!(written.as_array().is_some_and(|ranges| !ranges.is_empty()), "{written}");
    assert_eq!(written, memory(&[]));
}
