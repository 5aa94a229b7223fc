//! Machine code for lanes: shapes are compiled to vector operations, in functions that a machine calls.
//!
//! ```text
//! Shape ──select (a Binding locates operands)──▶ Graph ──emit──▶ Emitted ──check──▶ BlockFn | LoopFn
//!   └──demand──▶ which operands must be exact
//! ```
//!
//! A machine has rows of columns, one word for each lane, and decides which instructions become one function. Nothing
//! in this module depends on a particular instruction set.
//!
//! - [`row`]: the layout of rows in memory
//! - [`host`]: the available vector instructions
//! - [`graph`]: vector operations on values, each computed once
//! - [`avx2`]: operations that take several instructions without AVX-512
//! - [`pieces`]: components, parts and concatenations, which need no operation of their own
//! - [`select`]: chooses the operations that compute a shape
//! - [`demand`]: which operands must be exact to the bit, and which only as numbers
//! - [`emit`]: compiles a graph to machine code: blocks, loops, register allocation
//! - [`check`]: decodes the generated code again and verifies that it keeps its promises
//! - [`window`]: the memory that code accesses; [`reach`]: the same where lanes have any addresses
//! - [`function`]: executable memory, and calls into it

mod avx2;
mod check;
pub(crate) mod demand;
pub(crate) mod emit;
pub(crate) mod function;
pub(crate) mod graph;
pub(crate) mod host;
mod pieces;
pub(crate) mod reach;
pub(crate) mod row;
pub(crate) mod select;
pub(crate) mod window;
