//! Completion in a shell, and pages for `man`.
//!
//! The scripts of `isaforge completions` ask the command itself what could stand at the cursor, so that it can answer with the
//! instructions of the set that is named before it, be it built in or a specification.

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

/// Says that a shell asks, and which.
const ASKED: &str = "ISAFORGE_COMPLETE";

/// Answers a shell that asks what could stand at the cursor. Returns `false` if none asks.
pub fn answered() -> bool {
    let with_spec = || target::names_specification(&std::env::args_os().skip(2).collect::<Vec<OsString>>());
    let asked = CompleteEnv::with_factory(|| target::command_line(with_spec())).var(ASKED);
    asked.try_complete(std::env::args_os(), std::env::current_dir().ok().as_deref()).unwrap_or(true)
}

/// Prints the script that lets a shell ask.
///
/// # Errors
/// When it cannot be printed.
pub fn script(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    if let Some(shell) = Shells::builtins().completer(shell.name()) {
        shell.write_registration(ASKED, "isaforge", "isaforge", "isaforge", &mut script)?;
    }
    Ok(io::stdout().write_all(&script)?)
}

/// Writes a page for `man` of each command to a folder.
///
/// # Errors
/// When one cannot be written.
pub fn pages(folder: &Path) -> Result<(), Failure> {
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
    written.map_err(Failure::writing(folder))
}

/// The instructions whose name begins so, of the set that the command line names.
pub fn instructions(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(current) = current.to_str().map(str::to_lowercase) else { return Vec::new() };
    // What stands before `--` is how the shell asks.
    let words: Vec<String> = std::env::args().skip_while(|word| word != "--").skip(1).collect();
    let known = words.iter().find_map(|word| builtin::find(word)).map(|found| found.tables);
    let tables = known.or_else(|| {
        // What is piped in is not for the shell that asks.
        let spec = words.iter().skip_while(|word| *word != "--spec").nth(1).filter(|spec| *spec != "-")?;
        Some(compile(&check::settings(Path::new(spec)).ok()?).ok()?.lowered.tables())
    });
    let names = tables.map(list::names).unwrap_or_default().into_iter();
    let found = names.filter(|(name, _)| name.to_lowercase().starts_with(&current));
    found.map(|(name, title)| CompletionCandidate::new(name).help((!title.is_empty()).then(|| title.into()))).collect()
}
