//! Groups: composes the texts of a group's operations to one shape.
//!
//! A group is a data path, each part of which performs an operation. The **path** is a text of its own that defines
//! their order: it sets the wires that exist from the start, calls slots (the operations in them), and writes the
//! results. Wires are states that exist only within a group; after composition they are just edges of the graph.
//!
//! A group may repeat. The path is then composed once for each repetition, with registers stepping by one, and with an
//! [`Op::Commit`](super::Op::Commit) between repetitions. Everything is bounded: the path has no loops, slots have no
//! calls, and a group repeats at most 16 times.

use super::operation::Operation;

/// The data path that connects the parts of a group.
#[derive(Clone, Copy, Debug)]
pub struct DataPath {
    /// The operation of a group in each repetition.
    pub path: Operation,
    /// The names of roles. In graphs, role `i` is operand `operands.len() + i`.
    pub roles: &'static [&'static str],
    /// The operands that are wires, and their states.
    pub wires: &'static [(u8, u16)],
    /// The number of states that are wires; these are the first ones.
    pub local: u16,
    /// The slot and the field that give the number of repetitions.
    pub repeats: (u8, u8),
    /// Registers that do not step with repetitions.
    pub stays: &'static [Stays],
    /// The operation before a group, in all lanes. It sets states according to fields of the group.
    pub before: Option<Operation>,
    /// The state that then determines which lanes execute the group; `None` when all do.
    pub mask: Option<u16>,
    /// Header fields and values of groups that all lanes execute regardless; empty if there are none.
    pub everyone: Fields,
    /// Header fields and values of groups that the lanes execute one at a time; empty if there are none.
    pub in_turn: Fields,
}

/// Registers that do not step with repetitions.
#[derive(Clone, Copy, Debug)]
pub struct Stays {
    /// The operands, as a bit set.
    pub operands: u64,
    /// The slot that the group must have.
    pub slot: u8,
    /// Required values of fields of the slot.
    pub when: Fields,
    /// Excluded values, which must not all hold at once; no exclusion if empty.
    pub unless: Fields,
}

/// Fields and their permitted values.
pub type Fields = &'static [(u8, &'static [i64])];
