use super::*;

fn path(name: &str) -> String {
    format!("tests/data/{name}")
}

#[test]
fn recorded_tables_agree() {
    let tables = ["words.tsv", "random-words.tsv", "shaders.tsv", "assembler-cases.tsv", "assembler-rejects.tsv"];
    let paths: Vec<String> = tables.iter().map(|name| path(name)).collect();
    let mut arguments = vec!["conform", "valhall", "--failures", "5"];
    arguments.extend(paths.iter().map(String::as_str));
    let run = isaforge(&arguments).expect(0);
    let lines: Vec<&str> = run.out().lines().collect();
    assert_eq!(lines.len(), tables.len() + 1, "{}", run.out());
    let mut total = 0;
    for (line, path) in lines.iter().zip(&paths) {
        let cases = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("it is there");
        let cases = cases.lines().filter(|line| !line.starts_with('#')).count();
        total += cases;
        assert_eq!(**line, format!("{path}: {cases} passed, 0 failed"));
    }
    assert_eq!(lines[tables.len()], format!("{total} passed, 0 failed"));
}

#[test]
fn what_disagrees_is_counted_and_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let table =
        "0091c10000000002\tMOV.i32 r1, r2\n0091c10000000002\tMOV.i32 r1, r3\n0091c10000000102\tMOV.i32 r1, r2\n";
    fs::write(folder.path().join("some.tsv"), table).expect("the file is written");
    let run = isaforge_in(folder.path(), &["conform", "valhall", "some.tsv"], b"").expect(1);
    assert_eq!(run.out(), "some.tsv: 1 passed, 2 failed\n1 passed, 2 failed\n");
    let run = isaforge_in(folder.path(), &["conform", "valhall", "some.tsv", "--failures", "1"], b"").expect(1);
    let lines: Vec<&str> = run.out().lines().collect();
    assert_eq!(lines.len(), 3, "{}", run.out());
    assert!(
        lines[1].trim_start().starts_with("some.tsv:2: 0091c10000000002 decodes to `MOV.i32 r1, r2`"),
        "{}",
        lines[1]
    );
}

#[test]
fn each_kind_of_row_can_fail() {
    let folder = tempfile::tempdir().expect("a folder");
    let fails = |row: &str| {
        fs::write(folder.path().join("rows"), row).expect("the file is written");
        let run = isaforge_in(folder.path(), &["conform", "valhall", "rows"], b"").expect(1);
        assert!(run.out().ends_with("0 passed, 1 failed\n"), "{row}: {}", run.out());
    };
    // Random words: wrong text, wrong word, an opcode that the specification knows, a rejected canonical word.
    fails("0091c10000000002\tMOV.i32 r1, r3\tfill\tok\t=");
    fails("0091c10000000002\tMOV.i32 r1, r2\tuniform\tunknown\t-");
    fails("0091c10000000102\tMOV.i32 r1, r2\tcanonical\tok\t=");
    // Shaders: a word that does not decode.
    fails("S1\tsource\tname\tstage\t0091c10000000002 0091c10000000102");
    // Cases of another assembler: wrong text, a word that must be absent, an unknown verdict.
    fails("0091c10000000002\tMOV.i32 r1, r3\tx\tsame\tMOV.i32 r1, r3\t0091c10000000002");
    fails("0091c10000000002\tMOV.i32 r1, r3\tx\trenamed\tMOV.i32 r1, r4\t0091c10000000002");
    fails("0091c10000000002\tMOV.i32 r1, r2\tx\tabsent:unknown\t\tERROR");
    fails("0091c10000000002\tMOV.i32 r1, r2\tx\twhatever\t\tERROR");
    // A line to reject that is valid.
    fails("MOV.i32 r1, r2\tno reason");
}

#[test]
fn a_file_without_cases_is_a_misuse_but_the_others_are_replayed() {
    let run = isaforge(&["conform", "valhall", "tests/data/blink.yaml", "tests/data/words.tsv"]).expect(2);
    assert!(run.err.contains("`tests/data/blink.yaml` holds no recorded cases"), "{}", run.err);
    assert!(run.out().starts_with("tests/data/words.tsv: "), "{}", run.out());
    isaforge(&["conform", "valhall", "no-such-file"]).expect(2);
}

#[test]
fn programs_count_by_their_runs_and_kernels_by_one() {
    let run = isaforge(&["conform", "valhall", "tests/data/reduce.json", "tests/data/shaders.jsonl"]).expect(0);
    let shaders = text_of("shaders.jsonl");
    let runs = shaders.matches("\"k\":").count();
    let lines: Vec<&str> = run.out().lines().collect();
    assert_eq!(lines[0], "tests/data/reduce.json: 1 passed, 0 failed");
    assert_eq!(lines[1], format!("tests/data/shaders.jsonl: {runs} passed, 0 failed"));
}

#[test]
fn a_wrong_colour_and_a_wrong_word_of_memory_fail() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("kernel"), text_of("reduce.json").replace("00000fa5", "00000fa6"))
        .expect("it is written");
    let shaders = text_of("shaders.jsonl");
    let first = shaders.lines().next().expect("there is one").replacen("[0.0,1.0,0.0,1.0]", "[1.0,null,0.0,1.0]", 1);
    fs::write(folder.path().join("shaders"), first).expect("it is written");
    let run =
        isaforge_in(folder.path(), &["conform", "valhall", "kernel", "shaders", "--failures", "3"], b"").expect(1);
    let lines: Vec<&str> = run.out().lines().collect();
    assert_eq!(lines[0], "kernel: 0 passed, 1 failed");
    assert!(lines[1].contains("1 of 4 words differ, the first is word 0: 00000fa5, not 00000fa6"), "{}", lines[1]);
    assert!(
        lines[2].ends_with(" passed, 1 failed") && lines[3].contains("run 0: the colour is [0.0, 1.0"),
        "{}",
        run.out()
    );
}

