//! Arguments of commands that execute programs.

use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::engine::Choice;
use crate::input::path_parser;

/// Arguments of `run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// The launch file, or a recorded case with pictures; with `--spec` also an ELF file
    #[arg(required = false, required_unless_present = "json_schema", default_value_if("json_schema", "true", "-"), value_parser = path_parser())]
    pub launch: PathBuf,
    /// Run a program of this specification's instruction set: a file, or a folder that holds `isa.yaml`
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["more", "sheet"], value_parser = path_parser())]
    pub spec: Option<PathBuf>,
    /// Hardware generation, by number or name, if the specification describes several
    #[arg(long, value_name = "G", requires = "spec")]
    pub generation: Option<String>,
    /// After the run, write the words between `begin_signature` and `end_signature` to a file, one per line
    #[arg(long, value_name = "FILE", requires = "spec")]
    pub signature: Option<PathBuf>,
    /// Maximum number of instructions to execute, with `--spec`; ten billion unless the launch file sets one
    #[arg(long, value_name = "N", requires = "spec")]
    pub budget: Option<u64>,
    /// Print the compiled machine code, annotated with the instructions it came from; not for recorded cases
    #[arg(long, conflicts_with_all = ["more", "sheet", "compare", "init", "races"])]
    pub dump_jit: bool,
    /// Write a commented launch file next to an assembly program
    #[arg(long, conflicts_with_all = ["more", "sheet", "compare", "trace", "breaks", "profile", "json", "flame"])]
    pub init: bool,
    /// More recorded cases; with `--coverage`, more launch files
    #[arg(value_name = "CASE", value_parser = path_parser())]
    pub more: Vec<PathBuf>,
    /// Draw the pictures of all recorded cases on one sheet
    #[arg(long, value_name = "FILE")]
    pub sheet: Option<PathBuf>,
    /// Detect races: threads that access the same bytes, at least one of them writing, without a barrier or atomic
    /// between them. Only this execution is examined: threads may run in another order with another `--engine`, and
    /// other orders may race. Exit status 1 if there are any; no outputs are written
    #[arg(long, conflicts_with_all = ["more", "sheet", "compare", "init", "trace", "breaks", "profile", "fidelity", "coverage", "flame"])]
    pub races: bool,
    /// Print JSON, one object per line: the steps of `--trace`, the stops of `--break`, then the result with the memory
    /// that was written and how often each instruction ran; with `--races`, the races. No outputs are written
    #[arg(long, conflicts_with_all = ["more", "sheet", "compare", "init", "profile", "fidelity", "profile_svg"])]
    pub json: bool,
    /// Print the JSON Schema of these objects
    #[arg(long)]
    pub json_schema: bool,
    /// Do not print execution statistics
    #[arg(short, long)]
    pub quiet: bool,
    /// Stop after this many seconds with exit status 1. By default only the budget limits a run
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub time_limit: Option<Duration>,
    /// What executes the program.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// What to observe during the execution.
    #[command(flatten)]
    pub watch: WatchArgs,
}

/// What executes a program.
#[derive(Args, Debug)]
pub struct EngineArgs {
    /// The engine and the level.
    #[command(flatten)]
    pub choice: Choice,
    /// Run the workgroups of a compute launch, or the bands of a drawing, on N threads of the host. The results are
    /// those of one thread, unless workgroups race
    #[arg(long = "threads", value_name = "N", default_value = "1", hide_default_value = true, conflicts_with_all = ["compare", "races", "dump_jit", "init"])]
    pub host_threads: NonZero<usize>,
    /// Skip the verification of machine code before it runs
    #[arg(long)]
    pub unchecked: bool,
    /// Run on all engines and levels of this processor and report the first instruction that differs, with exit status
    /// 1; no outputs are written. Engines may stop at different places where the budget runs out
    #[arg(long, conflicts_with_all = ["engine", "level", "trace", "breaks", "profile", "fidelity", "profile_svg"])]
    pub compare: bool,
}

/// A number of seconds, perhaps with a fraction.
fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse::<f64>().ok().and_then(|number| Duration::try_from_secs_f64(number).ok());
    number.ok_or_else(|| "a number of seconds is expected, 0 or more, such as `2` or `0.5`".to_owned())
}

