//! Completion, in the protocol of the scripts and in Bash itself. `.ci/completion.py` drives all shells in a terminal.

use super::*;

#[test]
fn completion_scripts_exist_for_the_usual_shells() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(isaforge(&["completions", shell]).expect(0).out().contains("ISAFORGE_COMPLETE"), "{shell}");
    }
    // Those that clap brings have no way to ask the shell for names of files.
    let mut command = Command::new(env!("CARGO_BIN_EXE_isaforge"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env("ISAFORGE_COMPLETE", "elvish");
    command.env("_CLAP_COMPLETE_INDEX", "3").args(["--", "isaforge", "dis", "valhall", "Cargo.t"]);
    assert_eq!(command.output().expect("the command starts").stdout, b"Cargo.toml");
}

/// The completions a shell gets for a line whose last word is incomplete.
fn completed(line: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isaforge"));
    command.env("ISAFORGE_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", (line.len() - 1).to_string());
    command.env("_CLAP_IFS", "\n").arg("--").args(line);
    String::from_utf8(command.output().expect("the command starts").stdout).expect("names are text")
}

#[test]
fn names_of_instructions_are_completed() {
    let found = completed(&["isaforge", "explain", "valhall", "fma_rs"]);
    assert!(found.lines().count() > 3 && found.lines().all(|line| line.starts_with("FMA_RSCALE")), "{found}");
    assert!(completed(&["isaforge", "explain", "usc", "fmad"]).contains("FMAD"));
    assert!(completed(&["isaforge", "list", "vpu", "Mult"]).contains("MultiplyHiInt16u"));
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    assert!(completed(&["isaforge", "explain", "--spec", spec, "slt"]).contains("sltiu"));
    let with_equals = format!("--spec={spec}");
    assert!(completed(&["isaforge", "explain", &with_equals, "slt"]).contains("sltiu"));
    let found = completed(&["isaforge", "fidelity", "valhall", "F"]);
    assert!(found.contains("FRCP.f32"), "{found}");
    assert!(completed(&["isaforge", "fidelity", "valhall", "appr"]).contains("approximate"));
    // `explain` takes enums and the fields of an instruction.
    assert!(completed(&["isaforge", "explain", "valhall", "Flo"]).lines().any(|line| line == "Flow"));
    let found = completed(&["isaforge", "explain", "valhall", "FMA.f32", "cl"]);
    assert_eq!(found.trim(), "clamp");
    assert!(completed(&["isaforge", "explain", "usc", "FMAD", ""]).contains("p0.s0neg"));
    // Commands, options and sets are still completed.
    assert!(completed(&["isaforge", "expl"]).contains("explain"));
    assert!(completed(&["isaforge", "dis", "valhall-"]).contains("valhall-2021"));
    // Where a set or a specification is expected, sets are offered, and names of files by the shell.
    for line in [&["translate"][..], &["translate", "vpu"], &["diff"], &["diff", "vpu"], &["manual"]] {
        let found = completed(&[&["isaforge"], line, &["valhall-"]].concat());
        assert!(found.contains("valhall-2021"), "{line:?}: {found}");
        assert!(found.lines().any(|name| name == "<files>"), "{line:?}: {found}");
    }
}

#[test]
fn codes_of_diagnostics_are_completed() {
    let found = completed(&["isaforge", "check", "--explain", "p0"]);
    assert!(found.lines().count() > 5 && found.lines().all(|line| line.starts_with("P0")), "{found}");
    let found = completed(&["isaforge", "check", "--explain", ""]);
    for code in ["list", "E0106", "W0303", "L0001", "P0001"] {
        assert!(found.lines().any(|line| line == code), "{code}: {found}");
    }
}

/// What Bash passes to the command for lines in which a tab is typed, each with one argument a line.
#[cfg(unix)]
fn typed_in_bash(folder: &Path, lines: &[&str]) -> Vec<String> {
    let script = isaforge(&["completions", "bash"]).expect(0);
    // Candidates come from the command; the line itself shows its arguments.
    let command = env!("CARGO_BIN_EXE_isaforge");
    let shown = format!("if [[ $1 == -- ]]; then '{command}' \"$@\"; else printf '<%s>' \"$@\" >&3; echo >&3; fi");
    fs::write(folder.join("start"), format!("{}\nisaforge() {{ {shown}; }}\n", script.out())).expect("it is written");
    let mut typed = String::new();
    for line in lines {
        typed.push_str(&format!("isaforge {line}\n"));
    }
    let mut bash = Command::new("bash");
    // Bash edits lines even where there is no terminal.
    bash.args(["-c", "exec bash --noprofile --rcfile start -i 3>shown"]).current_dir(folder).env("HOME", folder);
    bash.env("TERM", "dumb").env_remove("INPUTRC");
    bash.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut bash = bash.spawn().expect("Bash is installed");
    bash.stdin.take().expect("it is piped").write_all(typed.as_bytes()).expect("it reads all");
    let output = bash.wait_with_output().expect("it ends");
    let shown = fs::read_to_string(folder.join("shown")).expect("it is written");
    let shown: Vec<String> = shown.lines().map(str::to_owned).collect();
    assert_eq!(shown.len(), lines.len(), "{shown:?}\n{}", String::from_utf8_lossy(&output.stderr));
    shown
}

#[cfg(unix)]
#[test]
fn bash_completes_names_of_files_and_values_of_options() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("a folder")).expect("a folder");
    for name in ["prog.s", "two words.s", "do$lar.s", "a folder/inner.bin"] {
        fs::write(folder.path().join(name), "").expect("it is written");
    }
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/riscv").canonicalize().expect("it is there");
    let spec = spec.to_str().expect("a path");
    let home = folder.path().to_str().expect("a path");
    let with_spec = format!("explain --spec={spec} sltiu\t");
    let cases = [
        // The shell quotes names, and knows names that are quoted.
        ("dis valhall tw\t", "<dis><valhall><two words.s>".to_owned()),
        ("dis valhall two\\ w\t", "<dis><valhall><two words.s>".to_owned()),
        ("dis valhall \"tw\t", "<dis><valhall><two words.s>".to_owned()),
        ("dis valhall do\t", "<dis><valhall><do$lar.s>".to_owned()),
        ("dis valhall a\t\t", "<dis><valhall><a folder/inner.bin>".to_owned()),
        ("dis valhall ~/pr\t", format!("<dis><valhall><{home}/prog.s>")),
        ("dis valhall $HOME/pr\t", format!("<dis><valhall><{home}/prog.s>")),
        // It breaks words at `=`.
        ("dis --order=m\t", "<dis><--order=memory>".to_owned()),
        ("dis valhall --in=h\t prog\t", "<dis><valhall><--in=hex><prog.s>".to_owned()),
        ("asm --out=b\t", "<asm><--out=bin>".to_owned()),
        ("asm valhall --output=tw\t", "<asm><valhall><--output=two words.s>".to_owned()),
        (&with_spec, format!("<explain><--spec={spec}><sltiu>")),
        ("explain valhall fma_rs\t", "<explain><valhall><FMA_RSCALE>".to_owned()),
        ("translate valhall-\t prog\t", "<translate><valhall-2021><prog.s>".to_owned()),
    ];
    let typed: Vec<&str> = cases.iter().map(|(line, _)| *line).collect();
    let shown = typed_in_bash(folder.path(), &typed);
    for ((line, expected), found) in cases.iter().zip(&shown) {
        assert_eq!(found, expected, "{line}");
    }
}
