//! The interface between the commands that launch programs and the machines that run them.
//!
//! A launch file is read by the reader of its instruction set, which returns something [`Launched`]. `run`, `debug` and
//! the race detection use only that trait.

use std::path::{Path, PathBuf};

use isaforge_compiler::diagnostic::Diagnostics;
use isaforge_compiler::keys::KeyDoc;
use isaforge_compiler::source::Sources;
use isaforge_compiler::yaml::Node;
use isaforge_debugger::Source;
use isaforge_runtime::machine::Machine;
use isaforge_runtime::observe::Profile;

use super::engine;
use crate::args::RunArgs;
use crate::failure::{Failure, Status};
use crate::picture::Rgba;

/// How the launch files of an instruction set are read.
#[derive(Clone, Copy, Debug)]
pub struct Launches {
    /// Reads a launch file.
    pub read: Read,
    /// Reads a recorded case: a launch with its expected results.
    pub recorded: Recorded,
    /// The possible keys of a launch file.
    pub keys: fn() -> Vec<KeyDoc>,
}

/// Reads the launch file at a path from YAML. `None` after errors, which are added to the diagnostics.
pub type Read = fn(&Node, &Path, &mut Sources, &mut Diagnostics) -> Option<Box<dyn Launched>>;

/// Reads a recorded case. `None` if the text is not one.
pub type Recorded = fn(&str) -> Option<CaseResult>;

/// A recorded case, or why it is invalid.
pub type CaseResult = Result<Box<dyn Launched>, String>;

/// A program and its assembly source, if available.
pub type WithSource = (Box<dyn Launched>, Option<Source>);

/// A program with everything it needs to run.
pub trait Launched {
    /// Runs the program on the selected engine.
    ///
    /// # Errors
    /// When the program does not support a requested option, or standard output cannot be written.
    fn run(&mut self, args: &RunArgs) -> Result<Ran, Failure>;

    /// Runs the program on all engines, each with its own memory. `None` if there is only one engine, which has been
    /// reported.
    ///
    /// # Errors
    /// When the machine cannot be created.
    fn compare(&self, args: &RunArgs) -> Result<Option<Compared>, Failure>;

    /// Writes and prints the outputs of the launch file after a run. Returns a line about each file.
    ///
    /// # Errors
    /// When a file or standard output cannot be written.
    fn produce(&mut self, args: &RunArgs) -> Result<Vec<String>, Failure>;

    /// The pictures that a run has drawn.
    fn drawn(&mut self) -> Vec<Drawn> {
        Vec::new()
    }

    /// The engine that runs the program.
    ///
    /// # Errors
    /// When the selected one cannot run it.
    fn engine(&self, args: &RunArgs) -> Result<String, Failure> {
        Ok(engine::asked(args)?.to_string())
    }

    /// Whether it can run on several threads of the host.
    fn has_threads(&self) -> bool {
        false
    }

    /// Whether the engine counts the instructions that it executes by name.
    fn counts_by_name(&self) -> bool {
        true
    }

    /// Replaces the budget of the launch file.
    fn set_budget(&mut self, _: u64) {}

    /// The program as a machine that can be observed.
    ///
    /// # Errors
    /// When the program cannot be observed.
    fn machine(self: Box<Self>) -> Result<Box<dyn Machine>, String>;
}

/// How a run ended.
#[derive(Debug)]
pub struct Ran {
    /// What ran, such as `4 threads in 1 workgroup, 12 instructions`, or why it failed.
    pub ended: Result<String, String>,
    /// The exit status, unless there are problems.
    pub status: Status,
    /// Warnings, one line each.
    pub warnings: Vec<String>,
    /// The differences from the expected results.
    pub problems: Vec<String>,
    /// The execution counts, if they were requested.
    pub profile: Option<Profile>,
    /// The machine code that was compiled, if it was requested.
    pub listing: String,
}

impl From<Result<String, String>> for Ran {
    fn from(ended: Result<String, String>) -> Self {
        let status = Status::mistakes_if(ended.is_err());
        Ran { ended, status, warnings: Vec::new(), problems: Vec::new(), profile: None, listing: String::new() }
    }
}

/// The results of all engines for a program.
#[derive(Debug)]
pub struct Compared {
    /// The names of the engines.
    pub engines: Vec<String>,
    /// What they agree on.
    pub agreed: Agreed,
}

impl Compared {
    /// The results of all engines that this processor supports.
    pub fn new(agreed: Agreed) -> Self {
        Compared { engines: engine::names(), agreed }
    }
}

/// Whether engines agree on a program.
#[derive(Debug)]
pub enum Agreed {
    /// All have executed this.
    Ran(String),
    /// All have failed for this reason.
    Failed(String),
    /// Some or all have ended with their budget, where others do not.
    CutOff {
        /// Whether all have ended with their budget.
        all_spent: bool,
        /// The reasons of the failures, each with the engines.
        reasons: Vec<(String, Vec<String>)>,
    },
    /// The first difference.
    Differs(String),
}

/// A picture drawn by a program.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Its name.
    pub name: String,
    /// The path to write it to.
    pub file: PathBuf,
    /// The width in pixels.
    pub width: u32,
    /// The pixels, row by row from the top.
    pub pixels: Vec<Rgba>,
}

impl Drawn {
    /// The height in pixels.
    pub fn height(&self) -> u32 {
        self.pixels.len() as u32 / self.width.max(1)
    }
}
