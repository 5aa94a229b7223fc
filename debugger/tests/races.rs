//! Programs that race, and programs that do not.

use std::collections::BTreeSet;
use std::time::Duration;

use isaforge_core::sample::Random;
use isaforge_debugger::races::{Race, Races};
use isaforge_runtime::machine::{AccessKind, Machine};
use isaforge_runtime::valhall::host::Resources;
use isaforge_runtime::valhall::watched::Watched;
use isaforge_runtime::{Deadline, Execution, Launch, Memory};
use isaforge_valhall::ISA;

#[path = "../../runtime/tests/seed/mod.rs"]
mod seed;

/// A program of 64 threads in two workgroups; u0 and u1 contain the address of 512 bytes.
fn machine(source: &str) -> Watched<'static> {
    of_size(source, 2, 32)
}

/// The same with some workgroups of some threads.
fn of_size(source: &str, groups: u32, threads: u32) -> Watched<'static> {
    let program = isaforge_core::program::assemble(ISA, source).unwrap_or_else(|errors| panic!("{errors:?}"));
    let mut memory = Memory::new();
    memory.map(0x1000, vec![0; 512]).expect("nothing else is there");
    let uniforms = vec![0x1000, 0, 0x1100, 0];
    let (groups, local_size) = ([groups, 1, 1], [threads, 1, 1]);
    let launch = Launch { program, groups, local_size, uniforms, budget: u64::MAX, ..Launch::default() };
    Watched::launch(launch, memory, Resources::default())
}

/// The races of a program.
fn races(source: &str) -> Races {
    races_of(&machine(source))
}

/// The races of a program on one engine. Comparing ranges first makes no difference.
fn races_on(machine: &Watched<'_>, execution: Execution) -> Races {
    let [mut races, mut words] = <[Races; 2]>::default();
    races.find(machine, execution, Deadline::NONE).expect("it runs");
    machine.run_accesses(&mut words, execution, Deadline::NONE).expect("it runs");
    assert_eq!((races.count, &races.found), (words.count, &words.found), "{execution}");
    races
}

