//! Corpora of shaders as tables.
//!
//! ```text
//! PATH… ──import──▶ lake (Parquet) ──session──▶ tables and functions ──query──▶ output: table, CSV, JSON, a picture
//!                       ▲    └──run──▶ results ─┘
//!                       └── sets: what the programs are programs of
//! ```
//!
//! - [`args`], [`command`]: the command line and what answers it
//! - [`sets`]: built-in instruction sets, and specifications that are kept with the programs
//! - [`lake`], [`store`]: where programs are kept, on disk or in S3
//! - [`import`]: programs of files into a lake
//! - [`session`]: a lake in DataFusion: [`table`] is what decodes while it is read, [`functions`] those of whole programs
//! - [`compare`]: the queries behind `diff` and `unseen`
//! - [`run`]: executes programs and keeps what they compute
//! - [`output`], [`picture`]: answers for people and for programs
//! - `cluster`: more than one machine, behind the feature of that name
#![forbid(unsafe_code)]

pub mod args;
#[cfg(feature = "cluster")]
pub mod cluster;
pub mod command;
pub mod compare;
pub mod error;
pub mod functions;
pub mod import;
pub mod lake;
pub mod output;
pub mod picture;
pub mod run;
pub mod session;
pub mod sets;
pub mod store;
pub mod table;

pub use error::Error;
