//! `-` as the name of every kind of input file.

use super::*;

/// A folder with a specification that imports another, and the standard input for the command.
fn folder() -> (tempfile::TempDir, &'static str) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for file in fs::read_dir(root.join("examples/riscv")).expect("it is there").flatten() {
        if file.path().is_file() {
            fs::copy(file.path(), folder.path().join(file.file_name())).expect("it can be copied");
        }
    }
    fs::write(folder.path().join("mine.yaml"), SPEC).expect("it can be written");
    (folder, SPEC)
}

const SPEC: &str = "isa: mine\nbase: isa.yaml\n";

#[test]
fn a_specification_from_standard_input_does_what_its_file_does() {
    let (folder, spec) = folder();
    let run = |arguments: &[&str], stdin: &str| isaforge_in(folder.path(), arguments, stdin.as_bytes());
    fs::write(folder.path().join("a.s"), "addi a0, a0, 1\nret\n").expect("it can be written");
    for (piped, named) in [
        (&["check", "-"][..], &["check", "mine.yaml"][..]),
        (&["list", "--spec", "-", "branch"], &["list", "--spec", "mine.yaml", "branch"]),
        (&["explain", "--spec=-", "addi"], &["explain", "--spec", "mine.yaml", "addi"]),
        (&["asm", "--spec", "-", "a.s"], &["asm", "--spec", "mine.yaml", "a.s"]),
        (&["lint", "--spec", "-", "a.s"], &["lint", "--spec", "mine.yaml", "a.s"]),
        (&["graph", "--spec", "-", "a.s"], &["graph", "--spec", "mine.yaml", "a.s"]),
        (&["diff", "-", "isa.yaml"], &["diff", "mine.yaml", "isa.yaml"]),
        (&["gen", "-", "-o", "one/crate"], &["gen", "mine.yaml", "-o", "two/crate"]),
    ] {
        let (piped, named) = (run(piped, spec), run(named, ""));
        assert_eq!(piped.status, named.status, "{}", piped.err);
        assert_eq!(piped.out().replace("<stdin>", "mine.yaml"), named.out());
    }
    let source = |name: &str| fs::read(folder.path().join(name).join("crate/src/lib.rs")).expect("it was written");
    assert!(source("one") == source("two"));
}

#[test]
fn mistakes_in_a_specification_from_standard_input_have_places() {
    let run = isaforge_with(&["check", "-"], "isa: tiny\nword: sixteen\n").expect(1);
    assert!(run.err.contains("<stdin>:2:7") && run.err.contains("<stdin>: failed"), "{}", run.err);
    let run = isaforge_with(&["check", "-"], "isa: tiny\nbase: missing.yaml\n").expect(1);
    assert!(run.err.contains("there is no file"), "{}", run.err);
    assert!(isaforge_with(&["check", "-"], b"\xff\xfe").expect(2).err.contains("not UTF-8"));
    let run = isaforge_with(&["gen", "-", "-o", "x", "--watch"], SPEC).expect(2);
    assert!(run.err.contains("standard input cannot be watched"), "{}", run.err);
}

#[test]
fn a_document_of_others_is_recognised_on_standard_input() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../compiler/tests/data");
    let file = fs::read_dir(path).expect("it is there").flatten().find(|file| {
        let name = file.file_name().into_string().unwrap_or_default();
        name.ends_with(".xml")
    });
    let file = file.expect("there is one").path();
    let text = fs::read(&file).expect("it can be read");
    let named = isaforge_in(file.parent().expect("a folder"), &["check", file.to_str().expect("a path")], b"");
    let piped = isaforge_in(file.parent().expect("a folder"), &["check", "-"], &text);
    assert_eq!(piped.status, named.status, "{}", piped.err);
}

