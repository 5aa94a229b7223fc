//! Selection of the engine, time limits, and comparison of all engines.

use std::io::Write;
use std::num::NonZero;
use std::path::Path;

use isaforge_runtime::observe::Profile;
use isaforge_runtime::{Deadline, Engine, Execution};

use super::launched::{Agreed, Compared};
use crate::args::RunArgs;
use crate::failure::{Failure, Status};
use crate::output::{plain_stdout, say};
use crate::paint::{ERROR, HELP, paint};

/// The selected engine, or else the fastest.
///
/// # Errors
/// When this processor does not support it.
pub fn selected(args: &RunArgs) -> Result<Execution, Failure> {
    let execution = args.engine.choice.execution()?.unwrap_or_else(Execution::best);
    Ok(if args.engine.unchecked { execution.unchecked() } else { execution })
}

/// The selected engine, or else the fastest, for a run that may be observed.
///
/// # Errors
/// When this processor does not support it, or when it cannot be observed.
pub fn asked(args: &RunArgs) -> Result<Execution, Failure> {
    let execution = selected(args)?;
    let observes = args.watch.looks() || args.json;
    if observes && args.engine.choice.is_strict() && execution.engine() != Engine::Reference {
        let message = format!("programs cannot be observed on {execution}");
        return Err(Failure::usage(message, "traces, breakpoints and counts by place need `--engine reference`"));
    }
    Ok(execution)
}

/// The engine for a run that may be observed, and the number of host threads.
///
/// # Errors
/// Those of [`asked`], and when the engine cannot run on several threads.
pub fn with_threads(args: &RunArgs) -> Result<(Execution, NonZero<usize>), Failure> {
    let (execution, threads) = (asked(args)?, args.engine.host_threads);
    if threads.get() > 1 && execution.engine() == Engine::Reference {
        let help = "leave out `--threads`, or select `handlers` or `compiled`";
        return Err(Failure::usage("the engine `reference` runs on one thread", help));
    }
    Ok((execution, threads))
}

/// Runs a program on an engine. With `counted`, the reference runs it first, which counts what it executes; another
/// engine then starts from the same state, so that the results are its own.
pub fn run_counted<S: Clone, T>(
    state: &mut S,
    execution: Execution,
    counted: Option<impl FnOnce(&mut S) -> (T, Option<Profile>)>,
    run: impl FnOnce(&mut S) -> T,
) -> (T, Option<Profile>) {
    let Some(counted) = counted else { return (run(state), None) };
    let before = (execution.engine() != Engine::Reference).then(|| state.clone());
    let (ended, profile) = counted(state);
    let Some(before) = before else { return (ended, profile) };
    *state = before;
    (run(state), profile)
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
    let mut ends = Ends::new(ended(&reference));
    for execution in others() {
        let run = by(execution)?;
        if let Some(what) = difference(&run, &reference) {
            return Ok(Some(Compared::new(Agreed::Differs(format!("{execution} differs: {what}")))));
        }
        if let Err(reason) = ended(&run) {
            ends.failed(execution, &reason);
        }
    }
    // Only those that are out of budget may end differently without a difference.
    Ok(Some(Compared::new(ends.agreed(true))))
}

/// How the runs of a comparison have ended, if engines may fail at different places.
pub struct Ends {
    reference: Result<String, String>,
    /// The reasons of failures, each with the engines that it ended.
    reasons: Vec<(String, Vec<String>)>,
}

impl Ends {
    /// Begins with the end of the reference.
    pub fn new(reference: Result<String, String>) -> Self {
        let failed = |reason: &String| (reason.clone(), vec![Execution::reference().to_string()]);
        let reasons = reference.as_ref().err().map(failed);
        Ends { reference, reasons: reasons.into_iter().collect() }
    }

    /// Adds the failure of an engine.
    pub fn failed(&mut self, execution: Execution, reason: &str) {
        let name = execution.to_string();
        match self.reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, engines)) if engines.contains(&name) => {}
            Some((_, engines)) => engines.push(name),
            None => self.reasons.push((reason.to_owned(), vec![name])),
        }
    }

    /// What they agree on; `all_spent` says whether all of several reasons are that the budget is used up.
    pub fn agreed(self, all_spent: bool) -> Agreed {
        match self.reference {
            _ if self.reasons.len() > 1 => Agreed::CutOff { all_spent, reasons: self.reasons },
            Ok(executed) => Agreed::Ran(executed),
            Err(reason) => Agreed::Failed(reason),
        }
    }
}

/// The failure of a comparison that the time limit ended.
pub fn late(reason: &str) -> Failure {
    let help = "a longer `--time-limit`, or a smaller launch".to_owned();
    Failure::Late { message: format!("nothing can be compared: {reason}"), help }
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
    let failed = |what: &str| say(&format!("{}: {}{what}", launch.display(), paint(ERROR, "the program failed")));
    match &compared.agreed {
        Agreed::Ran(executed) => {
            if !quiet {
                writeln!(out, "the same, {executed}: {}", compared.engines.join("; "))?;
            }
            return Ok(Status::Fine);
        }
        Agreed::Failed(reason) => failed(&format!(" on every engine: {reason}")),
        Agreed::CutOff { all_spent, reasons } => {
            let what = match all_spent {
                true => ": every engine ran out of the budget, at different places",
                false => ": some engines ran out of the budget before they came to the failure of the others",
            };
            failed(&format!("{what}. Engines spend it on threads in different orders"));
            reasons.iter().for_each(|(reason, engines)| say(&format!("  {}: {reason}", engines.join("; "))));
        }
        Agreed::Differs(difference) => writeln!(out, "{difference}")?,
    }
    Ok(Status::Mistakes)
}
