//! Executes the programs of machines with several lanes: operations on the columns of the machine, which hold a value
//! for each lane, instead of the evaluator.
//!
//! ```text
//! Machine ──fetch──▶ Instruction ──select──▶ operations on columns ──▶ straights ──run──▶ columns, memory
//! ```
//!
//! - `rows`: the columns of a machine as rows, with those that operations need besides
//! - `bind`: binds operands and states to them
//! - `straight`: instructions that follow each other, covered with operations
//! - `region`: loops that only compute, as machine code; `select` binds their operands
//! - [`engine`]: the execution loop
//!
//! Lanes that diverge, end, or wait at barriers go through [`Machine::step_by`](isaforge_core::machine::Machine), so
//! there is one implementation of these. Instructions that cannot be covered are left to the evaluator.

mod bind;
pub mod engine;
mod region;
mod rows;
mod select;
mod straight;
