//! How a run goes wrong.

use crate::memory::MemoryFault;
use crate::usc::register::Reach;

/// Why a group cannot be executed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trap {
    /// An index register names a register that its bank has not.
    #[error("instance {instance} indexes {reach:?} register {number}, which does not exist")]
    Index {
        /// The instance.
        instance: usize,
        /// The bank.
        reach: Reach,
        /// The number: the index and the offset.
        number: u64,
    },
    /// A burst of registers leaves its bank.
    #[error("the burst of {0} registers leaves its bank")]
    Burst(u32),
    /// Registers of a burst that cannot be written.
    #[error("the burst ends in registers that cannot be written")]
    Fixed,
    /// An access to memory fails.
    #[error("instance {instance}: {fault}")]
    Memory {
        /// The instance.
        instance: usize,
        /// What is wrong.
        fault: MemoryFault,
    },
    /// The format of a pack or unpack that a register names is none.
    #[error("instance {instance} packs to the format {code}, which does not exist")]
    Format {
        /// The instance.
        instance: usize,
        /// The code.
        code: u32,
    },
    /// A branch leads to where no group starts.
    #[error("the branch leads to {0:#x}, where no group starts")]
    Target(i64),
    /// A return from a breakpoint, and nothing has said where to.
    #[error("no breakpoint was met that it could return from")]
    Breakpoint,
    /// There is no group behind the last one.
    #[error("the program goes on behind its last group")]
    RanOff,
    /// Nothing says what the group does.
    #[error("nothing public says what the group does")]
    Unknown,
    /// The host refuses.
    #[error("{0}")]
    Host(String),
    /// The budget is used up.
    #[error("the budget of {0} groups is used up")]
    Budget(u64),
    /// The run has taken as long as it may.
    #[error("the time limit of {} s is over", .0.as_secs_f64())]
    Time(std::time::Duration),
    /// Somebody who looks on stopped the run.
    #[error("stopped")]
    Stopped,
    /// Every task that has not ended waits for a mutex.
    #[error("every task waits: for mutex {0}")]
    Deadlock(u32),
}

/// Why a run ended before its tasks did.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("task {task}, group {at:#x} `{text}`: {trap}")]
pub struct RunError {
    /// The task.
    pub task: usize,
    /// The offset of the group in bytes.
    pub at: u32,
    /// Its text.
    pub text: String,
    /// Why.
    pub trap: Trap,
}

/// What a task refuses to be set up with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// A task has 1 to 32 instances.
    #[error("a task has 1 to 32 instances, not {0}")]
    Instances(usize),
    /// There is no such instance.
    #[error("the task has {1} instances, there is no instance {0}")]
    Instance(usize, usize),
    /// A register that is not the task's, or fixed.
    #[error("{0:?} cannot be set here")]
    Register(crate::usc::register::Register),
    /// More tasks than a machine runs at a time.
    #[error("{0} tasks are more than 65536")]
    Tasks(usize),
}
