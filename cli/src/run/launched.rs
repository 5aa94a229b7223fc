//! The interface between the commands that launch programs and the machines that run them.
//!
//! A launch file is read by the reader of its instruction set, which returns something [`Launched`]. `run`, `debug` and
//! the race detection use only that trait.

use std::path::{Path, PathBuf};

use isaforge_analysis::Set;
use isaforge_compiler::diagnostic::{Diagnostic, Diagnostics};
use isaforge_compiler::keys::{FromNode, KeyDoc, Reader};
use isaforge_compiler::source::Sources;
use isaforge_compiler::yaml::{Node, Value, read_yaml};
use isaforge_debugger::condition::register;
use isaforge_debugger::{Listing, Source};
use isaforge_runtime::machine::Machine;
use isaforge_runtime::observe::Profile;

use super::buffers::read_file;
use super::launch::{LaunchFile, Program};
use super::{init, user_defined};
use crate::args::RunArgs;
use crate::builtin::{self, Builtin};
use crate::check;
use crate::failure::{Failure, Status};
use crate::input::{self, Input};
use crate::output::failed;
use crate::picture::Rgba;
use crate::target::Target;

/// How the launch files of an instruction set are read.
#[derive(Clone, Copy, Debug)]
pub struct Launches {
    /// Reads a launch file.
    pub read: Read,
    /// Reads a recorded case: a launch with its expected results.
    pub recorded: Recorded,
    /// The possible keys of a launch file.
    pub keys: fn() -> Vec<KeyDoc>,
    /// The keys that `run --init` writes in addition to the set and the program.
    pub start: &'static str,
}

/// Reads a launch file in a folder from YAML. `None` after errors, which are added to the diagnostics.
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
    /// The execution counts, if they were requested, and the engine that made them.
    pub profile: Option<(Profile, String)>,
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
    /// How the run ended on all engines, or the first difference.
    pub agreed: Result<Result<String, String>, String>,
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

/// A launch that has been opened, with its instruction set.
pub struct Opened {
    /// The program with everything it needs to run.
    pub launched: Box<dyn Launched>,
    /// Its instruction set.
    pub target: Target,
    source: Option<Source>,
}

/// A program as an observable machine, with its instruction set.
pub struct Watched {
    /// The machine.
    pub machine: Box<dyn Machine>,
    /// Its instruction set.
    pub target: Target,
    /// The same for analyses.
    pub set: Set,
    /// Whether its engine counts the instructions that it executes by name.
    pub counts_by_name: bool,
    source: Option<Source>,
}

impl Watched {
    /// Its instructions.
    pub fn listing(&self) -> Listing {
        let mut listing = Listing::new(&*self.machine, &self.set, self.source.as_ref());
        if let (Some(hardware), Some(semantics)) = (self.target.hardware, self.target.semantics) {
            let state = |(state, held): &(u16, isaforge_core::machine::Register)| {
                let name = semantics.states.get(usize::from(*state))?.name;
                let (register, _) = register(self.machine.banks(), &hardware.name(*held).to_string())?;
                Some((name.to_owned(), register))
            };
            listing.states = hardware.aliases.iter().filter_map(state).collect();
        }
        listing
    }
}

impl Opened {
    /// Converts the program to a machine that can be observed.
    ///
    /// # Errors
    /// When the program cannot be observed.
    pub fn watched(self, path: &Path) -> Result<Watched, Failure> {
        let Opened { launched, target, source } = self;
        let counts_by_name = launched.counts_by_name();
        let machine = launched.machine();
        let machine = machine.map_err(|reason| Failure::usage(format!("`{}`: {reason}", path.display()), ""))?;
        Ok(Watched { machine, set: target.set(), counts_by_name, target, source })
    }

    fn new(found: &'static Builtin, launched: Box<dyn Launched>, source: Option<Source>) -> Self {
        Opened { launched, target: found.into(), source }
    }
}

impl RunArgs {
    /// Opens a launch file with the instruction set and the budget of the command line. `None` after errors, which have
    /// been reported.
    ///
    /// # Errors
    /// Those of [`open`].
    pub fn open(&self, path: &Path) -> Result<Option<Opened>, Failure> {
        let mut opened = open(path, self.set())?;
        if let (Some(opened), Some(budget)) = (&mut opened, self.budget) {
            opened.launched.set_budget(budget);
        }
        Ok(opened)
    }

    /// The specification that the command line names, and its generation.
    pub fn set(&self) -> Option<(&Path, Option<&str>)> {
        self.spec.as_deref().map(|spec| (spec, self.generation.as_deref()))
    }
}

