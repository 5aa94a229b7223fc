//! What a run leaves behind.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::sequence::count;

/// The results of a run, without references to Python objects.
#[derive(Default)]
pub struct Finished {
    pub instructions: u64,
    pub warp_instructions: Option<u64>,
    pub mnemonics: Vec<(&'static str, u64)>,
    pub registers: Vec<(String, Vec<u64>)>,
    pub output: Vec<u8>,
    pub status: Option<u64>,
}

/// The results of a run.
#[pyclass(frozen, weakref, module = "isaforge")]
pub struct Outcome(pub Finished);

#[pymethods]
impl Outcome {
    /// The number of instructions executed, counted for each lane; on a machine with lanes in lockstep, once for all of
    /// them.
    #[getter]
    fn instructions(&self) -> u64 {
        self.0.instructions
    }

    /// The number of instructions executed, counted once for each warp; `None` on machines without warps.
    #[getter]
    fn warp_instructions(&self) -> Option<u64> {
        self.0.warp_instructions
    }

    /// How often each instruction was executed, by mnemonic. On a machine of a specification only a `trace` counts, and
    /// nothing counts groups: there it is empty.
    #[getter]
    fn mnemonics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        self.0.mnemonics.iter().try_for_each(|(name, count)| found.set_item(name, count))?;
        Ok(found)
    }

    /// The final values of registers and states by name, one for each lane, without constants and those that are zero.
    /// On Valhall it is empty, since every thread has registers of its own: `trace` gives them as they are written.
    #[getter]
    fn registers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        self.0.registers.iter().try_for_each(|(name, values)| found.set_item(name, values))?;
        Ok(found)
    }

    /// What the program wrote to its standard output.
    #[getter]
    fn output<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.output)
    }

    /// The exit status of the program; `None` if it ended without one.
    #[getter]
    fn status(&self) -> Option<u64> {
        self.0.status
    }

    fn __repr__(&self) -> String {
        format!("<isaforge.Outcome of {}>", count(self.0.instructions, "instruction"))
    }
}
