//! From a launch file to what can be run: names bound, files read, sizes checked.

use std::path::{Path, PathBuf};

use isaforge_compiler::diagnostic::{Diagnostic, Diagnostics};
use isaforge_compiler::keys::{FromNode, OneOrMany, Reader};
use isaforge_compiler::source::{Sources, Spanned};
use isaforge_compiler::suggest::{did_you_mean, one_of};
use isaforge_compiler::yaml::{Node, read_yaml};

use super::buffers::Buffers;
use super::launch::{LaunchFile, Output};
use super::{program, resources};
use crate::builtin;
use crate::machine::{Deadline, Execution, Job, Machine, Resources};

/// The budget when none is given.
const BUDGET: u64 = 100_000_000_000;

/// A launch that can be carried out.
#[derive(Debug)]
pub struct Plan {
    /// What executes it.
    pub machine: &'static Machine,
    /// The words.
    pub program: Vec<u64>,
    /// Workgroups.
    pub groups: [u32; 3],
    /// Threads of a workgroup.
    pub local_size: [u32; 3],
    /// Bytes that a workgroup shares.
    pub shared_bytes: u32,
    /// The most instructions.
    pub budget: u64,
    /// The uniform words.
    pub uniforms: Vec<u32>,
    /// The memory.
    pub buffers: Buffers,
    /// What the program names by table and index.
    pub resources: Resources,
    /// What to do afterwards; every buffer named there exists and is large enough.
    pub outputs: Vec<Output>,
    /// What paths are relative to.
    pub folder: PathBuf,
}

impl Plan {
    /// What is to be executed, until when and by what.
    pub fn job(&self, deadline: Deadline, execution: Option<Execution>) -> Job<'_> {
        Job {
            program: &self.program,
            groups: self.groups,
            local_size: self.local_size,
            uniforms: &self.uniforms,
            resources: &self.resources,
            shared_bytes: self.shared_bytes,
            budget: self.budget,
            deadline,
            execution,
        }
    }
}

/// Reads a launch file as YAML. `None` after mistakes, which are in `out`.
pub fn open(path: &Path, sources: &mut Sources, out: &mut Diagnostics) -> Option<Node> {
    match sources.load(path) {
        Ok(file) => read_yaml(sources, file, out),
        Err(error) => {
            out.push(Diagnostic::error_without_place("L0005", error.to_string()));
            None
        }
    }
}

/// From a launch file in `folder`, read as YAML. `None` after mistakes, which are in `out`.
pub fn read(node: &Node, folder: &Path, sources: &mut Sources, out: &mut Diagnostics) -> Option<Plan> {
    let launch = LaunchFile::from_node(node, &mut Reader { sources, out })?;
    let folder = folder.to_owned();
    let machine = machine(&launch.isa, out);
    let program = machine.and_then(|(isa, _)| program::load(isa, &launch.program, &folder, sources, out));
    let groups = directions(launch.groups.as_ref(), "groups", out);
    let local_size = directions(launch.local_size.as_ref(), "local size", out);
    let buffers = Buffers::read(launch.buffers.as_deref().map_or(&[], Vec::as_slice), &folder, out);
    let resources = resources::read(
        launch.textures.as_deref().unwrap_or_default(),
        launch.images.as_deref().unwrap_or_default(),
        launch.uniform_buffers.as_deref().unwrap_or_default(),
        &buffers,
        &folder,
        out,
    );
    let uniforms = buffers.uniforms(launch.uniforms.as_deref().unwrap_or_default(), out);
    let outputs = launch.outputs.unwrap_or_default();
    for output in &outputs {
        buffers.check_output(output, out);
    }
    if out.has_errors() {
        return None;
    }
    Some(Plan {
        machine: machine?.1,
        program: program?,
        groups,
        local_size,
        shared_bytes: launch.shared_bytes.map_or(0, |bytes| bytes.value),
        budget: launch.budget.unwrap_or(BUDGET),
        uniforms,
        buffers,
        resources,
        outputs,
        folder,
    })
}

fn machine(name: &Spanned<String>, out: &mut Diagnostics) -> Option<(&'static isaforge_core::Isa, &'static Machine)> {
    let Some(found) = builtin::find(name) else {
        let known = || builtin::ALL.iter().map(|found| found.name);
        let error = Diagnostic::error("L0001", name.span, format!("there is no instruction set `{}`", name.value));
        out.push(match did_you_mean(name, known()) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help(format!("expected {}", one_of(known()))),
        });
        return None;
    };
    if found.machine.is_none() {
        let message = format!("programs of `{}` can be read and written, but not run", found.name);
        out.push(Diagnostic::error("L0001", name.span, message));
    }
    Some((found.words()?, found.machine?))
}

fn directions(given: Option<&Spanned<OneOrMany<u32>>>, what: &str, out: &mut Diagnostics) -> [u32; 3] {
    let mut numbers = [1; 3];
    let Some(given) = given else { return numbers };
    if given.is_empty() || given.len() > 3 {
        let message = format!("`{what}` has one to three numbers, not {}", given.len());
        out.push(Diagnostic::error("L0003", given.span, message));
    } else if given.contains(&0) {
        let message = format!("`{what}` is zero in some direction, so that nothing would run");
        out.push(Diagnostic::error("L0003", given.span, message));
    }
    for (number, given) in numbers.iter_mut().zip(given.iter()) {
        *number = *given;
    }
    numbers
}
