//! Instruction sets whose instructions are groups of byte records.
//!
//! A **group** is a row of **slots**. A slot is filled by one **record** of a **choice**, or is absent. A record is a
//! layout of at most eight bytes; its bytes are read as one little-endian number, so that bit `n` of the record is bit
//! `n % 8` of byte `n / 8` and a field of a record is described like a field of a word.
//!
//! The records of a choice share one set of fields. A record holds some of them in bits, implies the value of others, and
//! leaves the rest at their defaults. Decoding takes the record whose constant bits are there; encoding takes the first
//! record that can say everything that is to be said. Which slots are there follows from fields of the first slot, the
//! header, and the other way round.
//!
//! [`Group`] is the bytes of a valid group and where its parts lie: it encodes to the same bytes because it holds them.
//! [`Values`] is what a group means, without the choices an encoder makes ([`Form`]).
//!
//! - [`decode`](decode::decode): bytes to group, strictly.
//! - [`encode`](encode::encode): values to group, in a given form or the shortest one.
//! - [`print()`] and [`assemble()`]: group to text and back, from one syntax.
//! - [`walk`](program::walk) and [`seal`](program::seal): whole programs; with the feature `alloc`, programs as text with
//!   labels (`listing`).

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
