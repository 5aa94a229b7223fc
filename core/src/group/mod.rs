//! Instruction sets whose instructions are groups of byte records.
//!
//! A **group** is a sequence of **slots**. A slot contains one **record** of a **choice**, or is absent. A record is a
//! layout of at most eight bytes, which are read as one little-endian number: bit `n` of the record is bit `n % 8` of
//! byte `n / 8`, and its fields are described like fields of a word.
//!
//! The records of a choice share one set of fields. A record holds some of them in bits, implies the values of others,
//! and leaves the rest at their defaults. Decoding selects the record whose constant bits match; encoding selects the
//! first record that can hold all values. Which slots are present is determined by fields of the first slot, the
//! header, and vice versa.
//!
//! [`Group`] holds the bytes of a valid group and the positions of its parts, so it encodes to the same bytes.
//! [`Values`] is the meaning of a group, without the choices that an encoder makes ([`Form`]).
//!
//! - [`decode`](decode::decode): from bytes to a group, strictly.
//! - [`encode`](encode::encode): from values to a group, in a given form or the shortest one.
//! - [`print()`] and [`assemble()`]: from a group to text and back, by one syntax.
//! - [`walk`](program::walk) and [`seal`](program::seal): whole programs. With the feature `alloc`, `listing` converts
//!   programs to text with labels and back.

pub mod decode;
pub mod encode;
pub mod error;
pub mod info;
#[cfg(feature = "alloc")]
pub mod listing;
mod operand;
mod operation;
pub mod parse;
pub mod program;
pub mod record;
mod scan;
pub(crate) mod spelling;
pub mod table;
pub mod text;
pub mod value;

pub use decode::decode;
pub use encode::{canonical, encode};
pub use error::{BuildError, GroupError};
pub use parse::{Assembled, TextError, assemble};
pub use table::GroupIsa;
pub use text::print;
pub use value::{Form, Group, Values};
