//! Machines: what executes programs, beyond what the texts of instructions say.
//!
//! [`spec`] is the vocabulary, `resolve` binds names, [`lower()`] makes the tables of [`isaforge_core::machine`].

mod lower;
mod resolve;
pub mod spec;

pub use lower::lower;

use isaforge_core::machine::{Burst, Divergence, Named, Register, Service, Space};

use crate::expression::Built;
use crate::model::{self, Isa};
use crate::stream::model::Bank;

/// What executes programs.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Whether the specification has a section `machine`; otherwise this is a scalar machine without a description.
    pub declared: bool,
    /// How many lanes execute together.
    pub lanes: u8,
    /// What happens when they part.
    pub divergence: Divergence,
    /// Bytes that the program counter counts.
    pub unit: u8,
    /// Whether accesses must be aligned.
    pub aligned: bool,
    /// The number in the header of ELF files.
    pub elf: Option<u16>,
    /// What each bank is to the machine.
    pub banks: Vec<Facts>,
    /// Where the registers that groups name are.
    pub named: Vec<Option<Named>>,
    /// States that are registers.
    pub aliases: Vec<(usize, Register)>,
    /// States that are the bits of a state of all lanes.
    pub bits: Vec<(usize, usize)>,
    /// States that all lanes share.
    pub uniform: Vec<usize>,
    /// What reading an operand gives: the kind, the alternative's name, the graph.
    pub readings: Vec<(usize, String, Built)>,
    /// Calls of the surroundings.
    pub calls: Vec<Call>,
    /// Bytes of program memory; 0 if it has none.
    pub program: u32,
    /// Alternatives that keep nothing: the kind, the alternative's name.
    pub discards: Vec<(usize, String)>,
    /// Address spaces that are memories of their own.
    pub spaces: Vec<Space>,
    /// What intrinsics do: the intrinsic, the graph.
    pub intrinsics: Vec<(usize, Built)>,
    /// Intrinsics that move registers from or to memory.
    pub bursts: Vec<Burst>,
    /// The intrinsic that unmasks lanes.
    pub unmasks: Option<usize>,
    /// What happens before a program starts.
    pub start: Option<Built>,
}

/// What a bank is to a machine.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The register that is zero.
    pub zero: Option<u32>,
    /// Whether lanes share its registers.
    pub uniform: bool,
    /// What registers hold from the start on.
    pub holds: Vec<(u32, u64)>,
    /// Whether programs cannot write its registers.
    pub fixed: bool,
    /// Whether registers stay themselves when a group repeats.
    pub stays: bool,
    /// The state that is added to numbers of its registers.
    pub plus: Option<usize>,
}

/// An intrinsic that calls the surroundings.
#[derive(Clone, Debug)]
pub struct Call {
    /// The intrinsic.
    pub intrinsic: usize,
    /// The register with the number of the service.
    pub number: Register,
    /// The services, by that number.
    pub services: Vec<(u64, Service)>,
}

/// The banks of an instruction set, be it of words or a stream.
pub(crate) fn banks(isa: &Isa) -> Vec<Bank> {
    if let Some(stream) = isa.stream() {
        return stream.banks.clone();
    }
    let bank = |bank: &model::Bank| Bank {
        name: bank.name.clone(),
        doc: bank.doc.clone(),
        span: bank.span,
        count: bank.count,
        width: bank.width,
        prints: bank.prints.clone(),
        names: Vec::new(),
        also: Vec::new(),
    };
    isa.banks.iter().map(bank).collect()
}
