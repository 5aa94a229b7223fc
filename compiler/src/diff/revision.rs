//! A revision of an instruction set: what is compared, and its summary.

use isaforge_core::machine::Hardware;
use isaforge_core::semantics::Semantics;
use isaforge_core::table::Isa;

/// The tables of a revision, and what its instructions do if that is known and to be compared.
#[derive(Clone, Copy, Debug)]
pub struct Revision<T> {
    /// The tables.
    pub tables: T,
    /// The meaning of its instructions.
    pub semantics: Option<&'static Semantics>,
    /// The machine that executes them.
    pub hardware: Option<&'static Hardware>,
}

impl<T> Revision<T> {
    /// Whether the machines of both revisions are known, so that they can be compared.
    pub(super) fn runs_as(&self, other: Revision<T>) -> bool {
        let known = |revision: &Revision<T>| revision.semantics.is_some() && revision.hardware.is_some();
        known(self) && known(&other)
    }
}

impl<T> From<T> for Revision<T> {
    fn from(tables: T) -> Self {
        Revision { tables, semantics: None, hardware: None }
    }
}

/// The summary of a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// The name of the instruction set.
    pub name: String,
    /// The width of a word in bits; for a stream or groups, of the longest.
    pub word_bits: u16,
    /// How many instructions it has; in a set of groups, operations and one entry for all groups.
    pub instructions: usize,
    /// How many enums it has.
    pub enums: usize,
}

impl Side {
    pub(super) fn of(isa: &Isa) -> Side {
        Side {
            name: isa.name.to_owned(),
            word_bits: isa.word_bits.into(),
            instructions: isa.forms.len(),
            enums: isa.enums.len(),
        }
    }
}
