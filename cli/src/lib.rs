//! The `isaforge` command as a library, so that tests and other tools can call what the command line calls.
//!
//! [`args`] defines the command line; every other module implements one command or serves several. No opcode or bit
//! position appears here: everything works on the tables of the instruction sets in [`builtin`].
//!
//! [`json`] and the schemas next to it define the output for other programs.
//!
//! Results go to standard output, messages to standard error. The exit status is 0 on success, 1 when the input has
//! errors, and 2 when the command was misused or a file could not be read or written.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::FromArgMatches;

pub mod args;
pub mod asm;
pub mod builtin;
pub mod check;
pub mod code;
mod completion;
pub mod conform;
mod corpus;
pub mod debug;
pub mod demo;
pub mod diff;
pub mod dis;
mod example;
pub mod explain;
pub mod explain_code;
pub mod failure;
pub mod fidelity;
pub mod generate;
mod grammar;
mod graph;
pub mod groups;
pub mod help;
pub mod input;
pub mod json;
mod labels;
pub mod lint;
pub mod list;
mod lsp;
pub mod manual;
pub mod mistakes;
mod names;
mod numbers;
pub mod order;
pub mod output;
pub mod paint;
pub mod picture;
pub mod program;
pub mod rows;
pub mod run;
pub mod snippet;
pub mod specification;
pub mod streams;
pub mod target;
pub mod translate;
mod watch;
pub mod words;

use args::{Cli, Color, Command, parser};
use failure::{Failure, Status};

/// Runs the command with the arguments of this process.
pub fn main() -> ExitCode {
    if completion::answered() {
        return ExitCode::SUCCESS;
    }
    ExitCode::from(run_command(std::env::args_os()))
}

/// Runs the command with these arguments; the first is the program's name. Returns the exit status.
pub fn run_command(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    // `help` is a command of the parser, which has no help of its own.
    let asks = |argument: &OsString| argument == "--help" || argument == "-h";
    if arguments.get(1).is_some_and(|first| first == "help") && arguments.last().is_some_and(asks) {
        arguments.pop();
    }
    let with_spec = parser::names_specification(&arguments);
    let mut command = parser::command_line(with_spec);
    if !with_spec && parser::asks_for_schema(&arguments) {
        command = parser::without_set(command);
    }
    let parsed = command.try_get_matches_from_mut(&arguments).and_then(|matches| {
        input::read_once(&command, &matches)?;
        Cli::from_arg_matches(&matches)
    });
    let ended = parsed.map_or_else(
        |error| answer(&parser::with_tip(error, &arguments)),
        |cli| {
            match cli.color {
                Color::Auto => {}
                Color::Always => anstream::ColorChoice::Always.write_global(),
                Color::Never => anstream::ColorChoice::Never.write_global(),
            }
            dispatch(&cli.command)
        },
    );
    // Standard output may still hold the rest of a line; when the process ends, nobody sees that it cannot be written.
    status(ended.and_then(|status| Ok(io::stdout().flush().map(|()| status)?)))
}

/// Prints what the parser of the command line answers itself: help, the version, or how the command was misused.
fn answer(error: &clap::Error) -> Result<Status, Failure> {
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        // If it cannot be written, there is nowhere to say so.
        let _ = output::stderr().write_all(text.as_bytes());
        return Ok(Status::Program(2));
    }
    output::stdout().write_all(text.as_bytes())?;
    Ok(Status::Fine)
}

/// The exit status of a command. A failure is reported, unless it is a closed pipe.
fn status(ended: Result<Status, Failure>) -> u8 {
    match ended {
        Ok(Status::Fine) => 0,
        Ok(Status::Mistakes) => 1,
        Ok(Status::Program(status)) => status,
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(failure) => {
            output::complain(&failure);
            if matches!(failure, Failure::Late { .. }) { 1 } else { 2 }
        }
    }
}

fn dispatch(command: &Command) -> Result<Status, Failure> {
    match command {
        Command::Isas(args) => list_isas(args),
        Command::Dis(args) => dis::dis(args),
        Command::Asm(args) => asm::asm(args),
        Command::List(args) => list::list(args),
        Command::Explain(args) => explain::explain(args),
        Command::Grammar(args) => grammar::grammar(args),
        Command::Graph(args) => graph::graph(args),
        Command::Lint(args) => lint::lint(args),
        Command::Lsp { .. } => lsp::lsp(),
        Command::Check(args) => check::check(args),
        Command::Gen(args) => generate::generate(args),
        Command::Diff(args) => diff::diff(args),
        Command::Manual(args) => manual::manual(args),
        Command::Translate(args) => translate::translate(args),
        Command::Conform(args) => conform::conform(args),
        Command::Run(args) => run::run(args),
        Command::Debug(args) => debug::debug(args),
        Command::Fidelity(args) => fidelity::fidelity(args),
        Command::Corpus { arguments } => corpus::corpus(arguments),
        Command::Demo(args) => demo::demo(args),
        Command::Completions { shell } => completion::script(*shell).map(|()| Status::Fine),
        Command::Man { folder } => completion::pages(folder).map(|()| Status::Fine),
    }
}

fn list_isas(args: &args::IsasArgs) -> Result<Status, Failure> {
    if args.json_schema {
        return json::schema(json::SET);
    }
    let mut out = output::plain_stdout();
    if args.json {
        for found in builtin::ALL {
            writeln!(out, "{}", json::set(found))?;
        }
        return Ok(Status::Fine);
    }
    let longest = builtin::ALL.iter().map(|found| found.name.len()).max().unwrap_or(0);
    for found in builtin::ALL {
        writeln!(out, "{:longest$}  {}", found.name, found.description)?;
    }
    Ok(Status::Fine)
}