#[test]
fn cases_of_vpu_are_judged_by_its_machine() {
    let names = ["vpu-programs.jsonl", "vpu-valid.tsv", "vpu-invalid.tsv"];
    let paths = names.map(path);
    let mut arguments = vec!["conform", "vpu"];
    arguments.extend(paths.iter().map(String::as_str));
    let run = isaforge(&arguments).expect(0);
    for ((line, path), name) in run.out().lines().zip(&paths).zip(names) {
        let cases = text_of(name).lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(line, format!("{path}: {cases} passed, 0 failed"));
    }
    // No other instruction set accepts these files.
    let run = isaforge(&["conform", "valhall", &paths[0]]).expect(2);
    assert!(run.err.contains("no machine runs such programs of valhall"), "{}", run.err);
}

#[test]
fn cases_of_vpu_can_fail() {
    let folder = tempfile::tempdir().expect("a folder");
    let fails = |name: &str, rows: &str, reason: &str| {
        fs::write(folder.path().join(name), rows).expect("the file is written");
        let run = isaforge_in(folder.path(), &["conform", "vpu", name, "--failures", "1"], b"").expect(1);
        assert!(run.out().ends_with("\n0 passed, 1 failed\n"), "{rows}: {}", run.out());
        assert!(run.out().contains(reason), "{reason}: {}", run.out());
    };
    fails("refused", "02f2a52e6b438000\treserved bit 3 set in the standard layout", "undefined opcode 0x02");
    fails("accepted", "0000000000000000\tundefined opcode 0x00", "accepted as `Exit");
    fails("fields", "014b34b3e90b7000\tSync\t0\t18\t3031\t11\txwwz\t36\txzwy\t2", "014b34b3e90b7000");
    let program = text_of("vpu-programs.jsonl").lines().next().expect("there is one").to_owned();
    let (start, end) = program.split_at(program.find("\"expect\"").expect("it has an end"));
    fails("program", &format!("{start}{}", end.replacen("\"steps\":", "\"steps\":9", 1)), "steps instead of 9");
}

#[test]
fn packed_files_are_unpacked() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(text_of("words.tsv").as_bytes()).expect("it is packed");
    let packed = packed.finish().expect("it is packed");
    fs::write(folder.path().join("words.tsv.gz"), &packed).expect("it is written");
    fs::write(folder.path().join("cut.gz"), &packed[..packed.len() / 2]).expect("it is written");
    let run = isaforge_in(folder.path(), &["conform", "valhall", "words.tsv.gz"], b"").expect(0);
    assert!(run.out().starts_with(&format!("words.tsv.gz: {} passed, 0 failed\n", words_and_texts().len())));
    let run = isaforge_in(folder.path(), &["conform", "valhall", "cut.gz"], b"").expect(2);
    assert!(run.err.contains("cannot read `cut.gz`"), "{}", run.err);
}

#[test]
fn single_operations_are_executed() {
    let path = "../runtime/tests/data/valhall/semantic-vectors.tsv";
    let run = isaforge(&["conform", "valhall", path]).expect(0);
    assert_eq!(run.out().lines().last(), Some("443 passed, 0 failed"));
    let folder = tempfile::tempdir().expect("a folder");
    let rows = "IADD.s32\tsat\t7FFFFFFF,1\t80000000\tno\nIAD.s32\t\t1,1\t2\tno\nIADD.s32\t\t1,1\t2\n";
    fs::write(folder.path().join("rows"), rows).expect("the file is written");
    let run = isaforge_in(folder.path(), &["conform", "valhall", "rows", "--failures", "9"], b"").expect(1);
    let lines: Vec<&str> = run.out().lines().map(str::trim).collect();
    assert_eq!(lines[1], "rows:1: `IADD.s32.saturate r20, r0, r2` gives 7FFFFFFF, not 80000000");
    assert_eq!(lines[2], "rows:2: there is no operation `IAD.s32`; did you mean `IADD.s32`?");
    assert!(lines[3].starts_with("rows:3: a row has 5 columns"), "{}", lines[3]);
    // Programs of the older revision cannot be executed.
    isaforge_in(folder.path(), &["conform", "valhall-2021", "rows"], b"").expect(2);
}

#[test]
fn rows_of_a_stream_give_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    let rows = "# A comment.\n13050500\tmv a0, a0\n93 05 15 00\tok\tadd a1, a0, 1\n\
                00000000\tinvalid\tno instruction\n13050500\tnop\n13050500\tinvalid\tnothing\n1305\n";
    fs::write(folder.path().join("rows.tsv"), rows).expect("it is written");
    let run = isaforge_in(folder.path(), &["conform", "--spec", spec, "rows.tsv", "--failures", "9"], b"").expect(1);
    let lines: Vec<&str> = run.out().lines().collect();
    assert_eq!(lines[0], "rows.tsv: 3 passed, 3 failed", "{}", run.out());
    assert!(lines[1].contains("rows.tsv:5: 13050500 decodes to `mv a0, a0`, not to `nop`"), "{}", run.out());
    assert!(lines[2].contains("rows.tsv:6: 13050500 decodes to `mv a0, a0`, and must be refused"), "{}", run.out());
    assert!(lines[3].contains("rows.tsv:7: the line is not `bytes TAB text`"), "{}", run.out());
    // A missing file has no summary.
    let run = isaforge_in(folder.path(), &["conform", "--spec", spec, "none.tsv"], b"").expect(2);
    assert_eq!(run.out(), "");
}
