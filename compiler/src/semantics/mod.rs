//! The meaning of instructions: from the texts of a specification to graphs.
//!
//! [`spec`] is the vocabulary, [`resolve`] binds the names in each text to the operands and modifiers of its
//! instruction and builds its graph with [`crate::expression`], and [`lower()`] makes the tables that `isaforge-core`
//! executes and a [`backend`](crate::backend) prints. `check` reports declarations that are never used.

pub mod check;
pub mod facts;
pub(crate) mod lower;
pub mod resolve;
pub mod spec;

pub use lower::lower;

use crate::expression::Built;
use crate::expression::scope::Library;
use crate::source::Span;

/// The meaning of the instructions of a set.
#[derive(Clone, Debug, Default)]
pub struct Semantics {
    /// The declarations that all texts may use.
    pub library: Library,
    /// Fidelity, preloads and flow.
    pub facts: facts::Facts,
    /// The canonical NaN of each float type, by its width.
    pub nan: Vec<(u8, u64)>,
    /// The operation of each instruction, by its index in the model; `None` where the specification defines none.
    pub operations: Vec<Option<Operation>>,
    /// How the parts of a group work together, for sets of groups. `operations` are then those of the groups.
    pub path: Option<crate::group::semantics::Path>,
}

/// The meaning of one instruction.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The text, in one or more lines, without comments.
    pub text: String,
    /// Where it is written.
    pub span: Span,
    /// Its graph.
    pub built: Built,
}
