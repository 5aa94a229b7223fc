//! Runs every example of the help texts in a folder with the files that they name.

use std::io::{BufRead, BufReader};
use std::time::Duration;

use super::*;

/// The examples that are not run: `isaforge corpus` needs the command of another workspace, whose tests run it.
const LEFT_OUT: &str = "isaforge corpus";

/// What is changed before an example runs.
const CHANGED: [(&str, &str); 4] = [
    // The usual port may be in use.
    ("--serve\n", "--serve 0\n"),
    // A debug build would take seconds to compress the picture.
    ("--size 2048", "--size 64"),
    // There is no terminal here; `.ci/terminal.py` has one.
    ("debug launch.yaml\n", "debug launch.yaml --commands /dev/null\n"),
    ("debug --spec examples/riscv ", "debug --commands /dev/null --spec examples/riscv "),
];

/// The examples that run until somebody ends them, and what they say once they have begun.
const ENDLESS: [(&str, &str); 2] = [("--serve", "http://"), ("--watch", "watching")];

/// Programs behind a pipe that may not be installed.
const FILTERS: [&str; 3] = ["jq", "less", "inferno-flamegraph"];

/// The examples with exit status 1: findings, differences, and a word that is not an instruction.
const FINDING: [&str; 5] = [
    "isaforge lint valhall shader.bin",
    "isaforge lint valhall shader.s --json",
    "isaforge diff valhall-2021 valhall",
    "isaforge diff ir3.xml ir3.xml --old-generation 630 --new-generation 730",
    "isaforge explain valhall 0091c10000000102",
];

/// A program with a loop, whose breakpoints and registers the examples name.
const SHADER: &str = "\
  MOV.i32 r1, r60
  MOV.i32 r2, 0x0
  IADD_IMM.i32 r3, 0x0, #0x2
loop:
  FADD.f32 r2, r2, u0
  IADD_IMM.i32 r3, r3, #0xffffffff
  BRANCHZ.reconverge r3, loop
  IADD.u32 r1, r1, r1
  MOV.i32.end r4, r2
";

const LAUNCH: &str = "\
isa: valhall
program: { file: shader.s }
local size: [4, 4]
uniforms: [1.5]
";

/// The examples of a help: the lines below `Examples:` and all others that call the command. Quoted text may continue on
/// the next lines; three spaces precede a remark.
fn examples_in(help: &str) -> Vec<String> {
    let mut examples: Vec<String> = Vec::new();
    let (mut listed, mut quoted) = (false, false);
    for line in help.lines() {
        let text = line.trim_start().split("   ").next().unwrap_or_default();
        if quoted {
            let example = examples.last_mut().expect("it begins with a quote");
            example.push_str(&format!("\n{text}"));
        } else if (listed && line.contains("isaforge ") || line.starts_with("  isaforge "))
            || listed && text.matches('\'').count() % 2 == 1
        {
            examples.push(text.to_owned());
        } else {
            listed = line == "Examples:" || listed && !line.is_empty();
            continue;
        }
        quoted ^= text.matches('\'').count() % 2 == 1;
    }
    examples
}

