//! Launches with a plan leave the same results as the reference, and those that must not have a plan have none.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZero;
use std::sync::Arc;

use isaforge_core::program::assemble;

use super::Plan;
use crate::deadline::Deadline;
use crate::engine::Execution;
use crate::level::Level;
use crate::machine::{AccessKind, AccessObserver, Accesses, Machine};
use crate::memory::Memory;
use crate::valhall::fast;
use crate::valhall::fast::bundle::WARPS;
use crate::valhall::fast::grid::Grid;
use crate::valhall::fast::memory_view::Outside;
use crate::valhall::fast::run::launch::{count, run_groups, runner, warps};
use crate::valhall::fast::run::program_cache::Loaded;
use crate::valhall::host::{Nothing, Resources};
use crate::valhall::launch::{Launch, Outcome};
use crate::valhall::program::Program;
use crate::valhall::reference;
use crate::valhall::watched::Watched;

/// The addresses at which threads read and write words.
const IN: u64 = 0x10_0000;
const OUT: u64 = 0x20_0000;
/// The number of words at each.
const WORDS: u32 = 1 << 14;

/// Returns a launch of a program whose first uniforms are the addresses to write and to read.
fn launch(text: &str, local: [u32; 3], groups: [u32; 3], uniforms: &[u32]) -> Launch {
    let program = assemble(isaforge_valhall::ISA, text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let uniforms = [OUT as u32, 0, IN as u32, 0].iter().chain(uniforms).copied().collect();
    Launch { program, local_size: local, groups, uniforms, shared_bytes: 0x1000, ..Launch::default() }
}

fn memory(out: u32) -> Memory {
    let mut memory = Memory::new();
    let words = (0..WORDS).map(|word| word.wrapping_mul(0x9e37_79b1).rotate_left(13));
    memory.map(IN, words.flat_map(u32::to_le_bytes).collect::<Vec<_>>()).unwrap();
    memory.map(OUT, vec![0; 4 * out as usize]).unwrap();
    memory
}

/// The results of a launch: the counts or the error, and the words at `OUT`.
type Left = (Result<Outcome, String>, Vec<u8>);

fn left(out: u32, run: impl FnOnce(&mut Memory) -> Result<Outcome, crate::valhall::launch::RunError>) -> Left {
    let mut memory = memory(out);
    let outcome = run(&mut memory).map_err(|error| error.to_string());
    (outcome, memory.region(OUT).unwrap().to_vec())
}

/// Checks that a launch leaves the same results as the reference. Returns whether a plan was made for it.
fn agrees(launch: &Launch, out: u32) -> bool {
    let expected = left(out, |memory| reference::run(launch, memory));
    for level in Level::available().into_iter().flat_map(|level| [level, level.eager()]) {
        // The second run is a later launch of the same program.
        for _ in 0..2 {
            assert!(left(out, |memory| fast::run(launch, memory, level)) == expected, "{}", level.name());
        }
    }
    let (level, two) = (Level::best().eager(), NonZero::new(2).unwrap());
    let parallel = left(out, |memory| fast::run_parallel(launch, memory, level, two));
    assert!(parallel == expected, "two threads");
    observed_agree(launch, out);
    is_planned(launch, out)
}

/// Lists which byte is accessed by which lane with which instruction, and how many barriers its workgroup has passed.
#[derive(Default)]
struct Listed {
    knows_repeats: bool,
    barriers: HashMap<u64, u32>,
    accesses: Vec<([u64; 5], AccessKind, [u32; 3])>,
}

impl AccessObserver for Listed {
    fn accesses(&mut self, accesses: &Accesses<'_>) {
        let &Accesses { warp, group, pc, kind, size, space: _, lanes, addresses, thread } = accesses;
        let barriers = self.barriers.get(&group).copied().unwrap_or(0).into();
        for lane in (0..addresses.len()).filter(|lane| lanes >> lane & 1 != 0) {
            let bytes = addresses[lane]..addresses[lane] + u64::from(size);
            self.accesses.extend(bytes.map(|byte| ([warp, group, pc, barriers, byte], kind, thread(lane))));
        }
    }

    fn barrier(&mut self, group: u64) {
        *self.barriers.entry(group).or_default() += 1;
    }

    fn knows_repeats(&self) -> bool {
        self.knows_repeats
    }
}

impl Listed {
    /// The accesses to mapped memory of each workgroup, separated by barriers.
    fn mapped(&self) -> BTreeMap<u64, Vec<BTreeSet<[u64; 3]>>> {
        let mut all: BTreeMap<u64, BTreeMap<u64, BTreeSet<_>>> = BTreeMap::new();
        for &([warp, group, pc, barriers, byte], ..) in self.accesses.iter().filter(|access| !is_own(access)) {
            all.entry(group).or_default().entry(barriers).or_default().insert([warp, pc, byte]);
        }
        all.into_iter().map(|(group, parts)| (group, parts.into_values().collect())).collect()
    }

    /// The accesses of any workgroup to its own memory.
    fn own(&self) -> BTreeSet<[u64; 2]> {
        self.accesses.iter().filter(|access| is_own(access)).map(|([_, _, pc, _, byte], ..)| [*pc, *byte]).collect()
    }
}

fn is_own(([.., byte], ..): &([u64; 5], AccessKind, [u32; 3])) -> bool {
    Memory::RESERVED.contains(byte)
}

/// Checks that an observer is told of the same accesses and barriers as by the reference, if the launch succeeds.
fn observed_agree(launch: &Launch, out: u32) {
    let mut expected = Listed::default();
    let machine = Watched::launch(launch.clone(), memory(out), Resources::default());
    if machine.run_accesses(&mut expected, Execution::reference(), Deadline::NONE).is_err() {
        return;
    }
    expected.accesses.sort_unstable();
    for level in [Level::best(), Level::best().eager()] {
        let mut listed = Listed::default();
        fast::run_logged(launch, &mut memory(out), &mut Nothing, level, &mut listed).unwrap();
        listed.accesses.sort_unstable();
        assert!(listed.barriers == expected.barriers, "{}", level.name());
        assert!(listed.accesses == expected.accesses, "{}", level.name());
        let mut brief = Listed { knows_repeats: true, ..Listed::default() };
        fast::run_logged(launch, &mut memory(out), &mut Nothing, level, &mut brief).unwrap();
        assert!(brief.mapped() == expected.mapped(), "{}", level.name());
        assert!(brief.own() == expected.own(), "{}", level.name());
    }
}

fn is_planned(launch: &Launch, out: u32) -> bool {
    plan(launch, out, Level::best().eager()).flatten().is_some()
}

/// Returns what is known of the dispatches after the launch.
fn plan(launch: &Launch, out: u32, level: Level) -> Option<Option<Arc<Plan>>> {
    let program = Program::new(&launch.program);
    let loaded = Loaded::new(&program, &launch.uniforms, warps(launch) as u32, level);
    let mut runner = runner(&loaded, launch);
    let _ =
        run_groups(&loaded, &mut runner, launch, &mut Outside::new(&mut memory(out), &mut Nothing), 0..count(launch));
    let _ = runner.outcome();
    let together = (WARPS / warps(launch)).max(1) as u32;
    let grid = Grid { groups: launch.groups, size: launch.local_size, together };
    loaded.functions().plan(&(grid, launch.shared_bytes as usize))
}

/// Whether this machine supports plans.
fn compiles() -> bool {
    Level::best().compiles()
}

/// Computes the address of the thread's word in the workgroup's memory in r46, of its word to read in r58, and to
/// write in r62.
const ADDRESSES: &str = "SHADDX.u64 r46, workgroup_local_pointer.w0, r55.w0, shift:0x2
    SHADDX.u64 r58, u2, r60.w0, shift:0x2
    SHADDX.u64 r62, u0, r60.w0, shift:0x2\n";

/// Returns a program in which each thread adds the word of an earlier one, in two steps.
fn sums() -> String {
    let step = |by: u32, uniform: u32| {
        format!(
            "MOV.i32 r1, 0x0
            ICMP.u32.lt.m1 r7, r55, u{uniform}, 0x0
            BRANCHZ.reconverge r7, offset:by{by}
            LOAD.i32.unsigned.slot0.wait0 @r1, r46, offset:-{}
            by{by}: BARRIER.slot7.wait
            IADD.u32 r0, r0, r1
            STORE.i32.slot0.wait0 @r0, r46, offset:0
            BARRIER.slot7.wait\n",
            4 * by
        )
    };
    format!(
        "{ADDRESSES} LOAD.i32.unsigned.slot0.wait0 @r0, r58, offset:0
        STORE.i32.slot0.wait0 @r0, r46, offset:0
        BARRIER.slot7.wait
        {}{} STORE.i32.slot0.end @r0, r62, offset:0",
        step(1, 4),
        step(16, 5)
    )
}

#[test]
fn dispatches_by_a_plan_leave_what_the_reference_leaves() {
    // One bundle, several, one that is not full, and rows. Several workgroups in one bundle have several memories.
    for (local, groups, planned) in [
        ([128, 1, 1], [9, 1, 1], true),
        ([256, 1, 1], [5, 1, 1], true),
        ([100, 1, 1], [7, 1, 1], false),
        ([64, 1, 1], [9, 1, 1], false),
        ([16, 1, 1], [43, 1, 1], false),
        ([128, 1, 1], [5, 3, 2], true),
    ] {
        let launch = launch(&sums(), local, groups, &[1, 16]);
        assert_eq!(agrees(&launch, WORDS), planned && compiles(), "{local:?} {groups:?}");
    }
    // Without such memory, several workgroups share a bundle, and a dispatch may lack some.
    let text = "SHADDX.u64 r58, u2, r60.w0, shift:0x2
        SHADDX.u64 r62, u0, r60.w0, shift:0x2
        LOAD.i32.unsigned.slot0.wait0 @r0, r58, offset:0
        ICMP.u32.lt.m1 r7, r55, u4, 0x0
        BRANCHZ.reconverge r7, offset:over
        IADD.u32 r0, r0, r57
        IADD.u32 r0, r0, r57
        over: STORE.i32.slot0.end @r0, r62, offset:0";
    for (local, groups) in [([32, 1, 1], [4 * 5 + 3, 1, 1]), ([16, 1, 1], [32, 2, 1]), ([64, 1, 1], [7, 3, 1])] {
        assert_eq!(agrees(&launch(text, local, groups, &[5]), WORDS), compiles(), "{local:?} {groups:?}");
    }
}

#[test]
fn words_that_few_lanes_store_are_part_of_a_plan() {
    // Only some lanes have the address; others have that of an earlier workgroup.
    let text = format!(
        "{ADDRESSES} LOAD.i32.unsigned.slot0.wait0 @r0, r58, offset:0
        STORE.i32.slot0.wait0 @r0, r46, offset:0
        BARRIER.slot7.wait
        ICMP.u32.ge.m1 r7, r55, u4, 0x0
        BRANCHZ.reconverge r7, offset:done
        LOAD.i32.unsigned.slot0.wait0 @r1, r46, offset:64
        IADD.u32 r0, r0, r1
        SHADDX.u64 r62, u0, r57.w0, shift:0x2
        STORE.i32.slot0.wait0 @r0, r62, offset:4
        STORE.i32.slot0.wait0 @r0, r46, offset:0
        done: NOP.end"
    );
    for lanes in [1, 3] {
        assert_eq!(agrees(&launch(&text, [128, 1, 1], [9, 1, 1], &[lanes]), WORDS), compiles(), "{lanes}");
        // The last words are missing.
        agrees(&launch(&text, [128, 1, 1], [9, 1, 1], &[lanes]), 6);
    }
}

#[test]
fn loops_that_only_compute_are_part_of_a_plan() {
    // The number of iterations may depend on the inputs of the launch, but not on the workgroup or on the lane.
    let program = |times: &str| {
        format!(
            "{ADDRESSES} LOAD.i32.unsigned.slot0.wait0 @r0, r58, offset:0
            IADD_IMM.i32 r20, r57, #0x1
            IADD_IMM.i32 r21, r55, #0x1
            MOV.i32 r1, {times}
            again: IMUL.i32 r0, r0, u5
            IADD.u32 r0, r0, r1
            IADD_IMM.i32 r1, r1, #0xffffffff
            BRANCHZ.reconverge r1, offset:again
            STORE.i32.slot0.wait0 @r0, r62, offset:0
            IADD.u32 r0, r0, r1
            STORE.i32.slot0.end @r0, r62, offset:0x4000"
        )
    };
    for (times, uniform, planned) in [("u4", 1, true), ("u4", 23, true), ("r20", 0, false), ("r21", 0, false)] {
        let launch = launch(&program(times), [128, 1, 1], [9, 1, 1], &[uniform, 0x9e37_79b1]);
        assert_eq!(agrees(&launch, 2 * WORDS), planned && compiles(), "{times} {uniform}");
    }
}

#[test]
fn rows_of_workgroups_and_parts_of_their_numbers_are_known() {
    // The bits of the number from the third on are one input, the lower ones another; y is the row.
    let text = format!(
        "{ADDRESSES} IADD_IMM.i32 r20, 0x0, #0x3
        RSHIFT_OR.i32 r10, r57, u4.b00, 0x0
        LSHIFT_AND.i32 r11, r57, 0x0.b00, r20
        IMUL.i32 r10, r10, u5
        IMUL.i32 r11, r11, u6
        IMUL.i32 r12, r58, u7
        IADD.u32 r10, r10, r11
        IADD.u32 r10, r10, r12
        IADD.u32 r10, r10, r55
        SHADDX.u64 r62, u0, r10.w0, shift:0x2
        SHADDX.u64 r40, u2, r10.w0, shift:0x2
        MOV.i32 r3, 0x0
        again: LOAD.i32.unsigned.slot0.wait0 @r1, r40, offset:0
        STORE.i32.slot0.wait0 @r1, r46, offset:0
        BARRIER.slot7.wait
        LOAD.i32.unsigned.slot0.wait0 @r2, r46, offset:4
        IADD.u32 r0, r0, r2
        BARRIER.slot7.wait
        IADD.u64 r40, r40, u8.w0
        IADD_IMM.i32 r3, r3, #0x1
        ICMP.u32.lt.m1 r7, r3, u9, 0x0
        BRANCHZ.reconverge r7, offset:again
        STORE.i32.slot0.end @r0, r62, offset:0"
    );
    // r58 is the row of the workgroup until the address is written there.
    let text = text.replacen("SHADDX.u64 r58, u2, r60.w0, shift:0x2\n", "", 1);
    for local in [128, 256] {
        let launch = launch(&text, [local, 1, 1], [8, 3, 1], &[2, 512, 2 * local, 1024, 256, 3]);
        assert_eq!(agrees(&launch, WORDS), compiles(), "{local}");
    }
}

/// Adds a word to one that all threads share.
const ATOMIC: &str = "MOV.i32 r50, r0
    MOV.i32 r41, u5
    SHADDX.u64 r40, u0, r41.w0, shift:0x2
    ATOM.i32.slot0.aadd.wait0 @r50, r40, offset:0";

#[test]
fn ways_that_depend_on_memory_are_in_no_plan() {
    let compare = "IADD_IMM.i32 r20, 0x0, #0x1\nLSHIFT_AND.i32 r7, r0, 0x0.b00, r20\n";
    let program = |what: &str| {
        format!(
            "{ADDRESSES} LOAD.i32.unsigned.slot0.wait0 @r0, r58, offset:0
            STORE.i32.slot0.wait0 @r0, r46, offset:0
            BARRIER.slot7.wait
            {what}
            BARRIER.slot7.wait
            STORE.i32.slot0.end @r0, r62, offset:0"
        )
    };
    // The paths of lanes are known, and what they do does not matter.
    let known = "ICMP.u32.lt.m1 r7, r55, u4, 0x0\nBRANCHZ.reconverge r7, offset:over\nIADD.u32 r0, r0, r55\nover: NOP";
    for (what, planned) in [
        (known.to_owned(), true),
        // Lanes whose path depends on loaded values.
        (format!("{compare} BRANCHZ.reconverge r7, offset:over\nIADD.u32 r0, r0, r55\nover: NOP"), false),
        // All lanes take the path.
        ("MOV.i32 r42, u2\nMOV.i32 r43, u3\nLOAD.i32.unsigned.slot0.wait0 @r1, r42, offset:0\nBRANCHZ.reconverge r1, offset:over\nIADD.u32 r0, r0, r55\nover: NOP".to_owned(), false),
        // The number of a workgroup is not part of a plan either.
        ("BRANCHZ.reconverge r57, offset:over\nIADD.u32 r0, r0, r55\nover: NOP".to_owned(), false),
        // Addresses that were loaded, or that only some lanes have.
        (format!("{compare} SHADDX.u64 r40, u2, r7.w0, shift:0x2\nLOAD.i32.unsigned.slot0.wait0 @r0, r40, offset:0"), false),
        ("MOV.i32 r42, u2\nMOV.i32 r43, u3\nLOAD.i32.unsigned.slot0.wait0 @r1, r42, offset:0\nSHADDX.u64 r40, workgroup_local_pointer.w0, r1.w0, shift:0x2\nLOAD.i32.unsigned.slot0.wait0 @r1, r46, offset:0".to_owned(), true),
        // Some lanes have another address, which is the same only in the first workgroup.
        (
            "ICMP.u32.lt.m1 r7, r55, u4, 0x0\nBRANCHZ.reconverge r7, offset:over\n\
             SHADDX.u64 r58, u2, r55.w0, shift:0x2\nSHADDX.u64 r40, u2, r55.w0, shift:0x2\n\
             over: LOAD.i32.unsigned.slot0.wait0 @r0, r58, offset:0"
                .to_owned(),
            false,
        ),
        // The memory of each workgroup starts cleared.
        (
            "LOAD.i32.unsigned.slot0.wait0 @r1, r46, offset:1024\nIADD.u32 r0, r0, r1\nBARRIER.slot7.wait\n\
             STORE.i32.slot0.wait0 @r0, r46, offset:1024"
                .to_owned(),
            true,
        ),
        // Atomics may be at any address, but not where a dispatch could not be restarted.
        (ATOMIC.to_owned(), true),
        (format!("STORE.i32.slot0 @r0, r62, offset:0\n{ATOMIC}"), false),
        (format!("{ATOMIC}\n{ATOMIC}"), false),
    ] {
        let launch = launch(&program(&what), [128, 1, 1], [8, 1, 1], &[40, WORDS - 1]);
        assert_eq!(agrees(&launch, WORDS), planned && compiles(), "{what}");
    }
}

#[test]
fn dispatches_of_which_no_plan_comes_are_not_watched_for_ever() {
    // Loaded addresses.
    let text = format!(
        "{ADDRESSES} LOAD.i32.unsigned.slot0.wait0 @r0, r58, offset:0
        LSHIFT_AND.i32 r1, r0, 0x0.b00, u4
        SHADDX.u64 r40, u2, r1.w0, shift:0x2
        LOAD.i32.unsigned.slot0.wait0 @r0, r40, offset:0
        STORE.i32.slot0.end @r0, r62, offset:0"
    );
    let launch = launch(&text, [128, 1, 1], [8, 1, 1], &[255]);
    let program = Program::new(&launch.program);
    let loaded = Loaded::new(&program, &launch.uniforms, warps(&launch) as u32, Level::best().eager());
    let watched = (0..64).take_while(|_| {
        assert!(plan(&launch, WORDS, Level::best().eager()).is_none(), "it may become machine code yet");
        loaded.functions().are_watched()
    });
    assert!((1..64).contains(&watched.count()));
}

#[test]
fn a_plan_is_made_when_what_runs_once_in_a_workgroup_is_machine_code() {
    // The loop is compiled in the first launch; by the time that the code before it is, many dispatches have been
    // recorded.
    let text = "SHADDX.u64 r58, u2, r60.w0, shift:0x2
        SHADDX.u64 r62, u0, r60.w0, shift:0x2
        MOV.i32 r3, 0x0
        MOV.i32 r0, 0x0
        again: LOAD.i32.unsigned.slot0.wait0 @r1, r58, offset:0
        IADD.u32 r0, r0, r1
        IADD_IMM.i32 r3, r3, #0x1
        ICMP.u32.lt.m1 r7, r3, u4, 0x0
        BRANCHZ.reconverge r7, offset:again
        STORE.i32.slot0.end @r0, r62, offset:0";
    let launch = launch(text, [128, 1, 1], [8, 1, 1], &[20]);
    let launches = (0..100).take_while(|_| plan(&launch, WORDS, Level::best()).flatten().is_none()).count();
    assert_eq!(launches < 100, compiles());
    assert!(!compiles() || launches > 10, "that it was watched in vain before is what is tested: {launches}");
}

#[test]
fn a_workgroup_whose_memory_is_missing_fails_as_in_the_reference() {
    // Of what the workgroups write, the last lanes of one, no lanes, or all lanes of one are missing.
    for out in [128 * 5 - 3, 128 * 5, 128 * 4 + 1, 128, 5] {
        agrees(&launch(&sums(), [128, 1, 1], [9, 1, 1], &[1, 16]), out);
        agrees(&launch(&sums(), [256, 1, 1], [5, 1, 1], &[1, 16]), out);
        agrees(&launch(&sums(), [32, 1, 1], [33, 1, 1], &[1, 16]), out);
    }
}

#[test]
fn a_load_that_nobody_needs_fails_where_its_memory_is_missing() {
    let text = format!(
        "{ADDRESSES} LOAD.i32.unsigned.slot0.wait0 @r0, r58, offset:0
        STORE.i32.slot0.wait0 @r0, r46, offset:0
        BARRIER.slot7.wait
        LOAD.i32.unsigned.slot0.wait0 @r1, r62, offset:0
        BARRIER.slot7.wait
        STORE.i32.slot0.end @r0, r46, offset:0"
    );
    for out in [WORDS, 128 * 5, 128 * 6 - 1] {
        assert_eq!(agrees(&launch(&text, [128, 1, 1], [9, 1, 1], &[]), out), compiles(), "{out}");
    }
}

#[test]
fn a_plan_ends_before_the_budget_does() {
    // Threads loop so often that a plan is followed until between one and two turns of the bundle are left.
    let text = format!(
        "{ADDRESSES} MOV.i32 r3, 0x0
        again: LOAD.i32.unsigned.slot0.wait0 @r1, r58, offset:0
        IADD.u32 r0, r0, r1
        IADD_IMM.i32 r3, r3, #0x1
        ICMP.u32.lt.m1 r7, r3, u4, 0x0
        BRANCHZ.reconverge r7, offset:again
        STORE.i32.slot0.wait0 @r0, r46, offset:0
        BARRIER.slot7.wait
        LOAD.i32.unsigned.slot0.wait0 @r0, r46, offset:4
        STORE.i32.slot0.end @r0, r62, offset:0"
    );
    let launch = launch(&text, [128, 1, 1], [12, 1, 1], &[700]);
    let all = left(WORDS, |memory| reference::run(&launch, memory)).0.unwrap().thread_instructions;
    assert!(all > super::BUNDLE_TURN, "{all}");
    assert!(!compiles() || is_planned(&Launch { budget: 2 * all, ..launch.clone() }, WORDS));
    for budget in [all - 1, super::BUNDLE_TURN + all / 12] {
        agrees(&Launch { budget, ..launch.clone() }, WORDS);
    }
}

#[test]
fn a_plan_is_for_launches_that_are_alike() {
    let all = launch(&sums(), [128, 1, 1], [9, 1, 1], &[1, 16]);
    for (local, groups, shared_bytes, out) in [
        (128, 9, 0x1000, WORDS),
        (256, 9, 0x1000, WORDS),
        (128, 12, 0x1000, WORDS),
        (128, 9, 0x200, WORDS),
        (128, 9, 0x1000, 700),
    ] {
        let launch = Launch { local_size: [local, 1, 1], groups: [groups, 1, 1], shared_bytes, ..all.clone() };
        agrees(&launch, out);
    }
}

mod fused;

#[test]
fn an_observer_that_knows_repeats_is_told_less() {
    let launch = launch(&sums(), [128, 1, 1], [64, 1, 1], &[1, 16]);
    let told = |knows_repeats: bool| {
        let mut listed = Listed { knows_repeats, ..Listed::default() };
        fast::run_logged(&launch, &mut memory(WORDS), &mut Nothing, Level::best().eager(), &mut listed).unwrap();
        [listed.accesses.len(), listed.barriers.values().sum::<u32>() as usize]
    };
    let (all, brief) = (told(false), told(true));
    assert_eq!(all[0] > brief[0] && all[1] > brief[1], compiles(), "{all:?} {brief:?}");
}
