//! Arm Mali Valhall, architecture v9.
//!
//! A warp is sixteen threads: consecutive ones of a workgroup, x fastest. Those of its lanes that have the lowest program
//! counter execute together; so lanes that parted meet again at the first word that all of them reach. Workgroups run one
//! after another, the warps of a group in turns. Messages are complete at once and waits do nothing.
//!
//! At the start all registers are 0 but those that the specification names under `preloads`: r55 to r62 say where in its
//! workgroup, and where among all, a thread of a compute program is.
//!
//! # Decisions
//!
//! Where nothing is known about the hardware, this is what happens here; nobody should rely on it.
//!
//! * A result that is NaN is the quiet NaN without sign or payload. `MOV`, `CSEL`, `MUX` and `CLPER` copy bits.
//! * An f32 result for half a register is rounded to f16, for every instruction with an f32 result. All other results are
//!   masked: the high half of the result goes to the high half of the register.
//! * `FRCP.f16` and `FRSQ.f16` work on both halves. The hardware's bug with the high half is not imitated; the one of
//!   loads into `b1` and `b3` is, since it is in all hardware.
//! * `FREXPM` and `FREXPE` leave zeros, infinities and NaNs alone, with exponent 0; in `.log` subnormals, too. `.log` wins
//!   over `.sqrt`. `FLOGD` of +infinity is +infinity.
//! * What `FPCLASS`, the tables for exponentials, logarithms and arctangents, `FSINCOS_OFFSET`, `FRCP_APPROX`,
//!   `FRSQ_APPROX` and `CLPER.accumulate` compute: the texts of the specification say it, function by function.
//! * `FMA_RSCALE_SCALE16` takes the low 16 bits of its exponent, signed, and is `FMA_RSCALE` otherwise.
//! * `ICMP` with `.seq` ignores `.and`. The result type `u1` is a three-way order only with `.seq`, else it is `i1`; so is
//!   `f1` for bytes. For integers `gtlt` is "different" and `total` "less or equal".
//! * `MUX` with `fp_zero` on bytes looks at all bits but the highest.
//! * Right shifts that are `.signed` sign-extend a part of a register before they shift it. Four bytes have four counts, in
//!   the order of the byte swizzle with the same code.
//! * `CLPER` looks at the low byte of its operand and moves each component on its own; the inactive result of a 64-bit one
//!   is twice the same word.
//! * `WMASK` counts from the first lane of the subgroup.
//! * `.saturate` does nothing to numbers of 64 bits, which no GPU was seen to saturate.
//! * 64-bit sources: an odd register takes the next one as its high word, r63 a zero; a constant of the table is
//!   zero-extended; the word number of a special value does not matter. `SEG_ADD.preserve_null` is about its first source.
//! * A load without a lane (24, 48 bits) fills its registers, extended. Accesses need no alignment. Registers beyond the
//!   end of a staging list read 0 and are not written.
//! * `BRANCHZI` counts words when relative; absolute, the program begins at address 0, eight bytes a word. The program
//!   counter counts the same way.
//! * Atomics of a warp happen in the order of lanes. `.compare` goes with any operation: it happens if memory is as expected.
//! * `warp_id` is the number in the workgroup. There is one core. A blend descriptor is its number, `sample` the address
//!   of the places of samples; other special values read 0, as do uniforms beyond those given.
//! * Threads that have ended do not come to a barrier, and the warps of a group must come to the same one.
//! * What messages to textures, varyings and the framebuffer do: [`host`] says it.

pub mod cases;
pub mod compare;
pub mod conform;
pub mod fast;
mod fragment;
mod group;
pub mod host;
pub mod measure;
mod messages;
pub mod observe;
mod operation;
mod preload;
mod program;
pub mod reference;
pub mod single;
mod source;
mod space;
mod step;
mod undo;
mod vertex;
mod warp;
pub mod watched;

