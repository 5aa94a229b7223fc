//! The registers and states that instructions access: those that operands name, and those that none names, which are
//! states, the registers that hold states, and the registers that calls of the host take.

use std::fmt;

use isaforge_core::Tables;
use isaforge_core::semantics::Op;

use crate::effects::Effects;
use crate::registers::{Register, once, write};
use crate::set::Set;

/// Registers or a state that an instruction reads or writes. As text, a name and what accesses it: `r4:r5 (src0, src1)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The name of the register (`r4`), of a pair (`r4:r5`), of a run (`r4..r7`) or, if no register holds it, of the
    /// state.
    pub name: String,
    /// The operands that name the registers, the state that the register holds, or the intrinsic that the host
    /// provides. Empty for a state without a register.
    pub by: Vec<&'static str>,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.by.is_empty() { Ok(()) } else { write!(f, " ({})", self.by.join(", ")) }
    }
}

/// Adds an access unless the list has it; one with the same name gains what accesses it.
fn add(list: &mut Vec<Access>, access: Access) {
    match list.iter_mut().find(|known| known.name == access.name) {
        Some(known) => access.by.into_iter().for_each(|by| once(&mut known.by, by)),
        None => list.push(access),
    }
}

/// The registers that an instruction accesses, as they are found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// Those it reads, without duplicates.
    pub reads: Vec<Register>,
    /// Those it writes, without duplicates, and whether each is overwritten completely.
    pub writes: Vec<(Register, bool)>,
    /// Those that operands name, without duplicates.
    pub named: Vec<Named>,
}

/// A register that an operand names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    operand: &'static str,
    register: Register,
    write: bool,
}

impl Found {
    /// Adds a register that an operand reads.
    pub fn read(&mut self, operand: &'static str, register: Register) {
        once(&mut self.named, Named { operand, register, write: false });
        once(&mut self.reads, register);
    }

    /// Adds a register that an operand writes, completely or not.
    pub fn write(&mut self, operand: &'static str, register: Register, whole: bool) {
        once(&mut self.named, Named { operand, register, write: true });
        write(&mut self.writes, register, whole);
    }

    /// Adds the registers that no operand names: those that hold states, and those that calls of the host access.
    pub fn add_implied(&mut self, set: &Set, effects: Option<&Effects>) {
        let Some(effects) = effects else { return };
        effects.reads.iter().filter_map(|state| set.register(*state)).for_each(|state| once(&mut self.reads, state));
        for intrinsic in &effects.intrinsics {
            let (read, written) = set.called(*intrinsic);
            read.into_iter().for_each(|register| once(&mut self.reads, register));
            written.into_iter().for_each(|register| write(&mut self.writes, register, false));
        }
        for (state, always) in &effects.writes {
            if let Some(register) = set.register(*state) {
                write(&mut self.writes, register, *always);
            }
        }
    }
}

/// The accesses of operands. Consecutive registers that one operand names are one access.
pub(crate) fn of_operands(set: &Set, named: &[Named], write: bool) -> Vec<Access> {
    let mut found = Vec::new();
    let named: Vec<&Named> = named.iter().filter(|named| named.write == write).collect();
    let follows = |a: &&Named, b: &&Named| {
        let (first, second) = (a.register, b.register);
        a.operand == b.operand && first.bank == second.bank && first.index.checked_add(1) == Some(second.index)
    };
    for run in named.chunk_by(follows) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
        let (start, end) = (set.name(first.register), set.name(last.register));
        let name = match run.len() {
            1 => start,
            2 => format!("{start}:{end}"),
            _ => format!("{start}..{end}"),
        };
        add(&mut found, Access { name, by: vec![first.operand] });
    }
    found
}

/// What the host and the states of a machine are accessed by: indices into the semantics.
#[derive(Clone, Debug, Default)]
pub(crate) struct Implied {
    reads: Vec<u16>,
    writes: Vec<u16>,
    intrinsics: Vec<u16>,
}

impl Implied {
    pub fn of(effects: Option<&Effects>) -> Self {
        let Some(effects) = effects else { return Implied::default() };
        let writes = effects.writes.iter().map(|(state, _)| *state).collect();
        Implied { reads: effects.reads.clone(), writes, intrinsics: effects.intrinsics.clone() }
    }

    /// Whether an intrinsic is called.
    pub fn calls(&self, intrinsic: u16) -> bool {
        self.intrinsics.contains(&intrinsic)
    }

    /// Adds what is read or written to a list.
    pub fn add_to(&self, found: &mut Vec<Access>, set: &Set, write: bool) {
        let Some(semantics) = set.semantics else { return };
        // The first states of groups are wires between the parts of a group.
        let wires = semantics.path.as_ref().map_or(0, |path| path.local);
        let states = if write { &self.writes } else { &self.reads };
        for state in states.iter().filter(|state| **state >= wires) {
            let Some(known) = semantics.states.get(usize::from(*state)) else { continue };
            let access = match set.register(*state) {
                Some(register) => Access { name: held(set, register), by: vec![known.name] },
                None => Access { name: known.name.to_owned(), by: Vec::new() },
            };
            add(found, access);
        }
        for intrinsic in &self.intrinsics {
            let by = semantics.intrinsics.get(usize::from(*intrinsic)).map(|intrinsic| intrinsic.name);
            let (read, written) = set.called(*intrinsic);
            for register in if write { written } else { read } {
                add(found, Access { name: held(set, register), by: by.into_iter().collect() });
            }
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

/// What any instruction with an operation accesses without an operand that names it, whatever its modifiers: an index
/// into the operations of the semantics.
pub fn implied(set: &Set, operation: usize, write: bool) -> Vec<Access> {
    let mut found = Vec::new();
    let operation = set.semantics.and_then(|semantics| semantics.operations.get(operation));
    let Some(operation) = operation else { return found };
    let mut accesses = Implied { intrinsics: operation.intrinsics.to_vec(), ..Implied::default() };
    for node in operation.nodes {
        match node.op {
            Op::State => accesses.reads.push(node.args[0]),
            Op::SetState => accesses.writes.push(node.args[0]),
            _ => {}
        }
    }
    accesses.add_to(&mut found, set, write);
    found
}
