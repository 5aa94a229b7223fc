//! Implicit register accesses: what instructions access without an operand that names it. These are states, the
//! registers that hold states, and those that calls of the host take.

use isaforge_core::Tables;
use isaforge_core::semantics::Op;

use crate::effects::Effects;
use crate::registers::{Register, once, write};
use crate::set::Set;

/// A register or a state that no operand names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implied {
    /// The name of the register or, if none holds it, of the state.
    pub name: String,
    /// The state that the register holds, or the intrinsic that the host provides. `None` for a state without a
    /// register.
    pub by: Option<&'static str>,
}

/// What the host and the states of a machine are accessed by: indices into the semantics.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accesses {
    reads: Vec<u16>,
    writes: Vec<u16>,
    intrinsics: Vec<u16>,
}

impl Accesses {
    pub fn of(effects: Option<&Effects>) -> Self {
        let Some(effects) = effects else { return Accesses::default() };
        let writes = effects.writes.iter().map(|(state, _)| *state).collect();
        Accesses { reads: effects.reads.clone(), writes, intrinsics: effects.intrinsics.clone() }
    }

    /// Whether an intrinsic is called.
    pub fn calls(&self, intrinsic: u16) -> bool {
        self.intrinsics.contains(&intrinsic)
    }

    /// What is read or written, without duplicates.
    pub fn named(&self, set: &Set, write: bool) -> Vec<Implied> {
        let mut found = Vec::new();
        let Some(semantics) = set.semantics else { return found };
        // The first states of groups are wires between the parts of a group.
        let wires = semantics.path.as_ref().map_or(0, |path| path.local);
        let states = if write { &self.writes } else { &self.reads };
        for state in states.iter().filter(|state| **state >= wires) {
            let Some(known) = semantics.states.get(usize::from(*state)) else { continue };
            once(
                &mut found,
                match set.register(*state) {
                    Some(register) => Implied { name: held(set, register), by: Some(known.name) },
                    None => Implied { name: known.name.to_owned(), by: None },
                },
            );
        }
        for intrinsic in &self.intrinsics {
            let by = semantics.intrinsics.get(usize::from(*intrinsic)).map(|intrinsic| intrinsic.name);
            let (read, written) = set.called(*intrinsic);
            let registers = if write { written } else { read };
            registers.into_iter().for_each(|register| once(&mut found, Implied { name: held(set, register), by }));
        }
        found
    }
}

/// Adds the registers that no operand names: those that hold states, and those that calls of the host access.
pub(crate) fn implicit(
    set: &Set,
    effects: Option<&Effects>,
    reads: &mut Vec<Register>,
    writes: &mut Vec<(Register, bool)>,
) {
    let Some(effects) = effects else { return };
    effects.reads.iter().filter_map(|state| set.register(*state)).for_each(|register| once(reads, register));
    for intrinsic in &effects.intrinsics {
        let (read, written) = set.called(*intrinsic);
        read.into_iter().for_each(|register| once(reads, register));
        written.into_iter().for_each(|register| write(writes, register, false));
    }
    for (state, always) in &effects.writes {
        if let Some(register) = set.register(*state) {
            write(writes, register, *always);
        }
    }
}

/// The name of a register of the machine.
fn held(set: &Set, register: Register) -> String {
    match (set.tables, set.hardware) {
        (Tables::Groups(_), Some(hardware)) => {
            hardware.name(isaforge_core::machine::Register { bank: register.bank, index: register.index }).to_string()
        }
        _ => set.name(register),
    }
}

/// What any instruction with an operation accesses, whatever its modifiers: an index into the operations of the
/// semantics.
pub fn implied(set: &Set, operation: usize, write: bool) -> Vec<Implied> {
    let operation = set.semantics.and_then(|semantics| semantics.operations.get(operation));
    let Some(operation) = operation else { return Vec::new() };
    let mut accesses = Accesses { intrinsics: operation.intrinsics.to_vec(), ..Accesses::default() };
    for node in operation.nodes {
        match node.op {
            Op::State => accesses.reads.push(node.args[0]),
            Op::SetState => accesses.writes.push(node.args[0]),
            _ => {}
        }
    }
    accesses.named(set, write)
}
