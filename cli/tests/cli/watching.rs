use super::*;

/// Runs the launch file of the test data in its own folder.
fn watch(arguments: &[&str]) -> (tempfile::TempDir, Run) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("launch.yaml"), text_of("launch.yaml")).expect("the file is written");
    let run = isaforge_in(folder.path(), &[&["run", "launch.yaml"], arguments].concat(), b"");
    (folder, run)
}

#[test]
fn a_trace_is_printed_before_the_outputs() {
    let (_, run) = watch(&["--trace", "--quiet"]);
    let run = run.expect(0);
    let lines: Vec<&str> = run.out().lines().collect();
    assert_eq!(lines.len(), 10 + 4, "{}", run.out());
    assert_eq!(
        lines[1],
        "workgroup (0,0,0) warp 0    1 ++++xxxxxxxxxxxx IADD.u32 r2, r1, u0  | \
         r2=0:00100000 1:00100004 2:00100008 3:0010000c"
    );
    let store =
        "workgroup (1,0,0) warp 0    4 ++++xxxxxxxxxxxx STORE.i32.slot0.end @r0, ^r2, offset:0  | [00100010]=0:";
    assert!(lines[9].starts_with(store), "{}", lines[9]);
    assert_eq!(lines[10], "numbers as u32:");
    assert_eq!(run.err, "");
}

#[test]
fn a_break_prints_registers_and_the_program_goes_on() {
    let (folder, run) = watch(&["--break", "4", "--break", "3"]);
    let run = run.expect(0);
    let expected = "3  workgroup (0,0,0) warp 0  ++++xxxxxxxxxxxx  IADD_IMM.i32 r0, r60, #0x2A
*r1     = 0:00000000 1:00000004 2:00000008 3:0000000c
*r2     = 0:00100000 1:00100004 2:00100008 3:0010000c
 r55    = 0:00000000 1:00000001 2:00000002 3:00000003
 r60    = 0:00000000 1:00000001 2:00000002 3:00000003
";
    assert!(run.out().starts_with(expected), "{}", run.out());
    assert_eq!(run.out().matches("workgroup (").count(), 4, "{}", run.out());
    assert!(folder.path().join("numbers.bin").exists());
    let (_, run) = watch(&["--break", "4", "--stops", "1"]);
    let run = run.expect(0);
    assert_eq!(run.out().matches("workgroup (").count(), 1, "{}", run.out());
    assert!(run.err.contains("1 stop shown") && run.out().contains("numbers as u32"), "{}", run.err);
    let (_, run) = watch(&["--break", "9"]);
    assert!(run.expect(2).err.contains("no instruction starts at 9; the last is at 4"));
    let (_, run) = watch(&["--break", "0x9"]);
    assert!(run.expect(2).err.contains("no instruction starts at 0x9; the last is at 0x4"));
    watch(&["--break", "-1"]).1.expect(2);
}

/// A loop with three iterations in two threads.
const LOOP: &str = include_str!("../data/loop.yaml");

/// Runs the loop.
fn run_loop(arguments: &[&str]) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("loop.yaml"), LOOP).expect("the file is written");
    isaforge_in(folder.path(), &[&["run", "loop.yaml"], arguments].concat(), b"")
}

#[test]
fn breakpoints_take_labels_and_conditions() {
    let run = run_loop(&["--break", "again"]).expect(0);
    assert_eq!(run.out().matches("1  workgroup (0,0,0) warp 0").count(), 3, "{}", run.out());
    let run = run_loop(&["--break", "again if r0 == 1"]).expect(0);
    assert!(run.out().contains("r0     = 00000001") && run.out().matches("workgroup").count() == 1, "{}", run.out());
    let run = run_loop(&["--break", "nowhere"]).expect(2);
    assert!(run.err.contains("there is no label `nowhere`; the only one is `again`"), "{}", run.err);
}

