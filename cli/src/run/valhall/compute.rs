//! Compute launches: a program executed by the threads of workgroups.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use isaforge_compiler::diagnostic::{Diagnostic, Diagnostics};
use isaforge_compiler::keys::{FromNode, OneOrMany, Reader};
use isaforge_compiler::source::{Sources, Spanned};
use isaforge_compiler::yaml::Node;
use isaforge_runtime::machine::Machine;
use isaforge_runtime::valhall::compare::compare_with;
use isaforge_runtime::valhall::host::Resources;
use isaforge_runtime::valhall::watched::Watched;
use isaforge_runtime::{Execution, Launch, Memory, Outcome, RunError, valhall};

use super::resources::{self, mistake};
use super::results::counted;
use crate::args::RunArgs;
use crate::failure::Failure;
use crate::output::count;
use crate::run::buffers::Buffers;
use crate::run::engine::Ends;
use crate::run::launch::{LaunchFile, Output};
use crate::run::launched::{Agreed, Compared, Launched, Ran};
use crate::run::{engine, outputs, program};

/// A compute launch that can be run.
#[derive(Clone, Debug)]
struct Computation {
    launch: Launch,
    buffers: Buffers,
    /// The resources that the program names by table and index.
    resources: Resources,
    /// The outputs to produce; every buffer named there exists and is large enough.
    outputs: Vec<Output>,
    folder: PathBuf,
}

/// Reads a launch file in `folder` from YAML. `None` after errors, which are in `out`.
pub fn read(node: &Node, folder: &Path, sources: &mut Sources, out: &mut Diagnostics) -> Option<Box<dyn Launched>> {
    let file = LaunchFile::from_node(node, &mut Reader { sources, out })?;
    let program = program::load_words(isaforge_valhall::ISA, &file.program, folder, sources, out);
    let (launch, buffers, resources) = inputs(&file, folder, out);
    let outputs = file.outputs.unwrap_or_default();
    for output in &outputs {
        buffers.check_output(output, out);
    }
    if out.has_errors() {
        return None;
    }
    let launch = Launch { program: program?, budget: file.budget.unwrap_or(Launch::LONG_BUDGET), ..launch };
    Some(Box::new(Computation { launch, buffers, resources, outputs, folder: folder.to_owned() }))
}

/// The inputs that a launch file in `folder` gives to any program: a launch without a program, memory, and the
/// resources that programs name by table and index. Errors are in `out`.
pub fn inputs(file: &LaunchFile, folder: &Path, out: &mut Diagnostics) -> (Launch, Buffers, Resources) {
    let groups = directions(file.groups.as_ref(), "groups", out);
    let local_size = directions(file.local_size.as_ref(), "local size", out);
    let threads = local_size.iter().fold(1u64, |threads, &number| threads.saturating_mul(number.into()));
    if let Some(given) = file.local_size.as_ref().filter(|_| threads > Launch::MAX_THREADS) {
        mistake(given.span, format!("a workgroup has at most {} threads, not {threads}", Launch::MAX_THREADS), out);
    }
    if let Some(given) = file.shared_bytes.as_ref().filter(|given| u64::from(given.value) > Launch::MAX_SHARED_BYTES) {
        let most = Launch::MAX_SHARED_BYTES;
        mistake(given.span, format!("a workgroup shares at most {most} bytes, not {}", given.value), out);
    }
    let buffers = Buffers::read(file.buffers.as_deref().map_or(&[], Vec::as_slice), folder, out);
    let resources = resources::read(
        file.textures.as_deref().unwrap_or_default(),
        file.images.as_deref().unwrap_or_default(),
        file.uniform_buffers.as_deref().unwrap_or_default(),
        &buffers,
        folder,
        out,
    );
    let launch = Launch {
        groups,
        local_size,
        uniforms: buffers.uniforms(file.uniforms.as_ref(), out),
        shared_bytes: file.shared_bytes.as_ref().map_or(0, |bytes| bytes.value),
        budget: file.budget.unwrap_or(Launch::DEFAULT_BUDGET),
        ..Launch::default()
    };
    (launch, buffers, resources)
}

impl Computation {
    /// Maps the buffers, runs the program, and moves the memory back. Returns the number of instructions executed by
    /// threads.
    fn on_memory(
        &mut self,
        run: impl FnOnce(&Launch, &mut Memory, &mut Resources) -> Result<Outcome, RunError>,
    ) -> Result<u64, String> {
        let mut memory = self.buffers.map()?;
        let outcome = run(&self.launch, &mut memory, &mut self.resources.clone());
        self.buffers.take_back(memory);
        Ok(outcome.map_err(|error| error.to_string())?.thread_instructions)
    }

