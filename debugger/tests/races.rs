//! Programs that race, and programs that do not.

use isaforge_debugger::races::Races;
use isaforge_runtime::machine::Machine;
use isaforge_runtime::valhall::host::Resources;
use isaforge_runtime::valhall::watched::Watched;
use isaforge_runtime::{Launch, Memory};
use isaforge_valhall::ISA;

/// The races of a program of 64 threads in two workgroups; u0 and u1 contain the address of 512 bytes.
fn races(source: &str) -> Races {
    let program = isaforge_core::program::assemble(ISA, source).unwrap_or_else(|errors| panic!("{errors:?}"));
    let mut memory = Memory::new();
    memory.map(0x1000, vec![0; 512]).expect("nothing else is there");
    let uniforms = vec![0x1000, 0, 0x1100, 0];
    let launch = Launch { program, groups: [2, 1, 1], local_size: [32, 1, 1], uniforms, ..Launch::default() };
    let mut races = Races::default();
    Watched::launch(launch, memory, Resources::default()).run(&mut races).expect("it runs");
    races
}

/// Computes the address in u0 plus four times the index of the thread, in r2 and r3.
const OWN: &str = "IADD.u32 r2, r60, r60\nIADD.u32 r2, r2, r2\nIADD.u32 r2, r2, u0\nMOV.i32 r3, u1\nMOV.i32 r4, r60\n";

#[test]
fn all_threads_that_store_to_one_word_race() {
    let found = races("MOV.i32 r4, r60\nSTORE.i32.slot0.end @r4, u0, offset:0");
    assert_eq!(found.found.len(), 1);
    let race = found.found[0];
    assert_eq!((race.address, race.sides[0].pc, race.sides[1].pc), (0x1000, 1, 1));
    assert_ne!(race.sides[0].thread, race.sides[1].thread);
}

#[test]
fn threads_that_store_to_words_of_their_own_do_not() {
    let found = races(&format!("{OWN}STORE.i32.slot0.end @r4, r2, offset:0"));
    assert_eq!(found.count, 0, "{:?}", found.found);
}

#[test]
fn atomics_on_one_word_do_not_race_and_a_store_among_them_does() {
    let clean = "MOV.i32 r4, r60\nATOM.i32.slot0.aadd @r4, u0, offset:0\nNOP.end";
    assert_eq!(races(clean).count, 0);
    let racy = "MOV.i32 r4, r60\nATOM.i32.slot0.aadd @r4, u0, offset:0\nSTORE.i32.slot0.end @r4, u0, offset:0";
    assert!(races(racy).count > 0);
}
