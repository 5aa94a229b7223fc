use super::*;

/// Writes a launch file into a folder of its own and runs it.
fn launch(content: &str) -> (tempfile::TempDir, Run) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("launch.yaml"), content).expect("the file is written");
    let run = isaforge_in(folder.path(), &["run", "launch.yaml"], b"");
    (folder, run)
}

/// Makes one change to the launch file of the test data that makes it invalid.
#[track_caller]
fn refused(from: &str, to: &str) -> String {
    let good = text_of("launch.yaml");
    assert!(good.contains(from), "nothing is changed by {from}");
    let (_, run) = launch(&good.replacen(from, to, 1));
    let run = run.expect(1);
    assert!(run.out.is_empty());
    assert!(run.err.contains("launch.yaml: failed: "), "{}", run.err);
    run.err
}

#[test]
fn a_launch_runs_prints_and_writes() {
    let (folder, run) = launch(&text_of("launch.yaml"));
    let run = run.expect(0);
    let expected =
        "numbers as u32:\n       0:  42  43  44  45  46  47  48  49\nnumbers as hex:\n       6:  00000030  00000031\n";
    assert_eq!(run.out(), expected);
    assert!(run.err.contains("ran: 8 threads in 2 workgroups, 40 instructions in "), "{}", run.err);
    let raw = fs::read(folder.path().join("numbers.bin")).expect("it is written");
    assert_eq!(raw, (42u32..50).flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
    let png = fs::read(folder.path().join("numbers.png")).expect("it is written");
    assert!(png.starts_with(b"\x89PNG"));
}

#[test]
fn a_program_can_come_from_a_file_of_any_kind() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = text_of("launch.yaml");
    let (head, rest) = good.split_once("program: |\n").expect("the program is inline");
    let (program, tail) = rest.split_once("groups:").expect("the groups follow");
    let write = |name: &str, content: &[u8]| fs::write(folder.path().join(name), content).expect("it is written");
    write("p.s", program.as_bytes());
    for (name, form) in [("p.hex", "hex"), ("p.bin", "bin")] {
        isaforge_in(folder.path(), &["asm", "valhall", "p.s", "--out", form, "-o", name], b"").expect(0);
    }
    for name in ["p.s", "p.hex", "p.bin"] {
        write("launch.yaml", format!("{head}program: {{ file: {name} }}\ngroups:{tail}").as_bytes());
        let run = isaforge_in(folder.path(), &["run", "launch.yaml", "--quiet"], b"").expect(0);
        assert!(run.out().contains("42  43  44  45"), "{name}");
        assert_eq!(run.err, "");
    }
}

#[test]
fn buffers_take_numbers_floats_and_files() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("some.bin"), [1, 0, 0, 0, 2, 0, 0, 0]).expect("it is written");
    let content = "isa: valhall\nprogram: NOP.end\nbuffers:\n  \
        a: { words: [1, -1, 0xffffffff], address: 0x200000 }\n  b: { f32: [1.5, 2, -0.25] }\n  \
        c: { file: some.bin, size: 12 }\noutputs:\n  - print: { buffer: a, as: i32 }\n  \
        - print: { buffer: b, as: f32 }\n  - print: { buffer: c, as: u32 }\n";
    fs::write(folder.path().join("launch.yaml"), content).expect("it is written");
    let run = isaforge_in(folder.path(), &["run", "launch.yaml"], b"").expect(0);
    let numbers: Vec<Vec<&str>> = run.out().lines().map(|line| line.split_whitespace().skip(1).collect()).collect();
    assert_eq!(numbers[1], ["1", "-1", "-1"]);
    assert_eq!(numbers[3], ["1.5", "2", "-0.25"]);
    assert_eq!(numbers[5], ["1", "2", "0"]);
}

#[test]
fn mistakes_of_the_inline_program_point_into_the_launch_file() {
    let err = refused("IADD_IMM.i32 r0, r60, #0x2a", "IADD_IMM.i32 r0, r60, 0x2a");
    assert!(err.contains("launch.yaml:8:25"), "{err}");
    assert!(err.contains("  IADD_IMM.i32 r0, r60, 0x2a"), "{err}");
}

