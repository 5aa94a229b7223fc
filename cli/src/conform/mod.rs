//! `isaforge conform`: replays recorded cases.
//!
//! A case is a row of a table, a run of a program, or a kernel, depending on the [`Format`]. The format is recognised
//! by the first case of a file, not by the file's name.

mod format;
pub mod judges;
mod programs;
mod rule;
mod text;

use std::fmt::Write as _;
use std::io::Write;

use isaforge_core::group::GroupIsa;
use isaforge_runtime::Execution;
use serde_json::json;

use crate::args::ConformArgs;
use crate::builtin::Tables;
use crate::code::listed;
use crate::failure::{Failure, Status};
use crate::groups::conform as groups;
use crate::input::Input;
use crate::json;
use crate::output::{complain, plain_stdout, progress, say};
use crate::rows;
use crate::target::Target;

pub use format::{Format, is_case, replayed};

/// The results of the cases of one or several files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of cases that passed.
    pub passed: u64,
    /// The number of cases that failed.
    pub failed: u64,
    /// The first failures, each with its location and reason.
    pub failures: Vec<String>,
}

impl Report {
    /// Counts a case. Keeps the reason of a failure unless `keep` are kept already.
    pub fn record(&mut self, place: &dyn std::fmt::Display, outcome: Result<(), String>, keep: usize) {
        match outcome {
            Ok(()) => self.passed += 1,
            Err(reason) => {
                self.failed += 1;
                if self.failures.len() < keep {
                    self.failures.push(format!("{place}: {reason}"));
                }
            }
        }
    }
}

impl Report {
    /// Counts the runs of a program. A program that cannot be run counts as one failed case.
    fn record_runs(
        &mut self,
        place: &dyn std::fmt::Display,
        runs: Result<Vec<Result<(), String>>, String>,
        keep: usize,
    ) {
        for outcome in runs.unwrap_or_else(|why| vec![Err(why)]) {
            self.record(place, outcome, keep);
        }
    }
}

/// Runs `conform`.
///
/// # Errors
/// When standard output cannot be written.
pub fn conform(args: &ConformArgs) -> Result<Status, Failure> {
    if args.json_schema {
        return json::schema(json::REPORT);
    }
    let Some(target) = args.target.open()? else { return Ok(Status::Mistakes) };
    let by = args.choice.execution()?.filter(|_| target.judges.is_some());
    if by.is_none() && args.choice.is_strict() {
        let help = "leave out `--engine` and `--level`";
        return Err(Failure::usage(format!("no recorded cases of {} are executed", target.name), help));
    }
    let mut out = plain_stdout();
    let (mut passed, mut failed) = (0, 0);
    let mut unusable = Vec::new();
    for path in &args.files {
        let report = Input::read(Some(path)).and_then(|input| replay(&target, &input, args.failures, by));
        match report {
            Ok(report) => {
                passed += report.passed;
                failed += report.failed;
                if args.json {
                    let Report { passed, failed, failures } = &report;
                    let file = path.display().to_string();
                    let mut object = json!({ "file": file, "passed": passed, "failed": failed, "failures": failures });
                    if let Some(execution) = by {
                        object["engine"] = execution.to_string().into();
                    }
                    writeln!(out, "{object}")?;
                    continue;
                }
                let mut text = format!("{}: {} passed, {} failed\n", path.display(), report.passed, report.failed);
                for failure in &report.failures {
                    let _ = writeln!(text, "  {failure}");
                }
                out.write_all(text.as_bytes())?;
                out.flush()?;
            }
            // The remaining files are still replayed.
            Err(failure) => {
                complain(&failure);
                unusable.push(format!("`{}`", path.display()));
            }
        }
    }
    // There is no total if no case was replayed.
    if !args.json && passed + failed > 0 {
        if let Some(execution) = by {
            writeln!(out, "executed by: {execution}")?;
        }
        writeln!(out, "{passed} passed, {failed} failed")?;
    }
    out.flush()?;
    if failed > 0 && args.failures == 0 {
        say("(`--failures 10` lists the first ten failures of each file)");
    }
    if unusable.is_empty() {
        return Ok(Status::mistakes_if(failed > 0));
    }
    let were = if unusable.len() == 1 { "was" } else { "were" };
    let message = format!("{} {were} not replayed", listed(&unusable));
    Err(Failure::usage(message, "`isaforge conform --help` lists the formats"))
}

/// Replays the cases of one file, by the selected engine if there is one, and keeps the first `keep` failures.
///
/// # Errors
/// When the file has none of the known formats, or contains programs that this instruction set cannot run.
pub fn replay(target: &Target, input: &Input, keep: usize, by: Option<Execution>) -> Result<Report, Failure> {
    let unknown = |why: &str| Failure::usage(format!("`{}` holds no recorded cases: {why}", input.name), "");
    let Ok(text) = std::str::from_utf8(input.body()) else { return Err(unknown("it is not text")) };
    let format = match target.tables {
        Tables::Words(isa) => Format::recognise(target, isa, text).map_err(|why| unknown(&why))?,
        Tables::Groups(isa) => return groups((target, isa), input, text, keep, by),
        Tables::Streams(_) => Format::Rows,
    };
    let mut report = Report::default();
    // Each line, or the whole file, is a case or a program whose runs are cases.
    let judge = |line: &str| match format {
        Format::Table(isa, check) => Ok(vec![check(isa, &line.split('\t').collect::<Vec<_>>())]),
        Format::Rows => Ok(vec![rows::judge(target.tables, line)]),
        Format::Lines(judge) | Format::File(judge) => Ok(vec![judge(line, by)]),
        Format::Runs(judge) => judge(line, by),
    };
    if let Format::File(_) = format {
        report.record_runs(&input.name, judge(text), keep);
        return Ok(report);
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let bar = progress(&input.name, lines.clone().count() as u64);
    for (index, line) in lines {
        report.record_runs(&format_args!("{}:{}", input.name, index + 1), judge(line), keep);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(report)
}

/// Like [`replay`], for an instruction set of groups.
fn groups(
    (target, isa): (&Target, &'static GroupIsa),
    input: &Input,
    text: &str,
    keep: usize,
    by: Option<Execution>,
) -> Result<Report, Failure> {
    let unknown = |why| Failure::usage(format!("`{}` holds no recorded cases: {why}", input.name), "");
    let format = groups::Format::recognise(text).map_err(unknown)?;
    let mut report = Report::default();
    if format == groups::Format::Program {
        report.record(&input.name, format.judge(isa, text), keep);
        return Ok(report);
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let bar = progress(&input.name, lines.clone().count() as u64);
    for (index, line) in lines.skip(usize::from(format.has_heading())) {
        let place = format!("{}:{}", input.name, index + 1);
        let judged = format.judge(isa, line);
        let runs = target.judges.and_then(|judges| judges.runs).filter(|_| groups::has_runs(format, line));
        match runs.filter(|_| judged.is_ok()) {
            None => report.record(&place, judged, keep),
            // If a program has runs, each of them is a case.
            Some(runs) => report.record_runs(&place, runs(line, by), keep),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(report)
}
