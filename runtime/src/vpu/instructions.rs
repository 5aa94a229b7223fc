//! The instructions of a program.

use crate::vpu::op::Op;

/// The words of program memory.
pub const PROGRAM: usize = 1024;

/// The distinct instructions in program memory, and the index of the one at each address.
pub(crate) struct Instructions {
    pub ops: Vec<Option<Op>>,
    pub places: [u16; PROGRAM],
}

impl Instructions {
    /// Returns the index of the instruction at an address.
    #[inline(always)]
    pub(crate) fn place(&self, pc: u16) -> usize {
        self.places[usize::from(pc) % PROGRAM].into()
    }

    /// Returns the instruction at an address; `None` if the word is not an instruction.
    #[inline(always)]
    pub(crate) fn op(&self, pc: u16) -> Option<&Op> {
        self.ops.get(self.place(pc)).and_then(Option::as_ref)
    }
}
