//! Execution: launches on Valhall by the engines of the runtime, other programs on the machine that a specification
//! describes.
//!
//! - [`buffers`]: Python memory as memory of a program
//! - [`valhall`]: workgroups of threads
//! - [`machine`]: everything else
//! - [`trace`]: executed instructions as an iterator

mod buffers;
mod machine;
mod trace;
mod valhall;

use std::time::Duration;

use isaforge_runtime::{Engine, Execution};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error;
use crate::set::Set;
use buffers::Buffers;
pub use trace::{Step, Trace};

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
    pub shared_bytes: Option<u32>,
    /// Arrays by address.
    pub buffers: Option<Bound<'py, PyDict>>,
    /// Register values by name.
    pub registers: Option<Bound<'py, PyDict>>,
    /// The start address of the program.
    pub address: Option<u64>,
    /// The maximum number of instructions.
    pub budget: Option<u64>,
    /// The time limit in seconds.
    pub time_limit: Option<f64>,
    /// The name of an engine.
    pub engine: Option<String>,
}

/// A run without references to Python objects.
enum Job {
    Valhall(isaforge_runtime::Launch, Execution),
    Machine(Box<machine::Job>),
}

/// The results of a run.
#[derive(Default)]
struct Finished {
    instructions: u64,
    warp_instructions: Option<u64>,
    mnemonics: Vec<(&'static str, u64)>,
    registers: Vec<(String, Vec<u64>)>,
    output: Vec<u8>,
    status: Option<u64>,
}

/// The results of a run.
#[pyclass(frozen, module = "isaforge")]
pub struct Outcome(Finished);

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

    /// How often each instruction was executed, by mnemonic; empty if the engine does not count.
    #[getter]
    fn mnemonics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        self.0.mnemonics.iter().try_for_each(|(name, count)| found.set_item(name, count))?;
        Ok(found)
    }

    /// The final values of registers by name, one for each lane, without constants and registers that are zero.
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
        format!("<isaforge.Outcome of {} instructions>", self.0.instructions)
    }
}

/// Runs a program to its end.
pub fn run(set: &'static Set, code: Vec<u8>, request: &Request<'_>, py: Python<'_>) -> PyResult<Outcome> {
    let (job, buffers) = prepare(set, code, request, py)?;
    let regions = buffers.contents();
    let mut signal = None;
    let (ended, regions) = py.detach(|| match job {
        Job::Valhall(launch, execution) => valhall::run(&launch, execution, regions),
        Job::Machine(job) => machine::run(&job, regions, None, &mut || {
            signal = Python::attach(|py| py.check_signals().err());
            signal.is_some()
        }),
    });
    // What a program wrote before it failed may be useful.
    buffers.write_back(py, &regions)?;
    match signal {
        Some(signal) => return Err(signal),
        None => py.check_signals()?,
    }
    ended.map(Outcome).map_err(|reason| error::run(py, &reason, ""))
}

/// Starts a program for an iterator over executed instructions.
pub fn trace(set: &'static Set, code: Vec<u8>, request: &Request<'_>, py: Python<'_>) -> PyResult<Trace> {
    if request.engine.as_deref().is_some_and(|name| name != Engine::Reference.name()) {
        return Err(PyValueError::new_err("traces are those of the engine `reference`"));
    }
    let (job, buffers) = prepare(set, code, request, py)?;
    Ok(Trace::start(job, buffers)?)
}

/// Validates a request and lays out its memory.
fn prepare(set: &'static Set, code: Vec<u8>, request: &Request<'_>, py: Python<'_>) -> PyResult<(Job, Buffers)> {
    let mut buffers = Buffers::default();
    for (address, object) in request.buffers.iter().flatten() {
        buffers.add(&object, Some(address.extract()?))?;
    }
    let limit = request.time_limit.map(Duration::try_from_secs_f64).transpose();
    let limit = limit.map_err(|_| PyValueError::new_err("`time_limit` is a number of seconds"))?;
    let job = if set.launches {
        refuse(
            request.registers.is_some() || request.address.is_some(),
            "`registers` and `address`",
            "launches of Valhall",
        )?;
        let execution = execution(request.engine.as_deref())?;
        Job::Valhall(valhall::launch(&code, request, limit, &mut buffers)?, execution)
    } else {
        let launches = request.groups.is_some() || request.local_size.is_some() || request.uniforms.is_some();
        let what = "`groups`, `local_size`, `uniforms` and `shared_bytes`";
        refuse(launches || request.shared_bytes.is_some(), what, "machines of a specification")?;
        Job::Machine(Box::new(machine::Job::new(set, code, request, limit, py)?))
    };
    Ok((job, buffers))
}

fn refuse(given: bool, what: &str, whom: &str) -> PyResult<()> {
    if given { Err(PyTypeError::new_err(format!("{what} are not for {whom}"))) } else { Ok(()) }
}

fn execution(name: Option<&str>) -> PyResult<Execution> {
    let Some(name) = name else { return Ok(Execution::best()) };
    let engine = Engine::ALL.into_iter().find(|engine| engine.name() == name);
    let known = || format!("`engine` is `reference`, `handlers` or `compiled`, not `{name}`");
    let engine = engine.ok_or_else(|| PyValueError::new_err(known()))?;
    Execution::with(Some(engine), None).map_err(|error| PyValueError::new_err(error.to_string()))
}
