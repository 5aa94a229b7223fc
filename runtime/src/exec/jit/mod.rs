//! Machine code, for general registers and for lanes.
//!
//! - [`feature`]: what the processor supports.
//! - [`expand`]: lowers integers of any width, and vectors of them, to operations of 32 and 64 bits.
//! - [`region`]: finds the blocks to compile together.
//! - `context`, `emitted`: what machine code is given, and what it relies on.
//! - `liveness`: the order of computations in a block, and the uses of each value.
//! - `masm`: assembles x86-64 instructions.
//! - `regalloc`: register allocation.
//! - `select`: instruction selection.
//! - [`emit`]: compiles a region to machine code.
//! - [`check`]: decodes the generated code again and verifies that it keeps its promises.
//! - `code_cache`: executable memory, and calls into it.
//! - [`engine`]: executes programs with compiled code and the evaluator.
//! - `listing`: prints machine code as text.
//! - `lanes`: the same for rows of lanes, in vector registers.

pub mod check;
pub mod emit;
pub mod engine;
pub mod expand;
pub mod feature;
pub mod region;

mod code_cache;
mod context;
mod emitted;
pub(crate) mod lanes;
mod listing;
mod liveness;
mod masm;
mod regalloc;
mod select;
