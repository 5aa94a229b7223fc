//! How programs execute, with every name bound.

use isaforge_core::machine::{Burst, Divergence, Named, Register, Service, Space};

use crate::expression::Built;

/// How programs execute.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Whether the specification has a `machine` section; otherwise this is a scalar machine with default properties.
    pub declared: bool,
    /// How many lanes execute together.
    pub lanes: u8,
    /// How lanes may diverge.
    pub divergence: Divergence,
    /// The unit of the program counter in bytes.
    pub unit: u8,
    /// Whether accesses must be aligned.
    pub aligned: bool,
    /// The machine number in the header of ELF files.
    pub elf: Option<u16>,
    /// The properties of each bank.
    pub banks: Vec<Facts>,
    /// The registers that the names of registers in groups refer to.
    pub named: Vec<Option<Named>>,
    /// States that stand for registers.
    pub aliases: Vec<(usize, Register)>,
    /// States that are bit masks of another state in all lanes.
    pub bits: Vec<(usize, usize)>,
    /// States that all lanes share.
    pub uniform: Vec<usize>,
    /// The graphs for reading operands: kind, name of the alternative, graph.
    pub readings: Vec<(usize, String, Built)>,
    /// Intrinsics that call the environment.
    pub calls: Vec<Call>,
    /// The size of program memory in bytes; 0 if it has none.
    pub program: u32,
    /// Alternatives that discard writes: kind and name of the alternative.
    pub discards: Vec<(usize, String)>,
    /// Address spaces with separate memories.
    pub spaces: Vec<Space>,
    /// The graphs of intrinsics: intrinsic and graph.
    pub intrinsics: Vec<(usize, Built)>,
    /// Intrinsics that transfer several registers from or to memory.
    pub bursts: Vec<Burst>,
    /// The intrinsic that unmasks lanes.
    pub unmasks: Option<usize>,
    /// What to execute before a program starts.
    pub start: Option<Built>,
}

/// The properties of a bank.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The register that reads as zero.
    pub zero: Option<u32>,
    /// Whether lanes share its registers.
    pub uniform: bool,
    /// The constants that registers hold: register number and value.
    pub holds: Vec<(u32, u64)>,
    /// Whether programs cannot write its registers.
    pub fixed: bool,
    /// Whether register numbers do not step when a group repeats.
    pub stays: bool,
    /// Whether others may read the registers after a program has ended.
    pub live_out: bool,
    /// The state that is added to the numbers of its registers.
    pub plus: Option<usize>,
}

/// An intrinsic that calls the environment.
#[derive(Clone, Debug)]
pub struct Call {
    /// The intrinsic.
    pub intrinsic: usize,
    /// The register that holds the number of the service.
    pub number: Register,
    /// The services, by number.
    pub services: Vec<(u64, Service)>,
}
