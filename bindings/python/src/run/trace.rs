//! Executed instructions as an iterator. The program runs in a thread and waits for the consumer.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;

use super::buffers::{Buffers, Regions};
use super::failure::Failure;
use super::job::Job;
use super::outcome::{Finished, Outcome};
use super::step::{Did, Step};
use super::{machine, valhall};

/// How many steps the program may be ahead of the consumer.
const AHEAD: usize = 256;

enum Message {
    Did(Did),
    Done(Box<Result<Finished, Failure>>, Regions),
}

/// An iterator of `Step`. `outcome` is the result of the run once the iterator is exhausted.
#[pyclass(frozen, weakref, module = "isaforge")]
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
        Job::Machine(job) => machine::run(job, regions, Some(&mut tell), || false),
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
                Some(Err(RecvTimeoutError::Disconnected)) => {
                    (Err("the run was abandoned".to_owned().into()), Vec::new())
                }
            };
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.steps = None;
            state.buffers.write_back(py, &regions)?;
            let finished = ended.map_err(|failure| failure.raise(py))?;
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
