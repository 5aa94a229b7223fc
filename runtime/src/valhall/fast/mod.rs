//! The fast path: programs lowered to lists of handlers, eight warps in lockstep.
//!
//! `Code` turns each word into operations on rows, which are functions that work on a register of all eight warps at
//! once and are compiled for the features of the processor; `lower` covers the semantics of an instruction with them.
//! Between jumps only such functions are called, and runs of them that are executed often become one function of
//! machine code (`jit`). What uses the host is a message, which is executed one warp at a time. Instructions without a
//! handler are executed by the reference; in fragment programs these are all instructions that access memory.
//!
//! From what everything shares to what runs a launch, each imports only what stands before it:
//!
//! - `row`, `grid`, `warps`, `column`, `fields`, `exit`, `given`, `constants`, `pattern`: rows and their layout,
//!   threads, operands
//! - `memory_view`, `log`, `touched`, `prefetch`: memory, and what is recorded of it
//! - `compiled`, `trace`: functions of machine code, and what a bundle records of them
//! - `message`: calls of intrinsics
//! - `bundle`, `family`: eight warps, also as operations on rows see them
//! - `handler`, `choose`, `reach`, `access`, `atomic`, `memory`, `send`, `op`: the operations
//! - `operands`, `lower`, `code`: programs as operations
//! - `jit`, `tally`: their machine code, and counts
//! - `run`: launches
//!
//! # Equivalence with the reference
//!
//! Each warp executes the same instructions with the same lanes, so registers, memory, counts and barriers are the
//! same, bit for bit, for every program without data races between threads. If atomics reveal the order in which
//! warps executed them (their results are read, they exchange, or there are several kinds of them), warps run in the
//! order of the reference. Of several faulty threads, the one that the reference meets first is reported; what others
//! wrote before may differ then. A launch that exceeds its budget fails in both, but possibly at another place if
//! several workgroups run together. In both, a faulty fragment leaves no pixels of later ones.

mod access;
mod atomic;
mod bundle;
mod choose;
mod code;
mod column;
mod compiled;
mod constants;
mod exit;
mod family;
mod fields;
mod given;
mod grid;
mod handler;
mod jit;
mod log;
mod lower;
mod memory;
mod memory_view;
mod message;
mod op;
mod operands;
mod pattern;
mod prefetch;
mod reach;
mod row;
mod run;
mod send;
mod tally;
mod touched;
mod trace;
mod warps;

pub(super) use run::{Held, draw, run_hosted, run_logged, run_probed, run_vertices, single};
pub use run::{
    draw_listing, draw_parallel, listing, run, run_listed, run_parallel, run_parallel_with, run_vertices_parallel,
};
