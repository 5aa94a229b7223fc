//! `isaforge run --init`: writes a launch file for a program, with all possible keys as comments.

use std::fmt::Write;
use std::path::Path;

use isaforge_compiler::keys::{KeyDoc, Vocabulary};
use isaforge_core::assembly::Assembly;
use isaforge_core::program::ProgramError;

use super::buffers::read_file;
use super::document::set_of;
use super::readers;
use super::user_defined::{self, elf};
use crate::builtin::{self, Builtin};
use crate::failure::{Failure, Status};
use crate::input::{Input, is_standard};
use crate::output::say;
use crate::program::load;

/// The maximum width of a comment line.
const WIDTH: usize = 100;

/// Writes a launch file next to a program. `spec` selects the instruction set of a specification and its generation.
///
/// # Errors
/// When the program cannot be read, no instruction set accepts it, or the launch file exists already.
pub fn init(program: &Path, spec: Option<(&Path, Option<&str>)>) -> Result<Status, Failure> {
    let name = program.display();
    if is_standard(program) {
        let help = "write the program to a file: `isaforge run --init program.s`";
        return Err(Failure::usage("a launch file names its program, and standard input has no name", help));
    }
    let (start, keys, by) = if let Some((spec, generation)) = spec {
        let Some((target, _)) = user_defined::set(spec, generation)? else { return Ok(Status::Mistakes) };
        if elf::matches(&read_file(program).map_err(Failure::reading(program))?) {
            let help = format!("`isaforge run --spec {} {name}`", spec.display());
            return Err(Failure::usage(format!("`{name}` is an ELF file, which runs as it is"), help));
        }
        if load(target.tables, Some(program), target.how())?.is_none_or(|code| code.cut) {
            return Ok(Status::Mistakes);
        }
        let generation = generation.map_or(String::new(), |generation| format!(" --generation {generation}"));
        (String::new(), user_defined::launch::OwnLaunch::keys(), format!(" --spec {}{generation}", spec.display()))
    } else {
        let input = Input::read(Some(program))?;
        let Some(isa) = set_of(input.body()) else {
            let nearest = std::str::from_utf8(input.body()).ok().and_then(nearest);
            let but = nearest.map_or(String::new(), |(isa, error)| {
                format!("; it could be one of {}, but for line {}: {}", isa.name, error.line, error.message)
            });
            let message = format!("`{name}` is not assembly of a built-in set{but}");
            return Err(Failure::usage(message, "`--spec SPEC` writes one for a program of another set"));
        };
        let (Some(start), Some(launches)) = (isa.launch, readers::of(isa)) else {
            let message = format!("programs of {} can be read and written, but not run", isa.name);
            return Err(Failure::usage(message, ""));
        };
        (format!("isa: {}\n{start}", isa.name), (launches.keys)(), String::new())
    };
    let launch = program.with_extension("yaml");
    if launch.exists() {
        return Err(Failure::usage(format!("`{}` exists already", launch.display()), "move it away first"));
    }
    let file = program.file_name().unwrap_or_default().to_string_lossy();
    std::fs::write(&launch, text(&start, &keys, &file)).map_err(Failure::writing(&launch))?;
    say(&format!("{}: fill in what the program needs, then `isaforge run{by} {}`", launch.display(), launch.display()));
    Ok(Status::Fine)
}

/// The instruction set that accepts most lines of a text, if any, and the first error.
fn nearest(text: &str) -> Option<(&'static Builtin, ProgramError)> {
    let read = builtin::ALL.iter().filter(|found| found.launch.is_some()).map(|found| {
        let Assembly { errors, placed, .. } = found.tables.assemble(text);
        (found, placed.len(), errors)
    });
    // Of several, the first is the most usual.
    let (found, right, errors) = read.rev().max_by_key(|(_, right, _)| *right)?;
    errors.into_iter().next().filter(|_| right > 0).map(|error| (found, error))
}

/// A launch file with the program and the keys of `start`; all other keys are comments.
fn text(start: &str, keys: &[KeyDoc], file: &str) -> String {
    // JSON strings are valid YAML whatever the file name contains.
    let file = serde_json::Value::from(file);
    let mut text =
        format!("{start}program: {{ file: {file} }}\n\n# Other keys (`isaforge run --help` has examples):\n");
    let is_said = |key: &KeyDoc| key.required || start.lines().any(|line| line.starts_with(&format!("{}:", key.name)));
    for key in keys.iter().filter(|key| !is_said(key)) {
        let mut line = format!("# {}:  #", key.name);
        for word in format!("{} ({})", key.doc, key.expected).split_whitespace() {
            if line.chars().count() + word.chars().count() >= WIDTH {
                // Writing to a string does not fail.
                let _ = writeln!(text, "{line}");
                line = "#     #".to_owned();
            }
            line.push(' ');
            line.push_str(word);
        }
        let _ = writeln!(text, "{line}");
    }
    text
}
