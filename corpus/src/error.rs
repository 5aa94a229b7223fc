//! Why something about a corpus cannot be done.

use std::io;

use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use datafusion::object_store;
use datafusion::parquet::errors::ParquetError;
use thiserror::Error;

/// Why something cannot be done.
#[derive(Debug, Error)]
pub enum Error {
    /// What was asked for cannot be done, and what to do instead.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do instead; may be empty.
        help: String,
    },
    /// A specification has mistakes, which have been reported.
    #[error("the specification has mistakes")]
    Specification,
    /// A file cannot be read or written.
    #[error("{what}: {error}")]
    File {
        /// What was to be done with which file.
        what: String,
        /// What the operating system answered.
        #[source]
        error: io::Error,
    },
    /// A store cannot be read or written.
    #[error("{what}: {error}")]
    Store {
        /// What was to be done with which object.
        what: String,
        /// What the store answered.
        #[source]
        error: object_store::Error,
    },
    /// A query cannot be planned or executed.
    #[error("{}", of_query(.0))]
    Query(#[from] DataFusionError),
    /// Rows do not fit into a batch.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
    /// A Parquet file cannot be read or written.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
    /// Standard output cannot be written to.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
}

/// The result of most functions here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// What is wrong and what to do instead.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Error {
        Error::Usage { message: message.into(), help: help.into() }
    }

    /// What to do instead, if that is known.
    pub fn help(&self) -> &str {
        match self {
            Error::Usage { help, .. } => help,
            _ => "",
        }
    }
}

/// The message without the backtrace that some errors carry.
fn of_query(error: &DataFusionError) -> String {
    error.strip_backtrace()
}