#[test]
fn a_trace_is_filtered_by_thread_place_and_register() {
    let lines = |arguments: &[&str]| {
        let run = run_loop(&[&["--trace", "--quiet"], arguments].concat()).expect(0);
        run.out().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(lines(&[]).len(), 8);
    let places = lines(&["--at", "again"]);
    assert!(places.len() == 3 && places.iter().all(|line| line.contains("   1 ++")), "{places:?}");
    let registers = lines(&["--register", "r0"]);
    assert!(registers.len() == 4 && registers[3].ends_with("  | r0=00000000"), "{registers:?}");
    let threads = lines(&["--thread", "1", "--at", "0"]);
    assert!(threads[0].ends_with("  | r0=1:00000003"), "{threads:?}");
    let absent = run_loop(&["--trace", "--thread", "2"]).expect(2);
    assert!(absent.err.contains("there is no thread 2,0,0"), "{}", absent.err);
    assert!(run_loop(&["--trace", "--register", "x0"]).expect(2).err.contains("there is no register `x0`"));
    assert!(run_loop(&["--trace", "--thread", "x"]).expect(2).err.contains("`x` is not a thread"));
    run_loop(&["--at", "again"]).expect(2);
}

#[test]
fn a_trace_is_cut_to_the_width_of_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("loop.yaml"), LOOP).expect("the file is written");
    let command = Command::new(env!("CARGO_BIN_EXE_isaforge"))
        .args(["run", "loop.yaml", "--trace"])
        .env("COLUMNS", "60")
        .current_dir(folder.path())
        .output();
    let out = String::from_utf8(command.expect("the command ends").stdout).expect("it is text");
    assert!(out.lines().all(|line| line.chars().count() <= 60), "{out}");
    assert_eq!(out.lines().filter(|line| line.ends_with('…')).count(), 8, "{out}");
}

#[test]
fn a_profile_has_counts_beside_each_instruction() {
    let run = run_loop(&["--profile=listing"]).expect(0);
    let rows: Vec<Vec<&str>> = run.out().lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["share", "by", "threads", "by", "warps", "lanes"]);
    assert_eq!(rows[1][..6], ["12.5", "%", "2", "1", "2.00", "0"]);
    assert_eq!(rows[2], ["again:"]);
    assert_eq!(rows[3][..6], ["37.5", "%", "6", "3", "2.00", "1"]);
    let run = run_loop(&["--profile=folded"]).expect(0);
    assert!(run.out().contains("loop.yaml;loop again;1 IADD_IMM.i32 r0, r0, #0xFFFFFFFF 6\n"), "{}", run.out());
    assert_eq!(run.out().lines().map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum::<u64>(), 16);
}

#[test]
fn a_flame_graph_has_loops_above_their_instructions() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("loop.yaml"), LOOP).expect("the file is written");
    isaforge_in(folder.path(), &["run", "loop.yaml", "--flame", "flame.svg"], b"").expect(0);
    let svg = fs::read_to_string(folder.path().join("flame.svg")).expect("it is written");
    assert!(svg.starts_with("<svg ") && svg.contains("<title>loop again: 12 (75.0 %)</title>"), "{svg}");
}

#[test]
fn blocks_of_a_graph_are_coloured_by_what_ran() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let program = "IADD_IMM.i32 r0, 0x0, #0x5\nagain:\n  IADD_IMM.i32 r0, r0, #0xFFFFFFFF\n  BRANCHZ.eq u0, out\n  \
                   BRANCHZ r0, again\nNOP.end\nout: MOV.i32.end r1, r0\n";
    fs::write(at("p.s"), program).expect("the file is written");
    fs::write(at("p.yaml"), "isa: valhall\nprogram: { file: p.s }\nuniforms: [1]\n").expect("the file is written");
    let counts = isaforge_in(folder.path(), &["run", "p.yaml", "--json"], b"").expect(0);
    let graph = |arguments: &[&str], input: &[u8]| {
        isaforge_in(folder.path(), &[&["graph", "valhall", "p.s", "--profile"], arguments].concat(), input)
    };
    let svg = graph(&["-"], &counts.out).expect(0);
    assert!(svg.out().contains("fill-opacity=\"0.550\""), "{}", svg.out());
    let never = svg.out().matches(">never executed</text>").count();
    assert_eq!((svg.out().matches("class=\"heat\"").count(), never), (4, 1), "{}", svg.out());
    fs::write(at("counts.json"), &counts.out).expect("the file is written");
    let dot = graph(&["counts.json", "--format", "dot"], b"").expect(0);
    assert!(dot.out().contains("style=\"rounded,filled\" fillcolor=\"0.03 0.600 1.000\""), "{}", dot.out());
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    let elf = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv/programs/sieve.elf");
    let counts = isaforge(&["run", "--spec", spec, elf, "--json", "--quiet"]);
    let dot =
        isaforge_in(folder.path(), &["graph", "--spec", spec, elf, "--profile", "-", "--format", "dot"], &counts.out);
    assert!(dot.expect(0).out().contains("fillcolor"));
    // Counts of another program, empty input, and no file.
    fs::write(at("p.s"), program.replace("#0x5", "#0x6")).expect("the file is written");
    assert!(graph(&["counts.json"], b"").expect(2).err.contains("instruction 0 is `IADD_IMM.i32 r0, 0x0, #0x5` there"));
    assert!(graph(&["-"], b"{}").expect(2).err.contains("no result of a run"));
    let both = isaforge_in(folder.path(), &["graph", "valhall", "--profile", "-"], b"").expect(2);
    assert!(both.err.contains("cannot both be standard input"), "{}", both.err);
}

