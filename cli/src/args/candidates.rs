//! The candidates that shells offer for arguments: what the set named before the cursor defines, whether it is built in
//! or a specification.

use std::ffi::OsStr;

use clap_complete::engine::CompletionCandidate;
use isaforge_compiler::compile;
use isaforge_core::Tables;
use isaforge_core::semantics::facts::FidelityClass;

use crate::specification::settings;
use crate::{builtin, explain_code, names};

/// The words of the command line; those before `--` belong to the shell's request.
fn words() -> Vec<String> {
    std::env::args().skip_while(|word| word != "--").skip(1).collect()
}

/// The instruction set that the command line names.
fn tables(words: &[String]) -> Option<Tables> {
    let at = words.iter().position(|word| word == "--spec" || word.starts_with("--spec="));
    let Some(at) = at else { return words.iter().find_map(|word| builtin::find(word)).map(|found| found.tables) };
    let spec = words[at].strip_prefix("--spec=").or(words.get(at + 1).map(String::as_str))?;
    // Standard input is not available to a completion request.
    if spec == "-" {
        return None;
    }
    // The shell has not expanded what is still being typed.
    let path = match spec.strip_prefix("~/") {
        Some(rest) => std::env::home_dir()?.join(rest),
        None => spec.into(),
    };
    Some(compile(&settings(&path).ok()?).ok()?.lowered.tables())
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

/// The built-in sets.
pub fn sets(current: &OsStr) -> Vec<CompletionCandidate> {
    starting(current, builtin::ALL.iter().map(|found| (found.name.to_owned(), found.description)).collect())
}

/// The codes of errors, warnings and findings.
pub fn codes(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut names = vec![("list".to_owned(), "all codes")];
    names.extend(explain_code::all().map(|page| (page.code.to_owned(), page.title)));
    starting(current, names)
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
