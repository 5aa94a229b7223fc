use super::*;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");

fn debug(arguments: &[&str], commands: &str) -> Run {
    isaforge_in(Path::new("."), &[&["debug", "--commands", "-"], arguments].concat(), commands.as_bytes())
}

#[test]
fn programs_of_every_set_are_debugged_by_a_script() {
    let launch = |path: &str| format!("{EXAMPLES}/{path}");
    for (arguments, commands, expected) in [
        (vec![launch("valhall/tiles.yaml")], "step\nback\nlanes\n", "pixel (0,0)"),
        (vec![launch("usc/julia.yaml")], "break step\nc\nback\nstep\nregisters r as f32\n", "breakpoint 1\n"),
        (vec![launch("vpu/triangle.yaml")], "step 3\nregisters as f16\nlanes\n", "core 0 group 0 at (0,0)"),
        (
            vec!["--spec".to_owned(), launch("riscv"), launch("riscv/programs/sieve.elf")],
            "step 5\nback 2\nregisters\ncontinue\nreverse\n",
            "the program has ended",
        ),
    ] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let run = debug(&arguments, commands).expect(0);
        assert!(run.out().contains(expected), "{arguments:?}: {expected} in\n{}", run.out());
    }
}

#[test]
fn lanes_of_a_set_of_ones_own_part_and_conditions_see_each() {
    let folder = tempfile::tempdir().expect("a folder");
    let readme = fs::read_to_string(format!("{EXAMPLES}/lanes/README.md")).expect("it is there");
    let (_, launch) = readme.split_once("```yaml power.yaml\n").expect("it has an example");
    let path = folder.path().join("power.yaml");
    fs::write(&path, launch.split("```").next().expect("it ends")).expect("it is written");
    let (spec, path) = (format!("{EXAMPLES}/lanes"), path.display().to_string());
    let commands = "break work if r2 == 3 in any lane\nc\nwhere\nprint r1 lane 5 as u32\nto done\nwhere\n";
    let run = debug(&["--spec", &spec, &path], commands).expect(0);
    assert!(run.out().contains("...+++"), "{}", run.out());
    assert!(run.out().contains("r1     = 27"), "{}", run.out());
}

#[test]
fn mistakes_have_the_line_and_the_status() {
    let launch = format!("{EXAMPLES}/valhall/tiles.yaml");
    let run = debug(&[&launch], "where\nprint r99\n").expect(1);
    assert!(run.err.contains("<stdin>:2:") && run.err.contains("there is no register `r99`"), "{}", run.err);
    debug(&["no-such-launch.yaml"], "").expect(2);
    isaforge_in(Path::new("."), &["debug", &launch], b"").expect(2);
    isaforge_in(Path::new("."), &["debug"], b"").expect(2);
}

/// The answers to commands for a program of the example `riscv`.
fn riscv(program: &str, commands: &str) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("launch.yaml");
    fs::write(&path, program).expect("it is written");
    debug(&["--spec", &format!("{EXAMPLES}/riscv"), &path.display().to_string()], commands)
}

#[test]
fn stepping_over_a_call_in_a_recursion_stays_at_its_own_depth() {
    let commands = "to 0x24\nregisters as u32\nnext\nregisters as u32\nout\nprint x10 as u32\nout\n";
    let run = riscv(editor::FACTORIAL, commands).expect(1);
    let (before, after) = run.out().split_once("0x28").expect("it stops after the call");
    assert!(before.contains("sp     = 1016") && before.contains("a0     = 3"), "{before}");
    assert!(after.contains("sp     = 1016") && after.contains("a0     = 6"), "{after}");
    assert!(after.contains("0xc") && after.contains("a0     = 24"), "{after}");
    assert!(run.err.contains("no call has led here"), "{}", run.err);
}

#[test]
fn conditions_find_floats_as_they_are_shown_and_states_by_name() {
    let launch =
        "program: |\n  addi x5, x0, 1\n  addi x5, x0, 2\n  addi x5, x0, 3\nregisters: { x7: 0x3dcccccd, x2: 1 }\n";
    let run = riscv(launch, "print x7 as f32\nbreak 4 if x7 == 0.1\nbreak 8 if sp == 1\nc\nc\n").expect(0);
    assert!(run.out().contains("= 0.1\n"), "{}", run.out());
    assert!(run.out().contains("breakpoint 1\n0x4") && run.out().contains("breakpoint 2\n0x8"), "{}", run.out());
}

