//! Executed instructions as an iterator. The program runs in a thread and waits for the consumer.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::buffers::{Buffers, Regions};
use super::{Finished, Job, Outcome, machine, valhall};
use crate::error;

/// How many steps the program may be ahead of the consumer.
const AHEAD: usize = 256;

/// Receives a step; breaks if no further steps are wanted.
pub type Tell<'a> = &'a mut dyn FnMut(Did) -> ControlFlow<()>;

/// An executed instruction.
#[derive(Default)]
pub struct Did {
    pub line: String,
    pub pc: u64,
    pub text: String,
    pub lanes: u64,
    pub group: Option<[u32; 3]>,
    pub warp: Option<u32>,
    pub writes: Vec<(String, Vec<(u32, u64)>)>,
    pub loads: Vec<(u64, u8, u64)>,
    pub stores: Vec<(u64, u8, u64)>,
}

/// An executed instruction: its position (`pc`, the index of the word on Valhall, else the address), its `text`, the
/// mask of `lanes` that executed it, and its effects. `group` and `warp` identify the warp, where there are any.
#[pyclass(frozen, module = "isaforge")]
pub struct Step(Did);

#[pymethods]
impl Step {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("pc", "text")
    }

    /// The index of the word on Valhall, else the address.
    #[getter]
    fn pc(&self) -> u64 {
        self.0.pc
    }

    /// The instruction.
    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    /// The mask of lanes that executed it, bit 0 for lane 0.
    #[getter]
    fn lanes(&self) -> u64 {
        self.0.lanes
    }

    /// The workgroup.
    #[getter]
    fn group(&self) -> Option<(u32, u32, u32)> {
        self.0.group.map(|[x, y, z]| (x, y, z))
    }

    /// The index of the warp in its workgroup.
    #[getter]
    fn warp(&self) -> Option<u32> {
        self.0.warp
    }

    /// The registers that it wrote, by name: values by lane.
    #[getter]
    fn writes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (name, values) in &self.0.writes {
            let lanes = PyDict::new(py);
            values.iter().try_for_each(|(lane, value)| lanes.set_item(lane, value))?;
            all.set_item(name, lanes)?;
        }
        Ok(all)
    }

    /// What it loaded: address, size in bytes, value. Not available on Valhall.
    #[getter]
    fn loads(&self) -> Vec<(u64, u8, u64)> {
        self.0.loads.clone()
    }

    /// What it stored: address, size in bytes, value. Not available on Valhall.
    #[getter]
    fn stores(&self) -> Vec<(u64, u8, u64)> {
        self.0.stores.clone()
    }

    fn __str__(&self) -> &str {
        &self.0.line
    }

    fn __repr__(&self) -> String {
        format!("<isaforge.Step {} '{}'>", self.0.pc, self.0.text)
    }
}

enum Message {
    Did(Did),
    Done(Box<Result<Finished, String>>, Regions),
}

/// An iterator of `Step`. `outcome` is the result of the run once the iterator is exhausted.
#[pyclass(frozen, module = "isaforge")]
pub struct Trace {
    state: Mutex<State>,
}

struct State {
    steps: Option<Receiver<Message>>,
    buffers: Buffers,
    outcome: Option<Py<Outcome>>,
}

impl Trace {
    /// Starts a run, which waits for the consumer.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub(super) fn start(job: Job, buffers: Buffers) -> std::io::Result<Trace> {
        let regions = buffers.contents();
        let (sender, steps) = sync_channel(AHEAD);
        std::thread::Builder::new().name("isaforge trace".to_owned()).spawn(move || follow(&job, regions, &sender))?;
        Ok(Trace { state: Mutex::new(State { steps: Some(steps), buffers, outcome: None }) })
    }
}

fn follow(job: &Job, regions: Regions, sender: &SyncSender<Message>) {
    let mut tell = |did| valhall::flow(sender.send(Message::Did(did)).is_ok());
    let (ended, regions) = match job {
        Job::Valhall(launch, _) => valhall::run_told(launch, regions, &mut tell),
        Job::Machine(job) => machine::run(job, regions, Some(&mut tell), &mut || false),
    };
    // The consumer may have stopped iterating.
    let _ = sender.send(Message::Done(Box::new(ended), regions));
}

/// How long to wait for a step before checking for signals.
const PATIENCE: Duration = Duration::from_millis(100);

#[pymethods]
impl Trace {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Step>> {
        loop {
            let received = py.detach(|| {
                let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.steps.as_ref().map(|steps| steps.recv_timeout(PATIENCE))
            });
            let (ended, regions) = match received {
                None => return Ok(None),
                Some(Ok(Message::Did(did))) => return Ok(Some(Step(did))),
                Some(Ok(Message::Done(ended, regions))) => (*ended, regions),
                Some(Err(RecvTimeoutError::Timeout)) => {
                    py.check_signals()?;
                    continue;
                }
                Some(Err(RecvTimeoutError::Disconnected)) => (Err("the run was abandoned".to_owned()), Vec::new()),
            };
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.steps = None;
            state.buffers.write_back(py, &regions)?;
            let finished = ended.map_err(|reason| error::run(py, &reason, ""))?;
            state.outcome = Some(Py::new(py, Outcome(finished))?);
            return Ok(None);
        }
    }

    /// The result of the run; `None` until it ends.
    #[getter]
    fn outcome(&self, py: Python<'_>) -> Option<Py<Outcome>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.outcome.as_ref().map(|outcome| outcome.clone_ref(py))
    }

    fn __repr__(&self) -> &'static str {
        "<isaforge.Trace>"
    }
}
