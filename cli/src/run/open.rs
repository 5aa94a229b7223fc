//! Opens launch files and recorded cases with their instruction sets.

use std::path::Path;

use isaforge_analysis::Set;
use isaforge_compiler::diagnostic::{Diagnostic, Diagnostics};
use isaforge_compiler::keys::{FromNode, Reader};
use isaforge_compiler::source::Sources;
use isaforge_compiler::yaml::{Node, Value};
use isaforge_debugger::names::register;
use isaforge_debugger::{Listing, Source};
use isaforge_runtime::machine::Machine;

use super::document::{find, mistaken, read_node, report_or_plan, source};
use super::launch::LaunchFile;
use super::launched::{CaseResult, Launched, Launches};
use super::{readers, user_defined};
use crate::args::RunArgs;
use crate::builtin::{self, Builtin};
use crate::conform;
use crate::failure::Failure;
use crate::input::{self, Input};
use crate::output::failed;
use crate::target::Target;

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
        let Some(Opened { launched, .. }) = &mut opened else { return Ok(None) };
        if let Some(budget) = self.budget {
            launched.set_budget(budget);
        }
        if self.engine.host_threads.get() > 1 && !launched.has_threads() {
            let message = format!("`{}` runs on one thread of the host", path.display());
            return Err(Failure::usage(message, "`--threads` is for launches of `valhall`"));
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
    if let Some(failure) = mistaken(path, false) {
        return Err(failure);
    }
    if user_defined::elf::matches(&head) {
        let help = format!("`isaforge run --spec SPEC {}` runs it on the set of a specification", path.display());
        return Err(Failure::usage(format!("`{}` is an ELF file, not a launch file", path.display()), help));
    }
    let input = Input::read(Some(path)).ok();
    if let Some(text) = input.as_ref().and_then(|input| std::str::from_utf8(input.body()).ok()) {
        if let Some((found, case)) = recorded(text) {
            let launched = case.map_err(|reason| failed(path, reason)).ok();
            return Ok(launched.map(|launched| Opened::new(found, launched, None)));
        }
        if let Some((set, what)) = conform::replayed(text) {
            let name = path.display();
            let help = format!(
                "`isaforge conform {set} {name}` replays what it holds; `--engine` and `--level` select what runs"
            );
            return Err(Failure::usage(format!("`{name}` is not a launch file: it holds {what} of {set}"), help));
        }
    }
    let (mut sources, mut out) = (input::sources(path)?, Diagnostics::new());
    let node = read_node(path, &mut sources, &mut out);
    let opened = node.and_then(|node| read(&node, path, &mut sources, &mut out));
    Ok(report_or_plan(opened, path, sources, out))
}

/// Reads the launch file at a path from YAML. `None` after errors, which are in `out`.
pub fn read(node: &Node, path: &Path, sources: &mut Sources, out: &mut Diagnostics) -> Option<Opened> {
    let (found, launches) = set(node, sources, out)?;
    let launched = (launches.read)(node, path, sources, out)?;
    Some(Opened::new(found, launched, source(node, path, sources)))
}

/// The recorded case in a file, with its instruction set. `None` if the file is not a recorded case.
fn recorded(text: &str) -> Option<(&'static Builtin, CaseResult)> {
    builtin::ALL.iter().find_map(|found| Some((found, (readers::of(found)?.recorded)(text)?)))
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
    let launches = readers::of(found);
    if launches.is_none() {
        let message = format!("programs of `{}` can be read and written, but not run", found.name);
        out.push(Diagnostic::error("L0001", node.span, message));
    }
    Some((found, launches?))
}
