//! How a command ends.

use std::io;
use std::path::Path;

/// A command that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing was wrong: exit status 0.
    Fine,
    /// The input had mistakes, and they have been reported: exit status 1.
    Mistakes,
    /// A program ran, and ended with this status, which becomes the exit status.
    Program(u8),
}

impl Status {
    /// [`Status::Mistakes`] when `mistakes` holds.
    pub fn mistakes_if(mistakes: bool) -> Status {
        if mistakes { Status::Mistakes } else { Status::Fine }
    }
}

/// Why a command could not run to its end: exit status 2.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A file could not be read or written.
    #[error("{what}: {error}")]
    File {
        /// What was to be done with which file.
        what: String,
        /// What the operating system answered.
        #[source]
        error: io::Error,
    },
    /// The command cannot do what it was asked to.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do instead; may be empty.
        help: String,
    },
    /// Standard output cannot be written to. A closed pipe is among these, and is no failure: see [`run_command`](crate::run_command).
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    /// A misuse of the command and what to do instead.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::Usage { message: message.into(), help: help.into() }
    }

    /// For `map_err` after reading a file.
    pub fn reading(path: &Path) -> impl FnOnce(io::Error) -> Failure + use<> {
        let what = format!("cannot read `{}`", path.display());
        move |error| Failure::File { what, error }
    }

    /// For `map_err` after writing a file.
    pub fn writing(path: &Path) -> impl FnOnce(io::Error) -> Failure + use<> {
        let what = format!("cannot write `{}`", path.display());
        move |error| Failure::File { what, error }
    }
}
