//! Errors of corpus operations.

use std::io;

use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use datafusion::object_store;
use datafusion::parquet::errors::ParquetError;
use thiserror::Error;

/// Why an operation failed.
#[derive(Debug, Error)]
pub enum Error {
    /// The request is not possible.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// How to fix it; may be empty.
        help: String,
    },
    /// A specification has mistakes, which have been reported.
    #[error("the specification has mistakes")]
    Specification,
    /// A file cannot be read or written.
    #[error("{what}: {error}")]
    File {
        /// The operation and the file.
        what: String,
        /// The error from the operating system.
        #[source]
        error: io::Error,
    },
    /// A store cannot be read or written.
    #[error("{what}: {error}")]
    Store {
        /// The operation and the object.
        what: String,
        /// The error from the store.
        #[source]
        error: object_store::Error,
    },
    /// A query cannot be planned or executed.
    #[error("{}", of_query(.0))]
    Query(#[from] DataFusionError),
    /// Rows cannot be combined to a batch.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
    /// A Parquet file cannot be read or written.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
    /// Standard output cannot be written to.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
}

/// The result type of most functions in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Creates an [`Error::Usage`] from a message and a help text.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Error {
        Error::Usage { message: message.into(), help: help.into() }
    }

    /// How to fix it; empty if that is not known.
    pub fn help(&self) -> &str {
        match self {
            Error::Usage { help, .. } => help,
            _ => "",
        }
    }
}

/// What is wrong, without the backtrace and the names of phases that errors of DataFusion carry.
fn of_query(error: &DataFusionError) -> String {
    const PHASES: [&str; 5] = [
        "Error during planning: ",
        "Execution error: ",
        "SQL error: ",
        "This feature is not implemented: ",
        "Invalid or Unsupported Configuration: ",
    ];
    let text = error.strip_backtrace();
    // Functions have one form here, which the message says.
    let mut text = text.split(". No function matches").next().unwrap_or_default().trim();
    if let Some((_, reason)) = text.split_once("coercion failed with: ") {
        text = reason;
    }
    while let Some(rest) = PHASES.iter().find_map(|phase| text.strip_prefix(phase)) {
        text = rest;
    }
    text.to_owned()
}
