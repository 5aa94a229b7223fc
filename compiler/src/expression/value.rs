//! The values of expressions while a text is built.

use isaforge_core::float::Round;

/// The value of an expression.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A node.
    Node(u16),
    /// A whole number whose type depends on the context.
    Int(i128),
    /// A number with a fraction whose type depends on the context.
    Float(f64),
    /// An operand, by index.
    Operand(usize),
    /// A modifier of the instruction.
    Modifier(usize),
    /// A modifier of an operand: the index of the operand, and that of the suffix.
    Suffix(usize, usize),
    /// An optional part that is absent.
    Absent,
    /// A rounding, or one for each group of values of a modifier.
    Round(Vec<(Vec<u64>, Round)>, Option<Box<Value>>),
    /// An array of states, by index.
    States(usize),
    /// No value, such as that of a statement.
    Nothing,
}