pub use fragment::{Fragments, draw, draw_observed, draw_on, run_fragment};
pub use vertex::{Vertices, run_vertices, run_vertices_observed, run_vertices_on};

use crate::engine::{Engine, Execution};
use crate::launch::{Launch, Outcome, RunError};
use crate::memory::Memory;
use group::Machine;
use host::{Host, Nothing};
use observe::Observer;
use program::Program;

/// Bytes of memory that each thread has at `thread_local_pointer`; zero at the start of its workgroup.
pub const THREAD_BYTES: usize = space::THREAD_BYTES;

/// Runs a compute program on all threads of a launch, eight warps at a time. The results are those of
/// [`reference::run`].
///
/// # Errors
/// When the launch asks for too much or an instruction cannot be executed; memory then holds what was written before.
pub fn run(launch: &Launch, memory: &mut Memory) -> Result<Outcome, RunError> {
    fast::run(launch, memory, crate::Level::best())
}

/// As [`run`], by the engine that is asked for.
///
/// # Errors
/// As [`run`].
pub fn run_on(execution: Execution, launch: &Launch, memory: &mut Memory) -> Result<Outcome, RunError> {
    match execution.engine() {
        Engine::Reference => reference::run(launch, memory),
        Engine::Handlers | Engine::Compiled => fast::run(launch, memory, execution.level()),
    }
}

/// As [`run_on`], with what a host provides.
///
/// # Errors
/// As [`run`].
pub fn run_hosted(
    execution: Execution,
    launch: &Launch,
    memory: &mut Memory,
    host: &mut dyn Host,
) -> Result<Outcome, RunError> {
    match execution.engine() {
        Engine::Reference => run_with(launch, memory, host, ()),
        Engine::Handlers | Engine::Compiled => fast::run_hosted(launch, memory, host, execution.level()),
    }
}

/// As [`reference::run`], while somebody looks on.
///
/// # Errors
/// As [`run`], and when the observer stops it.
pub fn run_observed(launch: &Launch, memory: &mut Memory, observer: impl Observer) -> Result<Outcome, RunError> {
    run_with(launch, memory, &mut Nothing, observer)
}

/// Runs a compute program on all threads of a launch, with memory and with what a host provides, while somebody looks on.
///
/// # Errors
/// As [`run_observed`].
pub fn run_with(
    launch: &Launch,
    memory: &mut Memory,
    host: &mut dyn Host,
    observer: impl Observer,
) -> Result<Outcome, RunError> {
    check(launch)?;
    let program = Program::new(&launch.program);
    let mut machine = Machine::new(&program, &launch.uniforms, launch.budget, observer);
    machine.deadline = launch.deadline;
    let [gx, gy, gz] = launch.groups;
    let mut shared = vec![0; launch.shared_bytes as usize];
    for z in 0..gz {
        for y in 0..gy {
            for x in 0..gx {
                shared.fill(0);
                machine.group([x, y, z], launch.local_size, memory, &mut shared, host)?;
            }
        }
    }
    Ok(machine.outcome())
}

fn check(launch: &Launch) -> Result<(), RunError> {
    check_program(&launch.program, &launch.uniforms)?;
    let threads = launch.local_size.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul);
    check_limit("the number of threads of a workgroup", threads, 1, Launch::MAX_THREADS)?;
    check_limit("the number of bytes a workgroup shares", launch.shared_bytes.into(), 0, Launch::MAX_SHARED_BYTES)
}

fn check_program(program: &[u64], uniforms: &[u32]) -> Result<(), RunError> {
    check_limit("the number of words of the program", program.len() as u64, 1, Launch::MAX_WORDS)?;
    check_limit("the number of uniforms", uniforms.len() as u64, 0, Launch::MAX_UNIFORMS)
}

fn check_limit(what: &'static str, found: u64, least: u64, greatest: u64) -> Result<(), RunError> {
    if (least..=greatest).contains(&found) { Ok(()) } else { Err(RunError::Limit { what, found, least, greatest }) }
}
