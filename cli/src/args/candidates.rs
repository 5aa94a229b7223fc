//! The candidates that shells offer for arguments: what the set named before the cursor defines, whether it is built in
//! or a specification.

use std::ffi::OsStr;
use std::path::Path;

use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};
use isaforge_compiler::compile;
use isaforge_core::Tables;
use isaforge_core::semantics::facts::FidelityClass;

use crate::specification::settings;
use crate::{builtin, names};

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
    Some(compile(&settings(Path::new(spec)).ok()?).ok()?.lowered.tables())
}

/// The candidates that start with `current` in any case, each with its description.
fn starting(current: &OsStr, names: Vec<(String, &'static str)>) -> Vec<CompletionCandidate> {
    let Some(current) = current.to_str().map(str::to_lowercase) else { return Vec::new() };
    let found = names.into_iter().filter(|(name, _)| name.to_lowercase().starts_with(&current));
    found.map(|(name, title)| CompletionCandidate::new(name).help((!title.is_empty()).then(|| title.into()))).collect()
}

fn named(tables: Tables) -> Vec<(String, &'static str)> {
    names::instructions(tables).into_iter().map(|(name, title)| (name.to_owned(), title)).collect()
}

/// The instructions whose names start with `current`, of the set that the command line names.
pub fn instructions(current: &OsStr) -> Vec<CompletionCandidate> {
    starting(current, tables(&words()).map(named).unwrap_or_default())
}

/// The built-in sets, and files.
pub fn sets_and_files(current: &OsStr) -> Vec<CompletionCandidate> {
    let names = builtin::ALL.iter().map(|found| (found.name.to_owned(), found.description)).collect();
    let mut all = starting(current, names);
    all.extend(PathCompleter::any().complete(current));
    all
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
    if let Some(fields) = before.iter().skip(2).find_map(|word| names::field_names(tables, word)) {
        return starting(current, fields.into_iter().map(|name| (name, "field")).collect());
    }
    let mut names = named(tables);
    names.extend(names::enums(tables).iter().map(|found| (found.name.to_owned(), found.doc)));
    starting(current, names)
}
