//! What the choice of engines, levels and host threads means for every set, and what the command says of it.

use super::*;

const TRAPS: &str = "isa: valhall
program: |
  SHADDX.u64 r62, u0, r60.w0, shift:0x2
  MOV.i32 r10, 0x0
  again: IADD_IMM.i32 r10, r10, #0x1
  BARRIER.slot7.wait
  STORE.i32.slot0 @r10, r62, offset:0
  IADD.u32 r11, r10, r57
  IADD.u32 r11, r11, r57
  ICMP.u32.eq.m1 r8, r11, u3, 0x0
  BRANCHZ.eq.reconverge r8, offset:ok
  MOV.i32 r4, 0x0
  MOV.i32 r5, 0x0
  STORE.i32.slot0 @r10, r4, offset:0
  ok: ICMP.u32.lt.m1 r7, r10, u2, 0x0
  BRANCHZ.reconverge r7, offset:again
  NOP.end
groups: 8
local size: 20
uniforms: [{ address: m }, 20, 18]
buffers: { m: { size: 4096 } }
budget: 6000
";

/// A loop for each pixel.
const DRAWN: &str = "isa: valhall
program: |
  MOV.i32 r10, 0x0
  again: IADD_IMM.i32 r10, r10, #0x1
  ICMP.u32.lt.m1 r7, r10, u0, 0x0
  BRANCHZ.reconverge r7, offset:again
  U32_TO_F32 r0, r10
  MOV.i32 r1, r7
  MOV.i32 r2, r0
  MOV.i32 r3, r0
  BLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0
size: [64, 64]
uniforms: [200]
targets: [{ file: drawn.png }]
";

/// Stores a number for each thread.
const SHARED: &str = "isa: valhall
program: |
  SHADDX.u64 r62, u0, r60.w0, shift:0x2
  IADD_IMM.i32 r0, r60, #0x7
  STORE.i32.slot0 @r0, r62, offset:0
  NOP.end
groups: 64
local size: 32
uniforms: [{ address: m }]
buffers: { m: { size: 8192 } }
outputs: [{ raw: { buffer: m, file: m.bin } }, { print: { buffer: m, as: u32, from: 2044 } }]
";

/// A set of several lanes and one of a single lane.
const LANES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/lanes");
const RISCV: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");

fn example(path: &str) -> String {
    format!("{}/../examples/{path}", env!("CARGO_MANIFEST_DIR"))
}

fn in_folder(launch: &str, arguments: &[&str]) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("launch.yaml"), launch).expect("the file is written");
    isaforge_in(folder.path(), &[&["run", "launch.yaml"], arguments].concat(), b"")
}

fn with_environment(arguments: &[&str], engine: &str, level: &str) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_isaforge"));
    command.args(arguments).current_dir(folder.path()).env("ISAFORGE_ENGINE", engine).env("ISAFORGE_LEVEL", level);
    let output = command.output().expect("the command ends");
    let err = String::from_utf8(output.stderr).expect("it is text");
    Run { status: output.status.code().expect("it ends"), out: output.stdout, err }
}

fn best() -> String {
    isaforge_runtime::Execution::best().to_string()
}

fn compiles() -> bool {
    isaforge_runtime::Level::best().compiles()
}

#[test]
fn the_usc_names_the_budget_of_the_launch() {
    let folder = tempfile::tempdir().expect("a folder");
    let launch = fs::read_to_string(example("usc/julia.yaml")).expect("it is there");
    fs::copy(example("usc/julia.usc"), folder.path().join("julia.usc")).expect("it is copied");
    // After the first tasks of the rectangle, and where some of them end.
    for budget in [5003, 4482] {
        let launch = format!("{launch}budget: {budget}\n");
        fs::write(folder.path().join("launch.yaml"), launch).expect("the file is written");
        let engines = [&["--engine", "reference"][..], &["--engine", "handlers"], &[], &["--compare"], &["--profile"]];
        for engine in engines {
            let run = isaforge_in(folder.path(), &[&["run", "launch.yaml"], engine].concat(), b"").expect(1);
            let named = format!("the budget of {budget} groups is used up");
            assert!(run.err.contains(&named), "{engine:?}: {}", run.err);
        }
    }
}

