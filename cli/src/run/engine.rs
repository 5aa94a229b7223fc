//! Which engine executes a program, until when, and what all engines make of it.

use std::io::{self, Write};
use std::path::Path;

use crate::args::{EngineArgs, RunArgs};
use crate::failure::{Failure, Status};
use crate::machine::{Deadline, Engine, Execution, Job, Machine, Regions, needs_reference};
use crate::output::{say, thousands};
use crate::paint::{ERROR, HELP, paint};

/// The engine that is asked for, if one is.
///
/// # Errors
/// When this processor does not have it, or when it cannot be looked on at.
pub fn asked(args: &RunArgs) -> Result<Option<Execution>, Failure> {
    let EngineArgs { engine, level, unchecked, .. } = args.engine;
    if engine.is_none() && level.is_none() {
        return Ok(unchecked.then(|| Execution::best().unchecked()));
    }
    let execution = Execution::with(engine, level);
    let execution =
        execution.map_err(|error| Failure::usage(error.to_string(), "leave out `--engine` or `--level`"))?;
    let execution = if unchecked { execution.unchecked() } else { execution };
    if (args.watch.looks() || args.json) && execution.engine() != Engine::Reference {
        let message = format!("nobody can look on while {execution} executes a program");
        return Err(Failure::usage(message, "traces, breakpoints and counts by place go with `--engine reference`"));
    }
    Ok(Some(execution))
}

/// Until when a program may run that starts now.
pub fn deadline(args: &RunArgs) -> Deadline {
    args.time_limit.map_or(Deadline::NONE, Deadline::after)
}

/// Says of a program that there is no choice of engines for it, if one is asked for.
pub fn only_one(args: &RunArgs, what: &str, which: &str) {
    let EngineArgs { engine, level, compare, .. } = args.engine;
    if compare || engine.is_some() || level.is_some() {
        say(&format!("{}: {what} run on {which} alone: there is nothing to choose or to compare", paint(HELP, "note")));
    }
}

/// Prints the machine code of a program, if that is asked for.
///
/// # Errors
/// When standard output cannot be written to.
pub fn print_listing(args: &RunArgs, listing: &str) -> Result<(), Failure> {
    if args.dump_jit && listing.is_empty() {
        say(&format!("{}: nothing of this program became machine code", paint(HELP, "note")));
    }
    Ok(io::stdout().lock().write_all(listing.as_bytes())?)
}

/// Runs a job on all engines and says whether they agree.
///
/// # Errors
/// When standard output cannot be written to.
pub fn compare(args: &RunArgs, machine: &Machine, job: &Job<'_>, memory: &mut Regions) -> Result<Status, Failure> {
    if needs_reference(job.resources) {
        only_one(args, "programs with textures, images or uniform buffers", "the reference");
        return Ok(Status::Fine);
    }
    let agreed = (machine.compare)(job, memory);
    report(
        &args.launch,
        args.quiet,
        &engines(),
        agreed.map(|ended| ended.map(|count| format!("{} instructions", thousands(count)))),
    )
}

/// The engines of this processor, by name.
pub fn engines() -> Vec<String> {
    Execution::available().iter().map(ToString::to_string).collect()
}

/// Says whether engines agree: how the run ended on all of them, or the first difference.
///
/// # Errors
/// When standard output cannot be written to.
pub fn report(
    launch: &Path,
    quiet: bool,
    engines: &[String],
    agreed: Result<Result<String, String>, String>,
) -> Result<Status, Failure> {
    let mut out = io::stdout().lock();
    match agreed {
        Ok(Ok(executed)) => {
            if !quiet {
                writeln!(out, "the same, {executed}: {}", engines.join("; "))?;
            }
            Ok(Status::Fine)
        }
        Ok(Err(reason)) => {
            say(&format!("{}: {} on every engine: {reason}", launch.display(), paint(ERROR, "the program failed")));
            Ok(Status::Mistakes)
        }
        Err(difference) => {
            writeln!(out, "{difference}")?;
            Ok(Status::Mistakes)
        }
    }
}
