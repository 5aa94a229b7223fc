//! The isaforge spec compiler: reads the description of an instruction set, builds and checks a model of it, and
//! generates Rust code or a manual from the model.
//!
//! ```text
//! text ──read──▶ located syntax ──resolve──▶ model ──check──▶ model ──lower──▶ tables ──backend──▶ Rust
//! ```
//!
//! The stages are modules: [`yaml`], [`xml`], [`keys`] and [`spec`] read, [`resolve`] binds names, [`check`] checks the
//! model, [`lower`] turns it into the tables that `isaforge-core` works on, and a [`backend`] prints them. No stage
//! refers to an instruction set by name.
#![forbid(unsafe_code)]

pub mod backend;
pub mod build;
pub mod catalogue;
pub mod check;
mod crate_name;
pub mod diagnostic;
pub mod diff;
pub mod driver;
pub mod expression;
pub mod group;
mod json;
pub mod keys;
mod leak;
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
