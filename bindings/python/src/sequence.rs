//! Iterators for sequence classes, and their lengths as text.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A number with its noun: `1 row`, `2 rows`.
pub fn count(number: impl TryInto<u64>, noun: &str) -> String {
    match number.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {noun}"),
        number => format!("{number} {noun}s"),
    }
}

/// Gives the value at an index of a sequence.
pub type Get = for<'py> fn(&Bound<'py, PyAny>, usize) -> PyResult<Bound<'py, PyAny>>;

/// Iterates over a sequence by index.
#[pyclass(frozen, module = "isaforge", name = "_Items")]
pub struct Items {
    sequence: Py<PyAny>,
    len: usize,
    get: Get,
    next: AtomicUsize,
}

impl Items {
    /// An iterator over a sequence of this length, by its `__getitem__`.
    pub fn new(sequence: Py<PyAny>, len: usize) -> Self {
        Items::by(|sequence, at| sequence.get_item(at), sequence, len)
    }

    /// An iterator over what a function gives for each index below `len`.
    pub fn by(get: Get, sequence: Py<PyAny>, len: usize) -> Self {
        Items { sequence, len, get, next: AtomicUsize::new(0) }
    }
}

#[pymethods]
impl Items {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        if at < self.len { (self.get)(self.sequence.bind(py), at).map(Some) } else { Ok(None) }
    }
}
