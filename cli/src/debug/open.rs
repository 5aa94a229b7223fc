//! From a launch file to a machine that can be looked at.

use std::path::Path;

use isaforge_analysis::Set;
use isaforge_compiler::diagnostic::Diagnostics;
use isaforge_compiler::keys::{FromNode, Reader};
use isaforge_compiler::source::Sources;
use isaforge_compiler::yaml::{Node, Value};
use isaforge_core::Tables;
use isaforge_debugger::{Listing, Source};
use isaforge_runtime::machine::Machine;
use isaforge_runtime::valhall::cases::Case;
use isaforge_runtime::{Deadline, Memory};
use isaforge_runtime::{usc, valhall, vpu, watched};

use crate::builtin::{self, Builtin};
use crate::failure::Failure;
use crate::input;
use crate::machine::{launch, map_regions};
use crate::run::launch::Program;
use crate::run::{cases, draw, init, own, plan, report_or_plan, usc as usc_run, vpu as vpu_run};

/// A program that can be debugged.
pub struct Opened {
    /// It with all that it runs on.
    pub machine: Box<dyn Machine>,
    /// Its instruction set.
    pub set: Set,
    source: Option<Source>,
}

impl Opened {
    /// Its instructions.
    pub fn listing(&self) -> Listing {
        Listing::new(&*self.machine, &self.set, self.source.as_ref())
    }
}

/// Opens a launch file; of the instruction set of a specification with its generation, if one is given. `None` after
/// mistakes, which have been reported.
///
/// # Errors
/// When a file cannot be read, or its programs cannot be debugged.
pub fn open(path: &Path, spec: Option<(&Path, Option<&str>)>) -> Result<Option<Opened>, Failure> {
    input::open(path).map_err(Failure::reading(path))?;
    if let Some((spec, generation)) = spec {
        return open_own(path, spec, generation);
    }
    if let Some(failure) = init::mistaken(path, false) {
        return Err(failure);
    }
    if let Some(text) = cases::read(path) {
        return of_case(&text)
            .map(Some)
            .map_err(|reason| Failure::usage(format!("`{}`: {reason}", path.display()), ""));
    }
    let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
    let node = plan::open(path, &mut sources, &mut out);
    let folder = path.parent().unwrap_or(Path::new(""));
    let made = node.and_then(|node| {
        let source = source(&node, path, folder, &sources);
        let (machine, set) = if vpu_run::matches(&node) {
            let setup = vpu_run::plan::read(&node, folder, &mut sources, &mut out)?;
            (of_vpu(setup), builtin::find(vpu_run::NAME)?)
        } else if usc_run::matches(&node) {
            let plan = usc_run::plan::read(&node, folder, &mut sources, &mut out)?;
            (of_usc(plan), builtin::find(usc_run::NAME)?)
        } else if draw::matches(&node) {
            let plan = draw::plan::read(&node, folder, &mut sources, &mut out)?;
            (of_drawing(plan), named(&node)?)
        } else {
            (of_launch(plan::read(&node, folder, &mut sources, &mut out)?), named(&node)?)
        };
        Some((machine, Set::new(set.tables, set.semantics), source))
    });
    let Some((machine, set, source)) = report_or_plan(made, path, sources, out) else { return Ok(None) };
    let machine = machine.map_err(|reason| Failure::usage(format!("`{}`: {reason}", path.display()), ""))?;
    Ok(Some(Opened { machine, set, source }))
}

type Made = Result<Box<dyn Machine>, String>;

/// The instruction set that a launch file names.
fn named(launch: &Node) -> Option<&'static Builtin> {
    match &find(launch, "isa")?.value {
        Value::Text(name) => builtin::find(name),
        _ => None,
    }
}

fn find<'n>(launch: &'n Node, wanted: &str) -> Option<&'n Node> {
    let Value::Map(entries) = &launch.value else { return None };
    entries.iter().find(|(key, _)| key.value == wanted).map(|(_, node)| node)
}