#[test]
fn mistakes_of_a_launch_file_are_located_and_explained() {
    for (from, to, place, message) in [
        ("isa: valhall", "isa: valhal", "launch.yaml:2:6", "did you mean `valhall`?"),
        // It has the keys of `--spec`.
        ("isa: valhall", "isa: valhall-2021", "launch.yaml:10:1", "unknown key `groups`"),
        ("groups: 2", "groups: [1, 2, 3, 4]", "launch.yaml:10:9", "one to three numbers"),
        ("groups: 2", "groups: 0", "launch.yaml:10:9", "zero in some direction"),
        ("groups: 2", "group: 2", "launch.yaml:10:1", "unknown key `group`"),
        ("local size: [4]", "local size: four", "launch.yaml:11:13", "expected a whole number"),
        ("{ address: numbers }", "{ address: number }", "launch.yaml:13:16", "did you mean `numbers`?"),
        ("size: 32", "size: 32, words: [1], f32: [1.0]", "launch.yaml:15:3", "its contents are given more than once"),
        ("size: 32", "address: 4096", "launch.yaml:15:3", "its contents are not given"),
        ("size: 32", "size: 4, words: [1, 2]", "launch.yaml:15:20", "8 bytes long, more than its size"),
        ("size: 32", "size: 99999999999999", "launch.yaml:15:20", "at most"),
        ("size: 32", "file: none.bin", "launch.yaml:15:20", "cannot be read"),
        ("count: 2", "count: 3", "launch.yaml:18:56", "only 8 words"),
        ("width: 4", "width: 5", "launch.yaml:20:55", "needs 40 bytes"),
        ("width: 4", "width: 0", "launch.yaml:20:", "1 to"),
        ("format: grey", "format: gray", "launch.yaml:20:", "did you mean `grey`?"),
        ("- raw: {", "- raw: { color: 1,", "launch.yaml:19:", "unknown key `color`"),
        ("  - raw:", "    raw:", "launch.yaml:18:", "exactly one action is needed, found 2"),
    ] {
        let err = refused(from, to);
        assert!(err.contains(place) && err.contains(message), "{to}: {place}: {message}:\n{err}");
    }
}

#[test]
fn overlapping_buffers_are_refused_and_free_addresses_avoid_given_ones() {
    let err = refused("size: 32 }", "size: 32, address: 0x1000 }\n  other: { size: 32, address: 0x101f }");
    assert!(err.contains("two buffers overlap"), "{err}");
    let good = text_of("launch.yaml");
    let (_, run) = launch(&good.replace("size: 32 }", "size: 32 }\n  other: { size: 8192, address: 0xff000 }"));
    assert!(run.expect(0).out().contains("42  43"));
}

#[test]
fn a_program_that_fails_is_named_with_its_place_and_writes_nothing() {
    let good = text_of("launch.yaml");
    let (folder, run) = launch(&good.replace("{ address: numbers }", "0"));
    let run = run.expect(1);
    assert!(run.err.contains("the program failed: "), "{}", run.err);
    assert!(run.out.is_empty() && !folder.path().join("numbers.bin").exists());
    let (_, run) = launch(&format!("{good}budget: 7\n"));
    assert!(run.expect(1).err.contains("budget of 7"));
}

#[test]
fn a_launch_file_that_is_not_there_is_a_misuse() {
    isaforge(&["run", "no-such-file.yaml"]).expect(2);
    let (_, run) = launch("");
    run.expect(1);
    let (_, run) = launch("isa: [");
    run.expect(1);
}

