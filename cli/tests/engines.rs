//! Random programs of every machine, on every engine.

#[path = "../../fuzz/src/execution/mod.rs"]
mod execution;
#[path = "../../runtime/tests/seed/mod.rs"]
mod seed;

use isaforge_core::sample::Random;

#[test]
fn engines_agree_on_programs_of_every_machine() {
    let mut random = Random(seed::seed(30));
    let engines = execution::Engines::new();
    let mut machines = std::collections::BTreeSet::new();
    for _ in 0..100 * seed::rounds() {
        machines.insert(engines.agree(&mut random));
    }
    assert_eq!(machines.len(), 4, "{machines:?}");
}

#[test]
fn programs_of_specifications_become_machine_code() {
    let mut random = Random(seed::seed(31));
    let engines = execution::Engines::new();
    let compiled: u64 = (0..50).map(|_| engines.own(&mut random)).sum();
    if cfg!(target_arch = "x86_64") {
        assert!(compiled > 100, "{compiled} instructions were compiled");
    }
}
