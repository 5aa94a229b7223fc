//! Executes groups, one task at a time and all its instances together.

use crate::machine::{Access, AccessKind};
use crate::observe::Traffic;
use crate::usc::common::{Common, value};
use crate::usc::error::Trap;
use crate::usc::host::Host;
use crate::usc::lanes::{Column, LANES, Mask, each, splat};
use crate::usc::program::Program;
use crate::usc::register::{Reach, Register, SHARED};
use crate::usc::step::{Action, Step};
use crate::usc::task::{Task, entry};

/// The context in which a task executes.
pub(super) struct Cpu<'a, H> {
    pub program: &'a Program,
    pub host: &'a mut H,
    pub common: &'a mut Common,
    pub task: &'a mut Task,
    /// The task's number.
    pub number: usize,
    /// The mutex whose sleepers must be woken, which ends the turn.
    pub woken: Option<u32>,
    /// The next step, if it is not the following one.
    pub next: Option<usize>,
    /// The memory accesses of the group, if they are observed.
    pub accesses: Option<Vec<Access>>,
    /// The bytes moved between registers and memory.
    pub traffic: Traffic,
}

const ZERO: Column = [0; LANES];

impl<'a, H: Host> Cpu<'a, H> {
    pub fn new(
        program: &'a Program,
        (host, common): (&'a mut H, &'a mut Common),
        task: &'a mut Task,
        number: usize,
        traced: bool,
    ) -> Self {
        Cpu {
            program,
            host,
            common,
            task,
            number,
            woken: None,
            next: None,
            accesses: traced.then(Vec::new),
            traffic: Traffic::default(),
        }
    }

    /// Executes a group for the active instances, and sets `next` if it branches.
    #[inline(always)]
    pub fn execute(&mut self, step: &Step, active: Mask) -> Result<(), Trap> {
        match &step.action {
            // Control groups may decide for all instances even when none is active.
            Action::Control(_) => self.graph(step, active),
            _ if active == 0 => Ok(()),
            // An instance must read what the previous one wrote to shared registers.
            _ if step.atomic => each(active).try_for_each(|i| self.graph(step, 1 << i)),
            _ => self.graph(step, active),
        }
    }

    pub(super) fn go_to(&mut self, offset: i64) -> Result<(), Trap> {
        self.next = Some(self.program.step_at(offset).ok_or(Trap::Target(offset))?);
        Ok(())
    }

    /// Reads a register of all instances; the values of inactive instances are unspecified.
    #[inline(always)]
    pub fn read(&self, register: Register, active: Mask) -> Result<Column, Trap> {
        Ok(match register {
            Register::Column(column) => *self.task.columns.at(column),
            Register::Indexed { .. } => {
                let mut values = ZERO;
                for instance in each(active) {
                    values[instance] = self.read_one(self.resolve(register, instance)?, instance);
                }
                values
            }
            _ => splat(self.read_one(register, 0)),
        })
    }

    /// Resolves an indexed register.
    pub fn resolve(&self, register: Register, instance: usize) -> Result<Register, Trap> {
        let Register::Indexed { index, reach, offset } = register else { return Ok(register) };
        let index = Register::index(index);
        let number = u64::from(self.read_one(index, instance)) + u64::from(offset);
        let base = match reach {
            Reach::Coefficient | Reach::Alternate => self.task.base[0],
            Reach::Shared => self.task.base[1],
            _ => 0,
        };
        if number + u64::from(base) >= reach.size() as u64 {
            return Err(Trap::Index { instance, reach, number });
        }
        Ok(reach.register(number as u16))
    }

    /// Reads a register of one instance.
    pub fn read_one(&self, register: Register, instance: usize) -> u32 {
        value(self.task, self.common, register, instance)
    }

    /// Writes a register of the active instances. In a register that instances share, the value of the last one
    /// remains.
    #[inline(always)]
    pub fn write(&mut self, register: Register, value: &Column, active: Mask) -> Result<(), Trap> {
        match register {
            Register::Column(column) => self.task.write(column, value, active),
            _ => {
                for instance in each(active) {
                    let to = self.resolve(register, instance)?;
                    self.write_one(to, instance, value[instance]);
                }
            }
        }
        Ok(())
    }

    /// Writes a register of one instance.
    pub fn write_one(&mut self, register: Register, instance: usize, value: u32) {
        let [coefficients, shared] = self.task.base;
        let inside = |n: u16, base: u16| usize::from(n + base) < SHARED;
        match register {
            Register::Column(column) => self.task.columns.at_mut(column)[instance % LANES] = value,
            Register::Coefficient(n) if inside(n, coefficients) => {
                *entry(&mut self.task.coefficients, n + coefficients) = value;
            }
            Register::Alternate(n) if inside(n, coefficients) => {
                *entry(&mut self.task.alternates, n + coefficients) = value;
            }
            Register::Shared(n) if inside(n, shared) => *entry(&mut self.common.shared, n + shared) = value,
            Register::Global(n) => {
                if let Some(to) = self.common.globals.get_mut(usize::from(n)) {
                    *to = value;
                }
            }
            Register::Slot(n) => {
                if let Some(to) = self.task.slots.get_mut(usize::from(n)) {
                    *to = value;
                }
            }
            _ => {}
        }
    }

    /// Records an access to memory, with what it leaves there if it writes at most eight bytes.
    pub fn access(&mut self, kind: AccessKind, instance: usize, address: u64, size: usize, stored: Option<u64>) {
        if let Some(accesses) = &mut self.accesses {
            // Bursts move at most 16 words.
            accesses.push(Access { lane: instance as u8, size: size as u8, address, kind, space: None, stored });
        }
    }
}
