//! What a specification says about a machine beyond its instructions.

use crate::registers::RegisterName;
use crate::semantics::Operation;

/// A machine: what the texts of instructions leave open.
#[derive(Debug)]
pub struct Hardware {
    /// How many lanes execute one program together, 1 to 64.
    pub lanes: u8,
    /// What happens when lanes go on at different places.
    pub divergence: Divergence,
    /// Bytes that the program counter of the texts counts: 1 where it holds addresses.
    pub unit: u8,
    /// Whether an access to memory must lie at a multiple of its size.
    pub aligned: bool,
    /// The number of the machine in the header of an ELF file, if it has one.
    pub elf: Option<u16>,
    /// Bytes of program memory, at whose end the program counter wraps; 0 where programs lie in memory with their data.
    pub program: u32,
    /// The banks, in the order of the instruction set.
    pub banks: &'static [Bank],
    /// States that are registers of a bank: the state's index.
    pub aliases: &'static [(u16, Register)],
    /// States that are bits of a state of all lanes: the state, and the one that it is a bit of.
    pub bits: &'static [(u16, u16)],
    /// States that all lanes share. What the lowest lane writes counts.
    pub uniform: &'static [u16],
    /// What reading an operand gives, where its field does not say it.
    pub readings: &'static [Reading],
    /// Alternatives of kinds, by the index of the kind: what is written to them is lost.
    pub discards: &'static [(u16, &'static str)],
    /// Address spaces that are memories of their own.
    pub spaces: &'static [Space],
    /// Intrinsics that call the surroundings.
    pub calls: &'static [Call],
    /// What intrinsics do on a machine that one program has to itself.
    pub intrinsics: &'static [Performed],
    /// Intrinsics that move registers from or to memory.
    pub bursts: &'static [Burst],
    /// The intrinsic that lets masked lanes go on; the index.
    pub unmasks: Option<u16>,
    /// What happens before a program starts.
    pub start: Option<Operation>,
    /// Where the registers that groups name are, in the order of [`GroupIsa::registers`](crate::group::table::GroupIsa::registers).
    pub named: &'static [Option<Named>],
}

impl Hardware {
    /// Whether nothing of it is beyond registers, states and one memory that holds programs, too: no program memory, no spaces,
    /// no texts of its own.
    pub fn is_plain(&self) -> bool {
        self.program == 0
            && self.discards.is_empty()
            && self.spaces.is_empty()
            && self.intrinsics.is_empty()
            && self.bursts.is_empty()
            && self.unmasks.is_none()
            && self.start.is_none()
            && !matches!(self.divergence, Divergence::Masked | Divergence::Together)
            && self.named.is_empty()
            && self.bits.is_empty()
            && self.uniform.is_empty()
            && self.banks.iter().all(|bank| !bank.uniform)
    }

    /// The register of a name.
    pub fn register(&self, name: &str) -> Option<Register> {
        let find = |bank: &Bank| {
            let named = bank.names.iter().zip(0..).chain(bank.also.iter().map(|(name, index)| (name, *index)));
            let index = match named.clone().find(|(known, _)| !known.is_empty() && **known == name) {
                Some((_, index)) => index,
                None => name.strip_prefix(bank.open)?.strip_suffix(bank.close)?.parse().ok()?,
            };
            (index < bank.count).then_some(index)
        };
        let mut banks = self.banks.iter().enumerate();
        banks.find_map(|(bank, known)| Some(Register { bank: bank as u16, index: find(known)? }))
    }

    /// How a register is written; `?` where there is no such bank.
    pub fn name(&self, register: Register) -> RegisterName {
        match self.banks.get(usize::from(register.bank)) {
            Some(bank) => RegisterName::of(register.index.into(), bank.names, bank.open, bank.close),
            None => RegisterName { open: "?", number: None, close: "" },
        }
    }
}

/// A bank of registers.
#[derive(Debug)]
pub struct Bank {
    /// How many there are.
    pub count: u32,
    /// Bits in a register.
    pub width: u16,
    /// What is written before the number of a register …
    pub open: &'static str,
    /// … and behind it.
    pub close: &'static str,
    /// Names in the place of numbers, by number; empty where there is none.
    pub names: &'static [&'static str],
    /// Other names, and their numbers.
    pub also: &'static [(&'static str, u32)],
    /// The register that holds zero whatever is written to it.
    pub zero: Option<u32>,
    /// Whether all lanes share the registers. Lanes write them in order, so that the highest wins.
    pub uniform: bool,
    /// What registers hold from the start on: numbers and values.
    pub holds: &'static [(u32, u64)],
    /// Whether programs cannot write the registers.
    pub fixed: bool,
    /// Whether registers stay themselves when a group repeats.
    pub stays: bool,
    /// A state that is added to numbers of registers. Those beyond the end read zero, and writing them does nothing.
    pub plus: Option<u16>,
}

/// Where registers are that groups name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// The first of them.
    pub first: Register,
    /// A register whose value is added to the number of that one.
    pub index: Option<Register>,
}

/// An address space that is a memory of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Index into the address spaces.
    pub space: u16,
    /// Its bytes, from address 0 on.
    pub size: u32,
    /// Whether there is nothing wrong with accesses beyond its end: they read zeros, and what they write is lost. Otherwise
    /// they are traps.
    pub open: bool,
}

/// What an intrinsic does.
#[derive(Debug)]
pub struct Performed {
    /// Index into the intrinsics.
    pub intrinsic: u16,
    /// Does it: the arguments are the operands, and the result, if there is one, is written behind them.
    pub operation: Operation,
}

/// An intrinsic that moves registers from or to memory. Its arguments are the first register, the address and how many
/// registers; of one that stores also how many bytes of each, as a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// Index into the intrinsics.
    pub intrinsic: u16,
    /// Whether it stores; otherwise it loads.
    pub stores: bool,
}

/// A register of a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register {
    /// Index into the banks of the instruction set.
    pub bank: u16,
    /// Its number.
    pub index: u32,
}

/// What happens when lanes go on at different places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divergence {
    /// It is a trap.
    Refused,
    /// The lanes at the lowest address execute, until others are there, too.
    LowestFirst,
    /// All go where the first goes that branches. Those that do not branch then are masked: they execute nothing until
    /// they are unmasked.
    Masked,
    /// All go where the first goes that branches.
    Together,
}

/// What reading one alternative of a kind gives.
#[derive(Debug)]
pub struct Reading {
    /// Index into the kinds of the instruction set, or into the sets of a stream.
    pub kind: u16,
    /// The name of the alternative.
    pub alternative: &'static str,
    /// Computes it: the alternative's fields are the operands, behind them stands how many bits are read, and the value is
    /// written to the one behind that.
    pub operation: Operation,
}

/// An intrinsic that calls the surroundings, as `ecall` or `syscall` do.
#[derive(Debug)]
pub struct Call {
    /// Index into the intrinsics.
    pub intrinsic: u16,
    /// The register that says which service is wanted.
    pub number: Register,
    /// What there is, by that number.
    pub services: &'static [(u64, Service)],
}

/// A service of the surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Writes bytes of memory to a stream.
    Write {
        /// Holds the number of the stream; 1 without it.
        stream: Option<Register>,
        /// Holds the address of the first byte.
        address: Register,
        /// Holds how many bytes there are.
        size: Register,
        /// Takes the number of bytes written.
        result: Option<Register>,
    },
    /// Ends the program.
    Exit {
        /// Holds its status.
        status: Register,
    },
}