#[test]
fn a_profile_names_the_engine_that_runs_the_program() {
    let (usc, vpu, sieve) = (example("usc/julia.yaml"), example("vpu/blend.yaml"), example("riscv/programs/sieve.elf"));
    let case = format!("{}/../runtime/tests/data/valhall/images/tex_nearest.json.gz", env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("compute.yaml", SHARED), ("drawn.yaml", DRAWN)] {
        fs::write(folder.path().join(name), text).expect("the file is written");
    }
    for file in ["usc/julia.usc", "vpu/blend.vpu", "vpu/blend.json"] {
        let name = Path::new(file).file_name().expect("a name");
        fs::copy(example(file), folder.path().join(name)).expect("it is copied");
    }
    let smaller = fs::read_to_string(usc).expect("it is there").replace("256, 256]", "16, 16]");
    fs::write(folder.path().join("usc.yaml"), smaller).expect("the file is written");
    fs::copy(vpu, folder.path().join("vpu.yaml")).expect("it is copied");
    let by = |arguments: &[&str]| {
        let run = isaforge_in(folder.path(), &[&["run", "--quiet", "--profile"], arguments].concat(), b"").expect(0);
        let line = run.out().lines().find_map(|line| line.strip_prefix("executed by: "));
        line.unwrap_or_else(|| panic!("{arguments:?}: {}", run.out())).to_owned()
    };
    for launch in ["compute.yaml", "drawn.yaml", "usc.yaml", "vpu.yaml", &case] {
        assert_eq!(by(&[launch]), format!("{} (counted by the reference)", best()), "{launch}");
        let handlers = by(&[launch, "--engine", "handlers", "--level", "portable"]);
        assert_eq!(handlers, "handlers at level portable (counted by the reference)", "{launch}");
        assert_eq!(by(&[launch, "--engine", "reference"]), "reference", "{launch}");
    }
    assert_eq!(by(&["--spec", RISCV, &sieve]), "compiled (counted by the reference)");
    let lanes = by(&["--spec", LANES, &example("lanes/power.yaml")]);
    assert_eq!(lanes, format!("{} (counted by the reference)", best()));
    assert_eq!(by(&["--spec", LANES, &example("lanes/power.yaml"), "--engine", "reference"]), "reference");
}

#[test]
fn machine_code_of_draws_and_of_the_vpu_is_listed() {
    if !compiles() {
        return;
    }
    let drawn = in_folder(DRAWN, &["--quiet", "--dump-jit"]).expect(0);
    assert!(drawn.out().starts_with("loop 1: 3 instructions\n"), "{}{}", drawn.out(), drawn.err);
    assert!(drawn.out().contains("1: IADD_IMM.i32 r10, r10, #0x1\n  "), "{}", drawn.out());
    // Also where the program fails, or is counted.
    let failed = in_folder(&format!("{DRAWN}budget: 1000000\n"), &["--quiet", "--dump-jit"]).expect(1);
    assert!(failed.out().starts_with("loop 1: 3 instructions\n"), "{}", failed.out());
    let counted = in_folder(engines::SUM, &["--quiet", "--dump-jit", "--profile"]).expect(0);
    assert!(counted.out().starts_with("loop 3: 4 instructions\n"), "{}", counted.out());
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["triangle.vpu", "triangle.yaml"] {
        fs::copy(example(&format!("vpu/{name}")), folder.path().join(name)).expect("it is copied");
    }
    let vpu = |more: &[&str]| {
        let arguments = [&["run", "triangle.yaml", "--quiet", "--dump-jit"], more].concat();
        isaforge_in(folder.path(), &arguments, b"").expect(0)
    };
    let listed = vpu(&[]);
    let sequence = listed.out().split("sequence ").nth(1).expect("there is a sequence");
    let texts = sequence.lines().filter(|line| line.split_once(": ").is_some_and(|(pc, _)| pc.parse::<u16>().is_ok()));
    let first = sequence.split([':', ' ']).nth(2).and_then(|number| number.parse::<usize>().ok());
    assert_eq!(Some(texts.count().saturating_sub(1)), first, "{sequence}");
    assert!(sequence.contains("mm0"), "{sequence}");
    assert!(vpu(&["--engine", "handlers"]).err.contains("no part of this program was compiled"));
    let case = format!("{}/../runtime/tests/data/valhall/images/tex_nearest.json.gz", env!("CARGO_MANIFEST_DIR"));
    let error = isaforge(&["run", &case, "--dump-jit"]).expect(2).err;
    assert!(error.contains("the machine code of recorded cases is not kept"), "{error}");
}

