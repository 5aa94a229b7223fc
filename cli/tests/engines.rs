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
    // Fifty programs, and more if few of them were compiled.
    let (mut compiled, wanted) = (0, if cfg!(target_arch = "x86_64") { 100 } else { 0 });
    for round in 0..1000 {
        if round >= 50 && compiled > wanted {
            break;
        }
        compiled += engines.own(&mut random);
    }
    assert!(compiled > wanted || wanted == 0, "{compiled} instructions were compiled");
}
