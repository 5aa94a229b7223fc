//! The surroundings of a machine: devices and observers.

use alloc::string::String;
use core::fmt;
use core::ops::ControlFlow;

use super::memory::Memory;
use super::table::Register;
use crate::semantics::evaluate::Column;

/// What a program can access outside its machine, and the observer of its execution.
///
/// `()` is an empty host: it rejects intrinsics and discards bytes written to streams.
pub trait Host<const L: usize> {
    /// Receives bytes that a program writes to a stream.
    ///
    /// # Errors
    /// Why they cannot be written, which becomes a trap.
    fn write(&mut self, stream: u64, bytes: &[u8]) -> Result<(), String> {
        let _ = (stream, bytes);
        Ok(())
    }

    /// Executes an intrinsic.
    ///
    /// # Errors
    /// Why it cannot be executed, which becomes a trap.
    fn intrinsic(&mut self, call: Intrinsic<'_, L>) -> Result<Column<L>, String> {
        let _ = call;
        Err("the host does not know it".into())
    }

    /// Whether [`executed`](Host::executed) should be called.
    fn looks_on(&self) -> bool {
        false
    }

    /// Called after an instruction has been executed. `Break` stops the program.
    fn executed(&mut self, step: &Executed<'_, L>) -> ControlFlow<()> {
        let _ = step;
        ControlFlow::Continue(())
    }
}

impl<const L: usize> Host<L> for () {}

/// A call of an intrinsic.
#[derive(Debug)]
pub struct Intrinsic<'a, const L: usize> {
    /// Its name.
    pub name: &'static str,
    /// Its arguments. An operand passed by reference is represented by its index.
    pub arguments: &'a [Column<L>],
    /// The lanes that call it.
    pub mask: u64,
    /// The memory of the machine.
    pub memory: &'a mut Memory,
}

/// An instruction that has been executed.
pub struct Executed<'a, const L: usize> {
    /// Its address.
    pub pc: u64,
    /// Its opcode.
    pub opcode: u16,
    /// The lanes that executed it.
    pub active: u64,
    /// Its accesses, in order.
    pub touched: &'a [Touched<L>],
    /// Its text.
    pub text: &'a dyn fmt::Display,
}

impl<const L: usize> fmt::Debug for Executed<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executed").field("pc", &self.pc).field("opcode", &self.opcode).finish_non_exhaustive()
    }
}

/// An access of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touched<const L: usize> {
    /// A register was read.
    Read(Register, Column<L>),
    /// A register was written, in the lanes of the mask.
    Written(Register, Column<L>, u64),
    /// The following memory accesses belong to this lane; the flag tells whether they are atomic together. Their address
    /// space, if it has a memory of its own.
    By(u8, bool, Option<u16>),
    /// Bytes were loaded: address, size, value.
    Loaded(u64, u8, u64),
    /// Bytes were stored: address, size, value.
    Stored(u64, u8, u64),
    /// A state was written, in the lanes of the mask: its index, its value, the mask.
    State(u16, Column<L>, u64),
}
