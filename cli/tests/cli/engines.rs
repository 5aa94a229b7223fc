//! `isaforge run` with selected engines, time limits and memory limits.

use super::*;

pub const SUM: &str = "isa: valhall
program: |
  IADD_IMM.i32 r0, 0x0, #0x0000fc01
  IADD_IMM.i32 r59, 0x0, #0x3e8
  SHADDX.u64 r62, u0, r60.w0, shift:0x2
  again: FCMP.f32.total.u1 r2, r0.h0, 0x0, r3
  IADD.u32 r5, r5, r2
  IADD_IMM.i32 r59, r59, #0xffffffff
  BRANCHZ.reconverge r59, offset:again
  STORE.i32.slot0.end @r5, r62, offset:0
local size: 128
buffers:
  y: { size: 512 }
uniforms: [ { address: y }, 0 ]
outputs:
  - print: { buffer: y, as: u32, count: 2 }
";

/// An infinite loop.
const ENDLESS: &str = "isa: valhall\nprogram: |\n  again: BRANCHZ.eq.reconverge 0x0, offset:again\n  NOP.end\n";

fn run(launch: &str, arguments: &[&str]) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("launch.yaml"), launch).expect("the file is written");
    isaforge_in(folder.path(), &[&["run", "launch.yaml"], arguments].concat(), b"")
}

fn levels() -> Vec<&'static str> {
    isaforge_runtime::Level::available().iter().map(|level| level.name()).collect()
}

#[test]
fn every_engine_gives_the_same_numbers() {
    let expected = "y as u32:\n       0:  1000  1000\n";
    assert_eq!(run(SUM, &["--quiet"]).expect(0).out(), expected);
    assert_eq!(run(SUM, &["--quiet", "--engine", "reference"]).expect(0).out(), expected);
    for level in levels() {
        assert_eq!(run(SUM, &["--quiet", "--level", level]).expect(0).out(), expected);
        let handlers = run(SUM, &["--quiet", "--engine", "handlers", "--level", level, "--profile"]).expect(0);
        assert!(handlers.out().ends_with(expected), "{}", handlers.out());
        assert!(handlers.out().contains(&format!("executed by: handlers at level {level}")), "{}", handlers.out());
    }
    assert_eq!(run(SUM, &["--quiet", "--unchecked"]).expect(0).out(), expected);
    let fastest = format!("executed by: {} (counted by the reference)\n", isaforge_runtime::Execution::best());
    assert!(run(SUM, &["--profile"]).expect(0).out().contains(&fastest));
    assert!(run(SUM, &["--profile", "--engine", "reference"]).expect(0).out().contains("executed by: reference\n"));
}

#[test]
fn machine_code_is_listed_behind_the_instructions_that_it_comes_from() {
    let listed = run(SUM, &["--quiet", "--dump-jit"]).expect(0);
    if !isaforge_runtime::Level::best().compiles() {
        assert!(listed.err.contains("no part of this program was compiled to machine code"), "{}", listed.err);
        return;
    }
    assert!(listed.out().starts_with("loop 3: 4 instructions\n"), "{}", listed.out());
    assert!(listed.out().ends_with("y as u32:\n       0:  1000  1000\n"), "{}", listed.out());
    // The sum is a vector operation for each warp that is executed side by side, written in the active lanes.
    let sum = listed.out().split("\n4: IADD.u32 r5, r5, r2\n").nth(1).expect("it is listed");
    let operations: Vec<_> = sum.lines().take_while(|line| line.starts_with("  ")).collect();
    let sums = |what: &str| operations.iter().filter(|line| line.contains(what)).count();
    let (of_avx512, of_avx2) = (sums("vpaddd zmm"), sums("vpaddd ymm"));
    // AVX2 has no mask registers; it takes a load of the mask and a blend.
    let most = 2 * of_avx512 + 3 * of_avx2;
    assert!(most > 0 && operations.len() <= most, "{operations:?}");
    // Handlers compile no machine code.
    let none = run(SUM, &["--quiet", "--dump-jit", "--engine", "handlers"]).expect(0);
    assert!(none.err.contains("no part of this program was compiled to machine code"), "{}", none.err);
}

#[test]
fn an_engine_that_is_not_there_is_refused() {
    let error = run(SUM, &["--engine", "compiled", "--level", "portable"]).expect(2).err;
    assert!(error.contains("no machine code is made for level `portable`"), "{error}");
    let error = run(SUM, &["--engine", "magic"]).expect(2).err;
    assert!(error.contains("reference") && error.contains("compiled"), "{error}");
    let error = run(SUM, &["--engine", "handlers", "--trace"]).expect(2).err;
    assert!(error.contains("programs cannot be observed on handlers at level"), "{error}");
}

