//! Reads launch files with the keys of `--spec`.

use std::path::Path;

use isaforge_compiler::diagnostic::{Diagnostic, Diagnostics};
use isaforge_compiler::keys::{FromNode, Reader, Vocabulary};
use isaforge_compiler::source::{Sources, Span, Spanned};
use isaforge_compiler::yaml::{Node, Value};
use isaforge_runtime::machine::{self, DEFAULT_BUDGET, Variable};

use super::launch::OwnLaunch;
use super::{Program, Set};
use crate::builtin::{self, Tables};
use crate::run::buffers::{Buffers, Space};
use crate::run::document::{find, folder};
use crate::run::launched::Launches;
use crate::run::program;

/// The launch files of built-in sets without a machine of their own.
pub static LAUNCHES: Launches = Launches {
    read: |node, path, sources, out| {
        let (Value::Map(entries), Value::Text(name)) = (&node.value, &find(node, "isa")?.value) else { return None };
        let found = builtin::find(name)?;
        let set = (found.tables.into(), found.semantics?, found.hardware?);
        let others = entries.iter().filter(|(key, _)| key.value != "isa").cloned().collect();
        let node = Node { value: Value::Map(others), ..node.clone() };
        let program = launch(&node, path, (found.tables, set), sources, out)?;
        Some(Box::new(program))
    },
    recorded: |_| None,
    keys: OwnLaunch::keys,
};

/// Reads a launch file from YAML. `None` after errors, which are in `out`.
pub fn launch(
    node: &Node,
    path: &Path,
    (tables, set): (Tables, Set),
    sources: &mut Sources,
    out: &mut Diagnostics,
) -> Option<Program> {
    let hardware = set.2;
    if let Some(named) = find(node, "isa") {
        let error = Diagnostic::error("L0001", named.span, "with `--spec` the launch file names no instruction set");
        let help = "leave out `--spec` to run the built-in set, or `isa` to run that of the specification, whose launch \
                    files have the keys that `isaforge run --help` lists";
        out.push(error.help(help));
        return None;
    }
    let launch = OwnLaunch::from_node(node, &mut Reader { sources, out })?;
    let folder = folder(path);
    let address = launch.address.as_ref().map_or(0, |address| address.value);
    let code = program::load((tables, address), &launch.program, folder, sources, out);
    let size = code.as_ref().map_or(0, |code: &Vec<u8>| code.len() as u64);
    let end = hardware.end_of_program(set.1, address, size);
    if let (None, Some(address)) = (end, &launch.address) {
        let error = Diagnostic::error("L0003", address.span, "the program ends beyond the last address");
        let last = hardware.last_address(set.1);
        out.push(error.help(format!("the program counter holds addresses up to {last:#x}")));
    }
    // The rest of program memory is zero, which means what it means in the set.
    let end = end.filter(|_| set.2.program == 0);
    let budget = launch.budget.unwrap_or(DEFAULT_BUDGET);
    let mut program = Program { end, budget, ..Program::new(path, set, address) };
    let unknown = |name: &Spanned<String>, (message, help): (String, String)| {
        Diagnostic::error("L0004", name.span, message).help(help)
    };
    let mut named: Vec<(String, Span)> = Vec::new();
    for (name, given) in launch.registers.iter().flat_map(|named| named.iter()) {
        let found = match Variable::one(&name.value, set.1, hardware) {
            Ok(found) => found,
            Err(error) => {
                out.push(unknown(name, error));
                continue;
            }
        };
        if let Err(message) = found.takes(given.len(), hardware) {
            let error = Diagnostic::error("L0003", name.span, message);
            out.push(if found.shared { error.help("give it one number") } else { error });
        }
        let already = named.iter().find(|(known, _)| *known == found.to_string());
        if let Some((known, other)) = already {
            let message = format!("`{known}` is given two values");
            let error = Diagnostic::error("L0003", name.span, message).label("this one");
            out.push(error.secondary(*other, "and this one"));
        }
        named.push((found.to_string(), name.span));
        let values = given.iter().map(|number| {
            number.bits(found.width).unwrap_or_else(|(message, fits)| {
                out.push(Diagnostic::error("E0024", number.span, message).label(fits));
                0
            })
        });
        let values: Vec<u64> = values.collect();
        if found.is_zero(hardware) && values.iter().any(|value| *value != 0) {
            out.push(Diagnostic::error("L0003", name.span, format!("`{found}` is always zero")));
        }
        program.registers.push((found, values));
    }
    for name in launch.show.iter().flatten() {
        match Variable::named(&name.value, set.1, hardware) {
            Ok(found) => program.show.extend(found),
            Err(error) => out.push(unknown(name, error)),
        }
    }
    // Program memory starts at address 0.
    let taken = if hardware.program > 0 { 0..hardware.program.into() } else { address..end.unwrap_or(address) };
    let beside = (!taken.is_empty()).then(|| (taken, launch.program.span()));
    let space = |space: &isaforge_core::machine::Space| {
        let name = set.1.spaces.get(usize::from(space.space)).copied().unwrap_or("");
        Space { name, size: space.size.into() }
    };
    let spaces: Vec<Space> = hardware.spaces.iter().map(space).collect();
    let (last, given) = (machine::last_byte(hardware, set.1), launch.buffers.as_deref().map_or(&[][..], Vec::as_slice));
    let buffers = Buffers::beside(beside, last, &spaces, given, folder, out);
    let outputs = launch.outputs.unwrap_or_default();
    for output in &outputs {
        buffers.check_output(output, out);
    }
    program.buffers = Some((buffers, outputs));
    program.segments.push((address, code?, true));
    (!out.has_errors()).then_some(program)
}
