//! Programs and launches that fail: each ends with an error that gives the cause and the place.

use super::{OUT, OWN_WORD, launch, run};
use isaforge_runtime::{Launch, MemoryFault, RunError};

fn fails(threads: u32, text: &str) -> RunError {
    run(&launch(threads, text), 64).unwrap_err()
}

#[test]
fn a_barrier_in_divergent_flow_is_an_error() {
    let text = "
        MOV.i32 r4, lane_id.w0
        BRANCHZ.eq.reconverge r4, offset:1
        BARRIER.slot7.wait
        NOP.end";
    let error = fails(16, text);
    assert!(matches!(error, RunError::DivergentBarrier { elsewhere: 3, .. }), "{error}");
    // Lane 0 has jumped over it.
    assert_eq!(error.place().unwrap().lane, Some(1));
    assert_eq!(
        error.to_string(),
        "word 2 `BARRIER.slot7.wait`, workgroup (0, 0, 0), thread (1, 0, 0), lane 1: \
         the barrier is in divergent control flow: other threads of the workgroup are at word 3"
    );
}

#[test]
fn warps_at_different_barriers_do_not_meet() {
    let text = "
        BRANCHZ.reconverge warp_id.w0, offset:2
        BARRIER.slot7.wait
        NOP.end
        BARRIER.slot7.wait
        NOP.end";
    let error = fails(32, text);
    assert!(matches!(error, RunError::DivergentBarrier { elsewhere: 3, .. }), "{error}");
    assert_eq!(error.place().unwrap().thread, Some([0, 0, 0]), "the first warp waits at word 1");
    // Each warp alone does not fail.
    run(&launch(16, text), 1).unwrap();
}

#[test]
fn a_barrier_that_some_threads_never_reach_is_a_deadlock() {
    let text = "
        BRANCHZ.reconverge warp_id.w0, offset:1
        NOP.end
        BARRIER.slot7.wait
        NOP.end";
    let error = fails(40, text);
    assert!(matches!(error, RunError::Deadlock { waiting: 24, ended: 16, .. }), "{error}");
    let lanes = "
        MOV.i32 r4, lane_id.w0
        BRANCHZ.reconverge r4, offset:1
        NOP.end
        BARRIER.slot7.wait
        NOP.end";
    assert!(matches!(fails(4, lanes), RunError::Deadlock { waiting: 3, ended: 1, .. }));
}

#[test]
fn a_barrier_that_ends_the_threads_is_none_of_these() {
    let (outcome, _) = run(&launch(40, "NOP\nBARRIER.slot7.end"), 1).unwrap();
    assert_eq!((outcome.thread_instructions, outcome.warp_instructions), (80, 6));
}

#[test]
fn an_endless_loop_uses_up_its_budget() {
    let endless = "NOP\nBRANCHZ.eq.reconverge 0x0, offset:-2";
    let error = run(&Launch { budget: 100_000, ..launch(20, endless) }, 1).unwrap_err();
    assert!(matches!(error, RunError::Budget { budget: 100_000, .. }), "{error}");
    assert!(error.to_string().ends_with("the budget of 100000 instructions is used up"));
}

#[test]
fn a_budget_is_for_all_threads_together() {
    let launch = Launch { groups: [2, 1, 1], ..launch(20, "NOP\nNOP.end") };
    run(&Launch { budget: 80, ..launch.clone() }, 1).unwrap();
    let error = run(&Launch { budget: 79, ..launch }, 1).unwrap_err();
    assert_eq!(error.place().map(|place| (place.pc, place.group)), Some((1, [1, 0, 0])));
}

#[test]
fn lanes_that_wait_for_lanes_above_them_run_into_the_budget() {
    // Lane 0 spins at a lower word; the lane that would release it never executes.
    let text = "
        MOV.i32 r4, lane_id.w0
        BRANCHZ.reconverge r4, offset:2
        LOAD.i32.unsigned.slot0 @r5, u0, offset:0
        BRANCHZ.eq.reconverge r5, offset:-2
        STORE.i32.slot0.end @r4, u0, offset:0";
    let error = run(&Launch { budget: 10_000, ..launch(2, text) }, 1).unwrap_err();
    assert!(matches!(error, RunError::Budget { .. }));
}

#[test]
fn a_wild_address_names_its_thread() {
    let text = format!("{OWN_WORD}\nLSHIFT_OR.i32 r3, r50, 0x0.b00, 0x0\nSTORE.i32.slot0.end @r0, r2, offset:0\n");
    let error = fails(3, &text);
    let address = (1 << 32) + OUT + 4;
    assert!(
        matches!(error, RunError::Memory { fault: MemoryFault::Unmapped { size: 4, address: at }, .. } if at == address)
    );
    assert_eq!(
        error.to_string(),
        "word 3 `STORE.i32.slot0.end @r0, r2, offset:0`, workgroup (0, 0, 0), thread (1, 0, 0), lane 1: \
         nothing is mapped at 0x100001004 (4 bytes wanted)"
    );
}