#[test]
fn the_environment_chooses_what_the_command_line_does_not() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("launch.yaml"), SUM).expect("the file is written");
    let profile = |arguments: &[&str]| {
        let command = Command::new(env!("CARGO_BIN_EXE_isaforge"))
            .args([&["run", "launch.yaml", "--profile"], arguments].concat())
            .envs([("ISAFORGE_ENGINE", "handlers"), ("ISAFORGE_LEVEL", "portable")])
            .current_dir(folder.path())
            .output();
        String::from_utf8(command.expect("the command ends").stdout).expect("it is text")
    };
    assert!(profile(&[]).contains("executed by: handlers at level portable"));
    assert!(profile(&["--engine", "reference"]).contains("executed by: reference"));
}

#[test]
fn comparing_says_that_engines_agree() {
    let compared = run(SUM, &["--compare"]).expect(0);
    assert!(compared.out().starts_with("the same, 512,512 instructions: reference; handlers at level portable"));
    for level in levels() {
        assert!(compared.out().contains(&format!("handlers at level {level}")), "{}", compared.out());
    }
    assert!(!compared.out().contains("y as u32"), "no output is made");
    // A failing program fails on all engines.
    let compared = run(&format!("{ENDLESS}budget: 5000\n"), &["--compare"]).expect(1);
    assert!(compared.err.contains("the program failed on every engine") && compared.err.contains("the budget of 5000"));
    let error = run(SUM, &["--compare", "--level", "portable"]).expect(2).err;
    assert!(error.contains("cannot be used with"), "{error}");
}

#[test]
fn the_usc_and_the_vpu_are_compared_on_every_engine() {
    for (set, launch) in [("vpu", "blend.yaml"), ("vpu", "triangle.yaml"), ("usc", "julia.yaml")] {
        let folder = tempfile::tempdir().expect("a folder");
        let examples = fs::read_dir(format!("{}/../examples/{set}", env!("CARGO_MANIFEST_DIR")));
        let examples: Vec<_> = examples.expect("there are examples").map(|file| file.expect("a file").path()).collect();
        for file in &examples {
            fs::copy(file, folder.path().join(file.file_name().expect("a name"))).expect("the folder is writable");
        }
        let compared = isaforge_in(folder.path(), &["run", launch, "--compare"], b"").expect(0);
        assert!(compared.out().starts_with("the same, "), "{launch}: {}", compared.out());
        assert!(compared.out().contains("handlers at level portable"), "{launch}: {}", compared.out());
        let left = fs::read_dir(folder.path()).expect("the folder is there").count();
        assert_eq!(left, examples.len(), "{launch} writes no output");
    }
}

#[test]
fn a_set_of_ones_own_is_compared_with_its_machine_code() {
    let riscv = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    let sieve = format!("{riscv}/programs/sieve.elf");
    let compared = isaforge(&["run", "--spec", riscv, &sieve, "--compare"]).expect(0);
    assert!(compared.out().starts_with("the same, "), "{}", compared.out());
    assert!(compared.out().ends_with(" instructions: reference; compiled\n"), "{}", compared.out());
    let unchecked = isaforge(&["run", "--spec", riscv, &sieve, "--unchecked"]).expect(0);
    assert_eq!(unchecked.out(), isaforge(&["run", "--spec", riscv, &sieve]).expect(0).out());
    // A machine of several lanes has them all, unless its lanes are masked; the command says so.
    let lanes =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/lanes/isa.yaml")).expect("it is there");
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).expect("the file is written");
    };
    write("launch.yaml", "program: |\n  mov r2, #100\n  again:\n  add r1, r1, #1\n  bne r1, r2, again\n");
    write("lanes.yaml", &lanes);
    write("masked.yaml", &lanes.replace("divergence: lowest first", "divergence: masked"));
    let compare = |spec: &str, more: &[&str]| {
        isaforge_in(folder.path(), &[&["run", "--spec", spec, "launch.yaml"], more].concat(), b"")
    };
    let run = compare("lanes.yaml", &["--compare"]).expect(0);
    assert!(run.out().starts_with("the same, "), "{}{}", run.out(), run.err);
    assert!(run.out().contains("reference; handlers at level portable"), "{}", run.out());
    if isaforge_runtime::Level::best().compiles() {
        let listed = compare("lanes.yaml", &["--dump-jit"]).expect(0);
        assert!(listed.out().starts_with("loop 0x4\n"), "{}", listed.out());
        assert!(listed.out().contains("\n0x4: add r1, r1, #1\n"), "{}", listed.out());
    }
    let run = compare("masked.yaml", &["--compare"]).expect(0);
    assert!(run.err.contains("there is no engine to compare"), "{}", run.err);
    let error = compare("masked.yaml", &["--engine", "handlers"]).expect(2).err;
    assert!(error.contains("run on the engine `reference` alone"), "{error}");
}

