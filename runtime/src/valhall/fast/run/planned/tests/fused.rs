//! Plans whose functions were fused.

use super::*;
use crate::exec::jit::lanes::host::Host;

#[allow(clippy::duplicate_mod, reason = "other tests of the crate have random numbers, too")]
#[path = "../../../../../../tests/seed/mod.rs"]
mod seed;

/// Checks that a launch leaves the same results as the reference. Returns whether the functions of a dispatch were
/// fused, and if so, whether with the memory of the workgroup.
fn fuses(launch: &Launch) -> Option<bool> {
    assert!(agrees(launch, WORDS), "there is a plan");
    let plan = plan(launch, WORDS, Level::best().eager()).flatten()?;
    plan.fused(Level::best().eager()).map(|fused| fused.is_shared)
}

/// Returns a program that passes words through the memory of the workgroup, after which all threads store their
/// results.
fn passing(what: &str) -> String {
    format!(
        "{ADDRESSES} LOAD.i32.unsigned.slot0.wait0 @r0, r58, offset:0
        STORE.i32.slot0.wait0 @r0, r46, offset:0
        BARRIER.slot7.wait
        {what}
        STORE.i32.slot0.end @r0, r62, offset:0"
    )
}

#[test]
fn words_that_threads_pass_to_each_other_stay_in_registers() {
    if !compiles() {
        return;
    }
    let passes = Some(false);
    let of = |text: &str| fuses(&launch(text, [128, 1, 1], [9, 1, 1], &[1, 16]));
    assert_eq!(of(&sums()), passes);
    // From higher lanes, across columns, and from where nothing was stored.
    for offset in [0, 4, 60, 64, 68, 448, 508, 512, 1024] {
        let text = passing(&format!("LOAD.i32.unsigned.slot0.wait0 @r1, r46, offset:{offset}\nIADD.u32 r0, r0, r1"));
        assert_eq!(of(&text), passes, "{offset}");
    }
    // One word for all threads.
    for offset in [0, 4, 76, 508, 512] {
        let text = passing(&format!(
            "MOV.i32 r40, workgroup_local_pointer.w0\nMOV.i32 r41, workgroup_local_pointer.w1
            LOAD.i32.unsigned.slot0.wait0 @r1, r40, offset:{offset}\nIADD.u32 r0, r0, r1"
        ));
        assert_eq!(of(&text), passes, "{offset}");
    }
}

#[test]
fn what_takes_too_many_registers_goes_through_memory() {
    if !compiles() {
        return;
    }
    // Everything that is stored is loaded again. With AVX2 registers are spilled.
    let stores = (1..8).map(|n| format!("IADD.u32 r0, r0, u4\nSTORE.i32.slot0.wait0 @r0, r46, offset:{}\n", 512 * n));
    let loads = (0..8).map(|n| {
        format!("LOAD.i32.unsigned.slot0.wait0 @r1, r46, offset:{}\nIADD.u32 r0, r0, r1\nBARRIER.slot7.wait\n", 512 * n)
    });
    let text = passing(&(stores.collect::<String>() + "BARRIER.slot7.wait\n" + &loads.rev().collect::<String>()));
    let found = fuses(&launch(&text, [128, 1, 1], [9, 1, 1], &[7]));
    assert_eq!(found, Some(Host::of(Level::best()) == Some(Host::Avx512)));
}

#[test]
fn loops_with_addresses_that_go_on_are_part_of_it() {
    if !compiles() {
        return;
    }
    // The address and the counter are read after the loop.
    let text = format!(
        "{ADDRESSES} MOV.i32 r3, 0x0
        MOV.i32 r0, 0x0
        again: LOAD.i32.unsigned.slot0.wait0 @r1, r58, offset:0
        IADD.u32 r0, r0, r1
        IADD.u64 r58, r58, u4.w0
        IADD_IMM.i32 r3, r3, #0x1
        ICMP.u32.lt.m1 r7, r3, u6, 0x0
        BRANCHZ.reconverge r7, offset:again
        STORE.i32.slot0.wait0 @r0, r46, offset:0
        BARRIER.slot7.wait
        LOAD.i32.unsigned.slot0.wait0 @r1, r46, offset:4
        IADD.u32 r0, r58, r1
        IADD.u32 r0, r0, r59
        IADD.u32 r0, r0, r3
        STORE.i32.slot0.end @r0, r62, offset:0"
    );
    assert_eq!(fuses(&launch(&text, [128, 1, 1], [9, 1, 1], &[512, 0, 5])), Some(false));
}

#[test]
fn it_is_listed_with_the_instructions_that_it_comes_from() {
    if !compiles() {
        return;
    }
    let launch = launch(&sums(), [128, 1, 1], [9, 1, 1], &[1, 16]);
    let (_, listing) =
        fast::run_listed(&launch, &mut memory(WORDS), &mut Nothing, Level::best().eager()).expect("it runs");
    let (_, dispatch) = listing.split_once("\ndispatch: ").expect("it is listed");
    let moves = if Host::of(Level::best()) == Some(Host::Avx512) { "valignd" } else { "vpalignr" };
    assert!(dispatch.contains("IADD.u32 r0, r0, r1") && dispatch.contains(moves), "{dispatch}");
}

