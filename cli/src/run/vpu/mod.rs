//! `isaforge run` for the VPU.
//!
#![doc = include_str!("README.md")]

pub mod launch;
pub mod outputs;
pub mod plan;

use std::path::Path;
use std::time::Instant;

use isaforge_compiler::diagnostic::Diagnostics;
use isaforge_compiler::source::Sources;
use isaforge_compiler::yaml::{Node, Value};
use isaforge_runtime::vpu::{self, Warning};

use super::report_or_plan;
use crate::args::RunArgs;
use crate::failure::{Failure, Status};
use crate::machine::Execution;
use crate::output::{count, failed, say, thousands};
use crate::paint::{GOOD, HELP, WARNING, paint};

/// The name of the instruction set in launch files.
pub const NAME: &str = "vpu";

/// Most warnings shown; the rest is counted.
const WARNINGS: usize = 16;

/// Whether a launch file is one for the VPU.
pub fn matches(launch: &Node) -> bool {
    let Value::Map(entries) = &launch.value else { return false };
    let is_vpu = |value: &Value| matches!(value, Value::Text(name) if name == NAME);
    entries.iter().any(|(key, node)| key.value == "isa" && is_vpu(&node.value))
}

/// Carries out a launch file that has been read as YAML.
///
/// # Errors
/// When a file cannot be written.
pub fn run(
    args: &RunArgs,
    execution: Option<Execution>,
    launch: &Node,
    mut sources: Sources,
    mut diagnostics: Diagnostics,
) -> Result<Status, Failure> {
    let folder = args.launch.parent().unwrap_or(Path::new(""));
    let plan = plan::read(launch, folder, &mut sources, &mut diagnostics);
    let Some(mut plan) = report_or_plan(plan, &args.launch, sources, diagnostics) else {
        return Ok(Status::Mistakes);
    };
    if args.engine.compare {
        say(&format!("{}: engines of the VPU are not compared, one executes the program", paint(HELP, "note")));
    }
    if let Some(execution) = execution {
        plan.machine.set_execution(execution);
    }
    let started = Instant::now();
    plan.machine.set_deadline(super::engine::deadline(args));
    let ran = plan.machine.run();
    let elapsed = started.elapsed();
    warn(&args.launch, &plan.machine.warnings(), &plan.program);
    let report = match ran {
        Ok(report) => report,
        Err(reason) => {
            failed(&args.launch, reason);
            return Ok(Status::Mistakes);
        }
    };
    let done = outputs::produce(&plan, folder)?;
    if !args.quiet {
        say(&format!(
            "{}: {} on {}, {} instructions in {elapsed:.1?}",
            paint(GOOD, "ran"),
            count(report.groups, "group"),
            count(plan.machine.cores() as u64, "core"),
            thousands(report.steps),
        ));
        for line in done {
            say(&line);
        }
    }
    Ok(Status::Fine)
}

/// Says what the machine forgave, each with the instruction that did it.
fn warn(launch: &Path, warnings: &[Warning], program: &[u64]) {
    let line = |warning: &Warning| {
        // Behind the program is nothing but Exit.
        let word = program.get(usize::from(warning.pc)).copied().unwrap_or(0);
        let text = vpu::text(word);
        say(&format!("{}: {}: {warning}: {text}", launch.display(), paint(WARNING, "warning")));
    };
    warnings.iter().take(WARNINGS).for_each(line);
    if warnings.len() > WARNINGS {
        let more = count((warnings.len() - WARNINGS) as u64, "more warning");
        say(&format!("{}: {more}", launch.display()));
    }
}
