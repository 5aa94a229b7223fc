//! What to run, what came of it, and what can go wrong.

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
    /// The words of the program. Every thread starts at the first.
    pub program: Vec<u64>,
    /// How many workgroups there are in x, y and z.
    pub groups: [u32; 3],
    /// How many threads a workgroup has in x, y and z; at most [`Launch::MAX_THREADS`] in all.
    pub local_size: [u32; 3],
    /// The fast-access uniforms, at most [`Launch::MAX_UNIFORMS`]; those beyond read 0.
    pub uniforms: Vec<u32>,
    /// Bytes of memory that a workgroup shares, at most [`Launch::MAX_SHARED_BYTES`]; zero at the start of each group.
    pub shared_bytes: u32,
    /// How many instructions all threads together may execute: one of a warp with 16 active lanes counts as 16.
    pub budget: u64,
    /// Until when they may run.
    pub deadline: Deadline,
}

impl Launch {
    /// The budget of [`Launch::default`]: 2^32 instructions, all threads together.
    pub const DEFAULT_BUDGET: u64 = 1 << 32;
    /// Threads that a workgroup may have.
    pub const MAX_THREADS: u64 = 1024;
    /// Words of uniforms that an instruction can name.
    pub const MAX_UNIFORMS: u64 = 128;
    /// Bytes that a workgroup may share.
    pub const MAX_SHARED_BYTES: u64 = 1 << 20;
    /// Words that a program may have.
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

/// What a finished launch did. What it computed is in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Instructions executed, each active lane counted.
    pub thread_instructions: u64,
    /// Instructions executed, each warp counted once.
    pub warp_instructions: u64,
    /// The thread instructions by mnemonic, most frequent first; only those that were executed.
    pub mnemonics: Vec<(&'static str, u64)>,
}

/// What one thread of a fragment program gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentOutcome {
    /// Red, green, blue and alpha as the bits of f32.
    pub colour: [u32; 4],
    /// Instructions executed, the one that gave the colour included.
    pub thread_instructions: u64,
}

/// What kind of program runs.
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
    /// A warp in words: that of a workgroup; with the first of its pixels, x and y in `group`; with the first of its vertices.
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
    /// What kind of program it happened in.
    pub stage: Stage,
    /// The word of the program, from 0.
    pub pc: usize,
    /// The workgroup; all zeros in other programs.
    pub group: [u32; 3],
    /// The thread in its workgroup, the number of the vertex, or x and y of the pixel, where the error concerns one.
    pub thread: Option<[u32; 3]>,
    /// The lane of the warp that holds this thread.
    pub lane: Option<u8>,
    /// The instruction's text, or the word where it is none; empty outside the program.
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

/// Why a run ended before its program did.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RunError {
    /// The launch asks for more than the runtime gives, or for nothing.
    #[error("{what} must be from {least} to {greatest}, not {found}")]
    Limit {
        /// What is limited.
        what: &'static str,
        /// What was asked for.
        found: u64,
        /// The least that is allowed.
        least: u64,
        /// The greatest that is allowed.
        greatest: u64,
    },
    /// A word that is no instruction was to be executed.
    #[error("{place}: {error}")]
    Undecodable {
        /// Where.
        place: Box<Place>,
        /// What is wrong with the word.
        error: DecodeError,
    },
    /// The runtime does not execute this instruction, at least not in this kind of program.
    #[error("{place}: {what} is not supported")]
    Unsupported {
        /// Where.
        place: Box<Place>,
        /// The mnemonic, or the part of the instruction.
        what: &'static str,
    },
    /// The instruction names a register beyond the last one.
    #[error("{place}: there is no register r{register}")]
    Register {
        /// Where.
        place: Box<Place>,
        /// The number of the register.
        register: u16,
    },
    /// An address that nothing is mapped at, or not enough.
    #[error("{place}: {fault}")]
    Memory {
        /// Where.
        place: Box<Place>,
        /// What is wrong with the address.
        fault: MemoryFault,
    },
    /// A resource, varying or render target that is not there, or a descriptor that is none.
    #[error("{place}: {error}")]
    Host {
        /// Where.
        place: Box<Place>,
        /// What is wrong.
        error: HostError,
    },
    /// A pixel index that is not the current pixel's.
    #[error("{place}: the pixel index {index:#010x} is not that of the current pixel")]
    PixelIndex {
        /// Where.
        place: Box<Place>,
        /// The index.
        index: u32,
    },
    /// A jump, or going on after the last word, left the program.
    #[error("{place}: goes on at word {target}, but the last word of the program is {}", words.saturating_sub(1))]
    OutOfProgram {
        /// Where the thread came from.
        place: Box<Place>,
        /// The word that it would execute next; negative before the program.
        target: i64,
        /// How many words there are.
        words: usize,
    },
    /// An indirect jump to an address between two words.
    #[error("{place}: jumps to {address:#x}, which is not the address of a word")]
    Misaligned {
        /// Where.
        place: Box<Place>,
        /// The address.
        address: u64,
    },
    /// Threads wait at a barrier while others of their workgroup are on another way.
    #[error("{place}: the barrier is in divergent flow, for other threads of the workgroup are at word {elsewhere}")]
    DivergentBarrier {
        /// The barrier, and a thread that is not at it.
        place: Box<Place>,
        /// Where that thread is.
        elsewhere: usize,
    },
    /// Threads wait at a barrier that others of their workgroup can no longer reach, because they have ended.
    #[error("{place}: deadlock, {waiting} threads wait at the barrier and {ended} have ended")]
    Deadlock {
        /// The barrier.
        place: Box<Place>,
        /// How many threads wait.
        waiting: usize,
        /// How many have ended.
        ended: usize,
    },
    /// The launch has used up its budget.
    #[error("{place}: the budget of {budget} instructions is used up")]
    Budget {
        /// The instruction that was next.
        place: Box<Place>,
        /// The budget.
        budget: u64,
    },
    /// The launch has taken as long as it may.
    #[error("{place}: the time limit of {} s is over", limit.as_secs_f64())]
    Time {
        /// An instruction that was next.
        place: Box<Place>,
        /// How long it might take.
        limit: Duration,
    },
    /// Whoever looks on has stopped the run.
    #[error("{place}: stopped")]
    Stopped {
        /// The instruction that was next, or the last one.
        place: Box<Place>,
    },
    /// A fragment program ended without a colour.
    #[error("{place}: the program ends without giving a colour")]
    NoColour {
        /// Where it ended.
        place: Box<Place>,
    },
}

impl RunError {
    /// Where the error happened; `None` for a launch that was refused.
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