#[test]
fn memory_is_watched_only_where_it_is_mapped() {
    let run = riscv(editor::FACTORIAL, "watch 0x3f8 16\nwatch 0x3f8 8\nwatch 0x1000\n").expect(1);
    let expected = "only 8 of the 16 bytes at 0x3f8 are mapped; `watch 0x3f8 8` watches them";
    assert!(run.err.contains(expected) && run.err.contains("nothing is mapped at 0x1000"), "{}", run.err);
    assert!(run.out().contains("watchpoint 1 on 8 bytes at 0x3f8"), "{}", run.out());
}

#[test]
fn an_editor_starts_a_program_that_its_launch_request_names() {
    let message = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
    let launch = format!("{EXAMPLES}/valhall/tiles.yaml");
    let requests = [
        r#"{"seq":1,"type":"request","command":"initialize","arguments":{}}"#.to_owned(),
        format!(r#"{{"seq":2,"type":"request","command":"launch","arguments":{{"program":"{launch}"}}}}"#),
        r#"{"seq":3,"type":"request","command":"configurationDone"}"#.to_owned(),
        r#"{"seq":4,"type":"request","command":"stackTrace","arguments":{"threadId":1}}"#.to_owned(),
        r#"{"seq":5,"type":"request","command":"disconnect"}"#.to_owned(),
    ];
    let input: String = requests.iter().map(|text| message(text)).collect();
    let run = isaforge_in(Path::new("."), &["debug", "--dap"], input.as_bytes()).expect(0);
    for expected in [r#""event":"initialized""#, r#""reason":"entry""#, "tiles.s"] {
        assert!(run.out().contains(expected), "{expected} in\n{}", run.out());
    }
}

#[test]
fn races_of_a_set_of_ones_own_are_named_and_clean_programs_have_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |program: &str| {
        let launch = format!(
            "program: |\n{program}\nregisters: {{ r6: 4096 }}\nbuffers: {{ sums: {{ address: 4096, size: 128 }} }}\n"
        );
        fs::write(folder.path().join("launch.yaml"), launch).expect("it is written");
        let spec = format!("{EXAMPLES}/lanes");
        isaforge_in(folder.path(), &["run", "--races", "--spec", &spec, "launch.yaml"], b"")
    };
    let clean = run("  lane r0\n  shl r5, r0, #2\n  add r5, r5, r6\n  store [r5], r0\n  end").expect(0);
    assert!(clean.err.contains("no races"), "{}", clean.err);
    let racy = run("  lane r0\n  store [r6], r0\n  end").expect(1);
    let expected =
        "race at 0x1000: lane (0,0,0) stores at 0x4 `store [r6], r0`, lane (1,0,0) stores at 0x4 `store [r6], r0`";
    assert!(racy.out().contains(expected), "{}", racy.out());
}

#[test]
fn races_of_valhall_are_named_with_both_places() {
    let (folder, launch) = (
        tempfile::tempdir().expect("a folder"),
        "isa: valhall\nlocal size: [32]\nprogram: |\n  MOV.i32 r4, r60\n  STORE.i32.slot0.end @r4, u0, offset:0\nuniforms: [{ address: word }]\nbuffers: { word: { size: 4 } }\n",
    );
    fs::write(folder.path().join("launch.yaml"), launch).expect("it is written");
    let run = |engine: &[&str]| isaforge_in(folder.path(), &[&["run", "--races", "launch.yaml"], engine].concat(), b"");
    let found = run(&[]).expect(1);
    assert!(found.out().contains("stores at 1 `STORE.i32.slot0.end @r4, u0, offset:0`"), "{}", found.out());
    for engine in [&["--engine", "reference"][..], &["--engine", "handlers"], &["--level", "portable"]] {
        assert!(run(engine).expect(1).out().contains("stores at 1 `STORE.i32.slot0.end @r4"), "{engine:?}");
    }
    // Accesses are observed on every engine, so that their JSON is, too.
    run(&["--engine", "handlers", "--json"]).expect(1);
    let none = run(&["--engine", "compiled", "--level", "portable"]).expect(2);
    assert!(none.err.contains("no machine code is made for level `portable`"), "{}", none.err);
}

