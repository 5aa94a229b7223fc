//! The parser of the command line, and what the arguments say before they are parsed.

use std::ffi::OsString;

use clap::CommandFactory;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};

use super::Cli;

/// Whether the arguments name a specification in place of a built-in set.
pub fn names_specification(arguments: &[OsString]) -> bool {
    let named = |argument: &OsString| argument == "--spec" || argument.as_encoded_bytes().starts_with(b"--spec=");
    arguments.iter().take_while(|argument| *argument != "--").any(named)
}

/// The command-line parser, for arguments that name a specification or that do not.
///
/// With `--spec` there is no ISA argument, and the positional arguments after it move up.
pub fn command_line(with_spec: bool) -> clap::Command {
    let command = Cli::command();
    if !with_spec {
        return command;
    }
    // A hidden option does not take a position among the arguments.
    let without_isa = |command: clap::Command| {
        command.mut_arg("isa", |isa| isa.required(false).long("no-instruction-set").hide(true).conflicts_with("spec"))
    };
    ["dis", "asm", "explain", "list", "graph", "grammar", "lint", "fidelity", "conform"]
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, without_isa))
}

/// Makes the instruction set optional in commands that were asked for the schema of their output, which is the same for
/// all sets.
pub fn without_set(command: clap::Command) -> clap::Command {
    let optional = |mut command: clap::Command| {
        let names: Vec<clap::Id> = command.get_positionals().map(|argument| argument.get_id().clone()).collect();
        for (name, place) in names.into_iter().zip(1..) {
            command = command.mut_arg(name, |argument| argument.required(false).index(place));
        }
        command
    };
    ["dis", "asm", "explain", "list", "lint", "fidelity", "conform"]
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, optional))
}

/// Whether the arguments ask for the schema of a command's output.
pub fn asks_for_schema(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json-schema")
}

/// The commands that take specifications as arguments, without `--spec`.
const BY_PATH: [&str; 5] = ["check", "gen", "diff", "manual", "translate"];

/// Says how to name a specification where clap would propose to pass `--spec` as a value.
pub fn with_tip(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let refused = matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(name)) if name == "--spec");
    if refused && arguments.iter().any(|argument| BY_PATH.iter().any(|name| argument == name)) {
        let tip = StyledStr::from("leave out '--spec': the path of the specification is the argument itself");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}
