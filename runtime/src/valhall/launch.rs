//! Launches, their outcomes and their errors.

use std::fmt;
use std::time::Duration;

use isaforge_valhall::DecodeError;
use thiserror::Error;

use crate::deadline::Deadline;
use crate::memory::MemoryFault;
use crate::valhall::host::HostError;

/// A compute program and the threads to run it on.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The words of the program. Every thread starts at the first word.
    pub program: Vec<u64>,
    /// The number of workgroups in x, y and z.
    pub groups: [u32; 3],
    /// The number of threads of a workgroup in x, y and z; at most [`Launch::MAX_THREADS`] in total.
    pub local_size: [u32; 3],
    /// The fast-access uniforms, at most [`Launch::MAX_UNIFORMS`]; uniforms beyond these read as 0.
    pub uniforms: Vec<u32>,
    /// Bytes of memory shared by a workgroup, at most [`Launch::MAX_SHARED_BYTES`]; zeroed at the start of each
    /// workgroup.
    pub shared_bytes: u32,
    /// The number of instructions that all threads together may execute. An instruction of a warp with 16 active lanes
    /// counts as 16.
    pub budget: u64,
    /// The time at which the run must end.
    pub deadline: Deadline,
}

impl Launch {
    /// The budget of [`Launch::default`]: 2^32 instructions for all threads together.
    pub const DEFAULT_BUDGET: u64 = 1 << 32;
    /// The budget of launches that people start, unless they give one.
    pub const LONG_BUDGET: u64 = 100_000_000_000;
    /// The maximum number of threads of a workgroup.
    pub const MAX_THREADS: u64 = 1024;
    /// The number of uniform words that an instruction can name.
    pub const MAX_UNIFORMS: u64 = 128;
    /// The maximum number of bytes shared by a workgroup.
    pub const MAX_SHARED_BYTES: u64 = 1 << 20;
    /// The maximum number of words of a program.
    pub const MAX_WORDS: u64 = 1 << 20;
}

impl Default for Launch {
    /// One thread with no program, no uniforms and the [default budget](Launch::DEFAULT_BUDGET).
    fn default() -> Self {
        Launch {
            program: Vec::new(),
            groups: [1; 3],
            local_size: [1; 3],
            uniforms: Vec::new(),
            shared_bytes: 0,
            budget: Self::DEFAULT_BUDGET,
            deadline: Deadline::NONE,
        }
    }
}

/// Statistics of a finished launch. Its results are in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Instructions executed, counted once per active lane.
    pub thread_instructions: u64,
    /// Instructions executed, counted once per warp.
    pub warp_instructions: u64,
    /// The thread instructions by mnemonic, most frequent first, without those that were never executed.
    pub mnemonics: Vec<(&'static str, u64)>,
}

/// The result of one thread of a fragment program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentOutcome {
    /// Red, green, blue and alpha as the bits of an f32.
    pub colour: [u32; 4],
    /// Instructions executed, including the one that wrote the colour.
    pub thread_instructions: u64,
}

/// The kind of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Threads in workgroups.
    Compute,
    /// A thread for each vertex.
    Vertex,
    /// A thread for each pixel.
    Fragment,
}

impl Stage {
    /// Describes a warp: by its workgroup and number, by the x and y of its first pixel in `group`, or by its first
    /// vertex.
    pub(crate) fn warp(self, [x, y, z]: [u32; 3], warp: u32) -> String {
        match self {
            Stage::Compute => format!("workgroup ({x},{y},{z}) warp {warp}"),
            Stage::Fragment => format!("pixel ({x},{y})"),
            Stage::Vertex => format!("vertex {x}"),
        }
    }
}

/// Where an error happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The kind of program.
    pub stage: Stage,
    /// The word of the program, counted from 0.
    pub pc: usize,
    /// The workgroup; zeros for other kinds of programs.
    pub group: [u32; 3],
    /// The thread within its workgroup, the vertex index, or x and y of the pixel, if the error concerns one thread.
    pub thread: Option<[u32; 3]>,
    /// The lane that executes this thread.
    pub lane: Option<u8>,
    /// The text of the instruction, or the word if it does not decode; empty outside the program.
    pub text: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "word {}", self.pc)?;
        if !self.text.is_empty() {
            write!(f, " `{}`", self.text)?;
        }
        if self.stage == Stage::Compute {
            let [x, y, z] = self.group;
            write!(f, ", workgroup ({x}, {y}, {z})")?;
        }
        match (self.stage, self.thread) {
            (Stage::Compute, Some([x, y, z])) => write!(f, ", thread ({x}, {y}, {z})")?,
            (Stage::Vertex, Some([number, ..])) => write!(f, ", vertex {number}")?,
            (Stage::Fragment, Some([x, y, _])) => write!(f, ", pixel ({x}, {y})")?,
            (_, None) => {}
        }
        match self.lane {
            Some(lane) => write!(f, ", lane {lane}"),
            None => Ok(()),
        }
    }
}

