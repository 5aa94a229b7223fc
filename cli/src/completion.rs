//! Shell completion and man pages.
//!
//! The scripts of `isaforge completions` call the command itself for candidates, so that it can propose the
//! instructions of the set named before the cursor, whether built in or a specification.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory;
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::{CompleteEnv, Shells};
use isaforge_compiler::compile;

use crate::args::{Cli, Shell};
use crate::failure::Failure;
use crate::{builtin, check, list, target};

/// The environment variable that requests completion and names the shell.
const ASKED: &str = "ISAFORGE_COMPLETE";

/// Answers a completion request of a shell. Returns `false` if there is none.
pub fn answered() -> bool {
    let with_spec = || target::names_specification(&std::env::args_os().skip(2).collect::<Vec<OsString>>());
    let asked = CompleteEnv::with_factory(|| target::command_line(with_spec())).var(ASKED);
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

/// The instructions whose names start with `current`, of the set that the command line names.
pub fn instructions(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(current) = current.to_str().map(str::to_lowercase) else { return Vec::new() };
    // The words before `--` belong to the shell's request.
    let words: Vec<String> = std::env::args().skip_while(|word| word != "--").skip(1).collect();
    let known = words.iter().find_map(|word| builtin::find(word)).map(|found| found.tables);
    let tables = known.or_else(|| {
        // Standard input is not available to a completion request.
        let spec = words.iter().skip_while(|word| *word != "--spec").nth(1).filter(|spec| *spec != "-")?;
        Some(compile(&check::settings(Path::new(spec)).ok()?).ok()?.lowered.tables())
    });
    let names = tables.map(list::names).unwrap_or_default().into_iter();
    let found = names.filter(|(name, _)| name.to_lowercase().starts_with(&current));
    found.map(|(name, title)| CompletionCandidate::new(name).help((!title.is_empty()).then(|| title.into()))).collect()
}
