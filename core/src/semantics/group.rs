//! Groups: the texts of a group's operations, put together to one shape.
//!
//! A group is a data path whose parts do something each. The **path** is a text of its own that says in which order: it
//! sets the wires that exist from the start, calls slots (the operations that stand in them), and writes the results.
//! Wires are states that live as long as a group; after composition they are edges of the graph and nothing else.
//!
//! A group may repeat: the path is then composed once for each repetition, registers one further on each time, with an
//! [`Op::Commit`](super::Op::Commit) in between. All is bounded: the path has no loops, slots no calls, and a group at most 16
//! repetitions.

use super::Operation;

/// How the parts of a group work together.
#[derive(Clone, Copy, Debug)]
pub struct DataPath {
    /// What a group does in each repetition.
    pub path: Operation,
    /// The names of roles. In graphs, role `i` is operand `operands.len() + i`.
    pub roles: &'static [&'static str],
    /// The operands that are wires, and their states.
    pub wires: &'static [(u8, u16)],
    /// So many states, from the first on, are wires.
    pub local: u16,
    /// The slot and the field that say how often a group repeats.
    pub repeats: (u8, u8),
    /// Registers that do not step with repetitions.
    pub stays: &'static [Stays],
    /// What happens before a group, in all lanes: it sets states, as fields of the group say.
    pub before: Option<Operation>,
    /// The state that says, after that, which lanes execute the group; all of them without one.
    pub mask: Option<u16>,
    /// What fields of the header are in groups that all lanes execute all the same; there are none of these if it is empty.
    pub everyone: Fields,
    /// What they are in groups that lanes execute one after another; there are none of these if it is empty.
    pub in_turn: Fields,
}

/// Registers that stay the same in all repetitions.
#[derive(Clone, Copy, Debug)]
pub struct Stays {
    /// Operands, a bit set.
    pub operands: u64,
    /// They stay in groups that have this slot.
    pub slot: u8,
    /// What fields of the slot must be.
    pub when: Fields,
    /// What they must not be, all together; nothing if empty.
    pub unless: Fields,
}

/// Fields and the values that they may have.
pub type Fields = &'static [(u8, &'static [i64])];
