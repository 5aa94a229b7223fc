//! `isaforge corpus`: passes its arguments to `isaforge-corpus`, a separate command because it contains a query engine.

use std::env;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use crate::args::parser;
use crate::failure::{Failure, Status};
use crate::output;

/// The name of the command.
const NAME: &str = "isaforge-corpus";

/// Runs `corpus`.
///
/// # Errors
/// When `isaforge-corpus` is not installed or cannot be started.
pub fn corpus(arguments: &[OsString]) -> Result<Status, Failure> {
    let Some(program) = installed() else {
        if arguments.first().is_some_and(|first| first == "--help" || first == "-h") {
            return help();
        }
        let help = "`cargo install --path corpus` in the project's folder installs it; `--features cluster` adds scheduler and executors";
        return Err(Failure::usage(format!("`{NAME}` is not installed"), help));
    };
    let ended = Command::new(&program).args(arguments).status().map_err(Failure::reading(&program))?;
    // A command that was killed by a signal has no exit status.
    Ok(Status::Program(ended.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)))
}

/// Prints what `isaforge help corpus` prints.
fn help() -> Result<Status, Failure> {
    if let Err(shown) = parser::command_line(false).try_get_matches_from(["isaforge", "help", "corpus"]) {
        output::stdout().write_all(shown.render().ansi().to_string().as_bytes())?;
    }
    Ok(Status::Fine)
}

/// The path of the command: next to this executable, or in `PATH`.
fn installed() -> Option<PathBuf> {
    let beside = env::current_exe().ok().and_then(|own| Some(own.parent()?.to_owned()));
    let paths = env::var_os("PATH").unwrap_or_default();
    let name = format!("{NAME}{}", env::consts::EXE_SUFFIX);
    beside.into_iter().chain(env::split_paths(&paths)).map(|folder| folder.join(&name)).find(|path| path.is_file())
}