#[test]
fn mutexes_of_the_usc_order_accesses_of_tasks() {
    let folder = tempfile::tempdir().expect("a folder");
    // An instance of each task loads and stores the same word.
    let addresses: Vec<String> = (0..64).map(|instance| (0x2000 + instance % 32 * 4).to_string()).collect();
    let run = |lock: &str, release: &str| {
        let launch = format!(
            "isa: usc\ninstances: 64\nprogram: |\n{lock}  1 : ld r7, drc0, 1, r4\n  2 : wdf drc0\n  3 : st r7@S3, 1, drc0, 1, r4@S4\n\
             {release}  5 : nop.end\nregisters: [{{ register: r4, words: [{}], each: true }}]\n\
             memory: [{{ address: 0x2000, size: 128 }}]\n",
            addresses.join(", ")
        );
        fs::write(folder.path().join("launch.yaml"), launch).expect("it is written");
        isaforge_in(folder.path(), &["run", "--races", "launch.yaml"], b"")
    };
    let clean = run("  0 : mutex.lock 3\n", "  4 : mutex.release 3\n").expect(0);
    assert!(clean.err.contains("no races"), "{}{}", clean.out(), clean.err);
    let racy = run("", "").expect(1);
    assert!(racy.out().contains("instance (0,0,0) stores") && racy.out().contains("(32,0,0)"), "{}", racy.out());
}

#[test]
fn races_of_the_vpu_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |access: &str| {
        let launch = format!(
            "isa: vpu\nrectangle: [0, 0, 8, 2]\nprogram: |\n  {access}\n  Exit\n\
             globals: [[0], [0x1]]\nmemory: {{ size: 64 }}\n"
        );
        fs::write(folder.path().join("launch.yaml"), launch).expect("it is written");
        isaforge_in(folder.path(), &["run", "--races", "launch.yaml"], b"")
    };
    let clean = run("IssueExternalFetchAdd32 r2.xyxy, g1.xyzw\n  FinishExternalLoad r3.xyzw").expect(0);
    assert!(clean.err.contains("no races"), "{}{}", clean.out(), clean.err);
    let racy = run("ExternalWrite g1.xyzw, r2.xyzw").expect(1);
    assert!(racy.out().contains("race at 0x0: thread (0,0,0) stores at 0 "), "{}", racy.out());
}

#[test]
fn the_name_of_an_array_of_states_stands_for_its_elements() {
    let folder = tempfile::tempdir().expect("a folder");
    let [spec, path] = ["isa.yaml", "launch.yaml"].map(|name| folder.path().join(name));
    fs::write(&spec, launch::STACK).expect("it is written");
    fs::write(&path, "program: |\n  push #5\n  push #6\n").expect("it is written");
    let [spec, path] = [&spec, &path].map(|path| path.to_str().expect("a path"));
    let commands = "step\nprint stack as u32\nprint stack[0]\nwatch stack\nbreak if stack == 5\n";
    let run = debug(&["--spec", spec, path], commands).expect(1);
    let shown = "*stack[0] = 5\n stack[1] = 0\n stack[2] = 0\n stack[3] = 0\n*stack[0] = 0005\n";
    assert!(run.out().ends_with(shown), "{}", run.out());
    let offer = "`stack` is an array of 4 elements; name one of `stack[0]` to `stack[3]`";
    assert_eq!(run.err.matches(offer).count(), 2, "{}", run.err);
    let trace = isaforge(&["run", "--spec", spec, path, "--trace", "--register", "stack"]).expect(0);
    let changes: Vec<&str> = trace.out().lines().filter_map(|line| line.split_once("| ")).map(|(_, to)| to).collect();
    assert_eq!(changes, ["stack[0]=0005", "stack[1]=0006"]);
}
