//! Shell completion and man pages.
//!
//! The scripts of `isaforge completions` call the command itself for candidates, so that it can propose the
//! instructions of the set named before the cursor, whether built in or a specification.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory;
use clap_complete::env::{CompleteEnv, Shells};

use crate::args::{Cli, Shell, parser};
use crate::failure::Failure;

/// The environment variable that requests completion and names the shell.
const ASKED: &str = "ISAFORGE_COMPLETE";

/// Answers a completion request of a shell. Returns `false` if there is none.
pub fn answered() -> bool {
    let with_spec = || parser::names_specification(&std::env::args_os().skip(2).collect::<Vec<OsString>>());
    let asked = CompleteEnv::with_factory(|| parser::command_line(with_spec())).var(ASKED);
    asked.try_complete(std::env::args_os(), std::env::current_dir().ok().as_deref()).unwrap_or(true)
}

/// Prints the completion script for a shell.
///
/// # Errors
/// When the script cannot be written.
pub fn script(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    if let Some(shell) = Shells::builtins().completer(shell.name()) {
        shell.write_registration(ASKED, "isaforge", "isaforge", "isaforge", &mut script)?;
    }
    Ok(io::stdout().write_all(&script)?)
}

/// Writes a man page for each command to a folder.
///
/// # Errors
/// When a page cannot be written.
pub fn pages(folder: &Path) -> Result<(), Failure> {
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
    written.map_err(Failure::writing(folder))
}
