//! The accuracy of the instructions of a set, as its specification gives it.

use isaforge_core::Tables;
use isaforge_core::semantics::Semantics;
use isaforge_core::semantics::facts::Fidelity;
use isaforge_runtime::valhall::measure::Worst;

/// The accuracy of the model of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The mnemonic.
    pub mnemonic: &'static str,
    /// The classification in the specification.
    pub fidelity: &'static Fidelity,
    /// The largest measured error over all inputs, for functions of one number or of two halves.
    pub measured: Option<Worst>,
    /// A further remark; may be empty.
    pub note: &'static str,
}

/// The entries of a specification, in the order of its instructions.
pub fn entries(
    tables: Tables,
    semantics: Option<&'static Semantics>,
    measured: Option<fn(&str) -> Option<Worst>>,
) -> Vec<Entry> {
    let Some(semantics) = semantics else { return Vec::new() };
    let names: Vec<(&str, &str)> = match tables {
        Tables::Words(isa) => isa.forms.iter().map(|form| (form.name.str, "")).collect(),
        Tables::Groups(isa) => isa.operations.iter().map(|found| (found.name, found.no_encoding)).collect(),
        Tables::Streams(engine) => engine.stream.instructions.iter().map(|found| (found.name, "")).collect(),
    };
    let entry = |(opcode, (mnemonic, unwritten)): (u16, &(&'static str, &'static str))| {
        let fidelity = semantics.fidelity_of(opcode)?;
        let note = if fidelity.note.is_empty() { unwritten } else { fidelity.note };
        Some(Entry { mnemonic, fidelity, measured: measured.and_then(|measured| measured(mnemonic)), note })
    };
    (0..).zip(&names).filter_map(entry).collect()
}
