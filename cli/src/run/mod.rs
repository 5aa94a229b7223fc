//! `isaforge run`: a program with its memory, described by a launch file.
//!
#![doc = include_str!("README.md")]

pub mod buffers;
pub mod cases;
pub mod draw;
pub mod engine;
pub mod init;
pub mod launch;
pub mod look;
pub mod outputs;
pub mod own;
pub mod pages;
pub mod plan;
pub mod program;
pub mod resources;
pub mod usc;
pub mod vpu;
pub mod watch;

use std::path::Path;
use std::time::Instant;

use isaforge_compiler::diagnostic::Diagnostics;
use isaforge_compiler::source::Sources;

use crate::args::RunArgs;
use crate::failure::{Failure, Status};
use crate::input;
use crate::machine::{Engine, WatchReport, needs_reference};
use crate::output::{count, failed, say, thousands};
use crate::paint::{GOOD, paint};
use crate::{check, debug, json};

/// Runs `run`.
///
/// # Errors
/// When a file cannot be read or written.
pub fn run(args: &RunArgs) -> Result<Status, Failure> {
    if args.json_schema {
        return json::schema(json::RUN);
    }
    input::open(&args.launch).map_err(Failure::reading(&args.launch))?;
    if args.races {
        return debug::races(args);
    }
    if (args.watch.looks() || args.json)
        && let Some(status) = look::look(args)?
    {
        return Ok(status);
    }
    if args.init {
        let spec = args.spec.as_deref().map(|spec| (spec, args.generation.as_deref()));
        return init::init(&args.launch, spec);
    }
    if let Some(spec) = &args.spec {
        return own::run(args, spec);
    }
    if let Some(failure) = init::mistaken(&args.launch, false) {
        return Err(failure);
    }
    let execution = engine::asked(args)?;
    if let Some(case) = cases::read(&args.launch) {
        return cases::run(args, case);
    }
    if !args.more.is_empty() || args.sheet.is_some() {
        let message = format!("`{}` holds no recorded case", args.launch.display());
        return Err(Failure::usage(message, "launch files are run one at a time, without `--sheet`"));
    }
    let mut sources = Sources::new();
    let mut diagnostics = Diagnostics::new();
    let node = plan::open(&args.launch, &mut sources, &mut diagnostics);
    if let Some(node) = &node {
        if vpu::matches(node) {
            uncounted(args, "programs of the VPU")?;
            engine::print_listing(args, "")?;
            return vpu::run(args, execution, node, sources, diagnostics);
        }
        if usc::matches(node) {
            return usc::run(args, execution, node, sources, diagnostics);
        }
        if draw::matches(node) {
            engine::print_listing(args, "")?;
            return draw::run(args, execution, node, sources, diagnostics);
        }
    }
    let folder = args.launch.parent().unwrap_or(Path::new(""));
    let plan = node.and_then(|node| plan::read(&node, folder, &mut sources, &mut diagnostics));
    let Some(mut plan) = report_or_plan(plan, &args.launch, sources, diagnostics) else {
        return Ok(Status::Mistakes);
    };
    // A job borrows the plan; memory is given back to it afterwards.
    let mut memory = std::mem::take(&mut plan.buffers.memory);
    let job = plan.job(engine::deadline(args), execution);
    let started = Instant::now();
    let machine = plan.machine;
    if args.engine.compare {
        return engine::compare(args, machine, &job, &mut memory);
    }
    let mut listing = String::new();
    // Counts are the reference's, what is computed that of the engine.
    let counted = execution.filter(|one| args.watch.counts() && one.engine() != Engine::Reference);
    let before = counted.map(|_| memory.clone());
    let mut seen = if args.watch.counts() {
        (machine.count)(&job, &mut memory)
    } else if args.dump_jit && !needs_reference(job.resources) {
        let ended = (machine.list)(&job, &mut memory);
        WatchReport::unwatched(ended.map(|(executed, text)| {
            listing = text;
            executed
        }))
    } else {
        WatchReport::unwatched((machine.run)(&job, &mut memory))
    };
    if let Some(before) = before {
        memory = before;
        seen.ended = (machine.run)(&job, &mut memory);
    }
    plan.buffers.memory = memory;
    let elapsed = started.elapsed();
    engine::print_listing(args, &listing)?;
    if let Some(profile) = &seen.profile {
        let by = counted.map_or("reference".to_owned(), |execution| format!("{execution} (counted by the reference)"));
        watch::show(plan.machine.fidelity, profile, &by, &args.watch)?;
    }
    let executed = match seen.ended {
        Ok(executed) => executed,
        Err(reason) => {
            failed(&args.launch, reason);
            return Ok(Status::Mistakes);
        }
    };
    let done = outputs::produce(&plan.outputs, &plan.buffers, &plan.folder)?;
    if !args.quiet {
        let product = |numbers: [u32; 3]| numbers.iter().map(|&number| u64::from(number)).product::<u64>();
        let groups = product(plan.groups);
        say(&format!(
            "{}: {} in {}, {} instructions in {elapsed:.1?}",
            paint(GOOD, "ran"),
            count(groups.saturating_mul(product(plan.local_size)), "thread"),
            count(groups, "workgroup"),
            thousands(executed),
        ));
        for line in done {
            say(&line);
        }
    }
    Ok(Status::Fine)
}

/// The instructions of some programs are not counted by name.
fn uncounted(args: &RunArgs, what: &str) -> Result<(), Failure> {
    if args.watch.counts() {
        let help = "`--profile=listing` counts them by their places; leave out `--profile-svg` and `--fidelity`";
        return Err(Failure::usage(format!("what {what} execute is not counted by name"), help));
    }
    Ok(())
}

/// The plan that a launch file makes, with all that is wrong reported; `None` where that is an error.
pub fn report_or_plan<P>(plan: Option<P>, launch: &Path, sources: Sources, mut diagnostics: Diagnostics) -> Option<P> {
    diagnostics.finish();
    check::render(&diagnostics, &sources);
    if plan.is_none() {
        check::summarise_failure(launch, &diagnostics);
    }
    plan
}
