//! Numbers among the arguments of a run.

use isaforge_runtime::machine::{float_bits, integer_bits};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyFloat;

use crate::input::number;

/// A whole number from 0 to the greatest of its type. `what` names the argument.
pub fn whole<T: TryFrom<u64>>(given: &Bound<'_, PyAny>, what: &str) -> PyResult<T> {
    let bits = 8 * size_of::<T>();
    let Some(number) = number(given) else {
        let kind = given.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{what} is a whole number, not {kind}")));
    };
    let value = number.extract::<u64>().ok().and_then(|value| T::try_from(value).ok());
    value.ok_or_else(|| PyValueError::new_err(format!("{what} is a number from 0 to 2**{bits} - 1, not {number}")))
}

/// The bits of a number in `width` bits: whole, or a float of this width. `None` if the object is not a number.
pub fn bits(given: &Bound<'_, PyAny>, width: u32, what: &str) -> PyResult<Option<u64>> {
    let found = if let Some(number) = number(given) {
        match number.extract() {
            Ok(value) => integer_bits(value, width),
            Err(_) => Err((format!("`{number}` does not fit {width} bits"), "it has more than 128".to_owned())),
        }
    } else if given.is_instance_of::<PyFloat>() || is_scalar(given) {
        float_bits(given.extract()?, width)
    } else {
        return Ok(None);
    };
    found.map(Some).map_err(|(message, fits)| PyValueError::new_err(format!("{what}: {message}: {fits}")))
}

/// Whether an object is a numpy scalar, which is a buffer without dimensions.
fn is_scalar(given: &Bound<'_, PyAny>) -> bool {
    given.getattr("ndim").and_then(|ndim| ndim.extract::<usize>()).is_ok_and(|ndim| ndim == 0)
}