#[test]
fn the_demo_tells_what_it_does_and_draws_a_picture() {
    let folder = tempfile::tempdir().expect("a folder");
    let picture = folder.path().join("mandelbrot.png");
    let run = isaforge(&["demo", "--size", "33", "-o", picture.to_str().expect("a path")]).expect(0);
    for part in [
        "1. Compiled ",
        "0 errors",
        "2. Disassembled mandelbrot.comp",
        "assembles to the same words",
        "3. Ran it: ",
        "mandelbrot.png, 33 x 33 pixels.",
    ] {
        assert!(run.out().contains(part), "{part} is missing in\n{}", run.out());
    }
    // Without specifications in the current folder, those of the build folder are not used.
    let run = isaforge_in(folder.path(), &["demo", "--size", "8", "-o", "small.png"], b"").expect(0);
    assert!(run.out().contains("1. There is no folder `specs/valhall` here"), "{}", run.out());
    let file = fs::File::open(&picture).expect("the picture is written");
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("it is a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("it is small")];
    reader.next_frame(&mut pixels).expect("it is whole");
    // The inside of the set is black, the outside blue.
    let pixel = |x: usize, y: usize| &pixels[3 * (33 * y + x)..][..3];
    assert_eq!(pixel(20, 16), [0, 0, 0]);
    assert!(pixel(0, 0)[2] > 40, "{:?}", pixel(0, 0));
}

#[test]
fn the_wrong_files_of_a_page_have_its_code_and_the_right_ones_run() {
    for page in isaforge_cli::run::pages::all() {
        for (files, wrong) in [(&page.wrong, true), (&page.right, false)] {
            let folder = tempfile::tempdir().expect("a folder");
            for file in files {
                fs::write(folder.path().join(file.name), file.text).expect("it is written");
            }
            let run = isaforge_in(folder.path(), &["run", "launch.yaml"], b"").expect(i32::from(wrong));
            assert_eq!(run.err.contains(&format!("error[{}]", page.code)), wrong, "{}: {}", page.code, run.err);
        }
    }
}

/// A row of four threads fetches texels of a texture, adds the texel of an image and stores the sum in another.
#[test]
fn a_program_of_workgroups_reads_textures_and_stores_in_images() {
    let program = "  IADD_IMM.i32 r20, 0x0, #0x20001800
  MOV.i32 r0, r60
  TEX_FETCH.slot0.u.32.1d.wait0 @r4:r5:r6:r7, @r0, r20
  LD_TEX_IMM.v4.u32.slot0.wait0 @r8:r9:r10:r11, r60, 0x0, index:0x1, table:0x5
  IADD.u32 r4, r4, r8
  LD_BUFFER.i32.unsigned.slot0.wait0 @r9, 0x0, 0x0
  IADD.u32 r4, r4, r9
  LEA_TEX_IMM.slot0.wait0 @r0:r1:r2, r60, 0x0, table:0x5, index:0x0
  ST_CVT.v4.u32.slot0.end @r4:r5:r6:r7, r0, r2, offset:0x0";
    let launch = |images: &str| {
        format!(
            "isa: valhall
program: |
{program}
local size: 4
buffers: {{ sums: {{ size: 8 }}, more: {{ words: [0x04030201] }}, tens: {{ words: [100] }} }}
textures: [{{ words: [10, 20, 30, 40], size: [4], shape: 1d, format: R32UI }}]
images: [{images}]
uniform buffers: [tens]
outputs: [{{ print: {{ buffer: sums, as: hex }} }}]
"
        )
    };
    let folder = tempfile::tempdir().expect("a folder");
    let run = |images: &str| {
        fs::write(folder.path().join("launch.yaml"), launch(images)).expect("it is written");
        isaforge_in(folder.path(), &["run", "launch.yaml"], b"")
    };
    let more = "{ buffer: more, size: [4, 1], format: R8UI }";
    // 111, 122, 133 and 144, 16 bits each.
    let run_fine = run(&format!("{{ buffer: sums, size: [4], format: R16UI }}, {more}")).expect(0);
    assert!(run_fine.out().contains("007a006f") && run_fine.out().contains("00900085"), "{}", run_fine.out());
    for (images, message) in [
        ("{ buffer: sums, size: [5], format: R16UI }", "the image needs 10 bytes, the buffer has 8"),
        ("{ buffer: sums, size: [], format: R16UI }", "one to three numbers, not 0"),
        ("{ buffer: sum, size: [4], format: R16UI }", "did you mean `sums`?"),
        ("{ buffer: sums, size: [4], format: R17 }", "`R17` is not a format"),
        ("{ buffer: sums, size: [4294967295, 4294967295, 4294967295] }", "the image needs 18446744073709551615 bytes"),
    ] {
        let run = run(images).expect(1);
        assert!(run.err.contains(message), "{images}: {}", run.err);
    }
    // The second image is missing.
    let run = run("{ buffer: sums, size: [4], format: R16UI }").expect(1);
    assert!(run.err.contains("there is no image 1 in table 5"), "{}", run.err);
}

#[test]
fn any_launch_file_is_read_or_has_mistakes_with_places() {
    let mut random = isaforge_core::sample::Random(seed::seed(12));
    for text in launches::LAUNCHES {
        launches::launch(text.as_bytes());
        for _ in 0..200 * seed::rounds() {
            launches::launch(&change::changed(text.as_bytes(), &mut random));
        }
    }
}

/// A program in a folder of its own.
fn program(name: &str, text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, text).expect("it is written");
    (folder, path)
}

