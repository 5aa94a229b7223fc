//! Executes one group on a given state: the interface through which tests compare implementations.
//!
//! The state consists of plain numbers and shows nothing of how groups are executed, so the same cases apply to every
//! implementation.

use isaforge_usc::Parts;

use crate::level::Level;
use crate::usc::common::{Common, MUTEXES};
use crate::usc::error::{LoadError, Trap};
use crate::usc::exec::Cpu;
use crate::usc::host::Host;
use crate::usc::lanes::{Column, Mask};
use crate::usc::machine::Machine;
use crate::usc::program::Program;
use crate::usc::register::{COLUMNS, GLOBALS, INTERNALS};
use crate::usc::step::{Action, Step};
use crate::usc::task::{State as Waits, Task};
use crate::usc::together::code::active;

/// A task about to execute a group, and everything that it can access. Its number is 0.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The registers of each instance: 256 special registers, 248 temporaries, 248 vertex inputs, 2 index registers.
    /// The special registers include constants and system values.
    pub registers: Box<[Column; REGISTERS]>,
    /// Coefficients; those beyond these read as 0.
    pub coefficients: Vec<u32>,
    /// Alternate coefficients; those beyond these read as 0.
    pub alternates: Vec<u32>,
    /// Shared registers; those beyond these read as 0.
    pub shared: Vec<u32>,
    /// Dynamic constants; those beyond these read as 0.
    pub dynamic: Vec<u32>,
    /// Global registers.
    pub globals: [u32; GLOBALS],
    /// Slot registers, as many of them as the machine has.
    pub slots: [u32; INTERNALS],
    /// The offsets added to the numbers of coefficients and of shared registers.
    pub base: [u16; 2],
    /// The instances that exist.
    pub valid: Mask,
    /// Pe: the instances that run.
    pub running: Mask,
    /// P0.
    pub predicate: Mask,
    /// The link register, in units of two bytes.
    pub link: u32,
    /// The target of a return from a breakpoint.
    pub breakpoint: Option<u32>,
    /// The instances whose fragment the program has kept.
    pub kept: Mask,
    /// The instances whose fragment has failed a test.
    pub failed: Mask,
    /// The bits of 1/W stored by the last iteration that keeps it.
    pub kept_w: Column,
    /// The task that holds each mutex.
    pub mutexes: [Option<usize>; MUTEXES],
    /// The number of groups executed.
    pub time: u64,
}

/// The number of columns of a [`State`].
pub const REGISTERS: usize = COLUMNS;

/// How the task continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// At the next group.
    After,
    /// At the group at this offset, if there is one.
    At(i64),
    /// The task has ended.
    Ended,
    /// When it gets this mutex.
    Wants(u32),
    /// When the sleepers of this mutex are woken.
    Sleeps(u32),
    /// At the next group, and so do the sleepers of this mutex.
    Wakes(u32),
}

/// A group that can be executed.
#[derive(Clone, Debug)]
pub struct Group(Program);

impl Group {
    /// Decodes a group, for a machine with a number of slot registers.
    ///
    /// # Errors
    /// When it does not decode, or cannot be executed.
    pub fn of_bytes(bytes: &[u8], slots: u16) -> Result<Group, LoadError> {
        Program::load_with_slots(bytes, slots).map(Group)
    }

    /// Builds a group from its parts, which need not have an encoding.
    ///
    /// # Errors
    /// When it cannot be executed.
    pub fn of_parts(parts: &Parts) -> Result<Group, LoadError> {
        Program::of_parts(std::slice::from_ref(parts)).map(Group)
    }

    /// Executes the group as the reference does. After an error the state is unspecified.
    ///
    /// # Errors
    /// When it fails.
    pub fn execute<H: Host + Default>(&self, state: &mut State, host: &mut H) -> Result<Next, Trap> {
        let (mut machine, mut task) = set_up(state, host);
        let result = machine.single(&self.0, &mut task);
        *host = take_down(state, machine, task);
        result
    }

