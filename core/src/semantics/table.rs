//! The semantics of an instruction set, and what its graphs refer to: intrinsics and states.

use super::facts::{Callee, Fidelity, Flow, Preload};
use super::group::DataPath;
use super::operation::Operation;
use super::types::Type;

/// The semantics of an instruction set.
#[derive(Clone, Copy, Debug)]
pub struct Semantics {
    /// The operation of each instruction, by opcode.
    pub operations: &'static [Operation],
    /// Operations without a text, which the host provides.
    pub intrinsics: &'static [Intrinsic],
    /// Registers outside banks.
    pub states: &'static [State],
    /// Names of the address spaces. The first is the default.
    pub spaces: &'static [&'static str],
    /// Names of the faults that operations raise.
    pub faults: &'static [&'static str],
    /// The canonical NaN of half-precision arithmetic, if there is one.
    pub nan16: Option<u16>,
    /// The canonical NaN of single-precision arithmetic, if there is one.
    pub nan32: Option<u32>,
    /// The canonical NaN of double-precision arithmetic, if there is one.
    pub nan64: Option<u64>,
    /// Width of the program counter in bits, 32 or 64.
    pub pc_bits: u8,
    /// The data path of groups, if instructions are groups. [`operations`](Semantics::operations) are then those of the
    /// tables of groups.
    pub path: Option<DataPath>,
    /// The fidelity of instructions to the hardware.
    pub fidelity: &'static [Fidelity],
    /// The register contents at the start of programs.
    pub preloads: &'static [Preload],
    /// The programs that instructions call.
    pub callees: &'static [Callee],
    /// The effects after instructions: messages, waits, ends.
    pub flow: &'static [Flow],
    /// The alternative that marks the last read of an operand; empty if there is none.
    pub last_read: &'static str,
}

impl Semantics {
    /// The fidelity of an instruction. `None` when the specification does not give it.
    pub fn fidelity_of(&self, opcode: u16) -> Option<&'static Fidelity> {
        self.fidelity.iter().find(|found| found.instructions.contains(&opcode))
    }

    /// The canonical NaN that [`Op::Canonical`](super::Op::Canonical) substitutes, for the format with this many bits.
    pub fn nan(&self, bits: u8) -> Option<u64> {
        match bits {
            16 => self.nan16.map(u64::from),
            32 => self.nan32.map(u64::from),
            _ => self.nan64,
        }
    }
}

/// An operation without a text, which the host provides: a table of the hardware, a texture, a queue.
#[derive(Debug)]
pub struct Intrinsic {
    /// Its name.
    pub name: &'static str,
    /// A description.
    pub doc: &'static str,
    /// Types of its arguments.
    pub parameters: &'static [Type],
    /// Type of its result; `None` when there is no result.
    pub result: Option<Type>,
    /// Its effects beyond its arguments and result.
    pub effects: Effects,
    /// The registers that it accesses. If there are none, those that its arguments name, and perhaps more.
    pub registers: &'static [Registers],
}

/// Consecutive registers that an intrinsic reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// The parameter with the first one.
    pub first: u8,
    /// The name of that parameter.
    pub name: &'static str,
    /// The bank of the machine, if the first one is a number. Otherwise it is an operand.
    pub bank: Option<u16>,
    /// The parameter with their number. `None` if there is one.
    pub count: Option<u8>,
    /// What that number is multiplied by.
    pub times: u8,
    /// Whether it writes them; otherwise it reads them.
    pub writes: bool,
}

/// The effects of an intrinsic beyond its arguments and result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// It reads memory or the state of a device.
    pub reads: bool,
    /// It writes memory or changes the state of a device.
    pub writes: bool,
    /// It may have to wait.
    pub waits: bool,
    /// It may end threads or redirect them.
    pub flow: bool,
}

impl Effects {
    /// Whether the result depends on the arguments alone.
    pub const fn is_pure(self) -> bool {
        !(self.reads || self.writes || self.waits || self.flow)
    }
}

/// A register, or an array of registers, outside banks.
#[derive(Debug)]
pub struct State {
    /// Its name.
    pub name: &'static str,
    /// A description.
    pub doc: &'static str,
    /// Type of one element.
    pub ty: Type,
    /// The number of elements; 1 for a plain register.
    pub count: u32,
}
