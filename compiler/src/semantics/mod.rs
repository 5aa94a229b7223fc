//! What instructions do: from the texts of a specification to graphs.
//!
//! [`spec`] is the vocabulary, [`resolve`] binds the names of each text to the operands and modifiers of its instruction and
//! builds it with [`crate::expression`], [`lower()`] makes the tables that `isaforge-core` executes, which a
//! [`backend`](crate::backend) prints. `check` reports what was declared and never used.

pub mod check;
pub mod facts;
pub(crate) mod lower;
pub mod resolve;
pub mod spec;

pub use lower::lower;

use crate::expression::Built;
use crate::expression::scope::Library;
use crate::source::Span;

/// What the instructions of an instruction set do.
#[derive(Clone, Debug, Default)]
pub struct Semantics {
    /// What all texts may use.
    pub library: Library,
    /// Fidelity, preloads and flow.
    pub facts: facts::Facts,
    /// The one NaN of each float type, by its width.
    pub nan: Vec<(u8, u64)>,
    /// What each instruction does, by its index in the model; `None` where nothing is said.
    pub operations: Vec<Option<Operation>>,
    /// How the parts of a group work together, where instructions are groups. `operations` are those of the groups then.
    pub path: Option<crate::group::semantics::Path>,
}

/// What one instruction does.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The text, on one line or several, without comments.
    pub text: String,
    /// Where it stands.
    pub span: Span,
    /// Its graph.
    pub built: Built,
}