#[test]
fn a_comparison_tells_where_the_budget_ended_each_engine() {
    let compared = in_folder(TRAPS, &["--compare"]).expect(1);
    assert!(compared.err.contains("some engines ran out of the budget before"), "{}", compared.err);
    let line = |name: &str| compared.err.lines().find(|line| line.trim().starts_with(name)).unwrap_or_default();
    assert!(line("reference: ").contains("nothing is mapped at 0x0"), "{}", compared.err);
    assert!(line("handlers at level portable").contains("the budget of 6000"), "{}", compared.err);
    assert!(!compared.err.contains("on every engine"), "{}", compared.err);
    // With a smaller budget no engine comes to the failure.
    let spent = TRAPS.replace("budget: 6000", "budget: 3000");
    let compared = in_folder(&spent, &["--compare"]).expect(1);
    assert!(compared.err.contains("every engine ran out of the budget, at different places"), "{}", compared.err);
    assert_eq!(compared.err.matches("the budget of 3000").count(), 2, "{}", compared.err);
    // With a larger one, all do.
    let ample = TRAPS.replace("budget: 6000", "budget: 1000000");
    let compared = in_folder(&ample, &["--compare"]).expect(1);
    assert!(compared.err.contains("the program failed on every engine: word 11"), "{}", compared.err);
    let help = isaforge(&["run", "--help"]).expect(0);
    assert!(help.out().contains("or the budget runs out"), "{}", help.out());
    assert!(help.out().contains("except where the budget runs out"), "{}", help.out());
}

#[test]
fn recorded_cases_run_on_the_selected_engine() {
    let vpu = data("vpu-programs.jsonl").display().to_string();
    let reduce = data("reduce.json").display().to_string();
    let case = format!("{}/../runtime/tests/data/valhall/images/tex_nearest.json.gz", env!("CARGO_MANIFEST_DIR"));
    let shaders = data("shaders.jsonl").display().to_string();
    let vectors = format!("{}/../runtime/tests/data/valhall/semantic-vectors.tsv", env!("CARGO_MANIFEST_DIR"));
    let usc = format!("{}/../runtime/tests/data/usc/programs.jsonl.gz", env!("CARGO_MANIFEST_DIR"));
    let sets: [(&str, &[&str]); 3] =
        [("valhall", &[&reduce, &case, &shaders, &vectors]), ("vpu", &[&vpu]), ("usc", &[&usc])];
    for (set, files) in sets {
        let usual = isaforge(&[&["conform", set], files].concat()).expect(0);
        assert!(!usual.out().contains("executed by"), "{}", usual.out());
        for (engine, level) in [("reference", "portable"), ("handlers", "portable")] {
            let chosen = [&["conform", set, "--engine", engine, "--level", level], files].concat();
            let run = isaforge(&chosen).expect(0);
            let name = if engine == "reference" { engine.to_owned() } else { format!("{engine} at level {level}") };
            let lines: Vec<&str> = run.out().lines().collect();
            let by = format!("executed by: {name}");
            assert!(lines.contains(&by.as_str()), "{}", run.out());
            let others: Vec<&str> = lines.into_iter().filter(|line| **line != by).collect();
            assert_eq!(others, usual.out().lines().collect::<Vec<_>>());
        }
    }
    let run = with_environment(&["conform", "vpu", &vpu, "--json"], "handlers", "portable").expect(0);
    assert!(run.out().contains("\"engine\":\"handlers at level portable\""), "{}", run.out());
    for (engine, level) in [("bogus", ""), ("", "bogus")] {
        let error = with_environment(&["conform", "valhall", &reduce], engine, level).expect(2).err;
        assert!(error.contains("unknown value, `bogus`") && error.contains("portable") | error.contains("handlers"));
    }
    let error = isaforge(&["conform", "valhall", &reduce, "--engine", "bogus"]).expect(2).err;
    assert!(error.contains("reference"), "{error}");
    let rows = isaforge_with(&["conform", "--spec", RISCV, "-", "--engine", "handlers"], "13050500\tok\tmv a0, a0\n");
    assert!(rows.expect(2).err.contains("are executed"));
}

