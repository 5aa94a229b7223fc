//! Errors and warnings of runs.

use std::fmt;

use crate::vpu::memory::MAX_MEMORY;

/// Why an instruction did not issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wait {
    /// All global banks are in use.
    Bank,
    /// The queue is full.
    Queue,
    /// A tile lock is held.
    Lock,
    /// The loaded data has not arrived yet.
    Memory,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wait::Bank => "no global bank is free",
            Wait::Queue => "the queue is full",
            Wait::Lock => "a tile lock is held",
            Wait::Memory => "waiting for memory",
        })
    }
}

/// The position of a group in its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The core that executes it.
    pub core: usize,
    /// The group, counted from 0 in the order in which the core's groups became active.
    pub group: u64,
    /// Its position on the screen.
    pub position: (u16, u16),
    /// The address of the instruction.
    pub pc: u16,
    /// The text of the instruction.
    pub text: String,
    /// Why it does not issue.
    pub wait: Option<Wait>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (x, y) = self.position;
        write!(f, "core {} group {} at ({x}, {y}), instruction {}: {}", self.core, self.group, self.pc, self.text)?;
        self.wait.map_or(Ok(()), |wait| write!(f, " ({wait})"))
    }
}

fn places(list: &[Place]) -> String {
    const SHOWN: usize = 8;
    let mut text: String = list.iter().take(SHOWN).map(|place| format!("\n  {place}")).collect();
    if list.len() > SHOWN {
        text.push_str(&format!("\n  and {} more", list.len() - SHOWN));
    }
    text
}

/// Why a run ended before its programs did.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// Every living group waits and nothing is left to launch.
    #[error("deadlock: every live group is waiting{}", places(.0))]
    Deadlock(Vec<Place>),
    /// The step budget is used up.
    #[error("the budget of {budget} steps is used up; still running:{}", places(.running))]
    Budget {
        /// The budget.
        budget: u64,
        /// The groups that were active.
        running: Vec<Place>,
    },
    /// The run has reached its time limit.
    #[error("the time limit of {} s has expired; still running:{}", .limit.as_secs_f64(), places(.running))]
    Time {
        /// The time limit.
        limit: std::time::Duration,
        /// The groups that were active.
        running: Vec<Place>,
    },
    /// A fetched word is not an instruction.
    #[error("{place}: {reason}")]
    Decode {
        /// The place; its text is the word.
        place: Box<Place>,
        /// The word.
        word: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The observer has ended the run.
    #[error("stopped by the observer")]
    Stopped,
}

/// Why a machine cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// A program is too long.
    #[error("the program has {0} instructions, program memory holds 1024")]
    Program(usize),
    /// There is no such core.
    #[error("there is no core {0}")]
    Core(usize),
    /// There is no such bank.
    #[error("there is no global bank {0}: a core has 48")]
    Bank(usize),
    /// The number of cores is impossible.
    #[error("a machine has 1 to 64 cores, not {0}")]
    Cores(usize),
    /// A tile size is impossible.
    #[error("tile buffers of {0} x {1} are impossible: powers of two, at least 4 wide, at most 65536 elements")]
    TileSize(u64, u64),
    /// Too much memory is requested.
    #[error("{0} bytes of external memory exceed the limit of {MAX_MEMORY}")]
    Memory(usize),
    /// A rectangle exceeds the coordinates.
    #[error("the rectangle reaches {0}, coordinates end at 65535")]
    Rectangle(u64),
    /// Too many groups wait already.
    #[error("{0} groups are already waiting")]
    Queue(usize),
}

/// Misuse that is defined to be harmless: it changes no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Misuse {
    /// FinishExternalLoad with nothing pending.
    FinishWithoutIssue,
    /// A load or fetch while a result was pending: the first result is lost.
    PendingLost,
    /// An address past the end of external memory.
    OutsideMemory,
    /// A lock released that was not held.
    UnlockNotHeld,
    /// ThreadGroupAllocate while a bank was reserved.
    SecondAllocate,
    /// ThreadGroupLaunch without a reserved bank.
    LaunchWithoutBank,
    /// A result for the spawned group without a reserved bank.
    SpawnedWriteWithoutBank,
    /// A group ended without having launched against its reserved bank.
    BankNeverLaunched,
    /// A group was launched with no lane alive.
    EmptyLaunch,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Misuse::FinishWithoutIssue => "FinishExternalLoad with nothing pending",
            Misuse::PendingLost => "a second issue before FinishExternalLoad; the first result is lost",
            Misuse::OutsideMemory => "an address past the end of external memory",
            Misuse::UnlockNotHeld => "a lock released that was not held",
            Misuse::SecondAllocate => "ThreadGroupAllocate while a bank is reserved",
            Misuse::LaunchWithoutBank => "ThreadGroupLaunch without a reserved bank",
            Misuse::SpawnedWriteWithoutBank => "a result for the spawned group without a reserved bank",
            Misuse::BankNeverLaunched => "a group ended without launching against its reserved bank",
            Misuse::EmptyLaunch => "a group launched with no lane alive",
        })
    }
}

/// A misuse and its first occurrence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The kind of misuse.
    pub misuse: Misuse,
    /// The core.
    pub core: usize,
    /// The address of the instruction.
    pub pc: u16,
    /// The first group that caused it, counted in the order in which groups became active.
    pub group: u64,
    /// How often this instruction caused it.
    pub count: u64,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Warning { misuse, core, pc, group, count } = self;
        write!(f, "{misuse}: core {core} group {group}, instruction {pc}")?;
        if *count > 1 { write!(f, " ({count} times)") } else { Ok(()) }
    }
}
