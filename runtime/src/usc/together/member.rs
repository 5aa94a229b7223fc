//! Tasks as operations on columns access them.

use crate::exec::vector::{self, Family};
use crate::usc::error::Trap;
use crate::usc::lanes::{LANES, Mask};
use crate::usc::names::Set;
use crate::usc::task::{State, Task};

use super::bind::ACTIVE;

/// The number of words of a column that handlers compute at a time.
pub(in crate::usc) const PART: usize = 8;

/// The view that operations on columns have of tasks.
#[derive(Debug)]
pub(in crate::usc) struct Tasks;

impl Family<PART> for Tasks {
    const SLOT: u32 = 32;
    const PARTS: usize = LANES / 2 / PART;
    type Member<'m> = Member<'m>;
}

impl vector::Member<PART> for Member<'_> {
    #[inline(always)]
    fn part(&self, row: u16, part: usize) -> &[u64; PART] {
        self.task.columns.part(row, part)
    }

    #[inline(always)]
    fn part_mut(&mut self, row: u16, part: usize) -> &mut [u64; PART] {
        self.task.columns.part_mut(row, part)
    }

    #[inline(always)]
    fn set(&self, number: u16) -> u64 {
        match Set::numbered(number) {
            Set::Predicate => self.task.predicate.into(),
            Set::Runs => self.task.running.into(),
            Set::Executes => self.active.into(),
            Set::Kept => self.task.kept.into(),
            Set::Failed => self.task.failed.into(),
        }
    }

    #[inline(always)]
    fn change_set(&mut self, number: u16, lanes: u64, of: u64) {
        let set = match Set::numbered(number) {
            Set::Predicate => &mut self.task.predicate,
            Set::Runs => &mut self.task.running,
            Set::Kept => &mut self.task.kept,
            Set::Failed => &mut self.task.failed,
            Set::Executes => return,
        };
        *set = *set & !(of as Mask) | (lanes & of) as Mask;
    }
}

/// A task of a bundle.
#[derive(Debug)]
pub(in crate::usc) struct Member<'t> {
    pub task: &'t mut Task,
    /// The instances that execute the current operations.
    pub active: Mask,
    pub(in crate::usc) number: usize,
    /// The number of groups that it may still execute.
    pub(in crate::usc) left: u64,
    pub(in crate::usc) stands: bool,
    pub(in crate::usc) done: Ahead,
}

/// What a task has executed before its turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::usc) struct Ahead {
    pub groups: u64,
    /// The number of groups, each multiplied by the number of active instances.
    pub instance_groups: u64,
    /// The reason why the group after these cannot be executed.
    pub trap: Option<Trap>,
}

impl Ahead {
    /// Whether the task has not advanced.
    pub fn is_nothing(&self) -> bool {
        self.groups == 0 && self.trap.is_none()
    }
}

impl Member<'_> {
    /// Sets the instances that write columns.
    pub(in crate::usc) fn set_lanes(&mut self, lanes: Mask) {
        let column = self.task.columns.at_mut(ACTIVE);
        for (i, slot) in column.iter_mut().enumerate() {
            *slot = (lanes >> i & 1).wrapping_neg();
        }
    }

    /// Whether it may execute another group.
    pub(in crate::usc) fn goes(&self) -> bool {
        self.left > 0 && !self.stands && self.task.state == State::Ready
    }
}