#[test]
fn a_program_gets_a_launch_file_that_runs() {
    for (name, text, isa) in [
        ("a.s", "IADD_IMM.i32 r1, r1, #0x1\nNOP.end\n", "valhall"),
        ("a.vpu", "LoadPosition.zero r0.x___\nExit\n", "vpu"),
        ("a.usc", "0 : mbyp ft0, sr51\n    mov r1, ft0\n1 : nop.end\n", "usc"),
    ] {
        let (_folder, path) = program(name, text);
        let path = path.to_str().expect("a path");
        let run = isaforge(&["run", path]).expect(2);
        assert!(run.err.contains("is a program") && run.err.contains("run --init"), "{}", run.err);
        isaforge(&["run", "--init", path]).expect(0);
        let launch = Path::new(path).with_extension("yaml");
        let written = fs::read_to_string(&launch).expect("it is written");
        assert!(written.starts_with(&format!("isa: {isa}\n")) && written.contains("# outputs:"), "{written}");
        assert!(written.lines().all(|line| line.chars().count() <= 100), "{written}");
        isaforge(&["run", launch.to_str().expect("a path")]).expect(0);
        // An existing file is not overwritten.
        assert!(isaforge(&["run", "--init", path]).expect(2).err.contains("exists already"));
    }
    let (_folder, path) = program("a.s", "no instruction\n");
    let run = isaforge(&["run", "--init", path.to_str().expect("a path")]).expect(2);
    assert!(run.err.contains("not assembly of a built-in set"), "{}", run.err);
    let (_folder, path) = program("a.s", "MOV.i32 r0, r1\nNO r2\nNOP.end\n");
    let run = isaforge(&["run", "--init", path.to_str().expect("a path")]).expect(2);
    assert!(run.err.contains("it could be one of valhall, but for line 2: "), "{}", run.err);
}

/// A set with an array of states.
pub(crate) const STACK: &str = "isa: stack\ndoc: Pushes numbers.\nword: 8\nprovenance: document\nbanks: { r: { count: 2, width: 8, prints: \"r{n}\" } }\n\
                semantics:\n  pc: u32\n  states: { top: { type: u8 }, stack: { type: u16, count: 4 } }\n\
                instructions:\n  push:\n    doc: Pushes.\n    fixed: { 7..4: 1 }\n    operands: { n: { immediate: decimal, bits: 3..0 } }\n\
                \x20   does: stack[top] = trunc(u16, n); top = top + 1\n";

