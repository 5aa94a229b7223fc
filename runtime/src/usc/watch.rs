//! Looking on while tasks run: every group with what it changes, groups to stop before, a profile.

use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;

use isaforge_usc::Operation;

use crate::machine::{Access, Observer};
use crate::observe::{Profile, Terms, Traffic, write_values};
use crate::usc::host::Host;
use crate::usc::lanes::{Column, LANES, Mask, each, splat};
use crate::usc::machine::{Common, State, Task};
use crate::usc::program::{Program, Step};
use crate::usc::register::Register;
use crate::usc::watched::Seen;

/// What is looked at. Nothing of it costs anything in a run that nobody watches; one that somebody does takes the data path
/// of every group.
#[derive(Default)]
pub struct Watch<'a> {
    /// Told of every group that a task has executed; the run stops when it breaks.
    pub trace: Option<Tell<'a>>,
    /// Offsets of groups to stop before.
    pub breaks: Vec<u32>,
    /// Sees every group before and after a task executes it.
    pub observer: Option<&'a mut dyn Observer>,
    /// Whether the threads that it sees are pixels; otherwise they are numbered.
    pub pixels: bool,
    /// The task that came to one, if any did.
    pub stopped: Option<Stopped>,
    /// Counts what is executed.
    pub profile: Option<Profile>,
    /// Added to the numbers of tasks: how many others ran before.
    pub first: usize,
    /// The operations of groups that were executed.
    operations: HashMap<u32, Vec<Operation>>,
}

/// Takes a group that was executed.
pub type Tell<'a> = &'a mut dyn FnMut(&Executed) -> ControlFlow<()>;

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("breaks", &self.breaks).field("profile", &self.profile).finish_non_exhaustive()
    }
}

/// The instances of a task, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instances {
    /// Those that there are.
    pub valid: Mask,
    /// Those that execute the group.
    pub active: Mask,
}

/// A sign for each instance, the lowest first: `+` executes, `.` does not, `x` does not exist.
impl fmt::Display for Instances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (0..LANES).try_for_each(|i| {
            let is = |mask: Mask| mask >> i & 1 != 0;
            f.write_str(match (is(self.active), is(self.valid)) {
                (true, _) => "+",
                (false, true) => ".",
                (false, false) => "x",
            })
        })
    }
}

/// A group that a task has executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    /// The task.
    pub task: usize,
    /// The offset of the group in bytes.
    pub at: u32,
    /// Its text.
    pub text: String,
    /// The instances.
    pub instances: Instances,
    /// The registers that it changed, in the order in which it first did.
    pub changes: Vec<Change>,
    /// P0, if it is no longer what it was.
    pub predicate: Option<Mask>,
    /// Pe, if it is no longer what it was: the instances that run.
    pub running: Option<Mask>,
}

/// A register that a group has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The register; one that an index finds is named by the index.
    pub register: Register,
    /// The instances in which it is another value, or was filled by a backend operation. A register that they share has one
    /// value, that of the highest.
    pub instances: Mask,
    /// Its values in all instances.
    pub values: Column,
}

impl fmt::Display for Executed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {} {:#06x} {} {}", self.task, self.at, self.instances, self.text)?;
        let mut between = "  |";
        for Change { register, instances, values } in &self.changes {
            write!(f, "{between} {register}=")?;
            write_values(f, values, *instances)?;
            between = ";";
        }
        for (name, mask) in [("p0", self.predicate), ("pe", self.running)] {
            if let Some(mask) = mask {
                write!(f, "{between} {name}={mask:#010x}")?;
                between = ";";
            }
        }
        Ok(())
    }
}

/// A task that was stopped before a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The task.
    pub task: usize,
    /// The offset of the group in bytes.
    pub at: u32,
    /// Its text.
    pub text: String,
    /// The instances.
    pub instances: Instances,
    /// P0.
    pub predicate: Mask,
    /// Pe: the instances that run.
    pub running: Mask,
    /// The registers of instances that are not 0 in all of them.
    pub registers: Vec<(Register, Column)>,
}

/// The place, P0 and Pe, then a line for each register.
impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stopped { task, at, text, instances, predicate, running, .. } = self;
        write!(f, "stopped before group {at:#x} `{text}`, task {task}, instances {instances}")?;
        write!(f, "\n  p0    = {predicate:#010x}\n  pe    = {running:#010x}")?;
        for (register, values) in &self.registers {
            write!(f, "\n  {:5} = ", register.to_string())?;
            write_values(f, values, instances.valid)?;
        }
        Ok(())
    }
}

