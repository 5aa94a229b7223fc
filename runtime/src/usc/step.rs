//! The groups of a program as the interpreter executes them.

use std::sync::OnceLock;

use isaforge_core::group::Values;
use isaforge_core::semantics::{Shape, compose};
use isaforge_usc::semantics::SEMANTICS;
use isaforge_usc::{Backend, Cc, Extra, ISA, Parts, Srcsel};

use crate::usc::error::Trap;
use crate::usc::register::Register;

/// A group of a program.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The offset in bytes.
    pub at: u32,
    /// The length in bytes.
    pub length: u32,
    /// The condition by which instances execute it.
    pub condition: Cc,
    /// The number of repetitions.
    pub repeat: u16,
    /// Whether its instances execute it one at a time.
    pub atomic: bool,
    /// Whether the program ends after it.
    pub last: bool,
    /// Its action.
    pub action: Action,
    /// Its fields.
    pub values: Box<Values>,
    /// The graph, composed on first use.
    pub shape: OnceLock<Option<Shape>>,
}

impl Step {
    /// Returns the graph of the group.
    ///
    /// # Errors
    /// When the specification does not define it.
    pub fn shape(&self) -> Result<&Shape, Trap> {
        let shape = self.shape.get_or_init(|| compose(SEMANTICS, ISA, &self.values).ok());
        shape.as_ref().ok_or(Trap::Unknown)
    }

    /// Whether it reads or writes through an index register.
    pub fn names_index(&self) -> bool {
        let (sources, reads) = match &self.action {
            Action::Main(main) => (&main.sources, main.reads),
            Action::Bitwise(bitwise) => (&bitwise.sources, bitwise.reads),
            Action::Control(control) => (&control.sources, 0x3f),
        };
        (0..6).any(|i| reads >> i & 1 != 0 && matches!(sources[i], Register::Indexed { .. }))
    }

    /// The offset of a branch's target.
    pub fn goal(&self) -> Option<i64> {
        match &self.action {
            Action::Control(control) => {
                let branch = control.parts.branch?;
                Some(i64::from(branch.offset) + if branch.abs { 0 } else { i64::from(self.at) })
            }
            _ => None,
        }
    }
}

/// The action of a group.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// Float and integer arithmetic, tests, packing, and requests to other units.
    Main(Box<Main>),
    /// Bitwise operations.
    Bitwise(Box<Bitwise>),
    /// Control flow.
    Control(Box<Control>),
}

/// A main group.
#[derive(Clone, Debug)]
pub(super) struct Main {
    /// The sources; those that are not read are special register 0.
    pub sources: [Register; 6],
    /// A bit for each source that is read.
    pub reads: u8,
    /// The additional operation of phase 2.
    pub extra: Option<Extra>,
    /// The backend phase.
    pub backend: Option<Backend>,
    /// The destinations.
    pub results: [Option<Register>; 2],
    /// Whether repetitions step through the elements of source 0 instead of registers.
    pub unpacks: bool,
}

/// A bitwise group.
#[derive(Clone, Debug)]
pub(super) struct Bitwise {
    pub sources: [Register; 6],
    pub reads: u8,
    pub results: [Option<Register>; 2],
}

/// A control group.
#[derive(Clone, Debug)]
pub(super) struct Control {
    pub sources: [Register; 6],
    pub result: Option<Register>,
    /// The step that a branch leads to, if any.
    pub target: Option<usize>,
    pub parts: Parts,
}

/// The index of the source that a field selects.
pub(super) fn source_of(field: Srcsel) -> usize {
    field.number() as usize % 6
}
