//! Tasks of the USC that advance together, against tasks one after another.

use std::collections::HashSet;

use isaforge_core::sample::Random;

#[path = "../../fuzz/src/execution/usc.rs"]
mod execution;
#[path = "seed/mod.rs"]
mod seed;
use seed::{rounds, seed};

#[test]
fn tasks_side_by_side_do_what_they_do_one_after_another() {
    let mut random = Random(seed(0x1357_9bdf_0246_8ace));
    let pool = execution::pool();
    assert!(pool.len() > 1000, "{} groups", pool.len());
    let (mut ended, mut failed) = (0, HashSet::new());
    for _ in 0..180 * rounds() {
        match execution::agree(&mut random, &pool) {
            Ok(_) => ended += 1,
            Err(error) => drop(failed.insert(std::mem::discriminant(&error.trap))),
        }
    }
    assert!(ended > 60 && failed.len() > 4, "{ended} end, {failed:?}");
}
