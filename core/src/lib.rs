//! Run-time support for the instruction sets that isaforge generates.
//!
//! A generated crate is mostly tables: the names of its instructions, where their fields lie, how their operands are
//! written. This crate defines the layout of those tables ([`table`]) and the few algorithms that read them:
//! [`decode`](decode::decode) (word → instruction, strictly), [`print`](print::print) and [`parse`](parse::parse)
//! (instruction ↔ text, from one description), [`annotate`](annotate::annotate) (the meaning of each bit) and
//! [`registers`](registers::registers) (the registers that an instruction reads and writes); [`encode`] writes values
//! to the bits of a word, [`suggest`] finds near names, and [`sample`] draws words. The same algorithms run on
//! tables that the compiler builds in memory, so a specification behaves the same before and after code is generated
//! from it. `explain` combines all of this for one instruction, and `data` serialises tables to bytes and back.
//! [`float`] is the arithmetic that the semantics of instructions use.
//!
//! The crate is `no_std` and has no dependencies. The feature `alloc` (on by default) adds whole programs with labels
//! ([`program`]); `std` adds the functions that need the system's math library ([`machine::functions`]).
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

pub mod annotate;
#[cfg(feature = "alloc")]
mod assemble;
#[cfg(feature = "alloc")]
pub mod assembly;
pub mod bits;
#[cfg(feature = "alloc")]
pub mod data;
pub mod decode;
pub mod encode;
pub mod error;
#[cfg(feature = "alloc")]
pub mod explain;
pub mod float;
pub mod group;
pub mod machine;
mod modifier;
pub mod number;
pub mod parse;
pub mod print;
#[cfg(feature = "alloc")]
pub mod program;
pub mod registers;
pub mod sample;
mod scan;
pub mod semantics;
pub mod stream;
pub mod suggest;
pub mod table;
mod tables;
pub mod text;
pub mod unknown;

pub use error::{DecodeError, EncodeError, ParseError, Unimplemented};
pub use table::Isa;
pub use tables::Tables;
