//! Why execution stops.

use alloc::string::String;
use core::fmt;

use super::memory::{Access, MemoryFault};

/// How a program stopped without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It requested to exit, with this status.
    Exit(u64),
    /// All of its lanes ended.
    Ended,
    /// It reached a breakpoint; the instruction there has not been executed.
    Breakpoint(u64),
    /// The host stopped it.
    Host,
}

/// An instruction that cannot be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// Its address.
    pub pc: u64,
    /// The reason.
    pub reason: Reason,
}

/// Why an instruction cannot be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// Memory that is not mapped, or not writable.
    Memory {
        /// The purpose of the access.
        access: Access,
        /// Why it failed.
        fault: MemoryFault,
        /// The address of the first byte.
        address: u64,
        /// The number of bytes.
        size: u64,
    },
    /// A misaligned address.
    Misaligned {
        /// The purpose of the access.
        access: Access,
        /// The address.
        address: u64,
        /// The required alignment.
        size: u64,
    },
    /// A word that is not an instruction.
    Undecodable {
        /// The word; for a long one, its low bits.
        word: u64,
        /// Why it does not decode.
        error: String,
    },
    /// An instruction whose semantics the specification does not define.
    NoMeaning(&'static str),
    /// An operand that cannot be read or written.
    Operand {
        /// The instruction.
        form: &'static str,
        /// The operand.
        operand: &'static str,
        /// Whether it was read or written.
        access: Access,
    },
    /// An element of a state that does not exist.
    State(&'static str, u64),
    /// A fault that the text of the instruction raises, with its datum.
    Fault(&'static str, u64),
    /// A call of a service that does not exist.
    NoService(u64),
    /// An intrinsic that the host rejected, and why.
    Intrinsic(&'static str, String),
    /// Lanes diverged on a machine that does not support it.
    Diverged,
    /// The budget of instructions is used up.
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
                write!(f, "{address:#x} cannot be {}: it is not a multiple of {size}", verb(access))
            }
            Reason::Undecodable { word, error } => write!(f, "{word:#x} is not an instruction: {error}"),
            Reason::NoMeaning(form) => write!(f, "the specification does not define what `{form}` does"),
            Reason::Operand { form, operand, access } => {
                write!(f, "{form}: `{operand}` cannot be {}", verb(access))
            }
            Reason::State(name, index) => write!(f, "`{name}` has no element {index}"),
            Reason::Fault(name, datum) => write!(f, "fault `{name}` ({datum:#x})"),
            Reason::NoService(number) => write!(f, "unknown service {number}"),
            Reason::Intrinsic(name, reason) => write!(f, "`{name}`: {reason}"),
            Reason::Diverged => f.write_str("the lanes continue at different addresses"),
            Reason::Budget(budget) => {
                write!(f, "the program has used up its budget of {budget} instructions")
            }
        }
    }
}
