//! Corpora of shaders as tables.
//!
//! ```text
//! PATH… ──import──▶ lake (Parquet) ──session──▶ tables and functions ──query──▶ output: table, CSV, JSON, a picture
//!                       ▲    └──run──▶ results ─┘
//!                       └── sets: the instruction sets of the programs
//! ```
//!
//! - [`args`], [`command`]: the command line
//! - [`sets`]: built-in instruction sets, and specifications that are stored with the programs
//! - [`lake`], [`store`]: storage of programs, on disk or in S3
//! - [`import`]: imports programs from files into a lake
//! - [`session`]: a lake in DataFusion; [`table`] decodes instructions on reading, [`functions`] work on whole programs
//! - [`compare`]: the queries of `diff` and `unseen`
//! - [`run`]: executes programs and stores what they compute
//! - [`output`], [`picture`]: answers for people and for programs
//! - `cluster`: queries on several machines, if the feature of that name is enabled
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
