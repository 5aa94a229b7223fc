//! Why a case cannot be run.

use thiserror::Error;

use crate::memory::MapError;
use crate::valhall::launch::RunError;

/// The reason why a case cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CaseError {
    /// It is not JSON of the expected form.
    #[error("{0}")]
    Json(String),
    /// A part of it is invalid.
    #[error("{0}")]
    Shape(String),
    /// Its memory cannot be set up.
    #[error(transparent)]
    Map(#[from] MapError),
    /// Its program fails.
    #[error(transparent)]
    Run(#[from] RunError),
}
