use super::*;

/// Runs the launch file of the test data in a folder of its own.
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
        "(0,0,0) warp 0    1 ++++xxxxxxxxxxxx IADD.u32 r2, r1, u0  | r2=0:00100000 1:00100004 2:00100008 3:0010000c"
    );
    assert_eq!(lines[9], "(1,0,0) warp 0    4 ++++xxxxxxxxxxxx STORE.i32.slot0.end @r0, ^r2, offset:0");
    assert_eq!(lines[10], "numbers as u32:");
    assert_eq!(run.err, "");
}

#[test]
fn a_break_prints_registers_and_makes_no_output() {
    let (folder, run) = watch(&["--break", "4", "--break", "3"]);
    let run = run.expect(0);
    let expected = "stopped before word 3 `IADD_IMM.i32 r0, r60, #0x2A`, (0,0,0) warp 0, lanes ++++xxxxxxxxxxxx
  r1  = 0:00000000 1:00000004 2:00000008 3:0000000c
  r2  = 0:00100000 1:00100004 2:00100008 3:0010000c
  r55 = 0:00000000 1:00000001 2:00000002 3:00000003
  r60 = 0:00000000 1:00000001 2:00000002 3:00000003
";
    assert_eq!(run.out(), expected);
    assert!(!folder.path().join("numbers.bin").exists());
    let (_, run) = watch(&["--break", "9"]);
    let run = run.expect(0);
    assert!(run.err.contains("no warp came to word 9") && run.out().contains("numbers as u32"), "{}", run.err);
    watch(&["--break", "-1"]).1.expect(2);
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
    watch(&["--profile-svg", "no/such/folder/bars.svg"]).1.expect(2);
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
    assert!(lines[0].starts_with("pixel (0,0)    0 +hhhxxxxxxxxxxxx LD_VAR_BUF_IMM."), "{}", lines[0]);
    assert!(lines[2].starts_with("pixel (2,0)    0 "), "{}", lines[2]);
    // Two triangles of one quad each.
    assert!(run.out().contains("LD_VAR_BUF_IMM") && run.out().contains("16"), "{}", run.out());
    assert!(folder.path().join("bars.svg").exists() && folder.path().join("out.png").exists());
    fs::remove_file(folder.path().join("out.png")).expect("it is there");
    let run = look(&["launch.yaml", "--break", "1"]).expect(0);
    assert!(run.out().starts_with("stopped before word 1 `BLEND."), "{}", run.out());
    assert!(run.out().contains(", pixel (0,0), lanes +hhhxxxxxxxxxxxx\n  r0  = 3f800000\n"), "{}", run.out());
    assert!(!folder.path().join("out.png").exists());

    let case = format!("{}/../runtime/tests/data/valhall/images/tex_nearest.json.gz", env!("CARGO_MANIFEST_DIR"));
    let run = look(&[&case, "--profile", "--fidelity"]).expect(0);
    assert!(run.out().contains("TEX_SINGLE") && run.err.contains("wrote tex_nearest.png"), "{}{}", run.out(), run.err);
    let run = look(&[&case, "--break", "0", "--quiet"]).expect(0);
    assert!(run.out().starts_with("stopped before word 0 ") && run.err.is_empty(), "{}", run.err);
    let run = look(&[&case, &case, "--trace"]).expect(2);
    assert!(run.err.contains("looked at one at a time") && run.err.contains("give one case"), "{}", run.err);
}

#[test]
fn programs_of_the_vpu_are_not_looked_at() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("launch.yaml"), "isa: vpu\n").expect("the file is written");
    let run = isaforge_in(folder.path(), &["run", "launch.yaml", "--trace"], b"").expect(2);
    assert!(run.err.contains("programs of the VPU cannot be looked at"), "{}", run.err);
}
