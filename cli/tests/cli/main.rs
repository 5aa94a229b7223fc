//! The interface that scripts rely on: output, exit status and messages of every command.

mod answers;
mod assemble;
#[path = "../../../containers/tests/files/caches.rs"]
mod caches;
#[allow(dead_code, reason = "launch files are not the only texts")]
#[path = "../../../fuzz/src/change.rs"]
mod change;
mod choices;
mod columns;
mod completion;
mod conform;
mod containers;
mod debugging;
mod disassemble;
mod documents;
mod drawing;
mod editor;
mod engines;
mod examples;
mod explain;
mod fidelity;
#[path = "../../../containers/tests/files/mod.rs"]
mod files;
mod flow;
mod general;
mod generations;
mod groups;
mod hostile;
mod input;
mod json;
mod kinds;
mod launch;
#[path = "../../../fuzz/src/launches.rs"]
mod launches;
mod limits;
mod manual;
mod own;
mod pasted;
mod primitives;
mod programs;
mod revisions;
#[path = "../../../runtime/tests/seed/mod.rs"]
mod seed;
mod shaders;
mod spaces;
mod specifications;
mod standard_input;
mod target;
mod unlisted;
mod valhall_2021;
mod watching;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The result of running the command.
struct Run {
    status: i32,
    out: Vec<u8>,
    err: String,
}

impl Run {
    fn out(&self) -> &str {
        std::str::from_utf8(&self.out).expect("the output is text")
    }

    #[track_caller]
    fn expect(self, status: i32) -> Run {
        assert_eq!(self.status, status, "stdout:\n{}\nstderr:\n{}", String::from_utf8_lossy(&self.out), self.err);
        self
    }
}

fn isaforge(arguments: &[&str]) -> Run {
    isaforge_in(Path::new(env!("CARGO_MANIFEST_DIR")), arguments, b"")
}

fn isaforge_with(arguments: &[&str], stdin: impl AsRef<[u8]>) -> Run {
    isaforge_in(Path::new(env!("CARGO_MANIFEST_DIR")), arguments, stdin.as_ref())
}

/// Runs the command with `--spec` on a specification.
fn isaforge_of(spec: &str, arguments: &[&str], stdin: impl AsRef<[u8]>) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("isa.yaml");
    fs::write(&path, spec).expect("the file is written");
    isaforge_with(&[arguments, &["--spec", path.to_str().expect("the path is text")]].concat(), stdin)
}

fn isaforge_in(folder: &Path, arguments: &[&str], stdin: &[u8]) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_isaforge"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut pipe = child.stdin.take().expect("stdin is piped");
    let content = stdin.to_owned();
    // A command that does not read its input closes the pipe.
    let writer = std::thread::spawn(move || drop(pipe.write_all(&content)));
    let output = child.wait_with_output().expect("the command ends");
    writer.join().expect("the writer ends");
    Run {
        status: output.status.code().expect("the command was not killed"),
        out: output.stdout,
        err: String::from_utf8(output.stderr).expect("messages are text"),
    }
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn text_of(name: &str) -> String {
    fs::read_to_string(data(name)).expect("the test data is there")
}

/// The words and texts of words.tsv.
fn words_and_texts() -> Vec<(String, String)> {
    let text = text_of("words.tsv");
    let rows = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'));
    let rows: Vec<_> = rows.map(|(word, text)| (word.to_owned(), text.to_owned())).collect();
    assert!(rows.len() > 20);
    rows
}

fn lines<'a>(items: impl Iterator<Item = &'a String>) -> String {
    items.map(|item| format!("{item}\n")).collect()
}
