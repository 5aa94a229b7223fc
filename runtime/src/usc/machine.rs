//! The machine that runs tasks.
//!
//! - here: its state
//! - `bundle`: tasks that advance side by side
//! - `turns`: tasks take turns until all have ended

mod bundle;
mod turns;

use crate::deadline::Deadline;
use crate::engine::{Engine, Execution};
use crate::level::Level;
use crate::usc::common::{Common, MUTEXES, Room};
use crate::usc::error::{RunError, SetupError};
use crate::usc::host::Host;
use crate::usc::program::Program;
use crate::usc::register::{GLOBALS, Register};
use crate::usc::task::{Task, entry};
use crate::usc::watch::Watch;

/// Statistics of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of groups executed, including those without active instances.
    pub groups: u64,
    /// The number of groups executed, each multiplied by the number of active instances.
    pub instance_groups: u64,
}

/// A host with the registers shared by tasks.
#[derive(Clone, Debug)]
pub struct Machine<H> {
    /// The units around the ALUs.
    pub host: H,
    pub(super) common: Common,
    level: Level,
    deadline: Deadline,
    pub(super) plainly: bool,
}

impl<H: Host> Machine<H> {
    /// Creates a machine whose registers are 0.
    pub fn new(host: H) -> Machine<H> {
        let common = Common {
            shared: Vec::new(),
            dynamic: Vec::new(),
            globals: [0; GLOBALS],
            mutexes: [None; MUTEXES],
            time: 0,
            scratch: Room::default(),
        };
        Machine { host, common, level: Level::best(), deadline: Deadline::NONE, plainly: true }
    }

    /// Returns the machine with another level of the processor.
    pub fn at_level(mut self, level: Level) -> Machine<H> {
        self.level = level;
        self
    }

    /// Returns the machine with another engine.
    pub fn on(self, execution: Execution) -> Machine<H> {
        let machine = self.at_level(execution.level());
        if execution.engine() == Engine::Reference { machine.without_fast_path() } else { machine }
    }

    /// Returns the machine with a time limit for its runs.
    pub fn until(mut self, deadline: Deadline) -> Machine<H> {
        self.deadline = deadline;
        self
    }

    /// Returns the machine without the fast path: every group goes through the whole data path.
    pub fn without_fast_path(mut self) -> Machine<H> {
        self.plainly = false;
        self
    }

    /// Sets a shared register, a global register or a dynamic constant.
    ///
    /// # Errors
    /// When the register is none of these.
    pub fn set(&mut self, register: Register, value: u32) -> Result<(), SetupError> {
        match register {
            Register::Shared(n) => *entry(&mut self.common.shared, n) = value,
            Register::Global(n) if usize::from(n) < GLOBALS => self.common.globals[usize::from(n)] = value,
            Register::Dynamic(n) => *entry(&mut self.common.dynamic, n) = value,
            _ => return Err(SetupError::Register(register)),
        }
        Ok(())
    }

    /// Returns a shared register, a global register or a dynamic constant. `None` when the register is none of these.
    pub fn get(&self, register: Register) -> Option<u32> {
        match register {
            Register::Shared(n) => Some(self.common.shared.get(usize::from(n)).copied().unwrap_or(0)),
            Register::Global(n) => self.common.globals.get(usize::from(n)).copied(),
            Register::Dynamic(n) => Some(self.common.dynamic.get(usize::from(n)).copied().unwrap_or(0)),
            _ => None,
        }
    }

    /// Runs a program on tasks until all have ended or the budget of groups is exhausted.
    ///
    /// Tasks take turns. While a task waits for a mutex, the others continue.
    ///
    /// # Errors
    /// When a group cannot be executed or the budget is exhausted; the first such group.
    pub fn run(&mut self, program: &Program, tasks: &mut [Task], budget: u64) -> Result<Report, RunError> {
        self.go(program, tasks, budget, None)
    }

    /// Runs like [`run`](Machine::run), with an observer or a profile.
    ///
    /// # Errors
    /// As for [`run`](Machine::run); [`Trap::Stopped`](super::Trap::Stopped) when the watch ends it.
    pub fn run_watched(
        &mut self,
        program: &Program,
        tasks: &mut [Task],
        budget: u64,
        watch: &mut Watch<'_>,
    ) -> Result<Report, RunError> {
        self.go(program, tasks, budget, Some(watch))
    }
}
