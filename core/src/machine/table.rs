//! The specification of a machine, beyond its instructions.

use crate::registers::RegisterName;
use crate::semantics::{Operation, Semantics, Type};

/// A machine: everything that the texts of instructions leave open.
#[derive(Debug)]
pub struct Hardware {
    /// The number of lanes that execute a program together, 1 to 64.
    pub lanes: u8,
    /// The behaviour when lanes diverge.
    pub divergence: Divergence,
    /// The unit of the program counter in semantics texts, in bytes: 1 if it holds byte addresses.
    pub unit: u8,
    /// Whether memory accesses must be aligned to their size.
    pub aligned: bool,
    /// The machine number in the ELF header, if there is one.
    pub elf: Option<u16>,
    /// The size of program memory in bytes; the program counter wraps at its end. 0 if programs and data share memory.
    pub program: u32,
    /// The register banks, in the order of the instruction set.
    pub banks: &'static [Bank],
    /// States that alias a register: index of the state, the register.
    pub aliases: &'static [(u16, Register)],
    /// States that collect a bit of every lane: the state, and the per-lane state that it collects.
    pub bits: &'static [(u16, u16)],
    /// States that all lanes share. A write takes the value of the lowest lane.
    pub uniform: &'static [u16],
    /// Computations of operand values, where a value is not simply that of a field.
    pub readings: &'static [Reading],
    /// Alternatives to which writes are discarded: index of the kind, name of the alternative.
    pub discards: &'static [(u16, &'static str)],
    /// Address spaces with a memory of their own.
    pub spaces: &'static [Space],
    /// Intrinsics that perform system calls.
    pub calls: &'static [Call],
    /// The operations of intrinsics on a machine that runs a single program.
    pub intrinsics: &'static [Performed],
    /// Intrinsics that move registers to or from memory.
    pub bursts: &'static [Burst],
    /// The index of the intrinsic that unmasks lanes.
    pub unmasks: Option<u16>,
    /// The operation before a program starts.
    pub start: Option<Operation>,
    /// Where the registers that groups name are located, in the order of
    /// [`GroupIsa::registers`](crate::group::table::GroupIsa::registers).
    pub named: &'static [Option<Named>],
}

impl Hardware {
    /// Whether the machine consists only of registers, states, and one memory for programs and data: no program memory,
    /// no address spaces, no operations of its own.
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

    /// The highest address that the program counter can hold.
    pub fn last_address(&self, semantics: &Semantics) -> u64 {
        Type::unsigned(semantics.pc_bits).mask().saturating_mul(self.unit.into())
    }

    /// The address after a program; `None` if the program counter cannot hold it.
    pub fn end_of_program(&self, semantics: &Semantics, address: u64, size: u64) -> Option<u64> {
        address.checked_add(size).filter(|end| *end <= self.last_address(semantics))
    }

    /// Whether writes to an alternative are discarded.
    pub fn discards(&self, kind: u16, alternative: &str) -> bool {
        self.discards.iter().any(|(known, name)| *known == kind && *name == alternative)
    }

    /// Finds a register by name.
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

    /// The spelling of a register; `?` if there is no such bank.
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
    /// The number of registers.
    pub count: u32,
    /// Bits per register.
    pub width: u16,
    /// The text before the number of a register …
    pub open: &'static str,
    /// … and after it.
    pub close: &'static str,
    /// Names that replace numbers, by number; empty where there is none.
    pub names: &'static [&'static str],
    /// Additional names, and their numbers.
    pub also: &'static [(&'static str, u32)],
    /// The register that is always zero; writes to it are discarded.
    pub zero: Option<u32>,
    /// Whether all lanes share the registers. Lanes write in ascending order, so the highest one wins.
    pub uniform: bool,
    /// Initial contents: register number, value.
    pub holds: &'static [(u32, u64)],
    /// Whether programs cannot write the registers.
    pub fixed: bool,
    /// Whether registers do not step when a group repeats.
    pub stays: bool,
    /// Whether others may read the registers after a program has ended.
    pub live_out: bool,
    /// A state that is added to register numbers. Registers past the end read zero, and writes to them are discarded.
    pub plus: Option<u16>,
}

/// The location of registers that groups name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// The first register.
    pub first: Register,
    /// A register whose value is added to the register number.
    pub index: Option<Register>,
}

/// An address space with a memory of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Index into the address spaces.
    pub space: u16,
    /// Its size in bytes. It starts at address 0.
    pub size: u32,
    /// Whether accesses past its end are allowed: reads give zeros, and writes are discarded. Otherwise they trap.
    pub open: bool,
}

/// The operation of an intrinsic.
#[derive(Debug)]
pub struct Performed {
    /// Index into the intrinsics.
    pub intrinsic: u16,
    /// The operation: its operands are the arguments, and it writes the result, if there is one, to the operand after
    /// them.
    pub operation: Operation,
}

/// An intrinsic that moves registers to or from memory. Its arguments are the first register, the address and the
/// number of registers; a store also has the base-2 logarithm of the number of bytes per register.
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

/// The behaviour when lanes diverge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divergence {
    /// Divergence is a trap.
    Refused,
    /// The lanes at the lowest address execute until others reach the same address.
    LowestFirst,
    /// All lanes follow the lowest lane that branches. Lanes that do not branch with it are masked: they are inactive
    /// until an instruction unmasks them.
    Masked,
    /// All lanes follow the lowest lane that branches.
    Together,
}

/// The value of one alternative of a kind of operand.
#[derive(Debug)]
pub struct Reading {
    /// Index into the kinds of the instruction set, or into the sets of a stream.
    pub kind: u16,
    /// The name of the alternative.
    pub alternative: &'static str,
    /// The computation: its operands are the alternative's fields, followed by the number of bits to read; the result
    /// is written to the operand after that.
    pub operation: Operation,
}

/// An intrinsic that performs a system call, such as `ecall` or `syscall`.
#[derive(Debug)]
pub struct Call {
    /// Index into the intrinsics.
    pub intrinsic: u16,
    /// The register that selects the service.
    pub number: Register,
    /// The available services, by number.
    pub services: &'static [(u64, Service)],
}

/// A service of the surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Writes bytes of memory to a stream.
    Write {
        /// The number of the stream; 1 if absent.
        stream: Option<Register>,
        /// The address of the first byte.
        address: Register,
        /// The number of bytes.
        size: Register,
        /// Receives the number of bytes written.
        result: Option<Register>,
    },
    /// Ends the program.
    Exit {
        /// The exit status.
        status: Register,
    },
}
