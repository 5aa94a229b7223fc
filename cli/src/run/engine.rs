//! Selection of the engine, time limits, and comparison of all engines.

use std::io::Write;
use std::path::Path;

use isaforge_runtime::{Deadline, Engine, Execution};

use super::launched::Compared;
use crate::args::{EngineArgs, RunArgs};
use crate::failure::{Failure, Status};
use crate::output::{plain_stdout, say};
use crate::paint::{ERROR, HELP, paint};

/// The selected engine, if any.
///
/// # Errors
/// When this processor does not support it.
pub fn selected(args: &RunArgs) -> Result<Option<Execution>, Failure> {
    let EngineArgs { engine, level, unchecked, .. } = args.engine;
    if engine.is_none() && level.is_none() {
        return Ok(unchecked.then(|| Execution::best().unchecked()));
    }
    let execution = Execution::with(engine, level);
    let execution =
        execution.map_err(|error| Failure::usage(error.to_string(), "leave out `--engine` or `--level`"))?;
    Ok(Some(if unchecked { execution.unchecked() } else { execution }))
}

/// The selected engine, if any, for a run that may be observed.
///
/// # Errors
/// When this processor does not support it, or when it cannot be observed.
pub fn asked(args: &RunArgs) -> Result<Option<Execution>, Failure> {
    let (selected, EngineArgs { engine, level, .. }) = (selected(args)?, &args.engine);
    if let Some(execution) = selected.filter(|_| engine.is_some() || level.is_some())
        && (args.watch.looks() || args.json)
        && execution.engine() != Engine::Reference
    {
        let message = format!("programs cannot be observed on {execution}");
        return Err(Failure::usage(message, "traces, breakpoints and counts by place need `--engine reference`"));
    }
    Ok(selected)
}

/// The deadline of a program that starts now.
pub fn deadline(args: &RunArgs) -> Deadline {
    args.time_limit.map_or(Deadline::NONE, Deadline::after)
}

/// Runs the reference and the other engines, each with the time that `args` allow, and compares what they leave.
///
/// `ended` says what a run executed, or why it failed; `difference` finds the first difference of a run from the
/// reference.
///
/// # Errors
/// Those of `run`, and when the time limit ends a run: where that happens is no property of the engine.
pub fn compare<T>(
    args: &RunArgs,
    run: impl Fn(Execution, Deadline) -> Result<T, Failure>,
    ended: impl Fn(&T) -> Result<String, String>,
    difference: impl Fn(&T, &T) -> Option<String>,
) -> Result<Option<Compared>, Failure> {
    let by = |execution: Execution| {
        let until = deadline(args);
        let left = run(execution, until)?;
        match ended(&left) {
            Err(reason) if until.passed().is_some() => Err(late(&reason)),
            _ => Ok(left),
        }
    };
    let reference = by(Execution::reference())?;
    let mut agreed = Ok(ended(&reference));
    for execution in others() {
        if let Some(what) = difference(&by(execution)?, &reference) {
            agreed = Err(format!("{execution} differs: {what}"));
            break;
        }
    }
    Ok(Some(Compared { engines: names(), agreed }))
}

/// The failure of a comparison that the time limit ended.
pub fn late(reason: &str) -> Failure {
    let help = "a longer `--time-limit`, or a smaller launch".to_owned();
    Failure::Late { message: format!("nothing can be compared: {reason}"), help }
}

/// Reports that this program has no choice of engines, if one was selected.
pub fn only_one(args: &RunArgs, what: &str, which: &str) {
    let EngineArgs { engine, level, compare, .. } = args.engine;
    if compare || engine.is_some() || level.is_some() {
        say(&format!("{}: {what} run on {which} alone: there is no engine to choose or compare", paint(HELP, "note")));
    }
}

/// Prints the machine code of a program, if requested.
///
/// # Errors
/// When standard output cannot be written.
pub fn print_listing(args: &RunArgs, listing: &str) -> Result<(), Failure> {
    if args.dump_jit && listing.is_empty() {
        say(&format!("{}: no part of this program was compiled to machine code", paint(HELP, "note")));
    }
    Ok(plain_stdout().write_all(listing.as_bytes())?)
}

/// The names of the engines that this processor supports.
pub fn names() -> Vec<String> {
    Execution::available().iter().map(ToString::to_string).collect()
}

/// The engines that are compared with the reference: compiled code is tested both with a delay and from the first
/// execution.
pub fn others() -> Vec<Execution> {
    let both = |execution: Execution| match execution.engine() {
        Engine::Reference => vec![],
        Engine::Handlers => vec![execution],
        Engine::Compiled => vec![execution, execution.eager()],
    };
    Execution::available().into_iter().flat_map(both).collect()
}

/// Reports whether the engines agree.
///
/// # Errors
/// When standard output cannot be written.
pub fn report(launch: &Path, quiet: bool, compared: &Compared) -> Result<Status, Failure> {
    let mut out = plain_stdout();
    match &compared.agreed {
        Ok(Ok(executed)) => {
            if !quiet {
                writeln!(out, "the same, {executed}: {}", compared.engines.join("; "))?;
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
