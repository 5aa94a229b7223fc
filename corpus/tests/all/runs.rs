use std::fs;

use crate::support::{ask, fine, made, one, project, refused};

const STORE: &str = "SHADDX.u64 r4, u0, r60.w0, shift:0x2\nSTORE.i32.slot0.end @r60, ^r4, offset:0\n";

#[test]
fn programs_leave_results_and_their_hash() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("store.s"), STORE).unwrap();
    fs::write(at("trap.s"), "STORE.i32.slot0.end @r60, u0, offset:8\nNOP.end\n").unwrap();
    fs::write(at("inputs.yaml"), "local size: 4\nuniforms: [{ address: out }]\nbuffers: { out: { size: 16 } }\n")
        .unwrap();
    let (_lake, lake) = made("valhall", &[&at("store.s"), &at("trap.s")]);
    let inputs = at("inputs.yaml").display().to_string();
    fine(&["run", &lake, "--inputs", &inputs, "--label", "before"]);
    let rows = ask(&lake, "SELECT program, error, result, inputs, label FROM results ORDER BY program");
    assert_eq!(rows[0][..3], ["store.s", "", "00000000010000000200000003000000"]);
    assert_eq!(rows[0][3..], ["inputs.yaml", "before"]);
    assert_eq!(one(&lake, "SELECT instructions FROM results WHERE program = 'store.s'"), "8");
    // Results are not computed twice; another label counts as another version.
    let (_, said) = fine(&["run", &lake, "--inputs", &inputs, "--label", "before"]);
    assert!(said.contains("0 programs") && said.contains("2 already had results"), "{said}");
    fine(&["run", &lake, "--inputs", &inputs, "--label", "after", "--jobs", "1"]);
    let differ = "SELECT count(*) FROM results a JOIN results b USING (hash, inputs_hash)
                  WHERE a.label = 'before' AND b.label = 'after' AND a.result_hash <> b.result_hash";
    assert_eq!(one(&lake, differ), "0");
    assert_eq!(one(&lake, "SELECT count(*) FROM results"), "4");
    for (wrong, expected) in [
        ("buffer: { out: { size: 16 } }\n", "unknown key `buffer`"),
        ("uniforms: [1]\nisa: valhall\n", "wrong.yaml:2:1"),
        ("{ program: NOP }\n", "inputs have no `program`"),
    ] {
        fs::write(at("wrong.yaml"), wrong).unwrap();
        let said = refused(&["run", &lake, "--inputs", &at("wrong.yaml").display().to_string()], 2);
        assert!(said.contains(expected), "{said}");
    }
    fs::write(at("none.yaml"), "{}\n").unwrap();
    refused(&["run", &lake, "--inputs", &at("none.yaml").display().to_string()], 1);
}

#[test]
fn time_limits_hold_for_every_stage_and_leave_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("inputs.yaml"), "uniforms: [0]\n").unwrap();
    let inputs = at("inputs.yaml").display().to_string();
    for stage in ["fragment", "vertex", "compute"] {
        let loop_ =
            isaforge_core::program::assemble(isaforge_valhall::ISA, "top: BRANCHZ.eq 0x0, top\nNOP.end\n").unwrap();
        let words: Vec<String> = loop_.iter().map(|word| format!("{word:016x}")).collect();
        fs::write(at("p.tsv"), format!("# name\tstage\twords\np\t{stage}\t{}\n", words.join(" "))).unwrap();
        let (_lake, lake) = made("valhall", &[&at("p.tsv")]);
        let start = std::time::Instant::now();
        for _ in 0..2 {
            let said = refused(&["run", &lake, "--inputs", &inputs, "--time-limit", "0.2"], 1);
            assert!(said.contains("1 program reached the time limit"), "{stage}: {said}");
        }
        assert!(start.elapsed().as_secs() < 60, "{stage}");
        assert_eq!(one(&lake, "SELECT count(*) FROM results"), "0", "{stage}");
    }
}

#[test]
fn a_failure_is_one_the_second_time_too() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("trap.s"), "STORE.i32.slot0.end @r60, u0, offset:8\nNOP.end\n").unwrap();
    fs::write(at("inputs.yaml"), "uniforms: [0]\n").unwrap();
    let (_lake, lake) = made("valhall", &[&at("trap.s")]);
    for known in ["0 already", "1 already"] {
        let said = refused(&["run", &lake, "--inputs", at("inputs.yaml").to_str().unwrap()], 1);
        assert!(said.contains("1 failed") && said.contains(known), "{said}");
    }
}

#[test]
fn inputs_are_known_by_their_content() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // Copies the word at the address in u2 and u3 to the one in u0 and u1.
    fs::write(at("copy.s"), "LOAD.i32.unsigned.slot0.wait0 @r4, u2, offset:0\nSTORE.i32.slot0.end @r4, u0, offset:0\n")
        .unwrap();
    let inputs = "uniforms: [{ address: out }, { address: data }]\n\
                  buffers: { out: { size: 4 }, data: { file: data.bin } }\n";
    fs::write(at("inputs.yaml"), inputs).unwrap();
    fs::write(at("data.bin"), 5u32.to_le_bytes()).unwrap();
    let (_lake, lake) = made("valhall", &[&at("copy.s")]);
    let run = |file: &str| fine(&["run", &lake, "--inputs", at(file).to_str().unwrap(), "--label", "one"]).1;
    let results = || ask(&lake, "SELECT result FROM results ORDER BY result");
    assert!(run("inputs.yaml").contains("0 already had results"));
    assert_eq!(results(), [["0500000005000000"]]);
    // The same inputs under another name are the same …
    fs::write(at("again.yaml"), inputs).unwrap();
    assert!(run("again.yaml").contains("1 already had results"));
    // … but they include the files they refer to, and their own text.
    fs::write(at("data.bin"), 6u32.to_le_bytes()).unwrap();
    assert!(run("inputs.yaml").contains("0 already had results"));
    assert_eq!(results(), [["0500000005000000"], ["0600000006000000"]]);
    fs::write(at("inputs.yaml"), inputs.replace("file: data.bin", "words: [7]")).unwrap();
    assert!(run("inputs.yaml").contains("0 already had results"));
    assert_eq!(results(), [["0500000005000000"], ["0600000006000000"], ["0700000007000000"]]);
    assert_eq!(one(&lake, "SELECT count(DISTINCT inputs_hash) FROM results WHERE inputs = 'inputs.yaml'"), "3");
}

#[test]
fn processors_of_a_specification_run_too() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("add.s");
    fs::write(&program, "addi a0, a0, 5\naddi a1, a0, 1\n").unwrap();
    let inputs = folder.path().join("inputs.yaml");
    fs::write(&inputs, "registers: { a0: 37 }\n").unwrap();
    let spec = project("examples/riscv");
    let (_lake, lake) = made(spec.to_str().unwrap(), &[&program]);
    fine(&["run", &lake, "--inputs", inputs.to_str().unwrap()]);
    let rows = ask(&lake, "SELECT error, instructions, result FROM results");
    assert_eq!((rows[0][0].as_str(), rows[0][1].as_str()), ("", "2"));
    assert!(rows[0][2].contains("2a00000000000000") && rows[0][2].contains("2b00000000000000"), "{}", rows[0][2]);
}
