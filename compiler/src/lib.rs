//! The isaforge spec compiler: a description of an instruction set goes in, a checked model comes out, and from it
//! Rust code or a manual.
//!
//! ```text
//! text ──read──▶ located syntax ──resolve──▶ model ──check──▶ model ──lower──▶ tables ──backend──▶ Rust
//! ```
//!
//! The stages are modules: [`yaml`], [`xml`], [`keys`] and [`spec`] read, [`resolve`] binds, [`check`] judges, [`lower`] turns the
//! model into the tables that `isaforge-core` works on, a [`backend`] prints them. No stage knows an instruction set by
//! name.
#![forbid(unsafe_code)]

pub mod backend;
pub mod build;
pub mod catalogue;
pub mod check;
pub mod diagnostic;
pub mod diff;
pub mod driver;
pub mod expression;
pub mod group;
mod json;
pub mod keys;
pub mod load;
pub mod lower;
pub mod machine;
pub mod model;
pub mod read;
pub mod reference;
pub mod resolve;
pub mod schema;
pub mod semantics;
pub mod source;
pub mod spec;
pub mod stream;
pub mod suggest;
pub mod translate;
pub mod xml;
pub mod yaml;

pub use driver::{Checked, Compiled, Failure, Settings, check_spec, compile};