fn races_of(machine: &Watched<'_>) -> Races {
    // Engines differ in the order in which warps advance, and so in which access of a race comes first.
    let pairs = |races: &Races| {
        let pair = |race: &Race| race.sides.map(|side| side.pc);
        let ordered = |[one, other]: [u64; 2]| [one.min(other), one.max(other)];
        races.found.iter().map(pair).map(ordered).collect::<BTreeSet<_>>()
    };
    let found = races_on(machine, Execution::best());
    for execution in Execution::available() {
        assert_eq!(pairs(&races_on(machine, execution)), pairs(&found), "{execution}");
    }
    found
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

#[test]
fn an_atomic_does_not_order_the_lanes_that_execute_it_together() {
    let update = "MOV.i32 r4, r60\nATOM.i32.slot0.aadd.wait0 @r4, u0, offset:0\n";
    let load = "LOAD.i32.unsigned.slot0.wait0 @r5, u0, offset:0\n";
    for (threads, races) in [(1, false), (2, true), (16, true), (17, true), (32, true)] {
        for source in [format!("{update}{load}NOP.end"), format!("MOV.i32 r4, r60\n{load}{update}NOP.end")] {
            let found = races_of(&of_size(&source, 1, threads));
            assert_eq!(found.count > 0, races, "{threads} threads: {:?}", found.found);
        }
    }
}

/// Computes the address in u0 plus four times the number of the thread in its workgroup, in r2 and r3.
const LOCAL: &str =
    "IADD.u32 r2, r55, r55\nIADD.u32 r2, r2, r2\nIADD.u32 r2, r2, u0\nMOV.i32 r3, u1\nMOV.i32 r4, r60\n";

#[test]
fn workgroups_that_store_to_the_same_lines_race_thread_by_thread() {
    let found = races(&format!("{LOCAL}STORE.i32.slot0.end @r4, r2, offset:0"));
    // Each of the 32 words is stored twice.
    assert_eq!((found.found.len(), found.count), (1, 32), "{:?}", found.found);
    let race = found.found[0];
    let [one, other] = race.sides.map(|side| side.thread[0]);
    assert_eq!((one + 32, u64::from(one) * 4 + 0x1000), (other, race.address));
}

#[test]
fn a_line_that_is_also_accessed_by_words_keeps_its_accesses() {
    // All threads load the first word, which belongs to the line that the first warp of each workgroup stores.
    let load = "LOAD.i32.unsigned.slot0.wait0 @r5, u0, offset:0\n";
    for (source, barrier, expected) in [
        (format!("{LOCAL}STORE.i32.slot0 @r4, r2, offset:0x100\n{load}NOP.end"), "", 32),
        (format!("{OWN}{load}STORE.i32.slot0.end @r4, r2, offset:0"), "", 1),
        (format!("{OWN}{load}BARRIER.slot7.wait\nSTORE.i32.slot0.end @r4, r2, offset:0"), "of a workgroup", 1),
        (format!("{OWN}STORE.i32.slot0 @r4, r2, offset:0\n{load}NOP.end"), "", 1),
    ] {
        let found = races(&source);
        assert!(found.count >= expected, "{source}\n{:?}", found.found);
        // The thread that stores is the first one, and the other is one of those that load.
        if let Some(race) = found.found.iter().find(|race| race.sides[0].kind != race.sides[1].kind) {
            let [store, load] = match race.sides {
                [store, load] if store.kind == AccessKind::Store => [store, load],
                [load, store] => [store, load],
            };
            assert_eq!((race.address, store.thread), (0x1000, [0; 3]), "{source}");
            assert!(load.thread != [0; 3] && (barrier.is_empty() || load.thread[0] >= 32), "{source}\n{race:?}");
        }
    }
}

#[test]
fn lanes_of_a_warp_that_store_to_one_word_at_once_race() {
    // One workgroup alone has one thread that stores and 31 that do so at the same time.
    let found = races("MOV.i32 r4, r60\nSTORE.i32.slot0.end @r4, u0, offset:0");
    let sides = found.found[0].sides.map(|side| side.thread);
    assert!(sides[0] != sides[1] && found.count >= 63, "{sides:?} {}", found.count);
}

#[test]
fn a_run_whose_races_only_repeat_ends_early_but_not_before_it_has_seen_other_instructions() {
    // Every step has another race of each pair of threads; the last store only races once the loop has ended.
    let text = |steps: u32| {
        format!(
            "IADD_IMM.i32 r10, 0x0, #{steps:#x}
            again: STORE.i32.slot0.wait0 @r60, u0, offset:0
            IADD_IMM.i32 r10, r10, #0xffffffff
            ICMP.u32.ne.m1 r7, r10, 0x0, 0x0
            BRANCHZ.reconverge r7, offset:again
            STORE.i32.slot0.end @r60, u2, offset:0"
        )
    };
    let few = races(&text(16));
    assert!(!few.only_repeats());
    assert_eq!(few.found.iter().map(|race| race.sides[0].pc).collect::<BTreeSet<_>>(), [1, 5].into());
    let many = races(&text(1 << 20));
    assert!(many.only_repeats());
    // Whether it may end is only asked now and then.
    assert!((Races::MAX_REPEATED..1 << 23).contains(&many.count), "{}", many.count);
}

#[test]
fn races_before_a_failure_or_the_time_limit_are_found() {
    let race = "MOV.i32 r4, r60\nSTORE.i32.slot0.wait0 @r4, u0, offset:0\n";
    // Memory ends before.
    let fails = format!("{race}LOAD.i32.unsigned.slot0.wait0 @r5, u0, offset:0x4000\nNOP.end");
    let waits = format!("{race}again: IADD_IMM.i32 r5, r5, #0x1\nBRANCHZ.eq r6, offset:again\nNOP.end");
    for execution in Execution::available() {
        let mut found = Races::default();
        let reason = found.find(&machine(&fails), execution, Deadline::NONE).expect_err("it does not end");
        assert!(reason.contains("0x5000") && found.count > 0, "{execution}: {reason}, {}", found.count);
        // A busy machine may need a longer time to get as far as the store.
        let limits = (0..8).map(|doubled| Duration::from_millis(100 << doubled));
        let is_found = limits.into_iter().any(|limit| {
            let mut found = Races::default();
            let reason = found.find(&machine(&waits), execution, Deadline::after(limit)).expect_err("it does not end");
            assert!(reason.contains("time limit"), "{execution}: {reason}");
            found.count > 0
        });
        assert!(is_found, "{execution}");
    }
}

/// A loop of accesses at random distances: in tables that all threads share, one of them far away, in words of the
/// thread's own, and in workgroup memory.
fn scattered(random: &mut Random) -> Watched<'static> {
    let mut pick = |all: &[&'static str]| all[random.below(all.len() as u64) as usize];
    let mut text = "SHADDX.u64 r48, u0, r60.w0, shift:0x6\nMOV.i32 r11, r60\nMOV.i32 r10, 0x0\nagain: NOP\n".to_owned();
    for _ in 0..pick(&["1", "22", "4444", "88888888"]).len() {
        // u7 to u11 limit the distances to one word, a line or more, as words or as bytes.
        let base = pick(&["u0", "u2", "r48", "workgroup_local_pointer.w0"]);
        let access = pick(&[
            "LOAD.i32.unsigned.slot0.wait0 @r0, r58, offset:0",
            "LOAD.i8.h0.unsigned.slot0.wait0 @r0, r58, offset:0",
            "LOAD.i64.unsigned.slot0.wait0 @r0:r1, r58, offset:0",
            "STORE.i32.slot0.wait0 @r60, r58, offset:0",
            "STORE.i16.slot0.wait0 @r60, r58, offset:0",
            "STORE.i64.slot0.wait0 @r48:r49, r58, offset:0",
            "ATOM.i32.slot0.aadd.wait0 @r50, r58, offset:0",
            "BARRIER.slot7.wait",
            "BARRIER.slot7.wait",
        ]);
        let words = ["u7", "u8", "u9", "u9"];
        let mask = if access.starts_with("ATOM") { pick(&words) } else { pick(&[words[0], words[2], "u10", "u11"]) };
        text += &format!(
            "IMUL.i32 r11, r11, u6
            IADD_IMM.i32 r11, r11, #0x3039
            LSHIFT_AND.i32 r8, r11, 0x0.b00, {mask}
            SHADDX.u64 r58, {base}, r8.w0, shift:0x0
            {access}\n"
        );
    }
    text += "IADD_IMM.i32 r10, r10, #0x1
        ICMP.u32.lt.m1 r7, r10, u12, 0x0
        BRANCHZ.reconverge r7, offset:again
        NOP.end";
    let program = isaforge_core::program::assemble(ISA, &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    let mut memory = Memory::new();
    for table in [0x1000, 0x5555_0000_0000] {
        memory.map(table, vec![0; 1 << 16]).expect("nothing else is there");
    }
    let (steps, masks) = (1 + random.below(4) as u32, [0, 0x3c, 0xffc, 0x3f, 0xfff]);
    let uniforms = [&[0x1000, 0, 0, 0x5555, 0, 0, 0x19_660d], &masks[..], &[steps]].concat();
    let [groups, threads] = [1 + random.below(3) as u32, [8, 16, 24, 48, 128][random.below(5) as usize]];
    let (groups, local_size) = ([groups, 1, 1], [threads, 1, 1]);
    let shared_bytes = 1 << 13;
    let launch = Launch { program, groups, local_size, uniforms, shared_bytes, budget: u64::MAX, ..Launch::default() };
    Watched::launch(launch, memory, Resources::default())
}

#[test]
fn races_among_scattered_accesses_are_those_found_by_recording_all_of_them() {
    let mut random = Random(seed::seed(0x5c));
    let mut raced = 0;
    for _ in 0..100 {
        let machine = scattered(&mut random);
        // Engines differ in the order of accesses, few of which are kept for each word.
        let counts = Execution::available().into_iter().map(|execution| races_on(&machine, execution).count);
        raced += u32::from(counts.max() > Some(0));
    }
    assert!((20..100).contains(&raced), "{raced} raced");
}
