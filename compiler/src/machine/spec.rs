//! The vocabulary of machines.

use crate::keys::Named;
use crate::source::Spanned;
use crate::{choices, vocabulary};

vocabulary! {
    /// How programs execute, beyond the texts of instructions.
    pub struct MachineSpec {
        /// How many lanes execute a program together, 1 to 64; 1 by default.
        optional lanes: Spanned<u8>,
        /// How divergent lanes execute; `refused` by default.
        optional divergence: DivergenceSpec,
        /// The unit of the program counter in bytes, 1 to 32: 1, the default, if it holds byte addresses; the size of a
        /// word if it counts words.
        optional unit: Spanned<u8>,
        /// Whether memory accesses must be aligned to their size; others trap.
        optional aligned: bool,
        /// The machine number (`e_machine`) in the header of ELF files; files with another number are rejected.
        optional elf: Spanned<u16>,
        /// The size of program memory in instructions of `unit` bytes. The program counter wraps at its end, and memory
        /// that a program does not fill is zero. Without this key, programs are in data memory.
        optional program: Spanned<u32>,
        /// Address spaces with separate memories, by name. All others share one memory.
        optional spaces: Named<SpaceSpec>,
        /// What to execute before a program starts: a text that sets states.
        optional start: Spanned<String>,
        /// The intrinsic that unmasks lanes. They also execute the instruction that calls it.
        optional unmasks: Spanned<String>,
        /// The texts of intrinsics, for a machine that runs a single program. They use the names of their parameters
        /// and must not call other intrinsics.
        optional intrinsics: Named<Spanned<String>>,
        /// Intrinsics that transfer consecutive registers from or to memory. Their parameters are `operand, u64, u32`:
        /// the first register, the address, and the number of registers. Those that store have another `u32`: the bytes
        /// per register, as a power of two.
        optional bursts: Named<BurstSpec>,
        /// Intrinsics that call the environment.
        optional calls: Named<CallSpec>,
    }
}

choices! {
    /// How divergent lanes execute.
    pub enum DivergenceSpec {
        /// Divergence traps.
        Refused = "refused",
        /// The lanes at the lowest address execute until others reach the same address.
        LowestFirst = "lowest first",
        /// All lanes follow the first lane that branches; lanes that did not branch are masked and execute nothing.
        Masked = "masked",
        /// All lanes follow the first lane that branches.
        Together = "together",
    }
}

choices! {
    /// The direction of a transfer.
    pub enum BurstSpec {
        /// From memory to registers.
        Loads = "loads",
        /// From registers to memory.
        Stores = "stores",
    }
}

vocabulary! {
    /// An address space with a separate memory.
    pub struct SpaceSpec {
        /// Its size in bytes, from address 0, unless the host sets another.
        required size: Spanned<u32>,
        /// The effect of accesses beyond its end; they trap by default.
        optional beyond: BeyondSpec,
    }
}

choices! {
    /// The effect of accesses beyond the end of a memory.
    pub enum BeyondSpec {
        /// They trap.
        Trap = "trap",
        /// Loads return zeros, and stores are ignored.
        Zeros = "zeros",
    }
}

vocabulary! {
    /// An intrinsic that calls the environment.
    pub struct CallSpec {
        /// The register that holds the number of the service.
        required number: Spanned<String>,
        /// The services, by that number. Calls with other numbers trap.
        required services: Named<ServiceSpec>,
    }
}

vocabulary! {
    /// A service of the environment: either `write` or `exit`.
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
        /// The register that holds the stream number: 2 is standard error, any other number standard output.
        optional stream: Spanned<String>,
        /// The register that holds the address of the first byte.
        required address: Spanned<String>,
        /// The register that holds the number of bytes.
        required size: Spanned<String>,
        /// The register that receives the number of bytes written.
        optional result: Spanned<String>,
    }
}

vocabulary! {
    /// Ends the program.
    pub struct ExitSpec {
        /// The register that holds the exit status; only its low eight bits are used.
        required status: Spanned<String>,
    }
}
