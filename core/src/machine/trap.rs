//! Why execution stops.

use alloc::string::String;
use core::fmt;

use super::memory::{Access, MemoryFault};

/// How a program stopped without a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It asked the surroundings to end, with this status.
    Exit(u64),
    /// All of its lanes ended.
    Ended,
    /// It came to a breakpoint; the instruction there has not been executed.
    Breakpoint(u64),
    /// The host wanted no more of it.
    Host,
}

/// An instruction that cannot be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// Where it stands.
    pub pc: u64,
    /// What is wrong.
    pub reason: Reason,
}

/// Why an instruction cannot be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// Memory that is not there, or not writable.
    Memory {
        /// What it was accessed for.
        access: Access,
        /// Why it cannot be.
        fault: MemoryFault,
        /// The first byte.
        address: u64,
        /// How many bytes.
        size: u64,
    },
    /// An address that is no multiple of what it must be one of.
    Misaligned {
        /// What memory was accessed for.
        access: Access,
        /// The address.
        address: u64,
        /// What it must be a multiple of.
        size: u64,
    },
    /// A word that is no instruction.
    Undecodable {
        /// The word; of a long one the low bits.
        word: u64,
        /// What is wrong with it.
        error: String,
    },
    /// An instruction that the specification does not say the meaning of.
    NoMeaning(&'static str),
    /// An operand that cannot be read or written.
    Operand {
        /// The instruction.
        form: &'static str,
        /// The operand.
        operand: &'static str,
        /// What was to be done with it.
        access: Access,
    },
    /// An element of a state that is not there.
    State(&'static str, u64),
    /// A fault that the text of the instruction raises, and its datum.
    Fault(&'static str, u64),
    /// A call of a service that there is not.
    NoService(u64),
    /// An intrinsic that the host refused, and why.
    Intrinsic(&'static str, String),
    /// Lanes that go on at different places on a machine that cannot do that.
    Diverged,
    /// All instructions that were allowed have been executed.
    Budget(u64),
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {:#x}: {}", self.pc, self.reason)
    }
}

impl core::error::Error for Trap {}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = |access: &Access| match access {
            Access::Read => "read",
            Access::Write => "written",
            Access::Fetch => "executed",
        };
        match self {
            Reason::Memory { access, fault, address, size } => {
                let plural = if *size == 1 { "byte" } else { "bytes" };
                write!(f, "{size} {plural} at {address:#x} cannot be {}: ", verb(access))?;
                f.write_str(match fault {
                    MemoryFault::Unmapped => "nothing is mapped there",
                    MemoryFault::ReadOnly => "the memory is not writable",
                })
            }
            Reason::Misaligned { access, address, size } => {
                write!(f, "{address:#x} cannot be {}: it is no multiple of {size}", verb(access))
            }
            Reason::Undecodable { word, error } => write!(f, "{word:#x} is no instruction: {error}"),
            Reason::NoMeaning(form) => write!(f, "the specification does not say what `{form}` does"),
            Reason::Operand { form, operand, access } => {
                write!(f, "{form}: `{operand}` cannot be {}", verb(access))
            }
            Reason::State(name, index) => write!(f, "`{name}` has no element {index}"),
            Reason::Fault(name, datum) => write!(f, "fault `{name}` ({datum:#x})"),
            Reason::NoService(number) => write!(f, "there is no service {number} to call"),
            Reason::Intrinsic(name, reason) => write!(f, "`{name}`: {reason}"),
            Reason::Diverged => f.write_str("the lanes go on at different places"),
            Reason::Budget(budget) => {
                write!(f, "the program has executed {budget} instructions, and may not execute more")
            }
        }
    }
}
