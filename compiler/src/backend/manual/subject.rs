//! What a manual is about.

use isaforge_core::Tables;
use isaforge_core::machine::Hardware;
use isaforge_core::semantics::Semantics;

/// The input for a manual.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The tables.
    pub tables: Tables,
    /// The meaning of instructions, if it is known.
    pub semantics: Option<&'static Semantics>,
    /// The machine that executes programs, if it is known.
    pub hardware: Option<&'static Hardware>,
    /// Another revision to compare with; both must be sets of words.
    pub since: Option<Tables>,
}
