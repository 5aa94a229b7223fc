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
use isaforge_core::Tables;
use isaforge_core::semantics::facts::FidelityClass;

use crate::args::{Cli, Shell};
use crate::explain::enums;
use crate::explain::part::field_names;
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

/// The words of the command line; those before `--` belong to the shell's request.
fn words() -> Vec<String> {
    std::env::args().skip_while(|word| word != "--").skip(1).collect()
}

/// The instruction set that the command line names.
fn tables(words: &[String]) -> Option<Tables> {
    let at = words.iter().position(|word| word == "--spec" || word.starts_with("--spec="));
    let Some(at) = at else { return words.iter().find_map(|word| builtin::find(word)).map(|found| found.tables) };
    // Bash makes `=` a word of its own.
    let mut given = words[at].strip_prefix("--spec=").into_iter().chain(words[at + 1..].iter().map(String::as_str));
    let spec = given.find(|word| !matches!(*word, "" | "="))?;
    // Standard input is not available to a completion request.
    if spec == "-" {
        return None;
    }
    Some(compile(&check::settings(Path::new(spec)).ok()?).ok()?.lowered.tables())
}

/// The candidates that start with `current` in any case, each with its description.
fn starting(current: &OsStr, names: Vec<(String, &'static str)>) -> Vec<CompletionCandidate> {
    let Some(current) = current.to_str().map(str::to_lowercase) else { return Vec::new() };
    let found = names.into_iter().filter(|(name, _)| name.to_lowercase().starts_with(&current));
    found.map(|(name, title)| CompletionCandidate::new(name).help((!title.is_empty()).then(|| title.into()))).collect()
}

fn named(tables: Tables) -> Vec<(String, &'static str)> {
    list::names(tables).into_iter().map(|(name, title)| (name.to_owned(), title)).collect()
}

/// The instructions whose names start with `current`, of the set that the command line names.
pub fn instructions(current: &OsStr) -> Vec<CompletionCandidate> {
    starting(current, tables(&words()).map(named).unwrap_or_default())
}

/// The classes of accuracy and the instructions.
pub fn classified(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut names = tables(&words()).map(named).unwrap_or_default();
    names.extend(FidelityClass::ALL.map(|class| (class.name().to_owned(), "class of accuracy")));
    starting(current, names)
}

/// What `explain` takes: the fields of an instruction that the command line names, or else instructions and enums.
pub fn explainable(current: &OsStr) -> Vec<CompletionCandidate> {
    let words = words();
    let Some(tables) = tables(&words) else { return Vec::new() };
    // The last word is incomplete.
    let before = words.split_last().map_or(&[][..], |(_, before)| before);
    if let Some(fields) = before.iter().skip(2).find_map(|word| field_names(tables, word)) {
        return starting(current, fields.into_iter().map(|name| (name, "field")).collect());
    }
    let mut names = named(tables);
    names.extend(enums(tables).iter().map(|found| (found.name.to_owned(), found.doc)));
    starting(current, names)
}
