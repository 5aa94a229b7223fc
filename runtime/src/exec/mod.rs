//! Executes the semantics graphs of any instruction set; contains no knowledge of a particular one.
//!
//! - [`shape`]: finds the shape of a word; each shape is built once
//! - [`ir`]: the intermediate representation of a block: values, each computed once, and effects in order
//! - [`simplify`]: folds and simplifies values, and drops dead writes
//! - [`bind`]: translates shapes to it, with operands bound to registers and numbers
//! - [`jit`]: compiles blocks to machine code for general registers
//! - [`lanes`]: executes the programs of machines with several lanes
//! - [`compare`]: finds where an [`Executor`] and the evaluator first differ
//! - `program_cache`: keeps what programs were lowered to for later launches
//! - `vector`: lowers a graph to operations on rows of lanes, for instruction sets whose registers are columns

pub mod shape;

pub mod ir;
pub mod simplify;

pub mod bind;

pub mod jit;

pub mod lanes;

pub mod compare;
#[cfg(any(feature = "valhall", feature = "vpu"))]
pub(crate) mod program_cache;
pub(crate) mod vector;

use isaforge_core::machine::{Host, Machine, Stop, Trap};

/// What executes the programs of machines with `L` lanes in place of the evaluator, with the same results.
pub trait Executor<const L: usize> {
    /// Executes instructions as [`Machine::run`] does.
    ///
    /// # Errors
    /// Those of [`Machine::run`].
    fn run(&mut self, machine: &mut Machine<L>, host: &mut impl Host<L>, budget: u64) -> Result<Stop, Trap>;
}
