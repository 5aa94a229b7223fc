//! A language server: what an editor asks about assembly and about specifications.
//!
//! ```text
//! message ──server──▶ document ─┬─set──▶ assembly: diagnostics, hover, completion, names, words
//!                     (text)    └──────▶ specification: diagnostics, hover, definitions
//! ```
//!
//! - [`stdio`]: messages over streams of bytes, of bounded length
//! - [`server`]: the loop that reads messages, keeps documents and answers
//! - [`text`]: places in a document, which editors count in units of UTF-16
//! - [`uri`]: names of documents
//! - [`set`]: the instruction set that a document is written for
//! - [`assembly`]: programs of any instruction set
//! - [`specification`]: specifications in YAML
//! - [`grammar`]: colours for editors that speak no protocol
//!
//! Nothing here knows an instruction set. Assembly is read by the assembler itself, so an editor shows the very messages
//! that `isaforge asm` prints.
#![forbid(unsafe_code)]

pub mod assembly;
pub mod grammar;
pub mod server;
pub mod set;
pub mod specification;
pub mod stdio;
pub mod text;
pub mod uri;

pub use server::{ServeError, serve};
pub use set::Known;