/// What to look at while a program runs.
#[derive(Args, Debug)]
#[command(next_help_heading = "Observation")]
pub struct WatchArgs {
    /// Print every instruction a warp executes: place, active lanes, text, changed registers, stores. Lines are cut to
    /// the width of the terminal, or of `COLUMNS`
    #[arg(long)]
    pub trace: bool,
    /// Trace only what this thread executes: its place in the grid, such as `3` or `1,2`; several may be given
    #[arg(long = "thread", value_name = "X[,Y[,Z]]", requires = "trace")]
    pub threads: Vec<String>,
    /// Trace only the instruction at a label or an address; several may be given
    #[arg(long = "at", value_name = "PLACE", requires = "trace")]
    pub places: Vec<String>,
    /// Trace only changes of this register; several may be given
    #[arg(long = "register", value_name = "NAME", requires = "trace")]
    pub registers: Vec<String>,
    /// Print a warp's registers whenever it reaches a place: a label, the index of a word (from 0), or an address with
    /// `--spec` and where instructions vary in length; `PLACE if CONDITION` as in `debug`. Several may be given
    #[arg(long = "break", value_name = "PLACE")]
    pub breaks: Vec<String>,
    /// Maximum number of stops to print; the program then runs to its end
    #[arg(long, value_name = "N", default_value_t = 16, requires = "breaks", value_parser = clap::value_parser!(u32).range(1..))]
    pub stops: u32,
    /// Print what was executed: `table` by name, with lanes in use and bytes moved; `listing`, the program with counts
    /// beside each instruction; `folded`, stacks of loops for flame graphs (inferno, speedscope)
    #[arg(long, value_enum, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "table", hide_possible_values = true)]
    pub profile: Option<ProfileForm>,
    /// Draw the program's loops and instructions as a flame graph, by executing threads
    #[arg(long, value_name = "FILE")]
    pub flame: Option<PathBuf>,
    /// Run the launch files and print the instructions of each program that no launch executes
    #[arg(long, conflicts_with_all = ["trace", "breaks", "profile", "fidelity", "flame", "sheet", "compare", "init"])]
    pub coverage: bool,
    /// Print executed instructions grouped by accuracy
    #[arg(long)]
    pub fidelity: bool,
    /// Draw the profile as a bar chart
    #[arg(long, value_name = "FILE")]
    pub profile_svg: Option<PathBuf>,
}

/// How a profile is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProfileForm {
    /// By name.
    Table,
    /// Beside each instruction.
    Listing,
    /// For flame graphs.
    Folded,
}

impl WatchArgs {
    /// Whether to look at each instruction.
    pub fn looks(&self) -> bool {
        let by_place = matches!(self.profile, Some(ProfileForm::Listing | ProfileForm::Folded));
        self.trace || !self.breaks.is_empty() || by_place || self.flame.is_some() || self.coverage
    }

    /// Whether to count what is executed by name.
    pub fn counts(&self) -> bool {
        self.profile == Some(ProfileForm::Table) || self.profile_svg.is_some() || self.fidelity
    }
}

/// Arguments of `demo`.
#[derive(Args, Debug)]
pub struct DemoArgs {
    /// Width and height of the picture in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 768, value_parser = clap::value_parser!(u32).range(8..=4096))]
    pub size: u32,
    /// Output file
    #[arg(short, long, value_name = "FILE", default_value = "mandelbrot.png")]
    pub output: PathBuf,
}

/// Arguments of `debug`.
#[derive(Args, Debug)]
pub struct DebugArgs {
    /// The launch file; with `--spec` also an ELF file
    #[arg(required_unless_present = "dap", value_parser = path_parser())]
    pub launch: Option<PathBuf>,
    /// Debug a program of this specification's instruction set: a file, or a folder that holds `isa.yaml`
    #[arg(long, value_name = "SPEC", value_parser = path_parser())]
    pub spec: Option<PathBuf>,
    /// Hardware generation, by number or name, if the specification describes several
    #[arg(long, value_name = "G", requires = "spec")]
    pub generation: Option<String>,
    /// Take commands from a file instead of a terminal, `-` for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "dap")]
    pub commands: Option<PathBuf>,
    /// Speak the Debug Adapter Protocol on standard input and output
    #[arg(long)]
    pub dap: bool,
}
