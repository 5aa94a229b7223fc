//! Values of launch files beyond what the program can have are refused with their place; floats are rounded once.

use super::*;

/// Runs a launch file, of a specification if one is given.
fn launched(spec: Option<&str>, launch: &str, arguments: &[&str]) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("launch.yaml"), launch).expect("it is written");
    let spec = spec.map(|name| format!("{}/../examples/{name}", env!("CARGO_MANIFEST_DIR")));
    let spec = spec.as_deref().map_or(vec![], |path| vec!["--spec", path]);
    isaforge_in(folder.path(), &[&["run", "launch.yaml"], &spec[..], arguments].concat(), b"")
}

#[test]
fn floats_are_rounded_once() {
    let numbers = "1.000000059604644775390625001, 16777217.000000001, 3.4028235677973366e38, .inf, 16777217";
    let launch = format!(
        "isa: valhall\nprogram: |\n  MOV.i32 r2, u2\n  MOV.i32 r3, u3\n  MOV.i32 r4, u0\n  MOV.i32 r5, u1\n  \
         STORE.i64.slot0.wait0 @r2:r3, r4, offset:0x0\n  NOP.end\n\
         uniforms: [{{ address: b }}, {}]\nbuffers: {{ a: {{ f32: [{numbers}] }}, b: {{ size: 8 }} }}\n\
         outputs: [{{ print: {{ buffer: a }} }}, {{ print: {{ buffer: b }} }}]\n",
        &numbers[..numbers.find(", 3").expect("a third")]
    );
    let run = launched(None, &launch, &["--quiet"]).expect(0);
    let words: Vec<&str> = run.out().split_whitespace().filter(|word| word.len() == 8).collect();
    assert_eq!(words, ["3f800001", "4b800001", "7f7fffff", "7f800000", "4b800000", "3f800001", "4b800001"]);
    let launch = "program: |\n  addi x6, x6, 0\nregisters: { x5: 1.000000059604644775390625001 }\nshow: [x5]\n";
    assert_eq!(launched(Some("riscv"), launch, &["--quiet"]).expect(0).out(), "t0 = 3f800001\n");
}

#[test]
fn floats_out_of_range_are_refused() {
    for (launch, place) in [
        ("isa: valhall\nprogram: NOP.end\nuniforms: [1e39]\n", "3:12"),
        ("isa: valhall\nprogram: NOP.end\nuniforms: [1e400]\n", "3:12"),
        ("isa: valhall\nprogram: NOP.end\nbuffers: { a: { f32: [1, -1e300] } }\n", "3:26"),
        ("isa: vpu\nprogram: Exit\nrectangle: [0, 0, 1, 1]\nglobals: [[1e5]]\n", "4:12"),
    ] {
        let err = launched(None, launch, &[]).expect(1).err;
        assert!(err.contains(&format!("launch.yaml:{place}")) && err.contains("does not fit a float of"), "{err}");
    }
}

#[test]
fn limits_of_a_launch_are_told_where_they_are_exceeded() {
    let uniforms = format!("uniforms: [{}]", vec!["0"; 129].join(", "));
    for (lines, place, message) in [
        ("program: NOP.end\nlocal size: 2048", "3:13", "a workgroup has at most 1024 threads, not 2048"),
        ("program: NOP.end\nlocal size: [64, 64]", "3:13", "a workgroup has at most 1024 threads, not 4096"),
        ("program: NOP.end\nshared bytes: 67108864", "3:15", "a workgroup shares at most 1048576 bytes"),
        (&format!("program: NOP.end\n{uniforms}"), "3:11", "there are 129 words of uniforms, at most 128"),
        (&format!("program: NOP.end\nsize: [1, 1]\ntargets: [{{ file: a.png }}]\n{uniforms}"), "5:11", "129 words"),
        ("program: ''", "2:10", "the program is empty"),
    ] {
        let err = launched(None, &format!("isa: valhall\n{lines}\n"), &[]).expect(1).err;
        assert!(err.contains(&format!("launch.yaml:{place}")) && err.contains(message), "{lines}: {err}");
        assert!(!err.contains("the program failed"), "{err}");
    }
}

#[test]
fn what_a_specified_machine_cannot_hold_is_refused() {
    for (line, place, message) in [
        ("buffers: { a: { address: 0xffffffff, size: 4 } }", "3:26", "addresses up to 0xffffffff"),
        ("buffers: { a: { address: 0x100000000, size: 4 } }", "3:26", "addresses up to 0xffffffff"),
        ("registers: { x5: 1, t0: 2 }", "3:21", "`t0` is given two values"),
        ("registers: { x0: 7 }", "3:14", "`zero` is always zero"),
    ] {
        let err = launched(Some("riscv"), &format!("program: |\n  nop\n{line}\n"), &[]).expect(1).err;
        assert!(err.contains(&format!("launch.yaml:{place}")) && err.contains(message), "{line}: {err}");
    }
    let line = "registers: { x0: 0 }\nbuffers: { a: { address: 0xfffffffc, size: 4 } }";
    launched(Some("riscv"), &format!("program: |\n  nop\n{line}\n"), &[]).expect(0);
    let handlers = launched(Some("riscv"), "program: |\n  nop\n", &["--engine", "handlers"]).expect(2);
    assert!(handlers.err.contains("`reference` or `compiled`"), "{}", handlers.err);
}

#[test]
fn conditions_and_registers_that_a_machine_does_not_have_are_told_with_those_it_has() {
    let launch = "isa: valhall\nprogram: NOP.end\n";
    let err = launched(None, launch, &["--trace", "--register", "r77"]).expect(2).err;
    assert!(err.contains("there is no register `r77`, only r0 to r63, u0 to u127"), "{err}");
    let err = launched(None, launch, &["--break", "0 if r1 == 4294967296"]).expect(2).err;
    assert!(err.contains("is compared with 32 bits, which hold 0 to 4294967295"), "{err}");
}

#[test]
fn large_memory_is_compared_in_a_moment() {
    let launch = "isa: valhall\nprogram: NOP.end\nbuffers: { a: { size: 268435456 } }\n";
    let started = std::time::Instant::now();
    launched(None, launch, &["--compare"]).expect(0);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
