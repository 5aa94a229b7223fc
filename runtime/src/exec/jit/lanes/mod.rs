//! Machine code for lanes: vector operations from shapes.
//!
//! ```text
//! Shape ──select (a Binding says where operands are)──▶ Graph ──▶ machine code
//!   └──demand──▶ which operands are read to the bit
//! ```
//!
//! - [`graph`]: vector operations on values, each computed once
//! - [`pieces`]: components, parts and concatenations, which are no operations
//! - [`select`]: which operations compute a shape
//! - [`demand`]: which operands are read to the bit, and which for their number alone

pub(crate) mod demand;
pub(crate) mod graph;
mod pieces;
pub(crate) mod select;
