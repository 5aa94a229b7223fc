//! Runs launch files as a user does.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The result of a run.
pub struct Run {
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

/// Runs a launch file in a folder.
pub fn run_in(folder: &Path, launch: &str) -> Run {
    run_with(folder, &[launch])
}

/// The same with these arguments.
pub fn run_with(folder: &Path, arguments: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_isaforge"))
        .arg("run")
        .args(arguments)
        .current_dir(folder)
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("the command starts");
    let text = |bytes| String::from_utf8(bytes).expect("it is text");
    Run { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Runs the text of a launch file in its own folder.
pub fn run(launch: &str) -> (tempfile::TempDir, Run) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("launch.yaml"), launch).expect("it is written");
    let run = run_in(folder.path(), "launch.yaml");
    (folder, run)
}