/// Returns a program in which each thread changes the word that some bits of a loaded value select, relative to an
/// address.
fn update(kind: &str, base: &str, skip: &str, then: &str) -> String {
    format!(
        "{ADDRESSES} LOAD.i32.unsigned.slot0.wait0 @r0, r58, offset:0
        LSHIFT_AND.i32 r1, r0, 0x0.b00, u4
        SHADDX.u64 r4, {base}, r1.w0, shift:0x2
        MOV.i32 r50, r0
        {skip}
        ATOM.i32.slot0.{kind}.wait0 @r50, r4, offset:0
        over: {then}"
    )
}

#[test]
fn atomics_follow_what_became_one() {
    if !compiles() {
        return;
    }
    let some = "ICMP.u32.lt.m1 r7, r55, u5, 0x0\nBRANCHZ.reconverge r7, offset:over";
    for (kind, skip) in [("aadd", ""), ("aadd", some), ("aor", ""), ("aumax", some), ("axor", "")] {
        let launch = launch(&update(kind, "u0", skip, "NOP.end"), [128, 1, 1], [12, 1, 1], &[255, 37]);
        assert!(agrees(&launch, WORDS), "{kind} {skip}");
        let plan = plan(&launch, WORDS, Level::best().eager()).flatten().expect("it was made");
        assert!(plan.fused(Level::best().eager()).is_some(), "{kind} {skip}");
        // Some words are missing.
        agrees(&launch, 200);
    }
    // Counts in the memory of the workgroup, whose content is stored after a barrier.
    let leave =
        "BARRIER.slot7.wait\nLOAD.i32.unsigned.slot0.wait0 @r0, r46, offset:0\nSTORE.i32.slot0.end @r0, r62, offset:0";
    let text = update("aadd", "workgroup_local_pointer.w0", "", leave);
    assert!(agrees(&launch(&text, [128, 1, 1], [9, 1, 1], &[127]), WORDS));
    // Each of two bundles has an atomic.
    assert!(!agrees(&launch(&text, [256, 1, 1], [9, 1, 1], &[127]), WORDS));
}

#[test]
fn a_dispatch_begins_anew_where_atomics_are_in_several_places() {
    // Half of the words are in unread memory, a megabyte before those that are checked.
    let text = format!(
        "MOV.i32 r20, u5\nMOV.i32 r21, u6\n{}",
        update("aadd", "r20", "STORE.i32.slot0.wait0 @r0, r46, offset:0", "NOP.end")
    );
    let far = ((OUT - IN) / 4) as u32;
    let launch = launch(&text, [128, 1, 1], [12, 1, 1], &[far | 0xff, IN as u32 + 0x8000, 0]);
    assert_eq!(agrees(&launch, WORDS), compiles());
}

/// Random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

/// Returns a step in which some threads load, compute and store, followed by a barrier. Nothing is stored where all
/// threads or a few access the same word.
fn step(random: &mut Random, number: usize) -> String {
    let [first, last] = [random.below(5), random.below(5)].map(|uniform| 4 + uniform);
    let pick = |random: &mut Random, of: &[&'static str]| of[random.below(of.len() as u64) as usize];
    let over = pick(random, &["lt", "ge", "ne", "gt"]);
    let (load, register) = (4 * random.below(300), random.below(4));
    let base = pick(random, &["r46", "r46", "r40"]);
    let computed = pick(
        random,
        &[
            "IADD.u32 r2, r1, r3",
            "FADD.f32 r2, r1, r3",
            "FMA.f32 r3, r2, r1, r0",
            "IMUL.i32 r3, r1, r2",
            "MUX.i32.int_zero r3, r1, r2, r0",
            "FMAX.f32 r0, r1, r2",
        ],
    );
    // Stores go to words that are not read before the barrier.
    let (store, stored) = (4 * (random.below(40) + 300 + 200 * (number as u64 % 2)), random.below(4));
    format!(
        "ICMP.u32.{over}.m1 r7, r55, u{first}, 0x0
        BRANCHZ.reconverge r7, offset:a{number}
        LOAD.i32.unsigned.slot0.wait0 @r{register}, {base}, offset:{}
        {computed}
        a{number}: BARRIER.slot7.wait
        ICMP.u32.{over}.m1 r7, r55, u{last}, 0x0
        BRANCHZ.reconverge r7, offset:b{number}
        {computed}
        STORE.i32.slot0.wait0 @r{stored}, r46, offset:{store}
        b{number}: BARRIER.slot7.wait\n",
        if random.below(2) == 0 { load } else { load + 1200 },
    )
}

#[test]
fn random_programs_leave_what_the_reference_leaves() {
    let mut random = Random(seed::seed(0xf5ed));
    let mut fused = 0;
    for _ in 0..12 * seed::rounds() {
        let steps: String = (0..3 + random.below(4) as usize).map(|number| step(&mut random, number)).collect();
        let text = passing(&format!(
            "MOV.i32 r40, workgroup_local_pointer.w0\nMOV.i32 r41, workgroup_local_pointer.w1
            MOV.i32 r1, r55\nMOV.i32 r2, r57\nMOV.i32 r3, r0\n{steps} IADD.u32 r0, r0, r2\nIADD.u32 r0, r0, r3"
        ));
        let uniforms: Vec<u32> = (0..5).map(|_| random.below(129) as u32).collect();
        let launch = launch(&text, [128, 1, 1], [6, 1, 1], &uniforms);
        if agrees(&launch, WORDS) {
            let plan = plan(&launch, WORDS, Level::best().eager()).flatten();
            fused += u32::from(plan.is_some_and(|plan| plan.fused(Level::best().eager()).is_some()));
        }
    }
    assert!(fused > 0 || !compiles(), "none became one");
}
