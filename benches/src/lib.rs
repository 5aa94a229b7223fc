//! What the benchmarks have in common: real code to decode, and one function for each thing that is timed.
//!
//! isaforge and its peers do the same amount of work for their users (a whole listing, a whole program) but not equal
//! work: x86 instructions vary in length, A64 words have half the bits of Valhall words. The figure compared is the time
//! that one instruction costs.

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