    /// Executes the group by the fast path. `None` when the fast path does not support it.
    ///
    /// # Errors
    /// When it fails.
    pub fn execute_fast<H: Host + Default>(
        &self,
        state: &mut State,
        host: &mut H,
        level: Level,
    ) -> Option<Result<Next, Trap>> {
        // The end of a task is not part of its last group, and a branch would leave the program of a single group.
        let stays = |step: &Step| !matches!(&step.action, Action::Control(control) if control.parts.cnd.is_none());
        let alone = |step: &Step| !step.last && stays(step);
        if !self.0.is_fast(0) || !self.0.steps.first().is_some_and(alone) {
            return None;
        }
        let (machine, task) = set_up(state, host);
        let mut tasks = [task];
        let mut machine = machine.at_level(level);
        let result = match machine.run(&self.0, &mut tasks, 1 << 20) {
            Ok(_) => Ok(Next::Ended),
            Err(error) => match error.trap {
                Trap::RanOff => Ok(Next::After),
                trap => Err(trap),
            },
        };
        let [task] = tasks;
        *host = take_down(state, machine, task);
        Some(result)
    }
}

fn set_up<H: Host + Default>(state: &State, host: &mut H) -> (Machine<H>, Task) {
    let mut machine = Machine::new(std::mem::take(host));
    machine.common = Common {
        shared: state.shared.clone(),
        dynamic: state.dynamic.clone(),
        globals: state.globals,
        mutexes: state.mutexes,
        time: state.time,
        scratch: Default::default(),
    };
    let mut task = Task::with(state.valid);
    for (number, column) in (0..).zip(state.registers.iter()) {
        *task.columns.at_mut(number) = *column;
    }
    task.coefficients.clone_from(&state.coefficients);
    task.alternates.clone_from(&state.alternates);
    (task.running, task.predicate, task.link) = (state.running, state.predicate, state.link);
    (task.slots, task.base, task.breakpoint) = (state.slots, state.base, state.breakpoint);
    (task.kept, task.failed) = (state.kept, state.failed);
    task.kept_w = state.kept_w.map(f32::from_bits);
    (machine, task)
}

fn take_down<H: Host>(state: &mut State, machine: Machine<H>, task: Task) -> H {
    let Common { shared, dynamic, globals, mutexes, time, .. } = machine.common;
    (state.shared, state.dynamic, state.globals, state.mutexes, state.time) = (shared, dynamic, globals, mutexes, time);
    for (number, column) in (0..).zip(state.registers.iter_mut()) {
        *column = *task.columns.at(number);
    }
    (state.coefficients, state.alternates) = (task.coefficients, task.alternates);
    (state.running, state.predicate, state.link) = (task.running, task.predicate, task.link);
    (state.slots, state.base, state.breakpoint) = (task.slots, task.base, task.breakpoint);
    (state.kept, state.failed) = (task.kept, task.failed);
    state.kept_w = task.kept_w.map(f32::to_bits);
    machine.host
}

impl<H: Host> Machine<H> {
    /// Executes the first group of a program.
    fn single(&mut self, program: &Program, task: &mut Task) -> Result<Next, Trap> {
        let step = program.steps.first().ok_or(Trap::RanOff)?;
        let mut cpu = Cpu::new(program, (&mut self.host, &mut self.common), task, 0, false);
        let result = cpu.execute(step, active(cpu.task, step.condition));
        let (next, woken) = (cpu.next, cpu.woken);
        match result {
            // A program of a single group has no other targets than the group itself.
            Err(Trap::Target(offset)) => return Ok(Next::At(offset)),
            other => other?,
        }
        Ok(match (task.state, next, woken) {
            (Waits::Ended, ..) => Next::Ended,
            _ if step.last => Next::Ended,
            (Waits::Wants(id), ..) => Next::Wants(id),
            (Waits::Sleeps(id), ..) => Next::Sleeps(id),
            (Waits::Ready, _, Some(id)) => Next::Wakes(id),
            (Waits::Ready, Some(_), _) => Next::At(0),
            (Waits::Ready, None, None) => Next::After,
        })
    }
}
