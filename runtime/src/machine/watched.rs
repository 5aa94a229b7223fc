//! Programs of sets with engines of their own.

use std::fmt;

use super::{AccessObserver, Ended, Machine, Observer, Properties, Timed, forward_accesses};
use crate::deadline::Deadline;
use crate::engine::{Engine, Execution};
use crate::level::Level;

/// Fills bytes with memory as [`View::memory`](super::View::memory) does.
type Read = Box<dyn Fn(u64, &mut [u8]) -> Option<()>>;

/// Runs a program from its start with an observer, and returns a function that reads the memory it leaves.
type Start<'a> = Box<dyn Fn(&mut dyn Observer) -> Result<Read, String> + 'a>;

/// Runs a program on a fast engine, and tells an observer of all accesses to memory.
type StartAccesses<'a> = Box<dyn Fn(&mut dyn AccessObserver, Level, Deadline) -> Result<(), String> + 'a>;

/// A program with everything that it runs on, for the sets with engines of their own.
pub struct Watched<'a> {
    properties: Properties,
    start: Start<'a>,
    /// `None` if only the reference can be observed.
    pub(crate) start_accesses: Option<StartAccesses<'a>>,
}

impl fmt::Debug for Watched<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").field("properties", &self.properties).finish_non_exhaustive()
    }
}

impl<'a> Watched<'a> {
    pub(crate) fn new<R: Fn(u64, &mut [u8]) -> Option<()> + 'static>(
        properties: Properties,
        start: impl Fn(&mut dyn Observer) -> Result<R, String> + 'a,
    ) -> Self {
        let start = move |observer: &mut dyn Observer| start(observer).map(|read| Box::new(read) as Read);
        Watched { properties, start: Box::new(start), start_accesses: None }
    }
}

impl Machine for Watched<'_> {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn run(&self, observer: &mut dyn Observer) -> Result<(), String> {
        let mut timed = Timed::new(observer, Deadline::NONE);
        match (self.start)(&mut timed) {
            Ok(read) => timed.end(&Ended(read)),
            Err(_) if timed.stopped => {}
            Err(reason) => return Err(reason),
        }
        Ok(())
    }

    fn run_accesses(
        &self,
        observer: &mut dyn AccessObserver,
        execution: Execution,
        until: Deadline,
    ) -> Result<(), String> {
        match &self.start_accesses {
            Some(start) if execution.engine() != Engine::Reference => start(observer, execution.level(), until),
            _ => forward_accesses(self, observer, until),
        }
    }
}
