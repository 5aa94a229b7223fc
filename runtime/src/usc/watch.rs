//! Observation of running tasks: an observer of every group, and a profile.

use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;

use isaforge_usc::Operation;

use crate::machine::{Access, Observer};
use crate::observe::{Profile, Terms, Traffic};
use crate::usc::common::Common;
use crate::usc::host::Host;
use crate::usc::lanes::{LANES, Mask};
use crate::usc::program::Program;
use crate::usc::seen::Seen;
use crate::usc::step::Step;
use crate::usc::task::Task;

/// What is observed. Runs without a watch pay nothing for it; runs with one take the data path for every group.
#[derive(Default)]
pub struct Watch<'a> {
    /// Is notified of every group before and after a task executes it.
    pub observer: Option<&'a mut dyn Observer>,
    /// Whether the threads in its view are pixels; otherwise they are numbered.
    pub pixels: bool,
    /// Counts the operations executed.
    pub profile: Option<Profile>,
    /// The offset added to the numbers of tasks: the number of tasks that ran before.
    pub first: usize,
    /// The operations of groups that were executed, by their offset.
    operations: HashMap<u32, Vec<Operation>>,
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("profile", &self.profile).finish_non_exhaustive()
    }
}

/// The machine's terminology.
pub const TERMS: Terms = Terms { instruction: "operation", step: "group", thread: "instance", warp: "task" };

/// Creates a profile of the USC's operations. A group has several operations; lanes are counted by group.
pub fn profile() -> Profile {
    Profile::new(Operation::ALL.iter().map(|operation| operation.info().name), LANES, TERMS)
}

/// The effects of a group that are observed.
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
        observer.before(&Seen { task, common, host, who, at: step.at, active, accesses: &[], ended: false })
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
            let ended = step.last;
            observer.after(&Seen { task, common, host, who, at: step.at, active, accesses: &accesses, ended })?;
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
