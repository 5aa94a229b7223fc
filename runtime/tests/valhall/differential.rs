//! Random programs on every engine at every level: with many NaNs and parts of registers, and with shared memory.

use isaforge_core::sample::Random;

use super::seed::{rounds, seed};
use super::{execution, shared};

/// The number of programs, to be multiplied by the rounds.
const PROGRAMS: u64 = if cfg!(debug_assertions) { 24 } else { 1_000 };

#[test]
fn engines_agree_on_random_programs() {
    let mut random = Random(seed(20));
    (0..PROGRAMS * rounds()).for_each(|_| execution::agree(&mut random));
}

#[test]
fn engines_agree_on_random_programs_that_share_memory() {
    let mut random = Random(seed(25));
    let ended = (0..PROGRAMS * rounds()).filter(|_| shared::agree(&mut random)).count();
    assert!(ended > 0, "none of them came to its end");
}