#[test]
fn a_launch_from_standard_input_runs_and_is_debugged() {
    let folder = tempfile::tempdir().expect("a folder");
    let launch = text_of("launch.yaml");
    fs::write(folder.path().join("launch.yaml"), &launch).expect("it can be written");
    let run = |arguments: &[&str], stdin: &str| isaforge_in(folder.path(), arguments, stdin.as_bytes());
    for more in [&["--quiet"][..], &["--trace"], &["--races"], &["--compare", "--quiet"]] {
        let piped = run(&[&["run", "-"], more].concat(), &launch).expect(0);
        let named = run(&[&["run", "launch.yaml"], more].concat(), "").expect(0);
        assert_eq!(piped.out(), named.out(), "{more:?}");
    }
    fs::write(folder.path().join("commands"), "step\nregisters\n").expect("it can be written");
    let piped = run(&["debug", "-", "--commands", "commands"], &launch).expect(0);
    assert_eq!(piped.out(), run(&["debug", "launch.yaml", "--commands", "commands"], "").expect(0).out());
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    let elf = fs::read(Path::new(spec).join("programs/sieve.elf")).expect("it is there");
    let piped = isaforge_with(&["run", "--spec", spec, "-"], &elf);
    let named = isaforge(&["run", "--spec", spec, &format!("{spec}/programs/sieve.elf")]);
    assert_eq!((piped.status, piped.out()), (named.status, named.out()), "{}", piped.err);
    assert!(run(&["run", "-"], "isa: valhall\n").expect(1).err.contains("<stdin>"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_that_the_shell_has_opened_is_an_input_file() {
    let (folder, spec) = folder();
    fs::write(folder.path().join("launch.yaml"), text_of("launch.yaml")).expect("it can be written");
    fs::write(folder.path().join("a.hex"), "13051500\n").expect("it can be written");
    let run = |arguments: &[&str], stdin: &str| isaforge_in(folder.path(), arguments, stdin.as_bytes());
    for path in ["/dev/fd/0", "/proc/self/fd/0", "/dev/stdin"] {
        let piped = run(&["run", path, "--quiet"], &text_of("launch.yaml")).expect(0);
        assert_eq!(piped.out(), run(&["run", "launch.yaml", "--quiet"], "").expect(0).out(), "{path}");
        // A relative path in it counts from the current folder.
        let piped = run(&["dis", "--spec", path, "a.hex"], spec).expect(0);
        assert_eq!(piped.out(), run(&["dis", "--spec", "mine.yaml", "a.hex"], "").expect(0).out(), "{path}");
    }
    // Files that a launch file names could block, so they are regular files.
    let launch = text_of("launch.yaml");
    let named = launch.replace("program: ", "program: /dev/fd/0 # ");
    assert_ne!(launch, named);
    run(&["run", "launch.yaml", "--quiet"], "").expect(0);
    fs::write(folder.path().join("piped.yaml"), named).expect("it can be written");
    assert_ne!(run(&["run", "piped.yaml"], "NOP.end\n").status, 0);
}

#[test]
fn standard_input_is_named_once_at_most() {
    for arguments in [
        &["diff", "-", "-"][..],
        &["dis", "--spec", "-"],
        &["dis", "--spec", "-", "-"],
        &["lint", "--spec=-"],
        &["graph", "valhall", "--profile", "-"],
        &["run", "--spec", "-", "-"],
        &["debug", "-", "--commands", "-"],
        &["debug", "-", "--dap"],
        &["explain", "--spec", "-", "-"],
        &["translate", "-", "valhall"],
    ] {
        let run = isaforge_with(arguments, SPEC).expect(2);
        assert!(run.err.contains("cannot both be standard input"), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn names_and_words_come_from_standard_input() {
    for (command, words) in [("list", "memory LOAD\n"), ("fidelity", "FMA.f32 FRCP.f32\n")] {
        let given = isaforge(&[&[command, "valhall"][..], &words.split_whitespace().collect::<Vec<_>>()].concat());
        let piped = isaforge_with(&[command, "valhall", "-"], words);
        assert_eq!((piped.status, piped.out()), (0, given.out()), "{command}: {}", piped.err);
        assert!(piped.out().lines().count() > 1, "{}", piped.out());
    }
    let folder = tempfile::tempdir().expect("a folder");
    let run = isaforge_in(folder.path(), &["run", "--init", "-"], b"NOP.end\n").expect(2);
    assert!(run.err.contains("standard input has no name"), "{}", run.err);
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 0);
}
