//! Shared parts of the benchmarks: real code to decode, and one function for each operation that is timed.
//!
//! isaforge and its peers do the same amount of work for their users (a whole listing, a whole program), but it is not
//! the same work: x86 instructions vary in length, and A64 words have half as many bits as Valhall words. The
//! benchmarks compare the time per instruction.

use std::time::Instant;

pub mod assembler;
pub mod chains;
pub mod code;
pub mod kernels;
pub mod lanes;
pub mod naive;
pub mod native;
pub mod riscv;
pub mod scalar;
pub mod scattered;
pub mod shading;
pub mod shared;
pub mod streams;
pub mod usc;
pub mod vpu;
pub mod work;

/// A loop of a set with a specification, and the same loop in Rust.
#[derive(Clone, Copy, Debug)]
pub struct Loop<N> {
    /// The name of the loop.
    pub name: &'static str,
    /// The assembly text.
    pub text: &'static str,
    /// The same loop in Rust, for a number of rounds.
    pub native: N,
    /// The number of rounds.
    pub rounds: u32,
}

/// Returns the median; not a number if there are no values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Returns how many seconds something takes.
pub fn seconds(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}

/// Returns how many seconds a processor has worked for the only thread of this process. Other work on the machine does
/// not count.
pub fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("Linux keeps it");
    let time: f64 = text.split(' ').next().and_then(|time| time.parse().ok()).expect("it begins with ns");
    time * 1e-9
}