/// The assembly of a launch file's program.
fn source(launch: &Node, path: &Path, folder: &Path, sources: &Sources) -> Option<Source> {
    let mut quiet = Diagnostics::new();
    match Program::from_node(find(launch, "program")?, &mut Reader { sources, out: &mut quiet })? {
        Program::Inline(text) => {
            let (line, _) = sources.line_column(text.span);
            // The text of a block begins on the line after its mark.
            let block = usize::from(sources.snippet(text.span).starts_with(['|', '>']));
            Some(Source { path: Some(path.to_owned()), text: text.value, first: line + block })
        }
        Program::File(file) => {
            let path = folder.join(&file.value);
            let is_text = path.extension().is_some_and(|end| end != "bin" && end != "hex");
            let text = is_text.then(|| std::fs::read_to_string(&path).ok()).flatten()?;
            Some(Source { path: Some(path), text, first: 1 })
        }
    }
}

fn of_launch(mut plan: plan::Plan) -> Made {
    let memory = map_regions(&mut plan.buffers.memory)?;
    let job = plan.job(Deadline::NONE, None);
    Ok(Box::new(valhall::watched::Watched::launch(launch(&job), memory, plan.resources.clone())))
}

/// A recorded case; only Valhall has such.
fn of_case(text: &str) -> Result<Opened, String> {
    let case = Case::read(text).map_err(|error| error.to_string())?;
    let program = case.program().map_err(|error| error.to_string())?;
    let grid = case.grid();
    // What a case leaves in memory is compared within the run, and not kept.
    let start = move |told: &mut valhall::watched::Told<'_>| {
        case.run(told).map(|_| Memory::new()).map_err(|error| error.to_string())
    };
    let machine = valhall::watched::Watched::new(&program, Box::new(start)).with_grid(grid);
    let tables = Tables::Words(isaforge_valhall::ISA);
    let set = Set::new(tables, Some(isaforge_valhall::semantics::SEMANTICS));
    Ok(Opened { machine: Box::new(machine), set, source: None })
}

fn of_drawing(plan: draw::plan::Plan) -> Made {
    let program = plan.program.clone();
    let start = move |told: &mut valhall::watched::Told<'_>| {
        let mut plan = plan.clone();
        let mut memory = map_regions(&mut plan.buffers.memory)?;
        draw::triangles(&mut plan, &mut memory, told).map(|_| memory)
    };
    Ok(Box::new(valhall::watched::Watched::new(&program, Box::new(start))))
}

fn of_usc(plan: usc_run::plan::Plan) -> Made {
    let code = plan.program.as_bytes().to_vec();
    let start = move |watch: &mut usc::watch::Watch<'_>| {
        let mut plan = plan.clone();
        usc_run::everything(&mut plan, Some(watch)).map(|_| plan.machine.host)
    };
    Ok(Box::new(usc::watched::Watched::new(&code, Box::new(start))))
}

fn of_vpu(plan: vpu_run::plan::Plan) -> Made {
    let setup = plan.setup;
    let start = move || setup.machine().map_err(|error| error.to_string());
    Ok(Box::new(vpu::watched::Watched::new(&plan.program, Box::new(start))))
}

fn open_own(path: &Path, spec: &Path, generation: Option<&str>) -> Result<Option<Opened>, Failure> {
    let Some((target, set)) = own::set(spec, generation)? else { return Ok(None) };
    let Some(job) = own::open(path, set)? else { return Ok(None) };
    let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
    let folder = path.parent().unwrap_or(Path::new(""));
    // An ELF file is no launch file.
    let text = std::fs::read_to_string(path).is_ok();
    let node = if text { plan::open(path, &mut sources, &mut out) } else { None };
    let source = node.and_then(|node| source(&node, path, folder, &sources));
    let machine = match set.2.lanes {
        0..=1 => watched_by::<1>(path, set, job)?,
        2..=32 => watched_by::<32>(path, set, job)?,
        _ => watched_by::<64>(path, set, job)?,
    };
    Ok(Some(Opened { machine, set: Set::new(target.tables, target.semantics), source }))
}

fn watched_by<const L: usize>(path: &Path, set: own::Set, job: own::Job) -> Result<Box<dyn Machine>, Failure> {
    own::machine::<L>(path, set, &job)?;
    let (code, limits) = (job.code(), (job.end, job.budget));
    let path = path.to_owned();
    let start = move || own::machine::<L>(&path, set, &job).map_err(|failure| failure.to_string());
    Ok(Box::new(watched::Watched::<L>::new((set.1, set.2), code, limits, Box::new(start))))
}