#[test]
fn an_access_over_the_end_of_a_region_is_an_error() {
    for text in [
        "LOAD.i128.unsigned.slot0 @r4:r5:r6:r7, u0, offset:248",
        "STORE.i64.slot0 @r4:r5, u0, offset:252",
        "ATOM.i64.slot0.aadd @r4:r5, u0, offset:0xFE",
    ] {
        let error = fails(1, &format!("{text}\nNOP.end"));
        assert!(matches!(error, RunError::Memory { fault: MemoryFault::Straddles { end: 0x1100, .. }, .. }), "{error}");
    }
    let shared = "MOV.i32 r4, workgroup_local_pointer.w0\nMOV.i32 r5, workgroup_local_pointer.w1\nLOAD.i32.unsigned.slot0.end @r0, r4, offset:0";
    let error = run(&Launch { shared_bytes: 2, ..launch(1, shared) }, 1).unwrap_err();
    assert!(matches!(error, RunError::Memory { fault: MemoryFault::Straddles { .. }, .. }), "{error}");
    assert!(matches!(fails(1, shared), RunError::Memory { fault: MemoryFault::Unmapped { .. }, .. }));
}

#[test]
fn a_branch_out_of_the_program_is_an_error() {
    let target = |text: &str| match fails(2, text) {
        RunError::OutOfProgram { place, target, words } => (place.pc, place.text, target, words),
        error => panic!("{error}"),
    };
    assert_eq!(target("NOP\nBRANCHZ.eq 0x0, offset:5\nNOP.end"), (1, "BRANCHZ.eq 0x0, offset:5".into(), 7, 3));
    assert_eq!(target("BRANCHZ.eq 0x0, offset:-2\nNOP.end"), (0, "BRANCHZ.eq 0x0, offset:-2".into(), -1, 2));
    assert_eq!(target("BRANCHZ.eq 0x0, offset:1\nNOP.end").2, 2);
    assert_eq!(target("NOP\nNOP"), (1, "NOP".into(), 2, 2));
    // The target of a branch that is not taken is not checked.
    run(&launch(2, "BRANCHZ 0x0, offset:5\nNOP.end"), 1).unwrap();
    let odd = "BRANCHZI.eq.absolute 0x0, 0x07060504\nNOP.end";
    assert!(matches!(fails(1, odd), RunError::Misaligned { address: 0x0706_0504, .. }));
}

#[test]
fn a_word_that_is_no_instruction_matters_only_when_it_is_reached() {
    let padded = |text: &str| {
        let mut launch = launch(1, text);
        launch.program.push(0);
        launch
    };
    run(&padded("NOP.end"), 1).unwrap();
    let error = run(&padded("NOP"), 1).unwrap_err();
    assert!(matches!(error, RunError::Undecodable { .. }));
    let text = error.to_string();
    assert!(text.starts_with("word 1 `.word 0x0000000000000000`, workgroup (0, 0, 0): "), "{text}");
}

#[test]
fn a_form_whose_meaning_is_unknown_is_unsupported() {
    let text = "TEX_DUAL.slot0.f.32.32.2d.wide_indices.zero @r0:r1:r2:r3:r4:r5:r6:r7, @r8:r9, r10";
    let error = fails(1, &format!("{text}\nNOP.end"));
    assert!(matches!(&error, RunError::Unsupported { .. }), "{error}");
    assert!(error.to_string().ends_with("a dual look-up with wide indices is not supported"));
}

#[test]
fn what_the_host_lacks_is_named() {
    for (text, error) in [
        ("LD_BUFFER.i32.unsigned.slot0 @r0, r2, r3", "there is no buffer 0 in table 0"),
        ("LD_ATTR_IMM.v4.f32.slot0 @r0:r1:r2:r3, r60, r61, index:0x2, table:0x1", "there is no attribute 2 in table 1"),
        ("LEA_ATTR.slot0 @r0:r1:r2, r60, r61, r4", "there is no attribute 0 in table 0"),
        ("LD_TEX_IMM.v4.f32.slot0 @r0:r1:r2:r3, r0, 0x0, index:0x1, table:0x5", "there is no image 1 in table 5"),
        ("LEA_TEX_IMM.slot0 @r0:r1:r2, r0, 0x0, table:0xC, index:0x1", "there is no image 1 in table 60"),
        ("LEA_BUF_IMM.slot0 @r0:r1, r59, table:0xD, index:0x0", "there is no buffer 0 in table 61"),
        ("TEX_SINGLE.slot0.f.32.2d.zero @r0:r1:r2:r3, @r0:r1, r2", "there is no texture 0 in table 0"),
        (
            "LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.center.store @r0:r1, r61, index:0x10",
            "there is no varying at byte 0x10",
        ),
        ("LD_VAR_SPECIAL.f32.center.clobber.slot0 @r0, 0x0, index:0x7", "there is no special varying 7"),
        ("BLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_5.w0, r60, target:0x0", "there is no render target 5"),
        ("ST_CVT.slot0.v4.f32 @r0:r1:r2:r3, u0, u0, offset:0x0", "0x00001000 is not a conversion descriptor"),
        (
            "LD_TILE.v4.f32.slot0 @r0:r1:r2:r3, 0x0, r60, r0",
            "the pixel index 0x00000000 is not that of the current pixel",
        ),
    ] {
        let told = fails(2, &format!("{text}\nNOP.end")).to_string();
        assert!(told.starts_with("word 0 `") && told.ends_with(&format!("lane 0: {error}")), "{told}");
    }
}

