//! The state that all tasks of a machine share.

use isaforge_core::semantics::evaluate::Scratch;

use crate::usc::lanes::LANES;
use crate::usc::register::{GLOBALS, Register};
use crate::usc::task::Task;

/// The number of mutexes of a machine.
pub(super) const MUTEXES: usize = 16;

/// The state shared by all tasks.
#[derive(Clone, Debug)]
pub(super) struct Common {
    pub shared: Vec<u32>,
    pub dynamic: Vec<u32>,
    pub globals: [u32; GLOBALS],
    /// The task that holds each mutex.
    pub mutexes: [Option<usize>; MUTEXES],
    /// The number of groups executed, which the timer reads.
    pub time: u64,
    /// Scratch space for the evaluation of a group.
    pub scratch: Room,
}

/// Scratch space for values. Clones are empty.
#[derive(Debug, Default)]
pub(super) struct Room(pub Scratch<LANES>);

impl Clone for Room {
    fn clone(&self) -> Self {
        Room::default()
    }
}

/// The value of a register of one instance; 0 for indexed registers.
pub(super) fn value(task: &Task, common: &Common, register: Register, instance: usize) -> u32 {
    let of = |bank: &[u32], n: u16, base: u16| bank.get(usize::from(n + base)).copied().unwrap_or(0);
    match register {
        Register::Column(column) => task.columns.at(column)[instance % LANES],
        Register::Coefficient(n) => of(&task.coefficients, n, task.base[0]),
        Register::Alternate(n) => of(&task.alternates, n, task.base[0]),
        Register::Shared(n) => of(&common.shared, n, task.base[1]),
        Register::Global(n) => common.globals.get(usize::from(n)).copied().unwrap_or(0),
        Register::Slot(n) => task.slots.get(usize::from(n)).copied().unwrap_or(0),
        Register::Dynamic(n) => of(&common.dynamic, n, 0),
        Register::Timer => common.time as u32,
        Register::Indexed { .. } => 0,
    }
}