#[test]
fn a_break_shows_no_constants_and_registers_once() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(
        folder.path().join("p.usc"),
        "0 : mbyp ft0, c66\n    mov r1, ft0\n1 : mbyp ft0, r1\n    mov i2, ft0\n2 : nop.end\n",
    )
    .expect("it is written");
    fs::write(folder.path().join("p.yaml"), "isa: usc\nprogram: { file: p.usc }\n").expect("it is written");
    let run = isaforge_in(folder.path(), &["run", "p.yaml", "--break", "if i2 > 0", "--quiet"], b"").expect(0);
    let names: Vec<&str> =
        run.out().lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name.trim()).collect();
    assert_eq!(names, ["*r1", "*i2", "sr63", "*sr160", "pe"], "{}", run.out());
    // Constants are printed if requested by name.
    fs::write(folder.path().join("script"), "print c66\nregisters c\n").expect("it is written");
    let run = isaforge_in(folder.path(), &["debug", "p.yaml", "--commands", "script"], b"").expect(0);
    assert!(run.out().matches("c66    = ").count() == 2, "{}", run.out());
}

#[test]
fn coverage_names_what_no_launch_of_a_program_executes() {
    let folder = tempfile::tempdir().expect("a folder");
    let launch = |value: u32| {
        format!(
            "isa: valhall\nprogram: |\n  BRANCHZ.eq u0, end\n  IADD_IMM.i32 r1, 0x0, #0x1\n  end: NOP.end\nuniforms: [{value}]\n"
        )
    };
    fs::write(folder.path().join("a.yaml"), launch(0)).expect("the file is written");
    fs::write(folder.path().join("b.yaml"), launch(1)).expect("the file is written");
    let run = isaforge_in(folder.path(), &["run", "--coverage", "a.yaml"], b"").expect(0);
    assert_eq!(run.out(), "a.yaml: 2 of 3 instructions executed\n  never       1  IADD_IMM.i32 r1, 0x0, #0x1\n");
    let run = isaforge_in(folder.path(), &["run", "--coverage", "a.yaml", "b.yaml"], b"").expect(0);
    assert_eq!(run.out(), "a.yaml, b.yaml: 3 of 3 instructions executed\n");
}

#[test]
fn a_profile_is_a_table_and_a_picture() {
    let (folder, run) = watch(&["--profile", "--profile-svg", "bars.svg"]);
    let run = run.expect(0);
    let table: Vec<Vec<&str>> = run.out().lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(table[5], ["20.0", "%", "8", "2", "4.00", "-", "32", "STORE.i32"]);
    assert_eq!(table[6], ["100.0", "%", "40", "10", "4.00", "-", "32", "all"]);
    assert_eq!(table[9][..4], ["4", "10", "100.0", "%"]);
    let svg = fs::read_to_string(folder.path().join("bars.svg")).expect("it is written");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    for text in [">STORE.i32<", ">20.0 %, 4.0 lanes, 32 bytes<", ">40 instructions by threads<", ">4 lanes<"] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
    assert_eq!(svg.matches("<rect ").count(), 1 + 5 + 1);
    watch(&["--profile-svg", "/dev/null/folder/bars.svg"]).1.expect(2);
}

