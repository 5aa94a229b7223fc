//! Random programs full of NaNs and parts of registers, on every engine at every level.

use isaforge_core::sample::Random;

use super::execution;
use super::seed::{rounds, seed};

/// Programs without more rounds.
const PROGRAMS: u64 = if cfg!(debug_assertions) { 24 } else { 1_000 };

#[test]
fn engines_agree_on_random_programs() {
    let mut random = Random(seed(20));
    (0..PROGRAMS * rounds()).for_each(|_| execution::agree(&mut random));
}
