//! Instructions in a stream of bytes: up to 256 bits wide, of mixed length, with computed values.
//!
//! # Layouts, sets and fields
//! A [**layout**](Layout) consists of a pattern of constant bits, conditions, fields, and a text. A [**set**](Set) is a
//! list of layouts, and the first that fits is selected. The instructions are a set. The readings of an operand are a
//! set too, so an operand can be a small instruction set of its own, with facts about the instruction passed as
//! parameters. An alias is a layout that fits some words of an instruction. A variant of an instruction that differs by
//! generation, by length or by the value of a field is an additional layout of it.
//!
//! A [**field**](Field) is a number: bits in any number of pieces, an [expression](Expression) over other fields, or a
//! parameter. Its [type](Type) determines how it is written. The same text is used for printing and parsing: parsing
//! finds values of fields, and [solving](solve) finds the bits that give them.
//!
//! # Words, groups and streams
//! A set of a single width up to 64 bits whose fields are plain bits is a [`crate::table::Isa`]: its words are `u64`s,
//! its tables are narrow, and its decoder makes two look-ups. Everything else is a stream. Wide words are stored as
//! four chunks of 64 bits ([`Wide`]) rather than in a generic type: one copy of every algorithm serves all widths, and
//! all tables have the same type. Since most patterns already differ in the first chunk, the others cost one comparison
//! each. The decoder takes bytes and returns the length of the instruction.
//!
//! # Decoding
//! A [tree](Tree) over bits leads to the candidate layouts, specific ones before general ones. The first whose pattern
//! matches and whose conditions hold is the instruction; then all other bits are checked. [Fast tests](Quick), which
//! the compiler generates for each named [generation](Tested), accept valid words without evaluating expressions. Words
//! that they do not accept take the exact path, which also reports errors.

mod annotate;
mod decode;
mod error;
mod expression;
#[cfg(feature = "alloc")]
pub mod listing;
mod number;
mod parse;
mod piece;
mod print;
#[cfg(feature = "alloc")]
pub mod program;
mod registers;
pub mod sample;
pub mod sequence;
pub mod solve;
mod table;
mod target;
mod wide;

pub use annotate::{Note, annotate};
pub use decode::{Decoded, Engine, Scope, Values};
pub use error::{DecodeError, ParseError, Reason, Wanted};
pub use expression::{Expression, Input, MAX_NODES};
pub use parse::{BEFORE_PREFIX, Expected, Help, Labels, NoLabels, Parsed};
pub use piece::{Piece, extract, insert};
pub use print::{NoPlaces, Places};
pub use registers::registers;
pub use table::*;
pub use target::{branch, target};
pub use wide::Wide;
