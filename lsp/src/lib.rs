//! A language server for assembly and specifications.
//!
//! ```text
//! message ──server──▶ document ─┬─set──▶ assembly: diagnostics, hover, completion, names, words
//!                     (text)    └──────▶ specification: diagnostics, hover, definitions, outline
//! ```
//!
//! - [`stdio`]: messages of bounded length over byte streams
//! - [`server`]: the main loop, which reads messages, keeps documents and answers requests
//! - [`text`]: positions in a document, which editors count in UTF-16 units
//! - [`uri`]: names of documents
//! - [`set`]: the instruction set for which a document is written
//! - [`assembly`]: programs of any instruction set
//! - [`specification`]: specifications in YAML
//! - [`grammar`]: highlighting for editors without the protocol
//!
//! Nothing here depends on a particular instruction set. Assembly is read by the assembler itself, so an editor shows
//! exactly the messages that `isaforge asm` prints.
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
