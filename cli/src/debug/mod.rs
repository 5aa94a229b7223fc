//! `isaforge debug`: debugs the program of a launch file in a terminal, by a script, or from an editor.
//!
//! The debugger itself is the crate `isaforge-debugger`. This module builds its machines from launch files and connects
//! its front ends to the terminal and the standard streams.

mod races;

pub use races::races;

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal};
use std::path::Path;

use isaforge_debugger::{Session, dap, script, terminal};

use crate::args::DebugArgs;
use crate::failure::{Failure, Status};
use crate::input::{head, is_standard};
use crate::output::{failed, plain_stdout, say};
use crate::paint::{ERROR, paint};
use crate::run::open::open;
use crate::run::user_defined::elf;

/// Runs `debug`.
///
/// # Errors
/// When a file cannot be read, or there is neither a terminal nor a script.
pub fn debug(args: &DebugArgs) -> Result<Status, Failure> {
    let spec = args.spec.as_deref().map(|spec| (spec, args.generation.as_deref()));
    if args.dap {
        if [&args.launch, &args.spec].into_iter().flatten().any(|path| is_standard(path)) {
            let help = "name the file: standard input carries the editor's requests";
            return Err(Failure::usage("`--dap` and `-` cannot both be standard input", help));
        }
        return serve(args.launch.as_deref(), spec);
    }
    let Some(launch) = &args.launch else { return Ok(Status::Mistakes) };
    // A terminal without a cursor cannot show what a debugger draws.
    let is_dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
    if args.commands.is_none() && (is_dumb || !(io::stdout().is_terminal() && io::stdin().is_terminal())) {
        let help = "`--commands FILE` takes commands from a file, `--commands -` from standard input";
        return Err(Failure::usage("there is no terminal to debug in", help));
    }
    let Some(opened) = open(launch, spec)? else { return Ok(Status::Mistakes) };
    let watched = opened.watched(launch)?;
    let mut session = Session::new(&*watched.machine, watched.listing());
    let cannot = |reason: String| {
        failed(launch, reason);
        Failure::usage("the program could not be started", "")
    };
    let Some(commands) = &args.commands else {
        let failed = terminal::run(&mut session)?.map_err(cannot)?;
        return Ok(Status::mistakes_if(failed));
    };
    let mut input: Box<dyn BufRead> = match commands.to_str() {
        Some("-") => Box::new(io::stdin().lock()),
        _ => Box::new(BufReader::new(File::open(commands).map_err(Failure::reading(commands))?)),
    };
    let name = if commands.as_os_str() == "-" { "<stdin>".to_owned() } else { commands.display().to_string() };
    let mut out = BufWriter::new(plain_stdout());
    let mut complain =
        |line: usize, message: &str| say(&format!("{name}:{line}: {}: {message}", paint(ERROR, "error")));
    let done = script::run(&mut session, &mut *input, &mut out, &mut complain).map_err(cannot)?;
    match (done.unread, done.error) {
        (Some(error), _) => Err(Failure::reading(commands)(error)),
        (None, Some(error)) => Err(error.into()),
        (None, None) => Ok(Status::mistakes_if(done.mistakes > 0 || done.failed)),
    }
}

fn is_elf(path: &Path) -> bool {
    head(path, 4).is_ok_and(|head| elf::matches(&head))
}

/// Serves an editor over the Debug Adapter Protocol.
fn serve(launch: Option<&Path>, spec: Option<(&Path, Option<&str>)>) -> Result<Status, Failure> {
    let mut open = |wanted: &dap::Wanted| {
        let given = wanted.program.as_deref().or(launch).ok_or("the launch request has no `program`")?;
        let own = wanted.spec.as_deref().map(|spec| (spec, wanted.generation.as_deref()));
        let opened = open(given, own.or(spec));
        match opened.and_then(|opened| opened.map(|opened| opened.watched(given)).transpose()) {
            Ok(Some(watched)) => Ok((watched.listing(), watched.machine)),
            Ok(None) => Err(format!("`{}` has mistakes; they are on standard error", given.display())),
            Err(Failure::Usage { message, .. }) if is_elf(given) => {
                Err(format!("{message}; add `spec`, the specification of its instruction set"))
            }
            Err(Failure::Usage { message, help }) if !help.is_empty() => Err(format!("{message}; {help}")),
            Err(failure) => Err(failure.to_string()),
        }
    };
    let complain = |text: &str| say(&format!("isaforge debug: {text}"));
    match dap::serve(&mut open, complain) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            say(&format!("isaforge debug: the editor violates the protocol: {error}"));
            Ok(Status::Mistakes)
        }
        ended => Ok(ended.map(|()| Status::Fine)?),
    }
}