/// Opens a launch file. `spec` selects the instruction set of a specification and its generation. `None` after errors,
/// which have been reported.
///
/// # Errors
/// When the file cannot be read, or is not a launch file.
pub fn open(path: &Path, spec: Option<(&Path, Option<&str>)>) -> Result<Option<Opened>, Failure> {
    let head = input::head(path, 4)?;
    if let Some((spec, generation)) = spec {
        let Some((target, set)) = user_defined::set(spec, generation)? else { return Ok(None) };
        let Some((launched, source)) = user_defined::open(path, target.tables, set)? else { return Ok(None) };
        return Ok(Some(Opened { launched, target, source }));
    }
    if let Some(failure) = init::mistaken(path, false) {
        return Err(failure);
    }
    if user_defined::elf::matches(&head) {
        let help = format!("`isaforge run --spec SPEC {}` runs it on the set of a specification", path.display());
        return Err(Failure::usage(format!("`{}` is an ELF file; `run` takes a launch file", path.display()), help));
    }
    if let Some((found, case)) = recorded(path) {
        let launched = case.map_err(|reason| failed(path, reason)).ok();
        return Ok(launched.map(|launched| Opened::new(found, launched, None)));
    }
    let (mut sources, mut out) = (input::sources(path)?, Diagnostics::new());
    let node = read_node(path, &mut sources, &mut out);
    let opened = node.and_then(|node| read(&node, path, &mut sources, &mut out));
    Ok(report_or_plan(opened, path, sources, out))
}

/// Reads the launch file at a path from YAML. `None` after errors, which are in `out`.
pub fn read(node: &Node, path: &Path, sources: &mut Sources, out: &mut Diagnostics) -> Option<Opened> {
    let (found, launches) = set(node, sources, out)?;
    let launched = (launches.read)(node, folder(path), sources, out)?;
    Some(Opened::new(found, launched, source(node, path, sources)))
}

/// The recorded case in a file, with its instruction set. `None` if the file is not a recorded case.
fn recorded(path: &Path) -> Option<(&'static Builtin, CaseResult)> {
    let input = Input::read(Some(path)).and_then(Input::unpacked).ok()?;
    let text = std::str::from_utf8(input.body()).ok()?;
    builtin::ALL.iter().find_map(|found| Some((found, (found.launches?.recorded)(text)?)))
}

/// The folder to which the paths in a launch file are relative.
pub fn folder(launch: &Path) -> &Path {
    launch.parent().unwrap_or(Path::new(""))
}

/// Parses a launch file as YAML. `None` after errors, which are in `out`.
pub fn read_node(path: &Path, sources: &mut Sources, out: &mut Diagnostics) -> Option<Node> {
    match sources.load(path) {
        Ok(file) => read_yaml(sources, file, out),
        Err(error) => {
            out.push(Diagnostic::error_without_place("L0005", error.to_string()));
            None
        }
    }
}

/// Reports all diagnostics and returns the plan; `None` if any of them is an error.
pub fn report_or_plan<P>(plan: Option<P>, launch: &Path, sources: Sources, mut diagnostics: Diagnostics) -> Option<P> {
    diagnostics.finish();
    check::render(&diagnostics, &sources);
    if plan.is_none() {
        check::summarise_failure(launch, &diagnostics);
    }
    plan
}

/// The value of a key.
pub fn find<'n>(launch: &'n Node, wanted: &str) -> Option<&'n Node> {
    let Value::Map(entries) = &launch.value else { return None };
    entries.iter().find(|(key, _)| key.value == wanted).map(|(_, node)| node)
}

/// The instruction set named in a launch file.
fn set(launch: &Node, sources: &Sources, out: &mut Diagnostics) -> Option<(&'static Builtin, &'static Launches)> {
    let Some(node @ Node { value: Value::Text(name), .. }) = find(launch, "isa") else {
        // Reading the full vocabulary reports missing or misspelt keys.
        LaunchFile::from_node(launch, &mut Reader { sources, out });
        return None;
    };
    let Some(found) = builtin::find(name) else {
        let error = Diagnostic::error("L0001", node.span, format!("there is no instruction set `{name}`"));
        out.push(error.help(builtin::instead_of(name)));
        return None;
    };
    if found.launches.is_none() {
        let message = format!("programs of `{}` can be read and written, but not run", found.name);
        out.push(Diagnostic::error("L0001", node.span, message));
    }
    Some((found, found.launches?))
}

/// The assembly source of a launch file's program.
pub fn source(launch: &Node, path: &Path, sources: &Sources) -> Option<Source> {
    let mut quiet = Diagnostics::new();
    match Program::from_node(find(launch, "program")?, &mut Reader { sources, out: &mut quiet })? {
        Program::Inline(text) => {
            let (line, _) = sources.line_column(text.span);
            // The text of a YAML block starts on the line after its indicator.
            let block = usize::from(sources.snippet(text.span).starts_with(['|', '>']));
            Some(Source { path: Some(path.to_owned()), text: text.value, first: line + block, ..Source::default() })
        }
        Program::File(file) => {
            let path = folder(path).join(&file.value);
            let is_text = path.extension().is_some_and(|end| end != "bin" && end != "hex");
            let text = String::from_utf8(is_text.then(|| read_file(&path).ok()).flatten()?).ok()?;
            Some(Source { path: Some(path), text, first: 1, ..Source::default() })
        }
    }
}