/// What the machine calls things.
pub const TERMS: Terms = Terms { instruction: "operation", step: "group", thread: "instance", warp: "task" };

/// A profile of the USC's operations. A group has several; lanes are counted by groups.
pub fn profile() -> Profile {
    Profile::new(Operation::ALL.iter().map(|operation| operation.info().name), LANES, TERMS)
}

/// What a task was before a group.
pub(super) struct Before {
    predicate: Mask,
    running: Mask,
}

/// What a group did.
pub(super) struct Done {
    pub active: Mask,
    pub writes: Vec<(Register, Mask, Column)>,
    pub accesses: Vec<Access>,
    pub traffic: Traffic,
}

impl Watch<'_> {
    /// A task is about to execute a group.
    pub(super) fn before(
        &mut self,
        program: &Program,
        step: &Step,
        (task, common, host): (&Task, &Common, &impl Host),
        number: usize,
        active: Mask,
    ) -> ControlFlow<(), Before> {
        if let Some(observer) = &mut self.observer {
            let who = (self.first + number, self.pixels);
            observer.before(&Seen { task, common, host, who, at: step.at, active, accesses: &[] })?;
        }
        let (predicate, running) = (task.predicate & task.valid, task.running & task.valid);
        if !self.breaks.contains(&step.at) || task.state == State::Ended {
            return ControlFlow::Continue(Before { predicate, running });
        }
        let values = |register: Register| std::array::from_fn(|i| task.get(register, i).unwrap_or(0));
        let all = Register::own().map(|register| (register, values(register)));
        self.stopped = Some(Stopped {
            task: self.first + number,
            at: step.at,
            text: program.text(step.at),
            instances: Instances { valid: task.valid, active },
            predicate,
            running,
            registers: all.filter(|(_, values)| each(task.valid).any(|i| values[i] != 0)).collect(),
        });
        ControlFlow::Break(())
    }

    /// A task has executed a group.
    pub(super) fn after(
        &mut self,
        program: &Program,
        step: &Step,
        (task, common, host): (&Task, &Common, &impl Host),
        number: usize,
        before: &Before,
        done: Done,
    ) -> ControlFlow<()> {
        let active = done.active;
        if let Some(observer) = &mut self.observer {
            let who = (self.first + number, self.pixels);
            observer.after(&Seen { task, common, host, who, at: step.at, active, accesses: &done.accesses })?;
        }
        if let Some(profile) = &mut self.profile {
            let operations = self.operations.entry(step.at).or_insert_with(|| program.operations(step.at));
            for operation in operations {
                let traffic = if moves(*operation) { done.traffic } else { Traffic::default() };
                profile.count(*operation as usize, u64::from(step.repeat), active.count_ones(), traffic);
            }
            profile.occupy(active.count_ones());
        }
        let Some(tell) = &mut self.trace else { return ControlFlow::Continue(()) };
        let changed = |new: Mask, old: Mask| Some(new & task.valid).filter(|new| *new != old);
        tell(&Executed {
            task: self.first + number,
            at: step.at,
            text: program.text(step.at),
            instances: Instances { valid: task.valid, active },
            changes: merged(done.writes),
            predicate: changed(task.predicate, before.predicate),
            running: changed(task.running, before.running),
        })
    }
}

/// Whether an operation moves words between registers and memory.
fn moves(operation: Operation) -> bool {
    use Operation as O;
    matches!(operation, O::Ld | O::LdReg | O::St | O::StReg | O::StTiled | O::StRegTiled | O::StTexelmode | O::Atom)
}

/// Writes by register. Those of one register that instances share leave the last value.
fn merged(writes: Vec<(Register, Mask, Column)>) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for (register, mut instances, mut values) in writes.into_iter().filter(|(_, instances, _)| *instances != 0) {
        if register.is_shared() {
            let last = LANES - 1 - instances.leading_zeros() as usize;
            (instances, values) = (1 << last, splat(values[last]));
        }
        match changes.iter_mut().find(|change| change.register == register) {
            Some(change) if !register.is_shared() => {
                each(instances).for_each(|i| change.values[i] = values[i]);
                change.instances |= instances;
            }
            Some(change) => (change.instances, change.values) = (instances, values),
            None => changes.push(Change { register, instances, values }),
        }
    }
    changes
}
