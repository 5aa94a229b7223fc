//! Launches of Valhall.

use std::ops::ControlFlow;
use std::time::Duration;

use isaforge_core::bits::word_of;
use isaforge_runtime::valhall::observe::{Change, Executed, Trace};
use isaforge_runtime::{Deadline, Execution, Launch, Memory, Outcome, RunError, valhall};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::buffers::{Buffers, Regions};
use super::failure::Failure;
use super::interrupt::interrupted;
use super::number::{bits, whole};
use super::outcome::Finished;
use super::request::Request;
use super::step::{Did, Tell};
use crate::input::number;

/// Builds a launch from a request. Arrays among the uniforms become memory.
pub fn launch(code: &[u8], request: &Request<'_>, limit: Option<Duration>, buffers: &mut Buffers) -> PyResult<Launch> {
    if !code.len().is_multiple_of(8) {
        return Err(PyValueError::new_err(format!(
            "a program is words of 8 bytes, but there are {} bytes",
            code.len()
        )));
    }
    let mut launch = Launch {
        program: code.chunks(8).map(word_of).collect(),
        groups: directions(request.groups.as_ref(), "`groups`")?,
        local_size: directions(request.local_size.as_ref(), "`local_size`")?,
        shared_bytes: request.shared_bytes.as_ref().map_or(Ok(0), |given| whole(given, "`shared_bytes`"))?,
        budget: request.budget()?.unwrap_or(Launch::LONG_BUDGET),
        deadline: limit.map_or(Deadline::NONE, Deadline::after),
        ..Launch::default()
    };
    if let Some(uniforms) = &request.uniforms {
        let each = uniforms.try_iter();
        for uniform in each.map_err(|_| PyTypeError::new_err("`uniforms` is a list of numbers and arrays"))? {
            self::uniform(&uniform?, &mut launch.uniforms, buffers)?;
            if launch.uniforms.len() as u64 > Launch::MAX_UNIFORMS {
                let message = format!("a launch has at most {} uniform words", Launch::MAX_UNIFORMS);
                return Err(PyValueError::new_err(message));
            }
        }
    }
    Ok(launch)
}

/// One number, or up to three.
fn directions(given: Option<&Bound<'_, PyAny>>, what: &str) -> PyResult<[u32; 3]> {
    let Some(given) = given else { return Ok([1; 3]) };
    let numbers: Vec<u32> = if number(given).is_some() {
        vec![whole(given, what)?]
    } else {
        let each =
            given.try_iter().map_err(|_| PyTypeError::new_err(format!("{what} is one to three whole numbers")))?;
        each.map(|number| whole(&number?, what)).collect::<PyResult<_>>()?
    };
    let mut all = [1; 3];
    if numbers.is_empty() || numbers.len() > 3 {
        return Err(PyValueError::new_err(format!("{what} is one to three numbers, not {}", numbers.len())));
    }
    all.iter_mut().zip(numbers).for_each(|(into, number)| *into = number);
    Ok(all)
}

/// Appends a number, or the address of an array.
fn uniform(given: &Bound<'_, PyAny>, words: &mut Vec<u32>, buffers: &mut Buffers) -> PyResult<()> {
    match bits(given, 32, "`uniforms`")? {
        Some(word) => words.push(word as u32),
        None => {
            let address = buffers.add(given, None)?;
            words.extend([address as u32, (address >> 32) as u32]);
        }
    }
    Ok(())
}

/// Runs a launch on memory, until a signal interrupts it.
pub fn run(launch: Launch, execution: Execution, regions: Regions) -> (Result<Finished, Failure>, Regions) {
    let launch = Launch { deadline: launch.deadline.or_if(interrupted), ..launch };
    on_memory(regions, |memory| valhall::run_on(execution, &launch, memory))
}

/// Runs a launch on memory with the reference engine, and passes executed instructions to `tell`.
pub fn run_told(launch: &Launch, regions: Regions, tell: Tell<'_>) -> (Result<Finished, Failure>, Regions) {
    let trace = Trace::new(|executed: &Executed| tell(did(executed)));
    on_memory(regions, |memory| valhall::run_observed(launch, memory, trace))
}

fn did(executed: &Executed) -> Did {
    let lanes = |mask: u16| (0..16u32).filter(move |lane| mask >> lane & 1 != 0);
    let change = |change: &Change| {
        let values = lanes(change.lanes).map(|lane| (lane, u64::from(change.values[lane as usize]))).collect();
        (format!("r{}", change.register), values)
    };
    Did {
        line: executed.to_string(),
        pc: executed.pc as u64,
        text: executed.text.clone(),
        lanes: executed.lanes.active.into(),
        group: Some(executed.group),
        warp: Some(executed.warp),
        writes: executed.changes.iter().map(change).collect(),
        ..Did::default()
    }
}

fn on_memory(
    regions: Regions,
    run: impl FnOnce(&mut Memory) -> Result<Outcome, RunError>,
) -> (Result<Finished, Failure>, Regions) {
    let mut memory = Memory::new();
    let mut bases = Vec::with_capacity(regions.len());
    for (base, bytes) in regions {
        if let Err(error) = memory.map(base, bytes) {
            return (Err(error.to_string().into()), Vec::new());
        }
        bases.push(base);
    }
    let ended = run(&mut memory);
    let regions = bases.into_iter().map(|base| (base, memory.unmap(base).unwrap_or_default())).collect();
    (ended.map(finished).map_err(Failure::from), regions)
}

fn finished(outcome: Outcome) -> Finished {
    Finished {
        instructions: outcome.thread_instructions,
        warp_instructions: Some(outcome.warp_instructions),
        mnemonics: outcome.mnemonics,
        ..Finished::default()
    }
}

/// Continues as long as the consumer listens.
pub fn flow(listens: bool) -> ControlFlow<()> {
    if listens { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}
