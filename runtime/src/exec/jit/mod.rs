//! Machine code: for general registers, and for lanes.
//!
//! - [`feature`]: what the processor has.
//! - [`expand`]: integers of any width, and vectors of them, in registers of 32 and 64 bits.
//! - [`trace`]: what is compiled together.
//! - `liveness`: the order of a block, and what is used when.
//! - `masm`: instructions of x86-64.
//! - `regalloc`: what is in which register.
//! - `select`: which instructions compute a value.
//! - [`emit`]: from a region to machine code.
//! - [`check`]: what was made is decoded again, and held to what it promises.
//! - `code_cache`: memory that is executed, and calls.
//! - [`engine`]: executes programs with all of it, and with the evaluator.
//! - [`compare`]: finds where machine code and the evaluator begin to differ.
//! - `listing`: machine code as text.
//! - `lanes`: the same for rows of lanes, in vector registers.

pub mod check;
pub mod compare;
pub mod emit;
pub mod engine;
pub mod expand;
pub mod feature;
pub mod trace;

mod code_cache;
pub(crate) mod lanes;
mod listing;
mod liveness;
mod masm;
mod regalloc;
mod select;
