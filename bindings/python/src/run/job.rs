//! A run, validated and with its memory laid out.

use std::time::Duration;

use isaforge_runtime::Execution;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::buffers::Buffers;
use super::number::whole;
use super::request::Request;
use super::{machine, valhall};
use crate::set::Set;

/// A run without references to Python objects.
pub enum Job {
    Valhall(isaforge_runtime::Launch, Execution),
    Machine(Box<machine::Job>),
}

/// Validates a request and lays out its memory.
pub fn prepare(set: &'static Set, code: Vec<u8>, request: &Request<'_>, py: Python<'_>) -> PyResult<(Job, Buffers)> {
    let mut buffers = Buffers::default();
    for (address, object) in Request::pairs(request.buffers.as_ref())? {
        buffers.add(&object, Some(whole(&address, "an address of `buffers`")?))?;
    }
    let limit = request.time_limit.map(Duration::try_from_secs_f64).transpose();
    let limit = limit.map_err(|_| PyValueError::new_err("`time_limit` is a number of seconds"))?;
    let job = if set.launches {
        refuse(
            request.registers.is_some() || request.address.is_some(),
            "`registers` and `address`",
            "launches of Valhall",
        )?;
        let execution = request.execution()?;
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
