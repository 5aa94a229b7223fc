//! Looking on while tasks run: an observer of every group, a profile.

use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;

use isaforge_usc::Operation;

use crate::machine::{Access, Observer};
use crate::observe::{Profile, Terms, Traffic};
use crate::usc::host::Host;
use crate::usc::lanes::{LANES, Mask};
use crate::usc::machine::{Common, Task};
use crate::usc::program::{Program, Step};
use crate::usc::watched::Seen;

/// What is looked at. Nothing of it costs anything in a run that nobody watches; one that somebody does takes the data path
/// of every group.
#[derive(Default)]
pub struct Watch<'a> {
    /// Sees every group before and after a task executes it.
    pub observer: Option<&'a mut dyn Observer>,
    /// Whether the threads that it sees are pixels; otherwise they are numbered.
    pub pixels: bool,
    /// Counts what is executed.
    pub profile: Option<Profile>,
    /// Added to the numbers of tasks: how many others ran before.
    pub first: usize,
    /// The operations of groups that were executed.
    operations: HashMap<u32, Vec<Operation>>,
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("profile", &self.profile).finish_non_exhaustive()
    }
}

/// What the machine calls things.
pub const TERMS: Terms = Terms { instruction: "operation", step: "group", thread: "instance", warp: "task" };

/// A profile of the USC's operations. A group has several; lanes are counted by groups.
pub fn profile() -> Profile {
    Profile::new(Operation::ALL.iter().map(|operation| operation.info().name), LANES, TERMS)
}

/// What a group did.
pub(super) struct Done {
    pub active: Mask,
    pub accesses: Vec<Access>,
    pub traffic: Traffic,
}

impl Watch<'_> {
    /// A task is about to execute a group.
    pub(super) fn before(
        &mut self,
        step: &Step,
        (task, common, host): (&Task, &Common, &impl Host),
        number: usize,
        active: Mask,
    ) -> ControlFlow<()> {
        let Some(observer) = &mut self.observer else { return ControlFlow::Continue(()) };
        let who = (self.first + number, self.pixels);
        observer.before(&Seen { task, common, host, who, at: step.at, active, accesses: &[] })
    }

    /// A task has executed a group.
    pub(super) fn after(
        &mut self,
        program: &Program,
        step: &Step,
        (task, common, host): (&Task, &Common, &impl Host),
        number: usize,
        Done { active, accesses, traffic }: Done,
    ) -> ControlFlow<()> {
        if let Some(observer) = &mut self.observer {
            let who = (self.first + number, self.pixels);
            observer.after(&Seen { task, common, host, who, at: step.at, active, accesses: &accesses })?;
        }
        if let Some(profile) = &mut self.profile {
            let operations = self.operations.entry(step.at).or_insert_with(|| program.operations(step.at));
            for operation in operations {
                let traffic = if moves(*operation) { traffic } else { Traffic::default() };
                profile.count(*operation as usize, u64::from(step.repeat), active.count_ones(), traffic);
            }
            profile.occupy(active.count_ones());
        }
        ControlFlow::Continue(())
    }
}

/// Whether an operation moves words between registers and memory.
fn moves(operation: Operation) -> bool {
    use Operation as O;
    matches!(operation, O::Ld | O::LdReg | O::St | O::StReg | O::StTiled | O::StRegTiled | O::StTexelmode | O::Atom)
}
