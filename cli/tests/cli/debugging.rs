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

/// A launch file with a program of Valhall.
fn valhall(launch: &str, arguments: &[&str], commands: &str) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("launch.yaml");
    fs::write(&path, format!("isa: valhall\n{launch}")).expect("it is written");
    debug(&[arguments, &[&path.display().to_string()]].concat(), commands)
}

/// Four warps count from five to zero.
const WARPS: &str = "\
program: |
  MOV.i32 r0, u0
  loop: IADD_IMM.i32 r0, r0, #0xffffffff
  MOV.i32 r1, r0
  BRANCHZ.reconverge r0, loop
  STORE.i32.slot0.end @r0, u2, offset:0
groups: 2
local size: 32
uniforms: [5, 0, { address: out }]
buffers: { out: { size: 256, address: 0x100000 } }
";

#[test]
fn steps_back_undo_steps_over_the_ends_of_warps_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("launch.yaml");
    fs::write(&path, format!("isa: valhall\n{WARPS}")).expect("it is written");
    let launch = |path: &str| format!("{EXAMPLES}/{path}");
    let mut random = isaforge_core::sample::Random(seed::seed(19));
    for arguments in [
        vec![path.display().to_string()],
        vec![launch("valhall/tiles.yaml")],
        vec![launch("usc/julia.yaml")],
        vec![launch("vpu/triangle.yaml")],
        vec!["--spec".to_owned(), launch("riscv"), launch("riscv/programs/sieve.elf")],
    ] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut commands = String::new();
        for _ in 0..12 {
            let (there, on) = (1 + random.below(30), 1 + random.below(9));
            commands += &format!("count\nstep {there}\nback {there}\ncount\nstep {on}\n");
            // One by one.
            commands += &format!("count\n{}{}count\n", "step\n".repeat(on as usize), "back\n".repeat(on as usize));
        }
        let run = debug(&arguments, &commands);
        // Steps stop at the end, and those back do not count what is missing.
        let lines = run.out().lines().take_while(|line| *line != "the program has ended");
        let counts: Vec<u64> = lines.filter_map(|line| line.parse().ok()).collect();
        assert!(counts.len() >= 4, "{arguments:?}: {counts:?}");
        for pair in counts.chunks_exact(2) {
            assert_eq!(pair[0], pair[1], "{arguments:?}: {commands}");
        }
    }
}

#[test]
fn a_step_on_the_last_instruction_of_a_warp_stops_at_the_next_one() {
    let run = valhall(WARPS, &[], "step 16\ncount\nstep\ncount\nwhere\nback\ncount\n").expect(0);
    let counts: Vec<u64> = run.out().lines().filter_map(|line| line.parse().ok()).collect();
    assert_eq!(counts, [16, 17, 16], "{}", run.out());
    assert!(run.out().contains("0  workgroup (0,0,0) warp 1"), "{}", run.out());
}

#[test]
fn a_program_whose_budget_is_used_up_stands_where_it_would_go_on() {
    let endless = "program: |\n  again: MOV.i32 r1, r0\n  BRANCHZ.eq.reconverge 0x0, again\nbudget: 1000\n";
    let run = valhall(endless, &[], "c\nwhere\ncount\nstep\nback\n").expect(0);
    let expected = "the program failed: word 0 `MOV.i32 r1, r0`";
    assert!(run.out().contains(expected), "{}", run.out());
    let (_, after) = run.out().split_once("is used up\n").expect("it fails");
    let places: Vec<&str> = after.lines().map(|line| line.split(' ').next().unwrap_or_default()).collect();
    assert_eq!((places[0], places[1], places[2]), ("0", "0", "1000"), "{after}");
    assert_eq!(places.last(), Some(&"1"), "{after}");
    let word = "program: |\n  NOP\n  .word 0xffffffffffffffff\n";
    let run = valhall(word, &[], "c\nwhere\ncount\n").expect(1);
    assert!(run.out().contains("the program failed: word 1 ") && run.out().ends_with("\n1\n"), "{}", run.out());
    for (launch, count) in [
        ("isa: vpu\nrectangle: [0, 0, 2, 2]\nprogram: |\n  again: Sync\n  Branch again\nbudget: 100\n", "100"),
        ("isa: usc\ninstances: 1\nprogram: |\n  0 : nop\n  1 : ba 0\nbudget: 100\n", "100"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("launch.yaml");
        fs::write(&path, launch).expect("it is written");
        let run = debug(&[&path.display().to_string()], "c\nwhere\ncount\n").expect(1);
        assert!(run.out().contains("is used up"), "{}{}", run.out(), run.err);
        assert_eq!(run.out().lines().last(), Some(count), "{}", run.out());
    }
}

#[test]
fn all_stops_that_are_hit_together_are_named() {
    let run = valhall(WARPS, &[], "watch r0\nwatch r0 lane 2\nbreak loop\nbreak 1 if r0 == 5\nc\n").expect(0);
    let hits: Vec<&str> = run.out().lines().filter(|line| line.contains("point ")).skip(4).collect();
    let starts: Vec<&str> = hits.iter().map(|line| line.split(':').next().unwrap_or_default()).collect();
    assert_eq!(starts, ["watchpoint 1", "watchpoint 2", "breakpoint 3", "breakpoint 4"], "{}", run.out());
}

#[test]
fn changes_of_watched_memory_are_shown_as_words() {
    let launch = WARPS.replace("@r0, u2", "@r60, u2").replace("[5, 0,", "[1, 0,");
    let run = valhall(&launch, &[], "watch 0x100000 8\nc\nwatch 0x100004 1\nstops\n").expect(0);
    assert!(run.out().contains("memory at 0x100000 was 00000000 00000000 and is "), "{}", run.out());
    assert!(run.out().contains("watchpoint 2 on 1 byte at 0x100004"), "{}", run.out());
}

#[test]
fn commands_without_their_arguments_say_what_is_missing() {
    let commands = "watch\ndelete\nto\nformat\nbreak loop if\nbreak if\nregisters r1\nregisters q\nmemory 0x1000 0\nto nowhere\nview 0x1000\n";
    let run = valhall(WARPS, &[], commands).expect(1);
    let lines: Vec<&str> =
        run.err.lines().map(|line| line.split_once("error: ").map_or(line, |(_, text)| text)).collect();
    let expected = [
        "say what, as in `watch r2`",
        "say which, as in `delete 1`",
        "say where, as in `to 12`",
        "say which: hex",
        "the condition after `if` is missing",
        "the condition after `if` is missing",
        "`r1` is not a bank of registers; the banks are `r`, `u`; `print r1` shows a register",
        "`q` is not a bank of registers; the banks are `r`, `u`",
        "`0` is not a number of words up to 4096",
        "there is no label `nowhere`; the only one is `loop`",
        "only the terminal keeps memory in view",
    ];
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.starts_with(expected), "{expected} in\n{}", run.err);
    }
    assert_eq!(lines.len(), expected.len(), "{}", run.err);
}

