//! Instructions in a stream of bytes: of any width up to 256 bits, of mixed length, with values that are computed.
//!
//! # One idea
//! A [**layout**](Layout) is a pattern of constant bits, conditions that must hold, fields, and a text. A
//! [**set**](Set) is a list of layouts; the first that fits is meant. The instructions are a set; what an operand
//! may be is a set, too, so an operand can be a small instruction set of its own, which is told facts of the instruction
//! as parameters. An alias is a layout that fits some words of an instruction; a variant of an instruction that differs in
//! generation, in length or in the value of a field is one more layout of it.
//!
//! A [**field**](Field) is a number: bits in any number of pieces, an [expression](Expression) over other fields, or a
//! parameter. Its [type](Type) says how it is written. The same text prints and is read: reading finds values of fields,
//! [solving](solve) finds the bits that give them.
//!
//! # Words, groups and streams
//! A set of one width up to 64 bits whose fields are bits is a [`crate::table::Isa`]: its words are `u64`s, its tables
//! narrow, its decoder two look-ups. Everything else is a stream. Wide words are kept in four chunks of 64 bits
//! ([`Wide`]) and not in a type parameter: one copy of every algorithm serves all widths, tables have one shape, and since
//! most patterns differ in the first chunk, the others cost a comparison each. Decoding is told bytes and says how many
//! of them the instruction took.
//!
//! # Decoding
//! A [tree](Tree) over bits leads to the layouts that the bits allow, the more special before the more general. The first
//! whose pattern and conditions hold is the instruction; then every other bit is checked.
//! [Fast tests](Quick) made by the compiler decide about valid words without evaluating anything, for each
//! [generation](Tested) that has a name; what they do not decide takes the exact way, which also says what is wrong.

mod annotate;
mod decode;
mod error;
mod expression;
#[cfg(feature = "alloc")]
pub mod listing;
mod number;
mod parse;
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
pub use error::{DecodeError, ParseError, Reason};
pub use expression::{Expression, Input, MAX_NODES};
pub use parse::{Labels, NoLabels, Parsed};
pub use print::{NoPlaces, Places};
pub use registers::registers;
pub use table::*;
pub use target::target;
pub use wide::Wide;
