//! What a caller asks for.

use isaforge_runtime::{Engine, Execution};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyMapping;

use super::number::whole;

/// The arguments of a run; `None` for those not given.
#[derive(Default)]
pub struct Request<'py> {
    /// The number of workgroups in up to three dimensions.
    pub groups: Option<Bound<'py, PyAny>>,
    /// The number of threads in a workgroup in up to three dimensions.
    pub local_size: Option<Bound<'py, PyAny>>,
    /// Uniform words.
    pub uniforms: Option<Bound<'py, PyAny>>,
    /// The size of memory shared by the threads of a workgroup, in bytes.
    pub shared_bytes: Option<Bound<'py, PyAny>>,
    /// Arrays by address.
    pub buffers: Option<Bound<'py, PyMapping>>,
    /// Register values by name.
    pub registers: Option<Bound<'py, PyMapping>>,
    /// The start address of the program.
    pub address: Option<Bound<'py, PyAny>>,
    /// The maximum number of instructions.
    pub budget: Option<Bound<'py, PyAny>>,
    /// The time limit in seconds.
    pub time_limit: Option<f64>,
    /// The name of an engine.
    pub engine: Option<String>,
}

impl<'py> Request<'py> {
    /// The keys and values of an argument.
    pub fn pairs(given: Option<&Bound<'py, PyMapping>>) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
        let Some(given) = given else { return Ok(Vec::new()) };
        given.items()?.iter().map(|pair| pair.extract()).collect()
    }

    /// The maximum number of instructions, if it is given.
    pub fn budget(&self) -> PyResult<Option<u64>> {
        self.budget.as_ref().map(|given| whole(given, "`budget`")).transpose()
    }

    /// The engine that the name stands for, or the best.
    pub fn execution(&self) -> PyResult<Execution> {
        let Some(name) = self.engine.as_deref() else { return Ok(Execution::best()) };
        let engine = Engine::ALL.into_iter().find(|engine| engine.name() == name);
        let known = || format!("`engine` is `reference`, `handlers` or `compiled`, not `{name}`");
        let engine = engine.ok_or_else(|| PyValueError::new_err(known()))?;
        Execution::with(Some(engine), None).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}
