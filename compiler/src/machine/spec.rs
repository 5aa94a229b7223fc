//! The vocabulary of machines.

use crate::keys::Named;
use crate::source::Spanned;
use crate::{choices, vocabulary};

vocabulary! {
    /// What executes programs, beyond what the texts of instructions say.
    pub struct MachineSpec {
        /// How many lanes execute one program together, 1 to 64; 1 if not given.
        optional lanes: Spanned<u8>,
        /// What happens when lanes go on at different places; `refused` if not given.
        optional divergence: DivergenceSpec,
        /// Bytes that the program counter counts, 1 to 32: 1, as if not given, where it holds addresses, the bytes of a word
        /// where it counts words.
        optional unit: Spanned<u8>,
        /// Whether an access to memory must lie at a multiple of its size, or is a trap.
        optional aligned: bool,
        /// The number of the machine in the header of ELF files (`e_machine`); files of others are refused.
        optional elf: Spanned<u16>,
        /// How many instructions of `unit` bytes program memory has. The program counter wraps at its end, and what a program
        /// leaves of it is zero. Without this, programs lie in memory with their data.
        optional program: Spanned<u32>,
        /// Address spaces that are memories of their own, by name. All others are one memory.
        optional spaces: Named<SpaceSpec>,
        /// What happens before a program starts: a text that sets states.
        optional start: Spanned<String>,
        /// The intrinsic that lets masked lanes go on. They execute the instruction that calls it, too.
        optional unmasks: Spanned<String>,
        /// What intrinsics do on a machine that one program has to itself, as texts. They know the names of their parameters,
        /// and call no other intrinsics.
        optional intrinsics: Named<Spanned<String>>,
        /// Intrinsics that move registers from or to memory, from one on as many as an argument says. Their parameters are
        /// `operand, u64, u32`: the first register, the address, how many; of those that store a last `u32` says how many
        /// bytes of each, as a power of two.
        optional bursts: Named<BurstSpec>,
        /// Intrinsics that call the surroundings.
        optional calls: Named<CallSpec>,
    }
}

choices! {
    /// What happens when lanes go on at different places.
    pub enum DivergenceSpec {
        /// It is a trap.
        Refused = "refused",
        /// The lanes at the lowest address execute until others are there, too.
        LowestFirst = "lowest first",
        /// All go where the first goes that branches; those that do not branch then are masked, and execute nothing.
        Masked = "masked",
        /// All go where the first goes that branches.
        Together = "together",
    }
}

choices! {
    /// Which way a burst moves.
    pub enum BurstSpec {
        /// From memory to registers.
        Loads = "loads",
        /// From registers to memory.
        Stores = "stores",
    }
}

vocabulary! {
    /// An address space that is a memory of its own.
    pub struct SpaceSpec {
        /// Its bytes, from address 0 on, where the host does not say otherwise.
        required size: Spanned<u32>,
        /// Accesses beyond its end: traps, unless this says that they read zeros and write nothing.
        optional beyond: BeyondSpec,
    }
}

choices! {
    /// What becomes of accesses beyond the end of a memory.
    pub enum BeyondSpec {
        /// They are traps.
        Trap = "trap",
        /// They read zeros, and what they write is lost.
        Zeros = "zeros",
    }
}

vocabulary! {
    /// An intrinsic that calls the surroundings.
    pub struct CallSpec {
        /// The register that holds the number of the service.
        required number: Spanned<String>,
        /// What there is, by that number. A call of another one is a trap.
        required services: Named<ServiceSpec>,
    }
}

vocabulary! {
    /// A service of the surroundings: one of `write` and `exit`.
    pub struct ServiceSpec {
        /// Writes bytes of memory.
        optional write: WriteSpec,
        /// Ends the program.
        optional exit: ExitSpec,
    }
}

vocabulary! {
    /// Writes bytes of memory.
    pub struct WriteSpec {
        /// The register with the number of the stream: 2 is standard error, anything else standard output.
        optional stream: Spanned<String>,
        /// The register with the address of the first byte.
        required address: Spanned<String>,
        /// The register that says how many bytes.
        required size: Spanned<String>,
        /// The register that takes the number of bytes written.
        optional result: Spanned<String>,
    }
}

vocabulary! {
    /// Ends the program.
    pub struct ExitSpec {
        /// The register with its status, whose low eight bits count.
        required status: Spanned<String>,
    }
}
