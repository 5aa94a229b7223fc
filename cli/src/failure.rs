//! The outcome of a command.

use std::io;
use std::path::Path;

/// The outcome of a command that completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Success: exit status 0.
    Fine,
    /// The input has errors, which have been reported: exit status 1.
    Mistakes,
    /// The status of an executed program, which becomes the exit status.
    Program(u8),
}

impl Status {
    /// [`Status::Mistakes`] if `mistakes` is true, else [`Status::Fine`].
    pub fn mistakes_if(mistakes: bool) -> Status {
        if mistakes { Status::Mistakes } else { Status::Fine }
    }
}

/// Why a command could not complete: exit status 2, unless a variant says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A file could not be read or written.
    #[error("{what}: {error}")]
    File {
        /// The attempted action and the file.
        what: String,
        /// The error of the operating system.
        #[source]
        error: io::Error,
    },
    /// The command line asks for something impossible.
    #[error("{message}")]
    Usage {
        /// The problem.
        message: String,
        /// A suggestion; may be empty.
        help: String,
    },
    /// A time limit has ended the command, as it may end a program: exit status 1.
    #[error("{message}")]
    Late {
        /// What it has ended.
        message: String,
        /// A suggestion.
        help: String,
    },
    /// Standard output cannot be written. A closed pipe is included, but not treated as a failure: see
    /// [`run_command`](crate::run_command).
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    /// Creates a usage error with a suggestion.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::Usage { message: message.into(), help: help.into() }
    }

    /// Converts an error of reading a file, for `map_err`.
    pub fn reading(path: &Path) -> impl FnOnce(io::Error) -> Failure + use<> {
        let what = format!("cannot read `{}`", path.display());
        move |error| Failure::File { what, error }
    }

    /// Converts an error of writing a file, for `map_err`.
    pub fn writing(path: &Path) -> impl FnOnce(io::Error) -> Failure + use<> {
        let what = format!("cannot write `{}`", path.display());
        move |error| Failure::File { what, error }
    }
}
