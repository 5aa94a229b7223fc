//! Iterators for sequence classes.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Iterates over a sequence by index.
#[pyclass(frozen, module = "isaforge", name = "_Items")]
pub struct Items {
    sequence: Py<PyAny>,
    len: usize,
    next: AtomicUsize,
}

impl Items {
    /// An iterator over a sequence of this length.
    pub fn new(sequence: Py<PyAny>, len: usize) -> Self {
        Items { sequence, len, next: AtomicUsize::new(0) }
    }
}

#[pymethods]
impl Items {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        if at < self.len { self.sequence.bind(py).get_item(at).map(Some) } else { Ok(None) }
    }
}
