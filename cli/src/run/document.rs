//! Launch files as documents: telling them from programs, reading their YAML, and where their programs come from.

use std::path::Path;

use isaforge_compiler::diagnostic::{Diagnostic, Diagnostics};
use isaforge_compiler::keys::{FromNode, Reader};
use isaforge_compiler::source::Sources;
use isaforge_compiler::yaml::{Node, Value, read_yaml};
use isaforge_core::Tables;
use isaforge_core::group::listing::assemble_program;
use isaforge_core::program::assemble;
use isaforge_debugger::Source;

use super::buffers::read_file;
use super::launch::Program;
use crate::builtin::{self, Builtin};
use crate::failure::Failure;
use crate::input::Input;
use crate::specification::{render, summarise_failure};

/// The failure when a program is given in place of a launch file; `None` if the file is not a program. For sets of a
/// specification, only the file's name decides.
pub fn mistaken(launch: &Path, own: bool) -> Option<Failure> {
    let extension = launch.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let program = match extension {
        "yaml" | "yml" | "json" => false,
        "s" | "asm" | "hex" | "bin" => true,
        _ => !own && set_of(Input::read(Some(launch)).ok()?.body()).is_some(),
    };
    let name = launch.display();
    program.then(|| {
        let message = format!("`{name}` is a program, not a launch file, which describes the program's inputs");
        let spec = if own { " --spec SPEC" } else { "" };
        Failure::usage(message, format!("`isaforge run{spec} --init {name}` writes one"))
    })
}

/// The first instruction set for which a text assembles.
pub fn set_of(text: &[u8]) -> Option<&'static Builtin> {
    let text = std::str::from_utf8(text).ok().filter(|text| !text.trim().is_empty())?;
    builtin::ALL.iter().find(|found| match found.tables {
        Tables::Words(isa) => assemble(isa, text).is_ok_and(|words| !words.is_empty()),
        Tables::Groups(isa) => assemble_program(isa, text).is_ok_and(|bytes| !bytes.is_empty()),
        Tables::Streams(_) => false,
    })
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
    render(&diagnostics, &sources);
    if plan.is_none() {
        summarise_failure(launch, &diagnostics);
    }
    plan
}

/// The value of a key.
pub fn find<'n>(launch: &'n Node, wanted: &str) -> Option<&'n Node> {
    let Value::Map(entries) = &launch.value else { return None };
    entries.iter().find(|(key, _)| key.value == wanted).map(|(_, node)| node)
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
