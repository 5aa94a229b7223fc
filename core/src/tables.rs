//! Instruction sets of every kind in one enum.

use crate::group::GroupIsa;
use crate::stream::Engine;
use crate::table::Isa;

/// The tables of an instruction set.
///
/// # Examples
///
/// ```
/// use isaforge_core::Tables;
///
/// let known = [Tables::Words(isaforge_vpu::ISA), Tables::Groups(isaforge_usc::ISA)];
/// assert_eq!(known.map(|tables| (tables.name(), tables.unit())), [("vpu", 8), ("usc", 2)]);
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Tables {
    /// Instructions are words of a single length.
    Words(&'static Isa),
    /// Instructions are groups of bytes.
    Groups(&'static GroupIsa),
    /// Instructions are read from a stream of bytes, in several lengths or longer than 64 bits.
    Streams(Engine),
}

impl Tables {
    /// The name by which the command line knows the set.
    pub fn name(&self) -> &'static str {
        match self {
            Tables::Words(isa) => isa.name,
            Tables::Groups(isa) => isa.name,
            Tables::Streams(engine) => engine.stream.name,
        }
    }

    /// The alignment of instructions, in bytes.
    pub fn unit(&self) -> usize {
        let unit = match self {
            Tables::Words(isa) => isa.word_bits / 8,
            Tables::Groups(isa) => isa.unit,
            Tables::Streams(engine) => engine.stream.unit,
        };
        usize::from(unit.max(1))
    }
}