#[test]
fn a_program_that_fails_is_profiled_until_then() {
    let folder = tempfile::tempdir().expect("a folder");
    let content = "isa: valhall\nprogram: |\n  NOP\n  LOAD.i32.unsigned.slot0.end @r0, r0, offset:0\n";
    fs::write(folder.path().join("launch.yaml"), content).expect("the file is written");
    let run = isaforge_in(folder.path(), &["run", "launch.yaml", "--profile", "--trace"], b"").expect(1);
    assert!(run.out().contains(" NOP\n") && run.err.contains("the program failed"), "{}{}", run.out(), run.err);
    assert!(run.err.contains("word 1 `LOAD.i32.unsigned.slot0.end @r0, r0, offset:0`"), "{}", run.err);
}

#[test]
fn a_drawing_and_a_recorded_case_are_looked_at_in_the_same_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let content = "isa: valhall
size: [4, 2]
program: |
  LD_VAR_BUF_IMM.f32.slot0.v4.src_f32.center.store @r0:r1:r2:r3, r61, index:0x0
  BLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0
vertices: [[0, 0], [2, 0], [0, 2], [2, 0], [4, 0], [2, 2]]
varyings: [{ offset: 0, flat: [0x3f800000, 0, 0, 0x3f800000] }]
targets: [{ file: out.png }]
";
    fs::write(folder.path().join("launch.yaml"), content).expect("the file is written");
    let look = |arguments: &[&str]| isaforge_in(folder.path(), &[&["run"], arguments].concat(), b"");
    let run = look(&["launch.yaml", "--trace", "--profile", "--profile-svg", "bars.svg"]).expect(0);
    let lines: Vec<&str> = run.out().lines().collect();
    assert!(lines[0].starts_with("pixel (0,0)    0 ++++xxxxxxxxxxxx LD_VAR_BUF_IMM."), "{}", lines[0]);
    assert!(lines[2].starts_with("pixel (2,0)    0 "), "{}", lines[2]);
    // Two triangles of one quad each.
    assert!(run.out().contains("LD_VAR_BUF_IMM") && run.out().contains("16"), "{}", run.out());
    assert!(folder.path().join("bars.svg").exists() && folder.path().join("out.png").exists());
    fs::remove_file(folder.path().join("out.png")).expect("it is there");
    let run = look(&["launch.yaml", "--break", "1"]).expect(0);
    assert!(run.out().starts_with("1  pixel (0,0)  ++++xxxxxxxxxxxx  BLEND."), "{}", run.out());
    assert!(run.out().contains("\n*r0     = 3f800000\n"), "{}", run.out());
    assert!(folder.path().join("out.png").exists());

    let case = format!("{}/../runtime/tests/data/valhall/images/tex_nearest.json.gz", env!("CARGO_MANIFEST_DIR"));
    let run = look(&[&case, "--profile", "--fidelity"]).expect(0);
    assert!(run.out().contains("TEX_SINGLE") && run.err.contains("wrote tex_nearest.png"), "{}{}", run.out(), run.err);
    let run = look(&[&case, "--break", "0", "--quiet"]).expect(0);
    assert!(run.out().starts_with("0  pixel (0,0)  ++++") && run.err.contains("16 stops shown"), "{}", run.err);
    let run = look(&[&case, &case, "--trace"]).expect(2);
    assert!(
        run.err.contains("only one program can be observed at a time") && run.err.contains("give one file"),
        "{}",
        run.err
    );
}

#[test]
fn programs_of_every_set_are_traced() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    let launch = |path: &str| format!("{examples}/{path}");
    for arguments in [
        vec![launch("vpu/triangle.yaml")],
        vec![launch("usc/julia.yaml")],
        vec!["--spec".to_owned(), launch("riscv"), launch("riscv/programs/sieve.elf")],
    ] {
        let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        arguments.splice(0..0, ["run", "--trace", "--json", "--time-limit", "1.5"]);
        let run = isaforge_in(Path::new("."), &arguments, b"");
        assert!(run.out().starts_with("{\"") && run.out().lines().count() > 10, "{}{}", run.out(), run.err);
    }
}
