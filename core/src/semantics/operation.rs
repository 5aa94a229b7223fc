//! The graph of one instruction, and the modifiers that it depends on.

use super::node::Node;

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
    /// The modifiers that [`Op::Pick`](super::Op::Pick), [`Op::Is`](super::Op::Is) and
    /// [`Op::Modifier`](super::Op::Modifier) refer to.
    pub modifiers: &'static [Modifier],
    /// The intrinsics that it uses: indices into [`Semantics::intrinsics`](super::Semantics::intrinsics).
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
