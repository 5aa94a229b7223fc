//! Runs every example of the help texts in a folder with the files that they name.

use super::*;

/// The examples that are not run, and why.
const LEFT_OUT: [(&str, &str); 9] = [
    ("ir3.xml", "a document of others that the project does not ship"),
    ("--serve", "runs until somebody ends it"),
    ("--watch", "runs until somebody ends it"),
    ("gen --all", "writes to the project's own folder; `.ci/run` runs it"),
    ("isaforge lsp", "speaks a protocol; `cli/tests/lsp.rs` does"),
    ("completions", "changes the settings of a shell; what it prints is tested elsewhere"),
    ("GITHUB_STEP_SUMMARY", "a file of a service"),
    ("COMMAND", "stands for a command"),
    ("isaforge corpus", "needs the command of a workspace of its own, whose tests run it"),
];

#[test]
fn every_example_of_the_helps_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::create_dir(path("specs")).expect("a folder");
    for set in ["valhall", "valhall-2021", "usc", "vpu"] {
        copy(&root.join("specs").join(set), &path("specs").join(set));
    }
    let mine = "isa: mine\nbase: valhall/isa.yaml\n";
    fs::write(path("specs/mine.yaml"), mine).expect("it can be written");
    for name in ["my.yaml", "old.yaml", "new.yaml"] {
        fs::write(path(name), "isa: mine\nbase: specs/valhall/isa.yaml\n").expect("it can be written");
    }
    let text = "MOV.i32 r1, r60\nMOV.i32.end r2, ^r1\n";
    for name in ["shader.s", "old.s"] {
        fs::write(path(name), text).expect("it can be written");
    }
    fs::write(path("launch.yaml"), "isa: valhall\nprogram: { file: shader.s }\n").expect("it can be written");
    let words = isaforge_with(&["asm", "valhall"], text).expect(0).out().to_owned();
    fs::write(path("words.hex"), &words).expect("it can be written");
    let code = isaforge_with(&["asm", "valhall", "--out", "bin"], text).expect(0).out;
    for name in ["shader.bin", "a.bin"] {
        fs::write(path(name), &code).expect("it can be written");
    }
    let programs = Path::new(env!("CARGO_BIN_EXE_isaforge")).parent().expect("it is in a folder");
    let search = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    let mut ran = 0;
    let own = [
        "--help",
        "dis",
        "asm",
        "list",
        "explain",
        "graph",
        "grammar",
        "lint",
        "lsp",
        "check",
        "gen",
        "diff",
        "manual",
        "translate",
        "fidelity",
        "man",
    ];
    for command in own {
        let help = if command == "--help" { isaforge(&["--help"]) } else { isaforge(&[command, "--help"]) };
        let help = help.expect(0);
        let examples =
            help.out().lines().skip_while(|line| *line != "Examples:").skip(1).take_while(|line| !line.is_empty());
        for line in examples.filter(|line| line.contains("isaforge ")) {
            // Three spaces precede the remark. Filters after a pipe may not be installed.
            let line = line.trim().split("   ").next().unwrap_or_default();
            let line = line.split(" | jq").next().and_then(|line| line.split(" | less").next()).unwrap_or(line);
            let is_run = command == "--help" && line.contains(" run ");
            if is_run || LEFT_OUT.iter().any(|(part, _)| line.contains(part)) || line.starts_with("xxd ") {
                continue;
            }
            let run = Command::new("sh")
                .args(["-c", line])
                .env("PATH", &search)
                .current_dir(folder.path())
                .stdin(Stdio::null())
                .output()
                .expect("there is a shell");
            let err = String::from_utf8_lossy(&run.stderr);
            // Differences and lint findings give status 1.
            assert!(matches!(run.status.code(), Some(0 | 1)) && !err.contains("panicked"), "{command}: {line}\n{err}");
            ran += 1;
        }
    }
    assert!(ran > 60, "{ran}");
}

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
