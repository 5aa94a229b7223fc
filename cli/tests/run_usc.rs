//! `isaforge run` for the USC: pictures compared with pixels computed here, numbers, memory, error locations.

mod launched;

use std::fs;
use std::path::PathBuf;

use launched::{Run, run, run_in, run_with};

/// The iterations of the example's Julia set at a pixel, and its colour.
fn julia(x: usize, y: usize) -> [f32; 3] {
    let at = |n: usize| n as f32 + 0.5;
    let (mut re, mut im) = (0.0125f32.mul_add(at(x), -1.6), (-0.0125f32).mul_add(at(y), 1.6));
    let mut steps = 0;
    while steps < 96 && re * re + im * im <= 4.0 {
        (re, im) = (-0.8 + (re * re - im * im), 0.156 + re * im * 2.0);
        steps += 1;
    }
    // The last check of an escaping instance is not counted.
    let angle = |begin: f32| (0.041_666_6 * steps as f32).mul_add(std::f32::consts::PI, begin);
    match steps {
        96 => [0.0; 3],
        _ => [3.1, 2.3, 1.3].map(|begin| angle(begin).cos().mul_add(0.5, 0.5)),
    }
}

#[test]
fn the_julia_set_is_drawn() {
    let from = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/usc"));
    let folder = tempfile::tempdir().expect("a folder");
    for file in ["julia.yaml", "julia.usc"] {
        fs::copy(from.join(file), folder.path().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    }
    let run = run_in(folder.path(), "julia.yaml");
    assert_eq!(run.status, Some(0), "{}", run.err);
    assert!(run.err.contains("ran: 65,536 instances"), "{}", run.err);
    let file = fs::File::open(folder.path().join("julia.png")).expect("it is written");
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("it is a PNG");
    let mut bytes = vec![0; reader.output_buffer_size().expect("it is small")];
    let info = reader.next_frame(&mut bytes).expect("it is whole");
    assert_eq!((info.width, info.height), (512, 512));
    let channels = info.color_type.samples();
    for (y, x) in (0..256).flat_map(|y| (0..256).map(move |x| (y, x))) {
        let pixel = &bytes[(2 * y * 512 + 2 * x) * channels..][..3];
        let wanted = julia(x, y).map(|c| (c * 255.0).round() as i32);
        let off = pixel.iter().zip(wanted).any(|(found, wanted)| (i32::from(*found) - wanted).abs() > 1);
        assert!(!off, "pixel ({x}, {y}) is {pixel:?}, not {wanted:?}");
    }
}

#[test]
fn instances_have_registers_of_their_own_and_share_memory() {
    let (folder, run) = run("
isa: usc
instances: 40
program: |
  0 : mov ft0, sr51
      mov r2, ft0
  1 : smadd32 ft0, r0, c2, c3, _
      mov r1, ft0
  2 : smadd64 ft0, r2, c4, sh0, sh1, _
      mov r4, ft0
      mov r5, fte
  3 : st r1@S3, 2, drc0, 1, r4@S4
  4 : nop.end
registers:
  - { register: r0, words: [5, -1, 7], each: true }
  - { register: sh0, words: [0x2000, 0] }
memory:
  - { address: 0x2000, size: 128 }
outputs:
  - print: { register: r1, as: i32 }
  - print: { address: 0x2000, count: 4, as: i32 }
  - raw: { address: 0x2000, size: 128, file: out.bin }
");
    assert_eq!(run.status, Some(0), "{}", run.err);
    assert!(run.out.starts_with("r1 as i32:\n       0:  13   1  17   3   3"), "{}", run.out);
    // Instances 0 to 7 of the second task overwrite the first task's values with 3.
    assert!(run.out.contains("memory from 0x2000 as i32:\n       0:  3  3  3  3\n"), "{}", run.out);
    let bytes = fs::read(folder.path().join("out.bin")).expect("it is written");
    assert_eq!(bytes.len(), 128);
}

/// The levels of a texture are computed from its texels; dynamic constants are indexed.
#[test]
fn textures_have_levels_and_constants_are_indexed() {
    let (_folder, run) = run("
isa: usc
instances: 3
program: |
  0 : smp2d.replace.pplod drc0, sh0, r0, sh4, _, r10, 1
  1 : wdf drc0
  2 : mov ft0, r3
      mov idx0[idx0], ft0
  3 : mov ft0, dc1[idx0]
      mov r11, ft0
  4 : nop.end
registers:
  - { register: r2, f32: [0.0, 1.0, 7.0], each: true }
  - { register: r3, words: [0, 1, 2], each: true }
  - { register: dc1, words: [70, 80, 90] }
textures:
  - { size: [2, 2], levels: true, f32: [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 6, 0, 0, 0] }
outputs:
  - print: { register: r10, as: f32 }
  - print: { register: r11, as: u32 }
");
    assert_eq!(run.status, Some(0), "{}", run.err);
    assert!(run.out.contains("1  3  3") && run.out.contains("70  80  90"), "{}", run.out);
}

#[test]
fn mistakes_have_their_place_and_failures_their_group() {
    let launch = |rest: &str| format!("isa: usc\nprogram: |\n  0 : nop.end\n{rest}");
    for (rest, message) in [
        ("registers: [{ register: c1, words: [1] }]\n", "is fixed and cannot be set"),
        ("registers: [{ register: q1, words: [1] }]\n", "`q1` is not a register"),
        ("registers: [{ register: r247, words: [1, 2] }]\n", "lies beyond the last register"),
        ("rectangle: [0, 0, 0, 1]\n", "`rectangle` covers"),
        ("instances: 100000\n", "`instances` is 1 to"),
        ("outputs: [{ png: { file: a.png } }]\n", "a picture needs a `rectangle`"),
        ("outputs: [{ print: { address: 5 } }]\n", "no 4 bytes of memory at 0x5"),
        ("outputs: [{ print: { as: hex } }]\n", "needs one of `register`, `vertex` and `address`"),
        ("textures: [{ size: [2, 2], f32: [1.0] }]\n", "have four numbers each"),
    ] {
        let (_folder, run) = run(&launch(rest));
        assert_eq!(run.status, Some(1), "{rest}{}", run.err);
        assert!(run.err.contains(message) && run.err.contains("launch.yaml:4"), "{rest}{}", run.err);
    }
    let (_folder, run) = run("isa: usc\nprogram: |\n  0 : br 0\nbudget: 100\n");
    assert_eq!(run.status, Some(1));
    assert!(run.err.contains("group 0x0 `br 0"), "{}", run.err);
    assert!(run.err.contains("the budget of 100 groups is used up"), "{}", run.err);
}

/// Runs and observes a program for nine pixels: a block with eight of them and one with the last.
fn watch(arguments: &[&str]) -> (tempfile::TempDir, Run) {
    let folder = tempfile::tempdir().expect("a folder");
    let launch = "
isa: usc
rectangle: [0, 0, 9, 1]
program: |
  0 : mov ft0, sr97
      mov r2, ft0
  1 : smadd32 ft0, r2, c2, c3, _
      tstg.s32 ftt, p0, ft0, c5
      mov r1, ft0
  2 : if(p0)
      st r1@S3, 1, drc0, 2, r4@S4
  3 : ld r7, drc0, 1, r4
  4 : nop.end
registers:
  - { register: r4, words: [0x2000, 0] }
memory:
  - { address: 0x2000, size: 128 }
outputs:
  - raw: { address: 0x2000, size: 128, file: out.bin }
";
    fs::write(folder.path().join("launch.yaml"), launch).expect("it is written");
    let run = run_with(folder.path(), &[&["launch.yaml"], arguments].concat());
    (folder, run)
}

#[test]
fn a_trace_has_each_group_with_its_instances_and_what_it_changed() {
    let (folder, run) = watch(&["--trace", "--quiet"]);
    assert_eq!((run.status, run.err.as_str()), (Some(0), ""));
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines.len(), 10, "{}", run.out);
    // A row of quads of which only the upper pixels lie in the rectangle.
    let block = "++xx++xx++xx++xxxxxxxxxxxxxxxxxx";
    let changed = "r2=1:00000001 4:00000002 5:00000003 8:00000004 9:00000005 12:00000006 13:00000007";
    assert_eq!(lines[0], format!("task 0 0x0000 {block} mbyp ft0, sr97 | mov r2, ft0  | {changed}"));
    assert!(lines[1].ends_with("; p=1"), "{}", lines[1]);
    let some = block.replacen("++", "..", 1);
    assert!(
        lines[2].starts_with(&format!("task 0 0x0016 {some} if(p0) | st r1@S3, 1, drc0, 2, r4@S4")),
        "{}",
        lines[2]
    );
    // The last instance stored last: 17, and the value after r1.
    assert!(lines[3].ends_with("ld r7, drc0, 1, r4  | r7=00070011"), "{}", lines[3]);
    let second = "+xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    assert_eq!(lines[5], format!("task 1 0x0000 {second} mbyp ft0, sr97 | mov r2, ft0  | r2=0:00000008"));
    assert!(lines[9].starts_with("task 1 0x0028") && lines[9].contains("nop.end"), "{}", lines[9]);
    assert!(folder.path().join("out.bin").exists());
}

#[test]
fn a_break_prints_registers_and_the_program_goes_on() {
    let (folder, run) = watch(&["--break", "0x16"]);
    assert_eq!((run.status, run.err.contains("ran")), (Some(0), true), "{}", run.err);
    assert!(
        run.out.starts_with("0x16  task 0  ..xx++xx++xx++xxxxxxxxxxxxxxxxxx  if(p0) | st r1@S3, 1, drc0, 2, r4@S4\n"),
        "{}",
        run.out
    );
    let r1 = "*r1     = 0:00000003 1:00000005 4:00000007 5:00000009 8:0000000b 9:0000000d 12:0000000f 13:00000011\n";
    assert!(run.out.contains(r1), "{}", run.out);
    assert!(folder.path().join("out.bin").exists());
    let (_, run) = watch(&["--break", "0x15"]);
    assert!(run.status == Some(2) && run.err.contains("no instruction starts at 0x15"), "{}", run.err);
    let (_, run) = watch(&["--break", "0xg"]);
    assert_eq!(run.status, Some(2));
}

#[test]
fn a_profile_counts_operations_instances_and_bytes() {
    let (folder, run) = watch(&["--profile", "--profile-svg", "bars.svg", "--fidelity"]);
    assert_eq!(run.status, Some(0), "{}", run.err);
    let table: Vec<Vec<&str>> = run.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(table[0][..6], ["share", "by", "instances", "by", "tasks", "lanes"]);
    let row = |name: &str| {
        table.iter().find(|row| row.last() == Some(&name)).unwrap_or_else(|| panic!("{name}: {}", run.out))
    };
    assert_eq!(row("SMADD32")[2..], ["9", "2", "4.50", "-", "-", "SMADD32"]);
    assert_eq!(row("ST")[2..], ["7", "2", "3.50", "-", "28", "ST"]);
    assert_eq!(row("LD")[2..], ["9", "2", "4.50", "36", "-", "LD"]);
    // Groups by instances: those of the block with one pixel, one executed by six of the other's, those executed by all
    // eight.
    assert!(run.out.contains("by tasks    share\n      1             5   50.0 %"), "{}", run.out);
    assert!(run.out.contains("choice") && run.out.contains("SMADD32(9)"), "{}", run.out);
    let svg = fs::read_to_string(folder.path().join("bars.svg")).expect("it is written");
    for text in [">SMADD32<", "operations by instances<", ">10 groups by tasks, by lanes in use<", "36 bytes<"] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
}