#[test]
fn every_example_of_the_helps_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, content: &[u8]| fs::write(path(name), content).expect("it can be written");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for folder in ["specs", "examples", "kernels", "cases"] {
        fs::create_dir(path(folder)).expect("a folder");
    }
    for set in ["specs/valhall", "specs/valhall-2021", "specs/usc", "specs/vpu", "examples/riscv", "examples/lanes"] {
        copy(&root.join(set), &path(set));
    }
    write("specs/mine.yaml", b"isa: mine\nbase: valhall/isa.yaml\n");
    for name in ["my.yaml", "old.yaml", "new.yaml"] {
        write(name, b"isa: mine\nbase: specs/valhall/isa.yaml\n");
    }
    for name in ["shader.s", "double.s"] {
        write(name, SHADER.as_bytes());
    }
    write("old.s", b"MOV.i32 r1, r2\n");
    // A document in Mesa's format, with the generations of the examples.
    let isaspec =
        |name: &str| fs::read_to_string(root.join("compiler/tests/data/isaspec").join(name)).expect("it is there");
    let generations = [("min=\"2\"", "min=\"600\""), ("max=\"3\"", "max=\"699\""), ("min=\"4\"", "min=\"700\"")];
    let loom = generations.into_iter().fold(isaspec("loom.xml"), |text, (old, new)| text.replace(old, new));
    write("ir3.xml", loom.as_bytes());
    write("threads.xml", isaspec("threads.xml").as_bytes());
    write("a.s", b"knot t0, t1\n");
    for name in ["launch.yaml", "a.yaml", "b.yaml"] {
        write(name, LAUNCH.as_bytes());
    }
    write("words.hex", isaforge_with(&["asm", "valhall"], SHADER).expect(0).out().as_bytes());
    let code = isaforge_with(&["asm", "valhall", "--out", "bin"], SHADER).expect(0).out;
    for name in ["shader.bin", "a.bin"] {
        write(name, &code);
    }
    for name in ["words.tsv", "shaders.tsv", "random-words.tsv"] {
        write(name, text_of(name).as_bytes());
    }
    write("piglit-programs.jsonl", text_of("shaders.jsonl").as_bytes());
    write("kernels/reduce.json", text_of("reduce.json").as_bytes());
    write("semantic-vectors.tsv", b"IADD.s32\tsat\t7FFFFFFF,00000001\t7FFFFFFF\trule\n");
    write("rows.tsv", b"13050500\tok\tmv a0, a0\n");
    let recorded = |name: &str| {
        let case = root.join("runtime/tests/data/valhall/images").join(format!("{name}.json.gz"));
        fs::read(case).expect("it is there")
    };
    for name in ["case.json", "cases/nearest.json"] {
        write(name, &recorded("tex_nearest"));
    }
    write("cases/several.json", &recorded("mrt4"));
    let lanes = fs::read_to_string(path("examples/lanes/README.md")).expect("it is there");
    let power = lanes.split_once("```yaml power.yaml\n").and_then(|(_, rest)| rest.split_once("```"));
    let launch = fs::read_to_string(path("examples/lanes/power.yaml")).expect("it is there");
    assert_eq!(power.expect("it has a launch file").0, launch);
    write("script.txt", b"to loop\nregisters\n");
    for folder in [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"] {
        fs::create_dir_all(path(folder)).expect("a folder");
    }
    // `gen --all` writes beside the specifications of its folder.
    fs::create_dir_all(path("project/specs/blink")).expect("a folder");
    write("project/specs/blink/isa.yaml", text_of("blink.yaml").as_bytes());
    // Every machine has `od`, whose dumps look much the same.
    write("xxd", b"#!/bin/sh\nexec od -Ax -tx1 \"$@\"\n");
    make_executable(&path("xxd"));
    let programs = Path::new(env!("CARGO_BIN_EXE_isaforge")).parent().expect("it is in a folder");
    let installed = std::env::var("PATH").unwrap_or_default();
    let search = format!("{}:{installed}:{}", programs.display(), folder.path().display());
    let help = isaforge(&["--help"]).expect(0);
    let commands = help.out().lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    let (mut ran, mut wrong) = (0, Vec::new());
    for command in ["--color=auto"].into_iter().chain(commands.filter(|name| !matches!(*name, "corpus" | "help"))) {
        let help = isaforge(&[command, "--help"]).expect(0);
        let examples = examples_in(help.out());
        assert!(!examples.is_empty(), "`isaforge {command} --help` has no examples");
        for example in examples {
            let parts = example
                .split(" | ")
                .filter(|part| FILTERS.iter().all(|filter| part.split_whitespace().next() != Some(*filter)));
            let line = parts.collect::<Vec<_>>().join(" | ");
            if line.contains(LEFT_OUT) {
                continue;
            }
            let changed = CHANGED.iter().fold(format!("{line}\n"), |line, (part, other)| line.replace(part, other));
            let mut shell = Command::new("sh");
            shell.env("PATH", &search).env("HOME", folder.path()).stdin(Stdio::null());
            shell.current_dir(if line.contains("gen --all") { path("project") } else { folder.path().into() });
            shell.env("GITHUB_STEP_SUMMARY", path("summary.md"));
            ran += 1;
            if let Some((_, says)) = ENDLESS.iter().find(|(part, _)| line.contains(part)) {
                // The command is to be ended, not a shell that waits for it.
                shell.args(["-c", &format!("exec {changed}")]);
                wrong.extend(until(shell, says).err().map(|err| format!("{line}\nsays\n{err}")));
                continue;
            }
            let run = shell.args(["-c", &changed]).output().expect("there is a shell");
            let expected = i32::from(FINDING.contains(&line.as_str()));
            if run.status.code() != Some(expected) {
                let err = String::from_utf8_lossy(&run.stderr);
                wrong.push(format!("{line}\nhas status {:?}, not {expected}\n{err}", run.status.code()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ran > 130, "{ran}");
}

/// Runs a command until it says something, and ends it. Returns what it says if that is not among it.
fn until(mut shell: Command, says: &str) -> Result<(), String> {
    let mut child = shell.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("there is a shell");
    let messages = BufReader::new(child.stderr.take().expect("it is piped"));
    let (sender, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || messages.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let mut seen = String::new();
    while let Ok(line) = lines.recv_timeout(Duration::from_secs(60)) {
        seen.push_str(&format!("{line}\n"));
        if line.contains(says) {
            break;
        }
    }
    child.kill().expect("it can be ended");
    child.wait().expect("it ends");
    if seen.contains(says) { Ok(()) } else { Err(seen) }
}

#[cfg(unix)]
fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it may be run");
}

#[cfg(not(unix))]
fn make_executable(_: &Path) {}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("it is there").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).expect("it can be copied");
        }
    }
}
