//! What programs are run on: a launch file without `isa` and `program`.

use std::path::Path;

use isaforge_cli::check;
use isaforge_cli::machine::Resources;
use isaforge_cli::run::buffers::Buffers;
use isaforge_cli::run::own::launch::OwnLaunch;
use isaforge_cli::run::plan;
use isaforge_compiler::diagnostic::Diagnostics;
use isaforge_compiler::keys::{FromNode, Reader};
use isaforge_compiler::source::Sources;
use isaforge_compiler::yaml::{Node, read_yaml};

use crate::error::{Error, Result};
use crate::sets::Known;

/// Inputs as they were read. What they mean depends on the set: see [`Launch`] and [`Start`].
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The name of the file, which the table of results has.
    pub name: String,
    /// For sets whose programs run in workgroups.
    pub launch: Option<Launch>,
    /// For sets whose machine the specification describes.
    pub start: Option<Start>,
}

/// A launch of workgroups.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Workgroups in each direction.
    pub groups: [u32; 3],
    /// Threads of a workgroup in each direction.
    pub local_size: [u32; 3],
    /// Bytes that they share.
    pub shared_bytes: u32,
    /// The most instructions.
    pub budget: u64,
    /// The uniform words.
    pub uniforms: Vec<u32>,
    /// Addresses and contents.
    pub memory: Vec<(u64, Vec<u8>)>,
    /// What programs name by table and index.
    pub resources: Resources,
}

/// The state that a processor starts in.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Where the program is put, and starts.
    pub address: u64,
    /// Names of registers, and a value for all lanes or one for each.
    pub registers: Vec<(String, Vec<u64>)>,
    /// Addresses and contents.
    pub memory: Vec<(u64, Vec<u8>)>,
    /// The most instructions.
    pub budget: Option<u64>,
}

impl Inputs {
    /// Reads inputs for the programs of some sets.
    ///
    /// # Errors
    /// When the file cannot be read. Mistakes in it are shown, and are an error, too.
    pub fn read(path: &Path, sets: &[&Known]) -> Result<Inputs> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::File { what: format!("cannot read `{}`", path.display()), error })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let mut inputs = Inputs { name, launch: None, start: None };
        for known in sets {
            let of_workgroups =
                isaforge_cli::builtin::find(&known.recipe.name).is_some_and(|found| found.machine.is_some());
            let has = if of_workgroups { inputs.launch.is_some() } else { inputs.start.is_some() };
            if has {
                continue;
            }
            if of_workgroups {
                // An empty program stands for the one that each is run with.
                let whole = format!("{text}\nisa: {}\nprogram: \"\"\n", known.recipe.name);
                inputs.launch = Some(read(path, &whole, |node, sources, out| launch(node, folder, sources, out))?);
            } else {
                let whole = format!("{text}\nprogram: \"\"\n");
                inputs.start = Some(read(path, &whole, |node, sources, out| start(node, folder, sources, out))?);
            }
        }
        Ok(inputs)
    }
}

fn read<T>(path: &Path, text: &str, of: impl FnOnce(&Node, &mut Sources, &mut Diagnostics) -> Option<T>) -> Result<T> {
    let (mut sources, mut diagnostics) = (Sources::new(), Diagnostics::new());
    let file = sources.add(path.display().to_string(), text.to_owned());
    let node = read_yaml(&sources, file, &mut diagnostics);
    let found = node.and_then(|node| of(&node, &mut sources, &mut diagnostics));
    diagnostics.finish();
    check::render(&diagnostics, &sources);
    let message = format!("`{}` has mistakes", path.display());
    found.ok_or_else(|| Error::usage(message, "inputs are a launch file without `isa` and `program`"))
}

fn launch(node: &Node, folder: &Path, sources: &mut Sources, out: &mut Diagnostics) -> Option<Launch> {
    let plan = plan::read(node, folder, sources, out)?;
    Some(Launch {
        groups: plan.groups,
        local_size: plan.local_size,
        shared_bytes: plan.shared_bytes,
        budget: plan.budget,
        uniforms: plan.uniforms,
        memory: plan.buffers.memory,
        resources: plan.resources,
    })
}

fn start(node: &Node, folder: &Path, sources: &mut Sources, out: &mut Diagnostics) -> Option<Start> {
    let launch = OwnLaunch::from_node(node, &mut Reader { sources, out })?;
    let buffers = Buffers::read(launch.buffers.as_deref().map_or(&[], Vec::as_slice), folder, out);
    let value = |values: &[isaforge_cli::run::own::launch::Number]| values.iter().map(|number| number.0).collect();
    let registers = launch.registers.iter().flat_map(|named| named.iter());
    let start = Start {
        address: launch.address.as_ref().map_or(0, |address| address.value),
        registers: registers.map(|(name, given)| (name.value.clone(), value(given))).collect(),
        memory: buffers.memory,
        budget: launch.budget,
    };
    (!out.has_errors()).then_some(start)
}
