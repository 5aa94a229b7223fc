//! Shared parts of the benchmarks: real code to decode, and one function for each operation that is timed.
//!
//! isaforge and its peers do the same amount of work for their users (a whole listing, a whole program), but it is not
//! the same work: x86 instructions vary in length, and A64 words have half as many bits as Valhall words. The
//! benchmarks compare the time per instruction.

pub mod assembler;
pub mod chains;
pub mod code;
pub mod kernels;
pub mod native;
pub mod riscv;
pub mod scalar;
pub mod shared;
pub mod streams;
pub mod usc;
pub mod vpu;
pub mod work;
