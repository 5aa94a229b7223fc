//! Machine code, with what it relies on: windows of memory, exits.

use std::collections::HashMap;

/// A range of memory that code accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The address of the first byte.
    pub base: u64,
    /// The size in bytes, at most [`i32::MAX`].
    pub size: u64,
    /// Whether it may be written.
    pub writable: bool,
}

/// How code is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The reason.
    pub why: Why,
    /// The number of instructions that were taken from the budget but not executed.
    pub refund: u64,
}

/// Why code is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The evaluator has to execute the instruction at an address.
    Leave(u64),
    /// Execution continues at an address.
    Goto(u64),
    /// Execution continues at the address in the context, which the jump at this address computed.
    Indirect(u64),
    /// An access is in none of its windows. The context holds its offset from `base`.
    Miss {
        /// The address of the instruction.
        pc: u64,
        /// The number of the access within the instruction.
        access: u32,
        /// The address that the offset counts from.
        base: u64,
        /// Whether addresses have 32 bits.
        narrow: bool,
    },
}

/// Machine code, and what it relies on.
#[derive(Debug)]
pub struct Emitted {
    /// The bytes.
    pub code: Vec<u8>,
    /// The exits, by the number that the code returns.
    pub exits: Vec<Exit>,
    /// The windows that it accesses.
    pub windows: Vec<Window>,
    /// The number of slots that the register file must have.
    pub slots: u32,
    /// The offsets at which the code of another instruction of the program begins, each with its address; `None` for
    /// code of no instruction.
    pub marks: Vec<(usize, Option<u64>)>,
}

/// The start addresses of the windows of each access, by the address of the instruction and the number of its access.
pub type Sites = HashMap<(u64, u32), Vec<u64>>;
