//! The inputs of programs: a launch file without `isa` and `program`.

use std::path::Path;

use isaforge_cli::run::buffers::{Buffers, read_file};
use isaforge_cli::run::launch::LaunchFile;
use isaforge_cli::run::user_defined::launch::{Number, OwnLaunch};
use isaforge_cli::run::valhall::compute;
use isaforge_cli::specification::render;
use isaforge_compiler::diagnostic::{Diagnostic, Diagnostics};
use isaforge_compiler::keys::{FromNode, Reader};
use isaforge_compiler::source::{Sources, Span, Spanned};
use isaforge_compiler::yaml::{Node, Value, read_yaml};
use isaforge_runtime::valhall::host::Resources;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::lake::hex;
use crate::sets::Known;

/// Inputs from a file. Their meaning depends on the set: see [`Launch`] and [`Start`].
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The name of the file, as stored in the result table.
    pub name: String,
    /// The SHA-256 of the file and of the files that its buffers and textures refer to: changed inputs count as other
    /// inputs.
    pub hash: String,
    /// For sets whose programs run in workgroups.
    pub launch: Option<Launch>,
    /// For sets whose specification describes a machine.
    pub start: Option<Start>,
}

/// A launch of workgroups.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Everything except the program and the deadline.
    pub launch: isaforge_runtime::Launch,
    /// The memory.
    pub buffers: Buffers,
    /// The resources that programs refer to by table and index.
    pub resources: Resources,
}

/// The initial state of a processor.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// The load and start address of the program.
    pub address: u64,
    /// Registers and states by name, with one value for all lanes or one for each.
    pub registers: Vec<(String, Vec<Number>)>,
    /// Regions of memory: address and contents.
    pub memory: Vec<(u64, Vec<u8>)>,
    /// The maximum number of instructions.
    pub budget: Option<u64>,
}

impl Inputs {
    /// Reads the inputs for programs of these sets.
    ///
    /// # Errors
    /// When a file cannot be read. Mistakes in it are printed, and are an error, too.
    pub fn read(path: &Path, sets: &[&Known]) -> Result<Inputs> {
        let cannot_read = |path: &Path| {
            let what = format!("cannot read `{}`", path.display());
            move |error| Error::File { what, error }
        };
        let text = std::fs::read_to_string(path).map_err(cannot_read(path))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let mut inputs = Inputs { name, hash: String::new(), launch: None, start: None };
        let mut files = Vec::new();
        for known in sets {
            let in_workgroups = known.runs_in_workgroups();
            let has = if in_workgroups { inputs.launch.is_some() } else { inputs.start.is_some() };
            if has {
                continue;
            }
            // The empty program is replaced by each program to run.
            if in_workgroups {
                let more = [("isa", known.recipe.name.as_str()), ("program", "")];
                let of = |node: &Node, sources: &mut Sources, out: &mut Diagnostics| launch(node, folder, sources, out);
                inputs.launch = Some(read((path, &text), &more, &mut files, of)?);
            } else {
                let of = |node: &Node, sources: &mut Sources, out: &mut Diagnostics| start(node, folder, sources, out);
                inputs.start = Some(read((path, &text), &[("program", "")], &mut files, of)?);
            }
        }
        let mut digest = Sha256::new();
        let mut add = |content: &[u8]| {
            digest.update((content.len() as u64).to_le_bytes());
            digest.update(content);
        };
        add(text.as_bytes());
        files.sort();
        files.dedup();
        for file in files {
            let path = folder.join(file);
            add(&read_file(&path).map_err(cannot_read(&path))?);
        }
        inputs.hash = hex(&digest.finalize());
        Ok(inputs)
    }
}

/// Reads a launch file for one kind of set, with texts for `more` keys. The files that it refers to are added to `files`.
fn read<T>(
    (path, text): (&Path, &str),
    more: &[(&str, &str)],
    files: &mut Vec<String>,
    of: impl FnOnce(&Node, &mut Sources, &mut Diagnostics) -> Option<T>,
) -> Result<T> {
    let (mut sources, mut diagnostics) = (Sources::new(), Diagnostics::new());
    let file = sources.add(path.display().to_string(), text.to_owned());
    let mut node = read_yaml(&sources, file, &mut diagnostics);
    if let Some(Node { value: Value::Map(entries), .. }) = &mut node {
        for (key, _) in entries.iter().filter(|(key, _)| matches!(key.value.as_str(), "isa" | "program")) {
            let error = Diagnostic::error("L0001", key.span, format!("inputs have no `{}`", key.value));
            diagnostics.push(error.help("they are for all programs of the lake"));
        }
        let span = Span::new(file, 0..0);
        entries.extend(more.iter().map(|(key, text)| {
            (Spanned { value: (*key).to_owned(), span }, Node { span, value: Value::Text((*text).to_owned()) })
        }));
    }
    let node = node.filter(|_| !diagnostics.has_errors());
    let found = node.as_ref().and_then(|node| of(node, &mut sources, &mut diagnostics));
    diagnostics.finish();
    render(&diagnostics, &sources);
    if let Some(Node { value: Value::Map(entries), .. }) = &node {
        let content = entries.iter().filter(|(key, _)| matches!(key.value.as_str(), "buffers" | "textures"));
        content.for_each(|(_, node)| files_of(node, files));
    }
    let message = format!("`{}` has mistakes", path.display());
    found.ok_or_else(|| Error::usage(message, "inputs are a launch file without `isa` and `program`"))
}

/// Collects the files that values below a node are read from.
fn files_of(node: &Node, files: &mut Vec<String>) {
    match &node.value {
        Value::Map(entries) => {
            for (key, value) in entries {
                match &value.value {
                    Value::Text(file) if key.value == "file" => files.push(file.clone()),
                    _ => files_of(value, files),
                }
            }
        }
        Value::List(items) => items.iter().for_each(|item| files_of(item, files)),
        _ => {}
    }
}

fn launch(node: &Node, folder: &Path, sources: &mut Sources, out: &mut Diagnostics) -> Option<Launch> {
    let file = LaunchFile::from_node(node, &mut Reader { sources, out })?;
    let (launch, buffers, resources) = compute::inputs(&file, folder, out);
    (!out.has_errors()).then_some(Launch { launch, buffers, resources })
}

fn start(node: &Node, folder: &Path, sources: &mut Sources, out: &mut Diagnostics) -> Option<Start> {
    let launch = OwnLaunch::from_node(node, &mut Reader { sources, out })?;
    let buffers = Buffers::read(launch.buffers.as_deref().map_or(&[], Vec::as_slice), folder, out);
    let named = launch.registers.iter().flat_map(|named| named.iter());
    let registers =
        named.map(|(name, given)| (name.value.clone(), given.iter().map(|number| number.value.clone()).collect()));
    let start = Start {
        address: launch.address.as_ref().map_or(0, |address| address.value),
        registers: registers.collect(),
        memory: buffers.memory,
        budget: launch.budget,
    };
    (!out.has_errors()).then_some(start)
}
