//! Machines: what executes programs, beyond what the texts of instructions say.
//!
//! [`spec`] is the vocabulary, `resolve` binds names, [`lower()`] makes the tables of [`isaforge_core::machine`].

mod lower;
mod resolve;
pub mod spec;

pub use lower::lower;

use isaforge_core::machine::{Divergence, Register, Service, Space};

use crate::expression::Built;
use crate::model::{self, Isa};
use crate::stream::model::Bank;

/// What executes programs.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Whether the specification has a section `machine`; otherwise this is a scalar machine of which nothing is said.
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
    /// Of each bank, the register that is zero.
    pub zeros: Vec<Option<u32>>,
    /// States that are registers.
    pub aliases: Vec<(usize, Register)>,
    /// What reading an operand gives: the kind, the alternative's name, the graph.
    pub readings: Vec<(usize, String, Built)>,
    /// Calls of the surroundings.
    pub calls: Vec<Call>,
    /// Bytes of program memory; 0 if it has none.
    pub program: u32,
    /// Of each bank, whether lanes share its registers.
    pub uniform: Vec<bool>,
    /// Alternatives that keep nothing: the kind, the alternative's name.
    pub discards: Vec<(usize, String)>,
    /// Address spaces that are memories of their own.
    pub spaces: Vec<Space>,
    /// What intrinsics do: the intrinsic, the graph.
    pub intrinsics: Vec<(usize, Built)>,
    /// The intrinsic that unmasks lanes.
    pub unmasks: Option<usize>,
    /// What happens before a program starts.
    pub start: Option<Built>,
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
    if let Some(stream) = &isa.stream {
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
