//! Executes the graphs of any instruction set; knows none.
//!
//! - [`shape`]: what words come to, each shape made once
//! - [`ir`]: the working form of a block, values that are each computed once, and effects in order
//! - [`simplify`]: what a value comes to, and writes that nobody sees
//! - [`bind`]: from shapes to that form, operands bound to registers and numbers
//! - [`jit`]: from blocks to machine code for general registers
//! - `vector`: a graph as operations on rows of lanes, for instruction sets whose registers are columns

pub mod shape;

pub mod ir;
pub mod simplify;

pub mod bind;

pub mod jit;
pub(crate) mod vector;
