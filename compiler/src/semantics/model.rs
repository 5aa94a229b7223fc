//! What instructions do, with every name bound: graphs, the facts beside them, and how the parts of a group work
//! together.

use isaforge_core::semantics::facts::{Callee, Fidelity, Flow, Preload};

use crate::expression::Built;
use crate::expression::scope::Library;
use crate::source::Span;

/// The meaning of the instructions of a set.
#[derive(Clone, Debug, Default)]
pub struct Semantics {
    /// The declarations that all texts may use.
    pub library: Library,
    /// Fidelity, preloads, callees and flow.
    pub facts: Facts,
    /// The canonical NaN of each float type, by its width.
    pub nan: Vec<(u8, u64)>,
    /// The operation of each instruction, by its index in the model; `None` where the specification defines none.
    pub operations: Vec<Option<Operation>>,
    /// How the parts of a group work together, for sets of groups. `operations` are then those of the groups.
    pub path: Option<Path>,
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

/// Fidelity, preloads and flow.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// How faithful instructions are to the hardware.
    pub fidelity: Vec<Fidelity>,
    /// The register contents at the start of programs.
    pub preloads: Vec<Preload>,
    /// The programs that instructions call.
    pub callees: Vec<Callee>,
    /// The effects after instructions.
    pub flow: Vec<Flow>,
    /// The alternative of operands that are read for the last time.
    pub last_read: &'static str,
}

/// How the parts of a group work together.
#[derive(Clone, Debug)]
pub struct Path {
    /// What a group does in each repetition.
    pub operation: Operation,
    /// The names of roles.
    pub roles: Vec<String>,
    /// The operands that are wires, each with its state.
    pub wires: Vec<(usize, usize)>,
    /// The number of states, from the first on, that are wires.
    pub local: usize,
    /// The field of the header that holds the number of repetitions.
    pub repeats: usize,
    /// Registers whose numbers do not step.
    pub stays: Vec<Stays>,
    /// What to execute before a group.
    pub before: Option<Operation>,
    /// The state that selects the lanes that execute the group.
    pub mask: Option<usize>,
    /// The header fields of groups that all lanes execute.
    pub everyone: Fields,
    /// The header fields of groups that lanes execute in turn.
    pub in_turn: Fields,
}

/// Fields with their allowed values.
pub type Fields = Vec<(usize, Vec<i64>)>;

/// Registers that stay the same in all repetitions.
#[derive(Clone, Debug)]
pub struct Stays {
    /// Operands.
    pub operands: Vec<usize>,
    /// The slot.
    pub slot: usize,
    /// The required values of its fields.
    pub when: Fields,
    /// Values that its fields must not all have.
    pub unless: Fields,
}

/// Removes trailing spaces and the empty lines around a text, for display.
pub(crate) fn tidy(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let first = lines.iter().position(|line| !line.is_empty()).unwrap_or(0);
    lines[first..].join("\n").trim_end().to_owned()
}
