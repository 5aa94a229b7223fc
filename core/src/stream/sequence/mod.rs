//! Instructions that are sequences of operands: as long as their first unit says, with lists, optional ends and texts in them.
//!
//! A [`Sequence`] has no bit fields. The first unit of an instruction has its code and how many units it takes; operands
//! follow one another, each of a [`Kind`] that says how many units it takes and how it is written. What an operand means
//! may rest on instructions before it: a number is as wide as the type that its instruction names, and the code of an
//! extended instruction belongs to the set that was imported. [`Symbols`] is what a reader or writer knows of them.
//!
//! `table` has the shapes, `symbols` what is known, `print` goes from units to text, `parse` back, `operands` is what these
//! two have in common, `number` has numbers of any type, `module` whole modules with their header.

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
pub use error::SequenceError;
#[cfg(feature = "alloc")]
pub use symbols::Symbols;
pub use table::*;
