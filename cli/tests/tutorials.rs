//! Follows the tutorials of the examples: writes their files, runs their commands and compares the output.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Follows a tutorial in a temporary folder. `place` is the word that stands for the example's folder.
fn follow(example: &str, place: &str) {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(example);
    let text = fs::read_to_string(folder.join("README.md")).unwrap();
    let work = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_isaforge")).parent().unwrap().display().to_string();
    let path = format!("{program}:{}", std::env::var("PATH").unwrap_or_default());
    std::os::unix::fs::symlink(fs::canonicalize(&folder).unwrap(), work.path().join(place)).unwrap();
    let mut commands = 0;
    for block in text.split("```").skip(1).step_by(2) {
        let (head, body) = block.split_once('\n').unwrap();
        match head.split_once(' ') {
            Some((_, file)) => fs::write(work.path().join(file), body).unwrap(),
            None if head == "console" => {
                for step in body.split("$ ").skip(1) {
                    let (command, expected) = step.split_once('\n').unwrap();
                    let mut shell = Command::new("sh");
                    let shell = shell.current_dir(work.path()).env("PATH", &path).args(["-c", command]);
                    let found = shell.output().unwrap();
                    let (out, err) = (String::from_utf8_lossy(&found.stdout), String::from_utf8_lossy(&found.stderr));
                    // The messages of `check` are on standard error.
                    let said = if command.contains("check") { format!("{out}{err}") } else { out.into_owned() };
                    assert_eq!(said, expected, "{example}: $ {command}\n{err}");
                    commands += 1;
                }
            }
            None => {}
        }
    }
    assert!(commands >= 3, "{example} has {commands} commands");
}

#[test]
#[cfg(unix)]
fn the_tutorial_of_riscv_is_true() {
    follow("riscv", "RISCV");
}

#[test]
#[cfg(unix)]
fn the_tutorial_of_lanes_is_true() {
    follow("lanes", "LANES");
}

#[test]
#[cfg(unix)]
fn what_is_said_of_wide_words_is_true() {
    follow("sm75", "SM75");
}

#[test]
#[cfg(unix)]
fn what_is_said_of_words_of_many_lengths_is_true() {
    follow("g13", "G13");
}