#[test]
fn commands_that_cannot_be_read_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display().to_string();
    let run = isaforge(&["debug", &format!("{EXAMPLES}/valhall/tiles.yaml"), "--commands", &path]).expect(2);
    assert!(run.err.contains(&format!("`{path}`")) && !run.err.contains("standard output"), "{}", run.err);
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
fn messages_that_are_no_requests_are_reported_and_ignored() {
    let message = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
    let input: String = [
        "[]",
        "{}",
        r#"{"seq":1,"type":"event","event":"x"}"#,
        r#"{"seq":2,"type":"request","command":"threads"}"#,
        r#"{"seq":3,"type":"request","command":"terminate"}"#,
        r#"{"seq":4,"type":"request","command":"disconnect"}"#,
    ]
    .map(message)
    .concat();
    let run = isaforge_in(Path::new("."), &["debug", "--dap"], input.as_bytes()).expect(0);
    assert_eq!(run.err.matches("a message is no request").count(), 3, "{}", run.err);
    assert_eq!(run.out().matches("Content-Length").count(), 3, "{}", run.out());
    assert!(!run.out().contains("allThreadsContinued") && !run.out().contains("null"), "{}", run.out());
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
    // Other orders of execution may race.
    let clean = run("  lane r0\n  shl r5, r0, #2\n  add r5, r5, r6\n  store [r5], r0\n  end").expect(0);
    assert!(clean.err.contains("no races in this execution"), "{}", clean.err);
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
    // Three of 32 accesses are kept, so that not all of their 496 pairs are found.
    assert!(found.err.contains("at least 1 pair of instructions, "), "{}", found.err);
    let none = run(&["--engine", "compiled", "--level", "portable"]).expect(2);
    assert!(none.err.contains("no machine code is made for level `portable`"), "{}", none.err);
}

#[test]
fn a_program_that_only_repeats_its_races_does_not_run_to_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    // The counter is even, so that the loop never ends.
    let launch = "isa: valhall\nlocal size: [32]\nprogram: |\n  again: STORE.i32.slot0.wait0 @r60, u0, offset:0\n  IADD_IMM.i32 r10, r10, #0x2\n  ICMP.u32.ne.m1 r7, r10, 0xffffffff, 0x0\n  BRANCHZ.reconverge r7, offset:again\n  NOP.end\nuniforms: [{ address: word }]\nbuffers: { word: { size: 4 } }\nbudget: 100000000000\n";
    fs::write(folder.path().join("launch.yaml"), launch).expect("it is written");
    let found = isaforge_in(folder.path(), &["run", "--races", "launch.yaml"], b"").expect(1);
    assert!(
        found.err.contains("the run ended early: the last 65,536 races were all of these instructions"),
        "{}",
        found.err
    );
    assert!(found.err.contains("at least 1 pair of instructions, "), "{}", found.err);
}

#[test]
fn races_in_workgroup_memory_name_the_byte_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let launch = "isa: valhall\nlocal size: 32\nshared bytes: 64\nprogram: |\n  \
        MOV.i32 r20, workgroup_local_pointer.w0\n  MOV.i32 r21, workgroup_local_pointer.w1\n  \
        STORE.i32.slot0.end @r60, r20, offset:0x4\n";
    fs::write(folder.path().join("launch.yaml"), launch).expect("it is written");
    for engine in ["reference", "handlers"] {
        let found = isaforge_in(folder.path(), &["run", "--races", "launch.yaml", "--engine", engine], b"").expect(1);
        assert!(found.out().starts_with("race in workgroup memory, byte 4: thread (0,0,0) stores"), "{}", found.out());
    }
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
    assert!(clean.err.contains("no races in this execution"), "{}{}", clean.out(), clean.err);
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
    assert!(clean.err.contains("no races in this execution"), "{}{}", clean.out(), clean.err);
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
