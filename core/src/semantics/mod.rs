//! The semantics of instructions: a typed graph for each, in one representation for every instruction set.
//!
//! The compiler turns the semantics text of an instruction into an [`Operation`]: a list of [`Node`]s in order of
//! evaluation, each with a [`Type`] and arguments that precede it. Values have at most 64 bits, and there are no loops
//! or calls, so every operation is finite.
//!
//! ```text
//! Operation ──instantiate (modifiers of a word)──▶ Shape ──evaluate (registers, memory)──▶ effects
//! ```
//!
//! - `node` and `immediate` define the nodes of graphs: their operations, and the data in them.
//! - [`primitive`](mod@primitive) is the exact definition of every pure operation.
//! - [`instantiate`](fn@instantiate::instantiate) selects the arms for the modifiers of a word and folds constants.
//! - [`evaluate`](fn@evaluate::evaluate) executes a shape for all lanes of a warp. It is the reference with which
//!   faster engines are compared.
//!
//! Where instructions are groups, [`group`] composes the operations of a group to a single shape.
//!
//! # Order of effects
//! Operands and states are read before any of them is written: a write takes effect at the end of the operation or, in
//! a group that repeats, at the end of the repetition. Loads, stores, atomics and intrinsics are performed in the order
//! of the text. A fault ends the operation, and nothing is written then.

#[cfg(feature = "alloc")]
pub mod compose;
#[cfg(feature = "alloc")]
pub mod evaluate;
pub mod facts;
pub mod group;
mod immediate;
#[cfg(feature = "alloc")]
pub mod instantiate;
mod modifier;
mod node;
pub mod primitive;
#[cfg(feature = "alloc")]
pub mod show;
mod types;

#[cfg(feature = "alloc")]
pub use compose::compose;
pub use immediate::{AtomicOp, Comparison, Part, Special};
#[cfg(feature = "alloc")]
pub use instantiate::{Shape, instantiate};
pub use node::{NONE, Node, Op};
#[cfg(feature = "alloc")]
pub use show::show;
pub use types::{Class, Type};

/// The semantics of an instruction set.
#[derive(Clone, Copy, Debug)]
pub struct Semantics {
    /// The operation of each instruction, by opcode.
    pub operations: &'static [Operation],
    /// Operations without a text, which the host provides.
    pub intrinsics: &'static [Intrinsic],
    /// Registers outside banks.
    pub states: &'static [State],
    /// Names of the address spaces. The first is the default.
    pub spaces: &'static [&'static str],
    /// Names of the faults that operations raise.
    pub faults: &'static [&'static str],
    /// The canonical NaN of half-precision arithmetic, if there is one.
    pub nan16: Option<u16>,
    /// The canonical NaN of single-precision arithmetic, if there is one.
    pub nan32: Option<u32>,
    /// The canonical NaN of double-precision arithmetic, if there is one.
    pub nan64: Option<u64>,
    /// Width of the program counter in bits, 32 or 64.
    pub pc_bits: u8,
    /// The data path of groups, if instructions are groups. [`operations`](Semantics::operations) are then those of the
    /// tables of groups.
    pub path: Option<group::DataPath>,
    /// The fidelity of instructions to the hardware.
    pub fidelity: &'static [facts::Fidelity],
    /// The register contents at the start of programs.
    pub preloads: &'static [facts::Preload],
    /// The effects of flow modifiers.
    pub flow: &'static [facts::Flow],
    /// The instructions that always send their messages in the same slots, which they do not encode: the opcode, and the
    /// slots; bit 0 is slot 0.
    pub sends: &'static [(u16, u8)],
    /// The alternative that marks the last read of an operand; empty if there is none.
    pub last_read: &'static str,
}

impl Semantics {
    /// The fidelity of an instruction. `None` when the specification does not give it.
    pub fn fidelity_of(&self, opcode: u16) -> Option<&'static facts::Fidelity> {
        self.fidelity.iter().find(|found| found.instructions.contains(&opcode))
    }

    /// The canonical NaN that [`Op::Canonical`] substitutes, for the format with this many bits.
    pub fn nan(&self, bits: u8) -> Option<u64> {
        match bits {
            16 => self.nan16.map(u64::from),
            32 => self.nan32.map(u64::from),
            _ => self.nan64,
        }
    }
}

/// The semantics of one instruction.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The text in the specification; empty if the whole instruction is an intrinsic.
    pub text: &'static str,
    /// The graph, in the order of evaluation.
    pub nodes: &'static [Node],
    /// Argument lists of nodes with more arguments than a [`Node`] holds.
    pub lists: &'static [u16],
    /// The constants.
    pub constants: &'static [u64],
    /// The modifiers that [`Op::Pick`], [`Op::Is`] and [`Op::Modifier`] refer to.
    pub modifiers: &'static [Modifier],
    /// The intrinsics that it uses: indices into [`Semantics::intrinsics`].
    pub intrinsics: &'static [u16],
}

/// A modifier of a form or of one of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Modifier {
    /// The form's modifier with this index.
    Form(u8),
    /// A modifier written after an operand: index of the operand, index of the suffix. Indices beyond the suffixes are
    /// fields of the first reading of the operand's kind, provided that all readings have that field.
    Suffix(u8, u8),
    /// A field of a group: slot ([`Token::OWN`](crate::group::table::Token::OWN) for the operation's own), field.
    Field(u8, u8),
    /// Whether a group has this slot.
    Present(u8),
    /// The index of the current repetition of a group, from 0.
    Repetition,
    /// The number of repetitions of a group.
    Repetitions,
}

/// An operation without a text, which the host provides: a table of the hardware, a texture, a queue.
#[derive(Debug)]
pub struct Intrinsic {
    /// Its name.
    pub name: &'static str,
    /// A description.
    pub doc: &'static str,
    /// Types of its arguments.
    pub parameters: &'static [Type],
    /// Type of its result; `None` when there is no result.
    pub result: Option<Type>,
    /// Its effects beyond its arguments and result.
    pub effects: Effects,
}

/// The effects of an intrinsic beyond its arguments and result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// It reads memory or the state of a device.
    pub reads: bool,
    /// It writes memory or changes the state of a device.
    pub writes: bool,
    /// It may have to wait.
    pub waits: bool,
    /// It may end threads or redirect them.
    pub flow: bool,
}

impl Effects {
    /// Whether the result depends on the arguments alone.
    pub const fn is_pure(self) -> bool {
        !(self.reads || self.writes || self.waits || self.flow)
    }
}

/// A register, or an array of registers, outside banks.
#[derive(Debug)]
pub struct State {
    /// Its name.
    pub name: &'static str,
    /// A description.
    pub doc: &'static str,
    /// Type of one element.
    pub ty: Type,
    /// The number of elements; 1 for a plain register.
    pub count: u32,
}
