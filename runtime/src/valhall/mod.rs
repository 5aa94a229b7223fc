//! Arm Mali Valhall, architecture v9.
//!
//! A warp is sixteen threads: consecutive threads of a workgroup, with x fastest. The lanes with the lowest program
//! counter execute together, so divergent lanes reconverge at the first word that all of them reach. Workgroups run one
//! after another, and the warps of a workgroup take turns. Messages complete at once, and waits have no effect.
//!
//! At the start all registers are 0 except those listed under `preloads` in the specification: for compute programs,
//! r55 to r62 hold the position of the thread within its workgroup and among all threads.
//!
//! # Decisions
//!
//! These behaviours were chosen where the hardware is not documented. Programs should not rely on them.
//!
//! * A NaN result is the quiet NaN without sign or payload. `MOV`, `CSEL`, `MUX` and `CLPER` copy bits.
//! * An f32 result for half a register is rounded to f16, for every instruction with an f32 result. All other results
//!   are masked: the high half of the result goes to the high half of the register.
//! * `FRCP.f16` and `FRSQ.f16` compute both halves. The hardware bug of the high half is not reproduced; the bug of
//!   loads into `b1` and `b3` is, since all hardware has it.
//! * `FREXPM` and `FREXPE` leave zeros, infinities and NaNs unchanged, with exponent 0; with `.log`, subnormals too.
//!   `.log` takes precedence over `.sqrt`. `FLOGD` of +infinity is +infinity.
//! * `FPCLASS`, the tables for exponentials, logarithms and arctangents, `FSINCOS_OFFSET`, `FRCP_APPROX`, `FRSQ_APPROX`
//!   and `CLPER.accumulate` are defined by the texts of the specification.
//! * `FMA_RSCALE_SCALE16` takes the low 16 bits of its exponent as a signed number, and otherwise equals `FMA_RSCALE`.
//! * `ICMP` with `.seq` ignores `.and`. The result type `u1` is a three-way order only with `.seq`, and otherwise
//!   equals `i1`; the same holds for `f1` for bytes. For integers `gtlt` means "not equal" and `total` "less or equal".
//! * `MUX` with `fp_zero` on bytes tests all bits but the highest.
//! * Right shifts with `.signed` sign-extend a part of a register before shifting it. Four bytes have four counts, in
//!   the order of the byte swizzle with the same code.
//! * `CLPER` uses the low byte of its operand and moves each component separately; the inactive result of a 64-bit
//!   `CLPER` is the same word twice.
//! * `WMASK` counts from the first lane of the subgroup.
//! * `.saturate` has no effect on 64-bit numbers, since no GPU was observed to saturate them.
//! * 64-bit sources: an odd register takes the next register as its high word, and r63 takes zero; a constant of the
//!   table is zero-extended; the word number of a special value is ignored. `SEG_ADD.preserve_null` refers to its first
//!   source.
//! * A load without a lane (24, 48 bits) fills its registers by extension. Accesses may be unaligned. Registers beyond
//!   the end of a staging list read as 0 and are not written.
//! * A relative `BRANCHZI` counts words. For an absolute one, the program begins at address 0 and has eight bytes a
//!   word. The program counter counts the same way.
//! * The atomics of a warp are performed in lane order. `.compare` combines with any operation: the operation is
//!   performed if memory holds the expected value.
//! * `warp_id` is the number of the warp in its workgroup. There is one core. A blend descriptor is its number, and
//!   `sample` is the address of the sample positions; other special values read as 0, as do uniforms beyond those
//!   given.
//! * Threads that have ended do not take part in a barrier, and all warps of a workgroup must reach the same barrier.
//! * Messages to textures, varyings and the framebuffer are described in [`host`].

pub mod cases;
pub mod compare;
mod compute;
pub mod conform;
pub mod fast;
mod fragment;
mod group;
pub mod host;
pub mod launch;
pub mod measure;
mod messages;
pub mod observe;
mod operation;
mod preload;
mod program;
pub mod reference;
mod run;
pub mod single;
mod source;
mod space;
mod state;
mod step;
mod undo;
mod vertex;
mod warp;
pub mod watched;

pub use compute::{run_observed, run_with};
pub use fragment::{Fragments, run_fragment, run_fragment_on};
pub use run::{draw, draw_observed, draw_on, run, run_hosted, run_on};
pub use run::{run_vertices, run_vertices_observed, run_vertices_on};
pub use vertex::Vertices;

/// Bytes of memory that each thread has at `thread_local_pointer`; zeroed at the start of its workgroup.
pub const THREAD_BYTES: usize = space::THREAD_BYTES;