#[test]
fn a_program_ends_with_its_time() {
    let launches = [
        (ENDLESS, &["reference", "handlers", ""][..]),
        ("isa: usc\nprogram: |\n  again:\n  0 : br again\n  1 : nop.end\ninstances: 1\n", &[""]),
    ];
    for (launch, engines) in launches {
        for engine in engines {
            let engine: &[&str] = if engine.is_empty() { &[] } else { &["--engine", engine] };
            let ended = run(launch, &[&["--time-limit", "0.2"], engine].concat()).expect(1);
            assert!(ended.err.contains("the time limit of 0.2 s has expired"), "{}", ended.err);
        }
    }
    for (launch, message) in
        [(ENDLESS, "the time limit of 0.2 s has expired"), (launches[1].0, "the time limit was reached")]
    {
        let ended = run(launch, &["--races", "--time-limit", "0.2"]).expect(1);
        assert!(ended.err.contains(message), "{}", ended.err);
    }
    assert!(run(SUM, &["--time-limit", "600", "--quiet"]).expect(0).out().contains("1000"));
    run(SUM, &["--time-limit", "soon"]).expect(2);
    run(SUM, &["--time-limit", "-1"]).expect(2);
}

#[test]
fn buffers_together_have_one_limit() {
    let launch = |sizes: &[u64]| {
        let buffers: String =
            sizes.iter().enumerate().map(|(i, size)| format!("  b{i}: {{ size: {size} }}\n")).collect();
        format!("isa: valhall\nprogram: NOP.end\nbuffers:\n{buffers}")
    };
    let limit = isaforge_runtime::Memory::MAX_BYTES as u64;
    run(&launch(&[limit]), &[]).expect(0);
    run(&launch(&[limit - 4096, 4096]), &[]).expect(0);
    for sizes in [&[limit + 1][..], &[limit - 4096, 4097], &[4096, limit]] {
        let error = run(&launch(sizes), &[]).expect(1).err;
        assert!(error.contains("L0003") && error.contains(&format!("at most {limit} bytes")), "{error}");
    }
}

#[test]
fn a_comparison_that_is_cut_off_says_nothing_of_engines() {
    let run = run(ENDLESS, &["--compare", "--time-limit", "0.2"]).expect(1);
    assert!(run.err.contains("nothing can be compared") && run.err.contains("the time limit"), "{}", run.err);
    assert!(run.out().is_empty(), "{}", run.out());
}

#[test]
fn compiled_code_writes_parts_of_registers() {
    let spec = "isa: parts\ndoc: Parts.\nword: 16\nprovenance: document\n\
        banks: { r: { count: 8, width: 32, prints: \"r{n}\" } }\nsemantics: { pc: u32 }\nmachine: { unit: 2 }\ninstructions:\n  \
        T:\n    rows: { low: { f: 1, how: d.b0 = a.b1 + 3 }, next: { f: 2, how: d.b1 = a.b0 }, half: { f: 3, how: d.h1 = a.h0 }, \
        less: { f: 4, how: d = a - 1 } }\n    doc: Computes.\n    fixed: { 15..6: $f }\n    \
        operands: { d: { bank: r, bits: 5..3, access: read-write }, a: { bank: r, bits: 2..0 } }\n    does: $how\n  \
        again:\n    doc: Goes back while r1 is not 0.\n    fixed: { 15..11: 0b11111 }\n    \
        operands: { r: { bank: r, bits: 10..8 }, by: { immediate: signed, bits: 7..0, target: relative } }\n    \
        does: if r != 0 { branch(next + sext(u32, by)) }\n";
    let launch = "program: |\n  top:\n  low r2, r2\n  next r3, r2\n  half r4, r3\n  less r1, r1\n  again r1, top\n\
        registers: { r1: 500, r2: 0x12345678, r3: 0xffffffff }\nshow: [r2, r3, r4]\n";
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("isa.yaml"), spec).expect("the file is written");
    fs::write(folder.path().join("launch.yaml"), launch).expect("the file is written");
    let run = |more: &[&str]| {
        isaforge_in(folder.path(), &[&["run", "--spec", "isa.yaml", "launch.yaml"], more].concat(), b"")
    };
    let reference = run(&["--quiet", "--engine", "reference"]);
    assert_eq!(reference.out(), "r2 = 12345659\nr3 = ffff59ff\nr4 = 59ff0000\n", "{}", reference.err);
    assert_eq!(run(&["--quiet"]).out(), reference.out());
    let compared = run(&["--compare"]);
    assert!(compared.out().contains("the same"), "{}{}", compared.out(), compared.err);
}
