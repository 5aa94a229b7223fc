//! Machine code for lanes: vector operations from shapes, in functions that a machine calls.
//!
//! ```text
//! Shape ──select (a Binding says where operands are)──▶ Graph ──emit──▶ Emitted ──check──▶ BlockFn | LoopFn
//!   └──demand──▶ which operands are read to the bit
//! ```
//!
//! A machine has rows of columns, a word for each lane, and decides which instructions become one function; here is
//! nothing that knows an instruction set.
//!
//! - [`row`]: how rows lie in memory
//! - [`host`]: the vector instructions that there are
//! - [`graph`]: vector operations on values, each computed once
//! - [`avx2`]: what takes several operations without AVX-512
//! - [`pieces`]: components, parts and concatenations, which are no operations
//! - [`select`]: which operations compute a shape
//! - [`demand`]: which operands are read to the bit, and which for their number alone
//! - [`emit`]: from a graph to machine code: blocks and loops, and what is in which register
//! - [`check`]: what was made is decoded again, and held to what it promises
//! - [`window`]: memory that code accesses
//! - [`function`]: memory that is executed, and calls

mod avx2;
mod check;
pub(crate) mod demand;
pub(crate) mod emit;
pub(crate) mod function;
pub(crate) mod graph;
pub(crate) mod host;
mod pieces;
pub(crate) mod row;
pub(crate) mod select;
pub(crate) mod window;
