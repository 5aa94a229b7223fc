//! The operands of handlers.

/// The operands of a handler.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fields {
    /// The first row that is written.
    pub dest: u32,
    /// The rows that are read.
    pub sources: [u32; 2],
    /// Numbers whose meaning depends on the handler.
    pub numbers: [u32; 2],
    /// The index of the word in the program.
    pub pc: u32,
}