#[test]
fn registers_end_at_the_last() {
    // The decoder enforces this for lists, but not for pairs.
    run(&launch(1, "IADD.u64 r62, r62, r60\nNOP.end"), 1).unwrap();
    run(&launch(1, "IADD.u64 r0, r63.w0, r60\nNOP.end"), 1).unwrap();
    let mut odd = launch(1, "IADD.u64 r62, r62, r60\nNOP.end");
    odd.program[0] += 1 << 40;
    assert!(matches!(run(&odd, 4), Err(RunError::Register { register: 64, .. })));
}

#[test]
fn a_launch_can_ask_for_too_much() {
    let fine = launch(1, "NOP.end");
    let limit = |launch: Launch| match run(&launch, 1) {
        Err(RunError::Limit { what, found, .. }) => (what, found),
        other => panic!("{other:?}"),
    };
    assert_eq!(limit(Launch { program: vec![], ..fine.clone() }).1, 0);
    assert_eq!(
        limit(Launch { local_size: [32, 33, 1], ..fine.clone() }),
        ("the number of threads of a workgroup", 1056)
    );
    assert_eq!(limit(Launch { local_size: [u32::MAX; 3], ..fine.clone() }).1, u64::MAX);
    assert_eq!(limit(Launch { local_size: [4, 0, 1], ..fine.clone() }).1, 0);
    assert_eq!(limit(Launch { shared_bytes: u32::MAX, ..fine.clone() }).1, u64::from(u32::MAX));
    assert_eq!(limit(Launch { uniforms: vec![0; 129], ..fine.clone() }).1, 129);
    let (outcome, _) = run(&Launch { groups: [5, 0, 5], ..fine }, 1).unwrap();
    assert_eq!(outcome.thread_instructions, 0);
}

#[test]
fn no_word_makes_the_runtime_panic() {
    // Random words with valid opcodes, each in a program of its own with divergent threads.
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let forms = isaforge_valhall::ISA.forms;
    let (mut ran, mut failed) = (0, 0);
    for round in 0..60_000 {
        let form = &forms[round % forms.len()];
        let word = next() & !form.fixed_mask | form.fixed_value;
        // Mostly without special values and flows, with which few words are valid.
        let word = if round % 3 == 0 { word } else { word & !(0xf << 59) & !(3 << 57) & !(0x80_8080) };
        let mut launch = launch(20, "MOV.i32 r4, lane_id.w0\nBRANCHZ r4, offset:1\nNOP\nNOP.end");
        launch.program.insert(2, word);
        launch.program.insert(4, word);
        launch.budget = 10_000;
        match run(&launch, 64) {
            Ok(_) => ran += 1,
            Err(_) => failed += 1,
        }
    }
    assert!(ran > 10_000 && failed > 1_000, "{ran} ran, {failed} failed");
}

#[test]
fn errors_in_divergent_flow_name_the_lane_that_is_there() {
    // Only thread 25, lane 9 of the second warp, takes the path between the branch and `on`.
    let alone = |body: &str| {
        let text = format!(
            "{OWN_WORD}
            IADD_IMM.i32 r4, 0x0, #0x19
            ICMP.u32.eq.m1 r4, r50, r4, 0x0
            BRANCHZ.eq.reconverge r4, offset:on
            NOP
            {body}
        on: NOP.end"
        );
        run(&Launch { budget: 10_000, ..launch(40, &text) }, 64).unwrap_err().to_string()
    };
    let place = ", workgroup (0, 0, 0), thread (25, 0, 0), lane 9: ";
    for (text, says) in [
        ("BRANCHZ.eq.reconverge 0x0, offset:-1", "the budget of 10000 instructions is used up"),
        ("LOAD.i32.unsigned.slot0.wait0 @r0, r4, offset:8", "nothing is mapped at 0x100000007 (4 bytes wanted)"),
        ("STORE.i64.slot0 @r0:r1, u0, offset:252", "8 bytes at 0x10fc reach beyond the region, which ends at 0x1100"),
        ("BRANCHZI.eq.absolute 0x0, r4", "jumps to 0xffffffff, which is not the address of a word"),
        ("BRANCHZ.eq 0x0, offset:-8", "continues at word -1, but the last word of the program is 7"),
    ] {
        assert_eq!(alone(text), format!("word 6 `{text}`{place}{says}"));
    }
    assert_eq!(
        alone("BARRIER.slot7.wait"),
        "word 6 `BARRIER.slot7.wait`, workgroup (0, 0, 0), thread (25, 0, 0), lane 9: \
         the barrier is in divergent control flow: other threads of the workgroup are at word 7"
    );
}