#[test]
fn states_of_ones_own_set_are_set_and_shown_by_name() {
    let (folder, spec) = program("isa.yaml", STACK);
    let run = |launch: &str| {
        let path = folder.path().join("launch.yaml");
        fs::write(&path, format!("program: |\n  push #5\n  push #6\n{launch}")).expect("it is written");
        isaforge(&["run", "--quiet", "--spec", spec.to_str().expect("a path"), path.to_str().expect("a path")])
    };
    let found = run(
        "registers: { top: 1, 'stack[3]': 0x1234, r1: 9 }\nshow: [top, 'stack[0]', 'stack[1]', 'stack[2]', 'stack[3]', r1]\n",
    );
    let expected = "top = 03\nstack[0] = 0000\nstack[1] = 0005\nstack[2] = 0006\nstack[3] = 1234\nr1 = 09\n";
    assert_eq!(found.expect(0).out(), expected);
    let found = run("registers: { 'stack[3]': 0x1234 }\nshow: [stack, top]\n").expect(0);
    let expected = "stack[0] = 0005\nstack[1] = 0006\nstack[2] = 0000\nstack[3] = 1234\ntop = 02\n";
    assert_eq!(found.out(), expected);
    let found = run("registers: { stack: 1 }\n").expect(1);
    assert!(found.err.contains("name one of `stack[0]` to `stack[3]`"), "{}", found.err);
    for wrong in ["stack[4]", "stack[+1]", "stack[]", "top[0]", "to", "tops"] {
        let found = run(&format!("show: ['{wrong}']\n")).expect(1);
        assert!(found.err.contains(&format!("there is no register or state `{wrong}`")), "{}", found.err);
    }
}

#[test]
fn a_program_of_ones_own_set_gets_a_launch_file_too() {
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    let (_folder, path) = program("a.s", "li a0, 7\nadd a1, a0, a0\n");
    let path = path.to_str().expect("a path");
    let run = isaforge(&["run", "--spec", spec, path]).expect(2);
    assert!(run.err.contains("is a program") && run.err.contains("--spec SPEC --init"), "{}", run.err);
    let run = isaforge(&["run", "--spec", spec, "--init", path]).expect(0);
    assert!(run.err.contains(&format!("then `isaforge run --spec {spec} ")), "{}", run.err);
    let launch = Path::new(path).with_extension("yaml");
    let written = fs::read_to_string(&launch).expect("it is written");
    fs::write(&launch, written + "show: [a1]\n").expect("it is written");
    let run = isaforge(&["run", "--spec", spec, launch.to_str().expect("a path")]).expect(0);
    assert!(run.out().starts_with("a1 = 0000000e"), "{}", run.out());
    // Errors have locations; an ELF file needs no launch file.
    let (_folder, wrong) = program("b.s", "add a1, a0\n");
    assert!(
        isaforge(&["run", "--spec", spec, "--init", wrong.to_str().expect("a path")]).expect(1).err.contains("b.s:1")
    );
    let elf = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv/programs/sieve.elf");
    assert!(
        isaforge(&["run", "--spec", spec, "--init", elf]).expect(2).err.contains("is an ELF file, which runs as it is")
    );
    let run = isaforge(&["run", elf]).expect(2);
    assert!(run.err.contains("is an ELF file") && run.err.contains("`isaforge run --spec SPEC "), "{}", run.err);
    // The launch file of a built-in set is not one of a specification.
    let (_folder, launch) = program("launch.yaml", "isa: valhall\nprogram: NOP.end\ngroups: 3\n");
    let run = isaforge(&["run", "--spec", spec, launch.to_str().expect("a path")]).expect(1);
    assert!(run.err.contains("with `--spec` the launch file names no instruction set"), "{}", run.err);
}

#[test]
fn a_trace_that_filters_leave_empty_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("launch.yaml"), text_of("loop.yaml")).expect("the file is written");
    let traced = |arguments: &[&str]| {
        isaforge_in(folder.path(), &[&["run", "launch.yaml", "--quiet", "--trace"], arguments].concat(), b"").expect(0)
    };
    let run = traced(&["--thread", "1", "--register", "r9"]);
    assert_eq!(run.out(), "");
    assert_eq!(run.err, "no instruction of the program matches --thread 1 --register r9\n");
    let run = traced(&["--thread", "1"]);
    assert!(!run.out().is_empty() && run.err.is_empty(), "{}", run.err);
}