    /// Runs on an engine and on host threads.
    fn run_on(&mut self, execution: Execution, threads: NonZero<usize>) -> Result<u64, String> {
        self.on_memory(|launch, memory, resources| match threads.get() {
            1 => valhall::run_hosted(execution, launch, memory, resources),
            _ => valhall::fast::run_parallel_with(launch, memory, resources, execution.level(), threads),
        })
    }

    /// The summary of a run that executed this number of instructions.
    fn summary(&self, executed: u64) -> String {
        let product = |numbers: [u32; 3]| numbers.iter().map(|&number| u64::from(number)).product::<u64>();
        let groups = product(self.launch.groups);
        let threads = count(groups.saturating_mul(product(self.launch.local_size)), "thread");
        format!("{threads} in {}, {}", count(groups, "workgroup"), count(executed, "instruction"))
    }
}

impl Launched for Computation {
    fn run(&mut self, args: &RunArgs) -> Result<Ran, Failure> {
        let (execution, threads) = engine::with_threads(args)?;
        self.launch.deadline = engine::deadline(args);
        let counting = args.watch.counts().then_some(|launched: &mut Self| {
            counted(|observer| {
                launched.on_memory(|launch, memory, resources| valhall::run_with(launch, memory, resources, observer))
            })
        });
        let run = |launched: &mut Self| launched.run_on(execution, threads);
        let (ended, profile) = engine::run_counted(self, execution, counting, run);
        let list = || valhall::fast::listing(&self.launch, &self.resources, execution.level());
        let listing = if args.dump_jit { list() } else { String::new() };
        Ok(Ran { profile, listing, ..Ran::from(ended.map(|executed| self.summary(executed))) })
    }

    fn has_threads(&self) -> bool {
        true
    }

    fn compare(&self, args: &RunArgs) -> Result<Option<Compared>, Failure> {
        let launch = Launch { deadline: engine::deadline(args), ..self.launch.clone() };
        let (mut is_late, mut failures) = (None, Vec::new());
        let compared = self.buffers.clone().map().and_then(|memory| {
            let failed = |execution, error: &RunError| failures.push((execution, error.to_string()));
            let ended = compare_with(&launch, &memory, &self.resources, &Execution::available(), failed)
                .map_err(|difference| difference.to_string())?;
            if let Err(error @ RunError::Time { .. }) = &ended {
                is_late = Some(error.to_string());
            }
            Ok(ended)
        });
        if let Some(reason) = is_late {
            return Err(engine::late(&reason));
        }
        let agreed = compared.map_or_else(Agreed::Differs, |ended| {
            let all_spent = matches!(ended, Err(RunError::Budget { .. }));
            let executed = |outcome: Outcome| count(outcome.thread_instructions, "instruction");
            let mut ends = Ends::new(ended.map(executed).map_err(|error| error.to_string()));
            failures.iter().for_each(|(execution, reason)| ends.failed(*execution, reason));
            ends.agreed(all_spent)
        });
        Ok(Some(Compared::new(agreed)))
    }

    fn produce(&mut self, _: &RunArgs) -> Result<Vec<String>, Failure> {
        outputs::produce(&self.outputs, &self.buffers, &self.folder)
    }

    fn machine(mut self: Box<Self>) -> Result<Box<dyn Machine>, String> {
        let memory = self.buffers.map()?;
        Ok(Box::new(Watched::launch(self.launch, memory, self.resources)))
    }
}

fn directions(given: Option<&Spanned<OneOrMany<u32>>>, what: &str, out: &mut Diagnostics) -> [u32; 3] {
    let mut numbers = [1; 3];
    let Some(given) = given else { return numbers };
    if given.is_empty() || given.len() > 3 {
        let message = format!("`{what}` has one to three numbers, not {}", given.len());
        out.push(Diagnostic::error("L0003", given.span, message));
    } else if given.contains(&0) {
        let message = format!("`{what}` is zero in some direction, so nothing would run");
        out.push(Diagnostic::error("L0003", given.span, message));
    }
    for (number, given) in numbers.iter_mut().zip(given.iter()) {
        *number = *given;
    }
    numbers
}
