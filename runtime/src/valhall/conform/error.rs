//! Why a row fails or is invalid.

use isaforge_core::EncodeError;

use crate::memory::MapError;
use crate::valhall::launch::RunError;

/// The reason why a row fails or is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VectorError {
    /// It has too few or too many columns.
    #[error("a row has 5 columns (operation, modifiers, inputs, expected, basis), not {0}")]
    Columns(usize),
    /// An input is not a number.
    #[error("`{0}` is not an input: up to 16 hexadecimal digits are")]
    Input(String),
    /// The number of inputs does not match the operation.
    #[error("{operation} takes {takes} inputs, not {given}")]
    Inputs {
        /// The operation.
        operation: String,
        /// The number of inputs that it takes.
        takes: usize,
        /// The number of inputs given.
        given: usize,
    },
    /// The expected result is neither a number nor one of the words for a range of results.
    #[error("`{0}` is not a result: hexadecimal digits, `NaN` and `~0` are")]
    Expected(String),
    /// There is no such instruction.
    #[error("there is no operation `{name}`{}", did_you_mean(near))]
    Operation {
        /// Its name in the row.
        name: String,
        /// The instruction with the nearest name.
        near: Option<&'static str>,
    },
    /// The instruction has no such modifier.
    #[error("{operation} has no modifier `{modifier}`")]
    Modifier {
        /// The instruction.
        operation: String,
        /// The word.
        modifier: String,
    },
    /// The instruction writes no register, so there is nothing to compare.
    #[error("{0} gives no result to compare")]
    NoResult(String),
    /// The instruction cannot be encoded.
    #[error("{operation}: {error}")]
    Encode {
        /// The instruction.
        operation: String,
        /// The reason.
        error: EncodeError,
    },
    /// The instruction cannot be executed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The memory for the result cannot be mapped.
    #[error(transparent)]
    Map(#[from] MapError),
    /// The result differs from the expected one.
    #[error("`{what}` gives {found}, not {expected}")]
    Different {
        /// The text of the instruction, or the operation that was computed directly.
        what: String,
        /// The result, with as many digits as expected.
        found: String,
        /// The expected result.
        expected: String,
    },
}

fn did_you_mean(near: &Option<&str>) -> String {
    near.map_or(String::new(), |near| format!("; did you mean `{near}`?"))
}
