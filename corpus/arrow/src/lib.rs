//! Instructions of any set as Arrow batches, and statistics on whole programs.
//!
//! ```text
//! Set (tables, names) ──Rows::push(program, code)──▶ RecordBatch, a row for each instruction
//!   ├──forms, variants──▶ RecordBatch: what could occur
//!   └──whole::{count, histogram, registers, pressure, text}(code)
//! ```
//!
//! - [`set`]: an instruction set with the data that columns need; the names of mnemonics, modifiers and registers
//! - [`plan`]: for sets of words, the bit positions of each form's modifiers and registers
//! - `registers`: look-up of the registers that operands of words name
//! - [`views`]: columns of texts that are stored in a shared table
//! - [`column`]: the columns of instructions
//! - [`rows`]: converts instructions of words, groups and streams to batches
//! - [`forms`]: the forms and variants of a set
//! - [`whole`]: statistics on whole programs
//!
//! ```
//! use arrow_array::cast::AsArray;
//! use isaforge_analysis as analysis;
//! use isaforge_arrow::{Column, Decoder, Rows, Set};
//! use isaforge_core::Tables;
//! use isaforge_valhall::{ISA, semantics::SEMANTICS};
//!
//! let set = Set::new("valhall", analysis::Set::new(Tables::Words(ISA), Some(SEMANTICS), None), Decoder::Exact);
//! let mut rows = Rows::new(&set, &[Column::Mnemonic, Column::Dst], None);
//! rows.push("example", "", &0x0091_c100_0000_0002_u64.to_le_bytes(), 0, usize::MAX);
//! let batch = rows.finish()?;
//! assert_eq!(batch.column(0).as_string_view().value(0), "MOV.i32");
//! assert_eq!(batch.column(1).as_list::<i32>().value(0).as_string_view().value(0), "r1");
//! # Ok::<(), arrow_schema::ArrowError>(())
//! ```
#![deny(unsafe_code)]

pub mod column;
pub mod forms;
pub mod plan;
mod registers;
pub mod rows;
pub mod set;
pub mod views;
pub mod whole;

pub use column::Column;
pub use rows::{Keep, Rows};
pub use set::{Decoder, INVALID, Set};