/// The reason why a run ended before its program did.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RunError {
    /// The launch exceeds a limit of the runtime, or asks for less than the minimum.
    #[error("{what} must be from {least} to {greatest}, not {found}")]
    Limit {
        /// The limited quantity.
        what: &'static str,
        /// The requested value.
        found: u64,
        /// The minimum.
        least: u64,
        /// The maximum.
        greatest: u64,
    },
    /// The next word to execute is not an instruction.
    #[error("{place}: {error}")]
    Undecodable {
        /// Where it happened.
        place: Box<Place>,
        /// Why the word does not decode.
        error: DecodeError,
    },
    /// The runtime does not execute this instruction, at least not in this kind of program.
    #[error("{place}: {what} is not supported")]
    Unsupported {
        /// Where it happened.
        place: Box<Place>,
        /// The mnemonic, or the part of the instruction that is not supported.
        what: &'static str,
    },
    /// The instruction names a register that does not exist.
    #[error("{place}: there is no register r{register}")]
    Register {
        /// Where it happened.
        place: Box<Place>,
        /// The number of the register.
        register: u16,
    },
    /// An access to memory that is unmapped, or not mapped for the whole size.
    #[error("{place}: {fault}")]
    Memory {
        /// Where it happened.
        place: Box<Place>,
        /// Why the access fails.
        fault: MemoryFault,
    },
    /// A resource, varying or render target that does not exist, or an invalid descriptor.
    #[error("{place}: {error}")]
    Host {
        /// Where it happened.
        place: Box<Place>,
        /// The error of the host.
        error: HostError,
    },
    /// A pixel index other than that of the current pixel.
    #[error("{place}: the pixel index {index:#010x} is not that of the current pixel")]
    PixelIndex {
        /// Where it happened.
        place: Box<Place>,
        /// The index.
        index: u32,
    },
    /// A jump left the program, or execution ran past its last word.
    #[error("{place}: continues at word {target}, but the last word of the program is {}", words.saturating_sub(1))]
    OutOfProgram {
        /// The instruction that the thread comes from.
        place: Box<Place>,
        /// The word that would be executed next; negative if before the program.
        target: i64,
        /// The number of words of the program.
        words: usize,
    },
    /// An indirect jump to an address that is not the start of a word.
    #[error("{place}: jumps to {address:#x}, which is not the address of a word")]
    Misaligned {
        /// Where it happened.
        place: Box<Place>,
        /// The address.
        address: u64,
    },
    /// Threads wait at a barrier while other threads of their workgroup are elsewhere in the program.
    #[error(
        "{place}: the barrier is in divergent control flow: other threads of the workgroup are at word {elsewhere}"
    )]
    DivergentBarrier {
        /// The barrier, and a thread that waits there.
        place: Box<Place>,
        /// The word where another thread is.
        elsewhere: usize,
    },
    /// Threads wait at a barrier that other threads of their workgroup can no longer reach, since they have ended.
    #[error("{place}: deadlock, {waiting} threads wait at the barrier and {ended} have ended")]
    Deadlock {
        /// The barrier.
        place: Box<Place>,
        /// The number of waiting threads.
        waiting: usize,
        /// The number of threads that have ended.
        ended: usize,
    },
    /// The budget of the launch is exhausted. Workgroups that run together share it, so one that would trap within the
    /// budget by itself may not get to its trap.
    #[error("{place}: the budget of {budget} instructions is used up")]
    Budget {
        /// The instruction that would be executed next.
        place: Box<Place>,
        /// The budget.
        budget: u64,
    },
    /// The deadline of the launch has passed.
    #[error("{place}: the time limit of {} s has expired", limit.as_secs_f64())]
    Time {
        /// An instruction that would be executed next.
        place: Box<Place>,
        /// The time limit.
        limit: Duration,
    },
    /// An observer stopped the run.
    #[error("{place}: stopped")]
    Stopped {
        /// The instruction that would be executed next, or the last one executed.
        place: Box<Place>,
    },
    /// A fragment program ended without writing a colour.
    #[error("{place}: the program ends without giving a colour")]
    NoColour {
        /// Where it ended.
        place: Box<Place>,
    },
}

impl RunError {
    /// The place of the error. `None` when the launch was rejected before it ran.
    pub fn place(&self) -> Option<&Place> {
        match self {
            RunError::Limit { .. } => None,
            RunError::Undecodable { place, .. }
            | RunError::Unsupported { place, .. }
            | RunError::Register { place, .. }
            | RunError::Memory { place, .. }
            | RunError::Host { place, .. }
            | RunError::PixelIndex { place, .. }
            | RunError::OutOfProgram { place, .. }
            | RunError::Misaligned { place, .. }
            | RunError::DivergentBarrier { place, .. }
            | RunError::Deadlock { place, .. }
            | RunError::Budget { place, .. }
            | RunError::Time { place, .. }
            | RunError::Stopped { place }
            | RunError::NoColour { place } => Some(place),
        }
    }
}

/// Describes threads in errors.
pub(super) trait Origin {
    /// The kind of their program.
    fn stage(&self) -> Stage;
    /// The workgroup; for other kinds of programs, the place of the first thread.
    fn group(&self) -> [u32; 3];
    /// The place of a thread in it, by its index.
    fn thread(&self, index: usize) -> [u32; 3];
}

/// Checks the limits of a compute program.
pub(super) fn check(launch: &Launch) -> Result<(), RunError> {
    check_program(&launch.program, &launch.uniforms)?;
    let threads = launch.local_size.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul);
    check_limit("the number of threads of a workgroup", threads, 1, Launch::MAX_THREADS)?;
    check_limit("the number of bytes a workgroup shares", launch.shared_bytes.into(), 0, Launch::MAX_SHARED_BYTES)
}

/// Checks the limits of any program.
pub(super) fn check_program(program: &[u64], uniforms: &[u32]) -> Result<(), RunError> {
    check_limit("the number of words of the program", program.len() as u64, 1, Launch::MAX_WORDS)?;
    check_limit("the number of uniforms", uniforms.len() as u64, 0, Launch::MAX_UNIFORMS)
}

pub(super) fn check_limit(what: &'static str, found: u64, least: u64, greatest: u64) -> Result<(), RunError> {
    if (least..=greatest).contains(&found) { Ok(()) } else { Err(RunError::Limit { what, found, least, greatest }) }
}