#[test]
fn workgroups_run_on_several_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("launch.yaml"), SHARED).expect("the file is written");
    let left = |more: &[&str]| {
        let run = isaforge_in(folder.path(), &[&["run", "launch.yaml"], more].concat(), b"").expect(0);
        let said = run.err.split(" in ").nth(1).unwrap_or_default().to_owned();
        (run.out().to_owned(), said, fs::read(folder.path().join("m.bin")).expect("it was written"))
    };
    let one = left(&[]);
    assert!(one.0.contains("2051  2052  2053  2054"), "{}", one.0);
    for threads in ["1", "2", "3", "100"] {
        assert_eq!(left(&["--threads", threads]), one);
        assert_eq!(left(&["--threads", threads, "--engine", "handlers", "--level", "portable"]), one);
    }
    let error = in_folder(SHARED, &["--threads", "2", "--engine", "reference"]).expect(2).err;
    assert!(error.contains("`reference` runs on one thread"), "{error}");
    let one = |error: String| assert!(error.contains("runs on one thread of the host"), "{error}");
    one(isaforge(&["run", &example("usc/julia.yaml"), "--threads", "2"]).expect(2).err);
    one(isaforge(&["run", &example("vpu/blend.yaml"), "--threads", "2"]).expect(2).err);
    let sieve = example("riscv/programs/sieve.elf");
    one(isaforge(&["run", "--spec", RISCV, &sieve, "--threads", "2"]).expect(2).err);
    in_folder(SHARED, &["--threads", "0"]).expect(2);
}

#[test]
fn drawings_run_on_several_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    // The number of times that a pixel loops depends on its row.
    let text = DRAWN.replace("lt.m1 r7, r10, u0", "lt.m1 r7, r10, r59.h1").replace("[64, 64]", "[64, 90]");
    let left = |more: &[&str], code: i32| {
        let run = isaforge_in(folder.path(), &[&["run", "launch.yaml"], more].concat(), b"").expect(code);
        let said = run.err.split(" in ").next().unwrap_or_default().to_owned();
        (run.out().to_owned(), said, fs::read(folder.path().join("drawn.png")).expect("it was written"))
    };
    for (text, code) in [(text.clone(), 0), (format!("{text}budget: 500000\n"), 1)] {
        fs::write(folder.path().join("launch.yaml"), text).expect("the file is written");
        let one = left(&[], code);
        for threads in ["1", "2", "3", "100"] {
            assert_eq!(left(&["--threads", threads], code), one);
            let handlers = ["--threads", threads, "--engine", "handlers", "--level", "portable"];
            assert_eq!(left(&handlers, code), one);
        }
    }
    let error = in_folder(DRAWN, &["--threads", "2", "--engine", "reference"]).expect(2).err;
    assert!(error.contains("`reference` runs on one thread"), "{error}");
}

