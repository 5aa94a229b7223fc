//! Executes the programs of machines with several lanes: operations on the columns of the machine, which hold a value
//! for each lane, instead of the evaluator.
//!
//! ```text
//! Machine ──fetch──▶ Instruction ──select──▶ operations on columns ──▶ straights ──run──▶ columns, memory
//! ```
//!
//! - `rows`: the columns of a machine as rows, with those that operations need besides
//! - `names`: what an instruction names; `bind` binds it to them
//! - `straight`: instructions that follow each other, covered with operations
//! - `region`: loops that compute and access words of memory, as machine code; `select` binds their operands
//! - [`engine`]: the execution loop
//!
//! Lanes that diverge, end, or wait at barriers go through [`Machine::step_at`](isaforge_core::machine::Machine), so
//! there is one implementation of these. Instructions that cannot be covered are left to the evaluator.

mod bind;
pub mod engine;
mod names;
mod region;
mod rows;
mod select;
mod straight;
