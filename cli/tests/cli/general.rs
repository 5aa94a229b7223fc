use super::*;

#[test]
fn the_instruction_sets_are_listed_name_first() {
    let run = isaforge(&["isas"]).expect(0);
    let names: Vec<&str> = run.out().lines().filter_map(|line| line.split_whitespace().next()).collect();
    for name in ["valhall", "valhall-2021", "vpu"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert_eq!(names.len(), run.out().lines().count());
}

#[test]
fn every_help_has_examples() {
    let help = isaforge(&["--help"]).expect(0);
    for command in [
        "dis",
        "asm",
        "explain",
        "list",
        "grammar",
        "graph",
        "lint",
        "lsp",
        "check",
        "gen",
        "diff",
        "translate",
        "conform",
        "run",
        "demo",
        "completions",
        "man",
    ] {
        assert!(help.out().contains(&format!("  {command} ")), "{command} is listed");
        let run = isaforge(&[command, "--help"]).expect(0);
        assert!(run.out().contains(&format!("isaforge {command} ")), "{command} shows how it is used:\n{}", run.out());
        assert!(run.out().contains("Examples:"), "{command} has examples");
    }
}

#[test]
fn misuse_has_status_2_and_a_message_on_standard_error() {
    for arguments in [
        &["frobnicate"][..],
        &["dis"],
        &["dis", "valhal"],
        &["dis", "valhall", "no-such-file"],
        &["asm", "valhall", "no-such-file"],
        &["dis", "valhall", "--in", "octal"],
        &["conform", "valhall"],
        &["gen", "some.yaml"],
        &["gen"],
        &["completions", "tcsh"],
        &["check", "no-such-file.yaml"],
        &[],
    ] {
        let run = isaforge(arguments).expect(2);
        assert!(run.out.is_empty() && !run.err.is_empty(), "{arguments:?}");
    }
    assert!(isaforge(&["dis", "valhal"]).err.contains("did you mean `valhall`?"));
    for command in ["check", "gen", "diff", "manual", "translate"] {
        let run = isaforge(&[command, "--spec", "some.yaml"]).expect(2);
        let tip = "tip: leave out '--spec': the path of the specification is the argument itself";
        assert!(run.err.contains(tip) && !run.err.contains("-- --spec"), "{command}: {}", run.err);
    }
    let run = isaforge_with(&["asm", "valhall", "-o", "/dev/null/folder/out.hex"], "MOV.i32 r1, r2").expect(2);
    assert!(run.err.starts_with("error: cannot write `/dev/null/folder/out.hex`: "), "{}", run.err);
}

#[test]
fn every_command_has_a_page_for_man() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    isaforge(&["man", "-o", folder.to_str().expect("a path")]).expect(0);
    let help = isaforge(&["--help"]).expect(0);
    let commands = help.out().lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands =
        commands.take_while(|line| !line.is_empty()).map(|line| line.split_whitespace().next().expect("a name"));
    let mut pages: Vec<String> =
        commands.filter(|name| *name != "help").map(|name| format!("isaforge-{name}.1")).collect();
    pages.push("isaforge.1".to_owned());
    pages.sort();
    let mut written: Vec<_> = fs::read_dir(folder)
        .expect("the folder is there")
        .map(|page| page.expect("a page").file_name().into_string().expect("a name"))
        .collect();
    written.sort();
    assert_eq!(written, pages);
    for page in pages {
        let text = fs::read_to_string(folder.join(&page)).expect("the page is there");
        assert!(text.starts_with(".ie") && text.contains(".SH SYNOPSIS"), "{page}: {text:.200}");
    }
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_isaforge"))
        .args(["dis", "valhall", "--in", "bin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("stdin is piped");
    stdin.write_all(&0x0091_c100_0000_0002u64.to_le_bytes().repeat(100_000)).expect("it reads all");
    drop(stdin);
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[cfg(unix)]
#[test]
fn corpora_are_handed_to_a_command_of_their_own() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let run_with = |arguments: &[&str], path: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isaforge"));
        command.args(arguments).env("PATH", path).output().expect("it starts")
    };
    let run = |path: &Path| run_with(&["corpus", "query", "lake/", "--format", "csv", "--help"], path);
    let output = run_with(&["corpus", "--help"], folder.path());
    assert_eq!(output.status.code(), Some(0));
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(help.contains("isaforge corpus import") && help.contains("cargo install --path\ncorpus"), "{help}");
    assert_eq!(help, isaforge(&["help", "corpus"]).expect(0).out());
    let output = run(folder.path());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("`isaforge-corpus` is not installed") && said.contains("cargo install --path corpus"),
        "{said}"
    );
    let script = folder.path().join("isaforge-corpus");
    fs::write(&script, "#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 7\n").expect("it is written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it may be run");
    let output = run(folder.path());
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(output.stdout, b"query\nlake/\n--format\ncsv\n--help\n");
}

#[test]
fn an_unknown_set_is_told_what_there_is() {
    for (name, expected) in [
        ("rog", "did you mean `rogue`?"),
        ("valhal", "did you mean `valhall`?"),
        ("riscv", "there is no built-in instruction set `riscv`\n"),
        ("img", "`usc` is the built-in set of Imagination"),
        ("g57", "`valhall` is the set of Mali-G57"),
        ("midgard", "older than `valhall`"),
    ] {
        let run = isaforge(&["list", name]).expect(2);
        assert!(run.err.contains(expected), "{}", run.err);
    }
    let run = isaforge(&["list", "riscv"]).expect(2);
    assert!(run.err.contains("also mali, panfrost") && run.err.contains("  --spec FILE  "), "{}", run.err);
}

#[test]
fn help_shows_labels_and_what_options_need() {
    let help = isaforge(&["asm", "--help"]).expect(0);
    assert!(help.out().contains("printf 'loop:\\nBRANCHZ r0, loop\\n' | isaforge asm valhall -\n"), "{}", help.out());
    let words: Vec<&str> = help.out().split_whitespace().collect();
    assert!(words.join(" ").contains("Needs `--order memory`"), "{}", help.out());
}

#[test]
fn output_that_cannot_be_written_is_a_failure_and_a_closed_pipe_is_none() {
    let run = |arguments: &[&str], out: Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isaforge"));
        let output = command.args(arguments).stdin(Stdio::null()).stdout(out).output().expect("the command runs");
        (output.status.code(), String::from_utf8(output.stderr).expect("messages are text"))
    };
    for arguments in [&["--version"][..], &["--help"], &["help", "run"], &["run", "--json-schema"], &["isas"]] {
        let (reader, writer) = std::io::pipe().expect("there is a pipe");
        drop(reader);
        assert_eq!(run(arguments, writer.into()), (Some(0), String::new()), "{arguments:?}");
        // Linux has a device that is always full.
        let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else { continue };
        let (status, message) = run(arguments, full.into());
        assert!(status == Some(2) && message.contains("cannot write to standard output"), "{arguments:?}: {message}");
    }
}

#[test]
fn the_help_of_run_says_what_registers_hold_at_the_start() {
    let help = isaforge(&["run", "--help"]).expect(0);
    let line = help.out().lines().find(|line| line.trim_start().starts_with("valhall, compute: "));
    let line = line.unwrap_or_else(|| panic!("{}", help.out()));
    let all: Vec<&str> = help.out().split_whitespace().collect();
    for register in 55..=62 {
        assert!(all.contains(&&*format!("r{register}")), "r{register}: {line}");
    }
}