#[test]
fn sets_of_ones_own_refuse_engines_and_levels_that_they_lack() {
    let (sieve, power) = (example("riscv/programs/sieve.elf"), example("lanes/power.yaml"));
    let expected = isaforge(&["run", "--quiet", "--spec", RISCV, &sieve]).expect(0);
    for level in ["portable", isaforge_runtime::Level::best().name()] {
        let error = isaforge(&["run", "--spec", RISCV, &sieve, "--level", level]).expect(2).err;
        assert!(error.contains("programs of one lane have no levels"), "{error}");
    }
    let lanes = |more: &[&str]| isaforge(&[&["run", "--quiet", "--spec", LANES, &power], more].concat());
    let sums = lanes(&["--engine", "reference"]).expect(0);
    for choice in [&["--engine", "handlers"][..], &["--level", "portable"], &[]] {
        assert_eq!(lanes(choice).expect(0).out(), sums.out());
    }
    let compared = isaforge(&["run", "--spec", LANES, &power, "--compare"]).expect(0);
    assert!(compared.out().starts_with("the same, "), "{}", compared.out());
    assert!(compared.out().contains("reference; handlers at level portable"), "{}", compared.out());
    // What the environment names is a preference.
    for (engine, level) in [("handlers", "portable"), ("compiled", ""), ("reference", "portable")] {
        let run = with_environment(&["run", "--quiet", "--spec", RISCV, &sieve], engine, level).expect(0);
        assert_eq!(run.out(), expected.out());
        with_environment(&["run", "--quiet", "--spec", LANES, &power], engine, level).expect(0);
    }
    let error = with_environment(&["run", "--spec", RISCV, &sieve], "bogus", "").expect(2).err;
    assert!(error.contains("ISAFORGE_ENGINE is set to an unknown value, `bogus`"), "{error}");
    // Engines are compared whatever the environment prefers, and observed by the reference.
    let compared = with_environment(&["run", &example("vpu/blend.yaml"), "--compare"], "handlers", "").expect(0);
    assert!(compared.out().starts_with("the same"), "{}", compared.out());
    with_environment(&["run", "--quiet", &example("vpu/blend.yaml"), "--trace"], "handlers", "").expect(0);
}

#[test]
fn the_revision_of_2021_runs_by_its_name() {
    let program = "program: |\n  IADD_IMM.i32 r0, 0x0, #0x3\n  NOP.return\nshow: [r0]\n";
    let named = in_folder(&format!("isa: valhall-2021\n{program}"), &["--quiet"]).expect(0);
    let spec = format!("{}/../specs/valhall-2021", env!("CARGO_MANIFEST_DIR"));
    let by_path = isaforge_with(&["run", "--quiet", "--spec", &spec, "-"], program).expect(0);
    assert_eq!(named.out(), by_path.out());
    assert!(named.out().contains("r0 = 00000003"), "{}", named.out());
    let error = in_folder(&format!("isa: valhall-2021\n{program}groups: 2\n"), &[]).expect(1).err;
    assert!(error.contains("unknown key `groups`") && error.contains("launch.yaml:6:1"), "{error}");
    assert!(in_folder(&format!("isa: valhall-2021\n{program}"), &["--trace"]).expect(0).out().contains("IADD_IMM"));
}

#[test]
fn recorded_programs_that_only_conform_takes_are_named() {
    for (file, what) in [
        ("reduce.json", "a recorded kernel of valhall"),
        ("shaders.jsonl", "recorded shaders of valhall"),
        ("vpu-programs.jsonl", "recorded programs of vpu"),
    ] {
        let path = data(file).display().to_string();
        for arguments in
            [&["run", &path, "--compare"][..], &["run", &path], &["debug", &path, "--commands", "/dev/null"]]
        {
            let error = isaforge(arguments).expect(2).err;
            assert!(error.contains(&format!("it holds {what}")), "{error}");
            assert!(
                error.contains(&format!("`isaforge conform {} {path}`", what.rsplit(' ').next().unwrap_or_default()))
            );
        }
    }
}
