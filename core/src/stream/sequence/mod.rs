//! Instructions that are sequences of operands: their first unit gives their length, and they may contain lists,
//! optional operands and strings.
//!
//! A [`Sequence`] has no bit fields. The first unit of an instruction contains its code and its number of units.
//! Operands follow in sequence; the [`Kind`] of each determines how many units it takes and how it is written. The
//! meaning of an operand may depend on earlier instructions: a number is as wide as the type that its instruction
//! refers to, and the code of an extended instruction belongs to the set that was imported. [`Symbols`] holds what
//! readers and writers know about earlier instructions.
//!
//! `table` defines the tables, `symbols` the facts about earlier instructions. `print` converts units to text, `parse`
//! converts back, and `operands` is what the two share. `number` handles numbers of any type, `text` texts in quotes,
//! and `module` whole modules with their header.

#[cfg(feature = "alloc")]
mod error;
#[cfg(feature = "alloc")]
mod module;
#[cfg(feature = "alloc")]
mod number;
#[cfg(feature = "alloc")]
mod operands;
#[cfg(feature = "alloc")]
mod parse;
#[cfg(feature = "alloc")]
mod print;
#[cfg(feature = "alloc")]
mod symbols;
mod table;
#[cfg(feature = "alloc")]
mod text;

#[cfg(feature = "alloc")]
pub use error::SequenceError;
#[cfg(feature = "alloc")]
pub use module::Listing;
#[cfg(feature = "alloc")]
pub use symbols::Symbols;
pub use table::*;
