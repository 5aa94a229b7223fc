//! The fast path: programs lowered to lists of handlers, eight warps in step.
//!
//! `Code` turns each word into operations on rows, functions that work on a register of all eight warps at once and are
//! compiled for what the processor has: `lower` covers the text of an instruction with them. Between jumps nothing happens but such calls, and runs of them
//! that are executed often become one function of machine code (`jit`). What has no handler is executed by the reference,
//! one warp at a time; of fragment programs this is all that asks the host or reaches memory.
//!
//! # What is the same as in the reference
//!
//! Each warp executes the same instructions with the same lanes, so that registers, memory, counts and barriers are the
//! same, bit for bit, for every program whose threads do not race. Where atomics show in which order warps came (somebody
//! reads what they found, or they exchange, or there are several kinds of them) warps run in the order of the reference. Of several faulty threads the one that the reference meets first is reported; what others wrote before
//! may differ then. A launch that runs out of its budget fails in both, but where several workgroups run together it may
//! be in another place. A faulty fragment leaves no pixel of later ones behind, in both.

mod access;
mod atomic;
mod bundle;
mod code;
mod column;
mod draw;
mod handler;
mod jit;
mod kept;
mod lower;
mod memory;
mod memory_view;
mod op;
mod operands;
mod reach;
mod rows;
mod run;
mod touched;
mod vertex;

pub(super) use draw::run as draw;
pub(super) use run::{Held, run_hosted, run_probed, single};
pub use run::{run, run_listed, run_parallel, run_parallel_with, run_vertices_parallel};
pub(super) use vertex::run as run_vertices;
