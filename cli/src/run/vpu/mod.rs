//! `isaforge run` for the VPU.
//!
#![doc = include_str!("README.md")]

pub mod compare;
pub mod launch;
pub mod outputs;
pub mod plan;

use isaforge_compiler::keys::Vocabulary;
use isaforge_runtime::machine::Machine;
use isaforge_runtime::vpu::watched::Watched;
use isaforge_runtime::vpu::{self, Warning};

use self::launch::VpuLaunch;
use self::plan::Plan;
use super::document::folder;
use super::engine;
use super::launched::{Compared, Launched, Launches, Ran};
use crate::args::RunArgs;
use crate::failure::Failure;
use crate::output::{count, say};
use crate::paint::{HELP, paint};

/// The maximum number of warnings printed; the rest are only counted.
const WARNINGS: usize = 16;

/// The launch files of the VPU.
pub static LAUNCHES: Launches = Launches {
    read: |node, path, sources, out| plan::read(node, folder(path), sources, out),
    recorded: |_| None,
    keys: VpuLaunch::keys,
};

impl Launched for Plan {
    fn run(&mut self, args: &RunArgs) -> Result<Ran, Failure> {
        self.machine.set_execution(engine::asked(args)?);
        self.machine.set_deadline(engine::deadline(args));
        let ended = self.machine.run();
        let warnings = warnings(&self.machine.warnings(), &self.program);
        let summary = ended.map(|report| {
            let (groups, cores) = (count(report.groups, "group"), count(self.machine.cores() as u64, "core"));
            format!("{groups} on {cores}, {}", count(report.steps, "instruction"))
        });
        let listing = if args.dump_jit { self.machine.listing() } else { String::new() };
        Ok(Ran { warnings, listing, ..Ran::from(summary.map_err(|error| error.to_string())) })
    }

    fn compare(&self, args: &RunArgs) -> Result<Option<Compared>, Failure> {
        say(&format!("{}: engines of the VPU are compared by their final results", paint(HELP, "note")));
        compare::compare(self, args)
    }

    fn produce(&mut self, _: &RunArgs) -> Result<Vec<String>, Failure> {
        outputs::produce(self)
    }

    fn counts_by_name(&self) -> bool {
        false
    }

    fn machine(self: Box<Self>) -> Result<Box<dyn Machine>, String> {
        let Plan { setup, program, .. } = *self;
        let start = move || setup.machine().map_err(|error| error.to_string());
        Ok(Box::new(Watched::vpu(&program, start)))
    }
}

/// Formats the machine's warnings, each with the instruction that caused it.
fn warnings(warnings: &[Warning], program: &[u64]) -> Vec<String> {
    let line = |warning: &Warning| {
        // Addresses after the program execute as Exit.
        let word = program.get(usize::from(warning.pc)).copied().unwrap_or(0);
        format!("{warning}: {}", vpu::text(word))
    };
    let mut lines: Vec<String> = warnings.iter().take(WARNINGS).map(line).collect();
    if warnings.len() > WARNINGS {
        lines.push(count((warnings.len() - WARNINGS) as u64, "more warning"));
    }
    lines
}
