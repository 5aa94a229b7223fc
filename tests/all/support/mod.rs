//! Crates of others: how the tests build and run them.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The root of the workspace.
pub const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Cargo in a folder. All crates share the target folder of trybuild, so that the compiler is compiled once.
pub fn cargo(folder: &Path, arguments: &[&str]) -> Command {
    // The versions that the workspace was tested with; Cargo leaves out what the crate does not need.
    let lock = folder.join("Cargo.lock");
    fs::copy(Path::new(ROOT).join("Cargo.lock"), &lock).unwrap_or_else(|error| panic!("{}: {error}", lock.display()));
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(folder);
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tests").join("trybuild"));
    command.env("CARGO_TERM_COLOR", "never").env("RUST_BACKTRACE", "0");
    command.env_remove("RUSTFLAGS").env_remove("ISAFORGE_EXPAND_DIR");
    command
}

/// What a command printed, output and errors together.
pub fn printed(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Runs a command that must succeed; returns what it printed.
#[track_caller]
pub fn succeeds(mut command: Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = printed(&output);
    assert!(output.status.success(), "{command:?} fails:\n{text}");
    text
}

/// Runs a command that must fail; returns what it printed.
#[track_caller]
pub fn fails(mut command: Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = printed(&output);
    assert!(!output.status.success(), "{command:?} succeeds:\n{text}");
    text
}

/// A crate that depends on isaforge and exists for one test.
pub struct Temporary {
    folder: tempfile::TempDir,
}

impl Temporary {
    /// A crate called `name` with these files. Its manifest is made; `more` is added to it.
    pub fn new(name: &str, more: &str, files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the folder for tests can be written");
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\nisaforge = {{ path = {ROOT:?} }}\n{more}"
        );
        let krate = Temporary { folder };
        krate.write("Cargo.toml", &manifest);
        files.iter().for_each(|(path, text)| krate.write(path, text));
        krate
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// Writes one of its files.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("the folder can be made");
        fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// Cargo in its folder.
    pub fn cargo(&self, arguments: &[&str]) -> Command {
        cargo(self.folder.path(), arguments)
    }
}
