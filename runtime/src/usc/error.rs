//! Errors of programs and runs.

use isaforge_usc::{BuildError, GroupError, Regbank};

use crate::memory::MemoryFault;
use crate::usc::register::Reach;

/// The maximum size of a program in bytes.
pub const MAX_PROGRAM: usize = 1 << 24;

/// The reason why bytes or groups are not a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The program has no groups.
    #[error("the program is empty")]
    Empty,
    /// The program is longer than [`MAX_PROGRAM`].
    #[error("the program has {0} bytes, at most {MAX_PROGRAM} are allowed")]
    TooLong(usize),
    /// Some bytes do not decode to a group.
    #[error("the bytes at {at:#x} are not a group: {reason}")]
    Decode {
        /// The offset of the bytes.
        at: usize,
        /// The reason.
        reason: GroupError,
    },
    /// A group names a register that does not exist.
    #[error("group {at:#x}, `{text}`: there is no register {number} in the bank {bank:?}")]
    Register {
        /// The offset of the group.
        at: usize,
        /// The text of the group.
        text: String,
        /// The bank.
        bank: Regbank,
        /// The number as it is encoded.
        number: u32,
    },
    /// A repetition steps past the end of a bank.
    #[error("group {at:#x}, `{text}`: repetition {by} steps past the end of a bank")]
    Steps {
        /// The offset of the group.
        at: usize,
        /// The text of the group.
        text: String,
        /// The index of the repetition, from 0.
        by: u16,
    },
    /// A group writes to a constant or a system value.
    #[error("group {at:#x}, `{text}`: special register {number} cannot be written")]
    Fixed {
        /// The offset of the group.
        at: usize,
        /// The text of the group.
        text: String,
        /// The number of the special register.
        number: u32,
    },
    /// The parts of a group do not fit together.
    #[error("group {at:#x}, `{text}`: {reason}")]
    Build {
        /// The offset of the group.
        at: usize,
        /// The text of the group.
        text: String,
        /// The reason.
        reason: BuildError,
    },
    /// The behaviour of an operation is unknown.
    #[error("group {at:#x}, `{text}`: {what}")]
    Unsupported {
        /// The offset of the group.
        at: usize,
        /// The text of the group.
        text: String,
        /// The reason.
        what: &'static str,
    },
}

/// The reason why a group cannot be executed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trap {
    /// An index register names a register that its bank does not have.
    #[error("instance {instance} indexes {reach:?} register {number}, which does not exist")]
    Index {
        /// The instance.
        instance: usize,
        /// The bank.
        reach: Reach,
        /// The number: the index plus the offset.
        number: u64,
    },
    /// A burst of registers extends beyond its bank.
    #[error("the burst of {0} registers leaves its bank")]
    Burst(u32),
    /// A burst includes registers that cannot be written.
    #[error("the burst ends in registers that cannot be written")]
    Fixed,
    /// An access to memory fails.
    #[error("instance {instance}: {fault}")]
    Memory {
        /// The instance.
        instance: usize,
        /// Why the access fails.
        fault: MemoryFault,
    },
    /// The format code of a pack or unpack in a register does not exist.
    #[error("instance {instance} packs to the format {code}, which does not exist")]
    Format {
        /// The instance.
        instance: usize,
        /// The code.
        code: u32,
    },
    /// A branch leads to an offset at which no group starts.
    #[error("the branch leads to {0:#x}, where no group starts")]
    Target(i64),
    /// A return from a breakpoint without a target.
    #[error("there is no breakpoint to return from")]
    Breakpoint,
    /// Execution ran past the last group.
    #[error("the program runs past its last group")]
    RanOff,
    /// The behaviour of the group is unknown.
    #[error("what the group does is not public")]
    Unknown,
    /// The host reports an error.
    #[error("{0}")]
    Host(String),
    /// The budget is exhausted.
    #[error("the budget of {0} groups is used up")]
    Budget(u64),
    /// The deadline has passed.
    #[error("the time limit of {} s has expired", .0.as_secs_f64())]
    Time(std::time::Duration),
    /// An observer stopped the run.
    #[error("stopped")]
    Stopped,
    /// Every task that has not ended waits for a mutex.
    #[error("every task waits: for mutex {0}")]
    Deadlock(u32),
}

/// The reason why a run ended before its tasks did.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("task {task}, group {at:#x} `{text}`: {trap}")]
pub struct RunError {
    /// The task.
    pub task: usize,
    /// The offset of the group in bytes.
    pub at: u32,
    /// The text of the group.
    pub text: String,
    /// The reason.
    pub trap: Trap,
}

/// The reason why a task or a machine cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// A task has 1 to 32 instances.
    #[error("a task has 1 to 32 instances, not {0}")]
    Instances(usize),
    /// There is no such instance.
    #[error("the task has {1} instances, there is no instance {0}")]
    Instance(usize, usize),
    /// The register is fixed or belongs elsewhere.
    #[error("{0:?} cannot be set here")]
    Register(crate::usc::register::Register),
    /// More tasks than a machine can run at once.
    #[error("{0} tasks exceed the limit of 65536")]
    Tasks(usize),
}
