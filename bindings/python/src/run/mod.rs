//! Execution: launches on Valhall by the engines of the runtime, other programs on the machine that a specification
//! describes.
//!
//! - `request`: what a caller asks for; `buffers`: Python memory as memory of a program
//! - `job`: the run that is asked for
//! - `number`: numbers for registers and limits; `interrupt`: signals during a run
//! - `valhall`: runs workgroups of threads; `machine`: everything else
//! - `step`: an executed instruction; `trace`: all of them as an iterator
//! - `outcome`: what a run leaves behind; `failure`: why it ended early

mod buffers;
mod failure;
mod interrupt;
mod job;
mod machine;
mod number;
mod outcome;
mod request;
mod step;
mod trace;
mod valhall;

pub use outcome::Outcome;
pub use request::Request;
pub use step::Step;
pub use trace::Trace;

use isaforge_runtime::Engine;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::set::Set;
use job::{Job, prepare};

/// Runs a program to its end.
pub fn run(set: &'static Set, code: Vec<u8>, request: &Request<'_>, py: Python<'_>) -> PyResult<Outcome> {
    let (job, buffers) = prepare(set, code, request, py)?;
    let regions = buffers.contents();
    let ((ended, regions), raised) = interrupt::detached(py, || match job {
        Job::Valhall(launch, execution) => valhall::run(launch, execution, regions),
        Job::Machine(job) => machine::run(&job, regions, None, interrupt::interrupted),
    });
    // What a program wrote before it failed may be useful.
    buffers.write_back(py, &regions)?;
    match raised {
        Some(raised) => Err(raised),
        None => ended.map(Outcome).map_err(|failure| failure.raise(py)),
    }
}

/// Starts a program for an iterator over executed instructions.
pub fn trace(set: &'static Set, code: Vec<u8>, request: &Request<'_>, py: Python<'_>) -> PyResult<Trace> {
    if request.engine.as_deref().is_some_and(|name| name != Engine::Reference.name()) {
        return Err(PyValueError::new_err("traces are those of the engine `reference`"));
    }
    let (job, buffers) = prepare(set, code, request, py)?;
    Ok(Trace::start(job, buffers)?)
}
