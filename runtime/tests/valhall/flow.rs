//! Lanes that diverge and reconverge.

use super::{OWN_WORD, launch, run};
use isaforge_runtime::{Launch, Outcome};

fn flow(threads: u32, body: &str) -> (Outcome, Vec<u32>) {
    let text = format!("{OWN_WORD}\n{body}\n");
    run(&launch(threads, &text), threads as usize).unwrap()
}

#[test]
fn a_loop_runs_as_often_as_each_lane_wants() {
    // sum of 1..=x
    let (outcome, values) = flow(
        40,
        "   MOV.i32 r4, r50
            MOV.i32 r0, 0x0
            BRANCHZ.eq.reconverge r4, offset:done
        again:
            IADD.u32 r0, r0, r4
            IADD.u32 r4, r4, 0xFFFFFFFF
            BRANCHZ.reconverge r4, offset:again
        done:
            STORE.i32.slot0.end @r0, r2, offset:0",
    );
    assert_eq!(values, (0..40).map(|x| x * (x + 1) / 2).collect::<Vec<u32>>());
    let additions: u64 = (0..40).sum();
    assert_eq!(outcome.mnemonics[0], ("IADD.u32", 2 * additions));
    assert_eq!(outcome.thread_instructions, 40 * 6 + 3 * additions);
    // The three warps iterate as often as their highest lanes.
    assert_eq!(outcome.warp_instructions, 3 * 6 + 3 * (15 + 31 + 39));
}

#[test]
fn nested_loops_with_break_and_continue_agree_with_the_same_in_rust() {
    let (_, values) = flow(
        64,
        "   MOV.i32 r0, 0x0
            MOV.i32 r4, 0x0
        outer:
            ICMP.u32.ge.m1 r6, r4, r50, 0x0
            BRANCHZ.reconverge r6, offset:done
            MOV.i32 r5, 0x0
        inner:
            ICMP.u32.gt.m1 r6, r5, r4, 0x0
            BRANCHZ.reconverge r6, offset:next
            IADD.u32 r5, r5, 0x03020100.b1
            // continue when bit 4 or 5 of r4 + r5 is set
            IADD.u32 r7, r4, r5
            LSHIFT_AND.i32 r8, r7, 0x0.b00, 0x70605030
            BRANCHZ.reconverge r8, offset:inner
            IADD.u32 r0, r0, r7
            // break when the sum has become large
            IADD_IMM.i32 r9, r0, #0xffffff00
            RSHIFT_OR.i32 r9, r9, 0x1F1E1D1C.b33, 0x0
            BRANCHZ.eq.reconverge r9, offset:done
            BRANCHZ.eq.reconverge 0x0, offset:inner
        next:
            IADD.u32 r4, r4, 0x03020100.b1
            BRANCHZ.eq.reconverge 0x0, offset:outer
        done:
            STORE.i32.slot0.end @r0, r2, offset:0",
    );
    let reference = |x: u32| {
        let mut sum = 0u32;
        'outer: for i in 0..x {
            let mut j = 0;
            while j <= i {
                j += 1;
                let both = i + j;
                if both & 0x7060_5030 != 0 {
                    continue;
                }
                sum += both;
                if sum >= 0x100 {
                    break 'outer;
                }
            }
        }
        sum
    };
    assert_eq!(values, (0..64).map(reference).collect::<Vec<u32>>());
}

#[test]
fn threads_that_end_early_leave_the_others_alone() {
    let (outcome, values) = flow(
        20,
        "   MOV.i32 r0, r50
            BRANCHZ.reconverge r50, offset:on
            NOP.end
        on: ICMP.u32.gt.m1 r4, r50, 0x0B0A0908.b0, 0x0
            BRANCHZ.eq.reconverge r4, offset:store
            NOP.end
        store:
            STORE.i32.slot0.end @r0, r2, offset:0",
    );
    assert_eq!(values, (0..20).map(|x| if x > 8 { 0 } else { x }).collect::<Vec<u32>>());
    assert_eq!(outcome.mnemonics.iter().find(|(name, _)| *name == "STORE.i32"), Some(&("STORE.i32", 8)));
}

#[test]
fn both_sides_of_a_branch_meet_behind_it() {
    let (outcome, values) = flow(
        16,
        "   LSHIFT_OR.i32 r4, r50, 0x1F1E1D1C.b33, 0x0
            BRANCHZ.reconverge r4, offset:odd
            IADD_IMM.i32 r0, r50, #0x100
            BRANCHZ.eq.reconverge 0x0, offset:join
        odd:
            IADD_IMM.i32 r0, r50, #0x200
            NOP.reconverge
        join:
            IADD_IMM.i32 r0, r0, #0x1000
            STORE.i32.slot0.end @r0, r2, offset:0",
    );
    assert_eq!(values, (0..16).map(|x| 0x1000 + x + if x & 1 == 0 { 0x100 } else { 0x200 }).collect::<Vec<u32>>());
    // Two paths of two instructions each, and everything else once.
    assert_eq!(outcome.warp_instructions, 2 + 2 + 2 + 2 + 2);
}

#[test]
fn branches_look_at_the_part_that_they_are_told() {
    let taken = |branch: &str, value: u32| {
        let text = format!(
            "MOV.i32 r4, u2
            {branch}, offset:1
            NOP.end
            IADD_IMM.i32 r0, 0x0, #0x1
            STORE.i32.slot0.end @r0, u0, offset:0"
        );
        let mut launch = launch(1, &text);
        launch.uniforms.push(value);
        run(&launch, 1).unwrap().1[0] == 1
    };
    let combined = |suffix: &str, value: u32| taken(&format!("BRANCHZ r4{suffix}"), value);
    assert!(!taken("BRANCHZ r4", 0) && taken("BRANCHZ r4", 1));
    assert!(taken("BRANCHZ.eq r4", 0) && !taken("BRANCHZ.eq r4", 2));
    assert!(combined("", 0x0001_0000) && !combined(".h0", 0x0001_0000) && combined(".h1", 0x0001_0000));
    assert!(combined(".and", u32::MAX) && !combined(".and", u32::MAX - 1));
    assert!(combined(".lowbits", 8) && !combined(".lowbits", 7) && !combined(".lowbits", 0x001f_fff8));
}

#[test]
fn an_indirect_branch_goes_where_its_source_says() {
    for (branch, target) in [("BRANCHZI.eq", 1), ("BRANCHZI.eq.absolute", 3 * 8)] {
        let text = format!(
            "{branch} 0x0, u2\nNOP\nNOP.end\nIADD_IMM.i32 r0, 0x0, #0x1\nSTORE.i32.slot0.end @r0, u0, offset:0\n"
        );
        let mut launch = launch(1, &text);
        launch.uniforms.push(if target == 1 { 2 } else { target });
        assert_eq!(run(&launch, 1).unwrap().1, [1]);
    }
}

#[test]
fn threads_find_their_place_in_three_dimensions() {
    let text = "
        // index = ((gz * 4 + gy) * 6 + gx), for a grid of 6 by 4 by 2 threads
        LSHIFT_OR.i32 r4, r62, 0x03020100.b22, 0x0
        IADD.u32 r4, r4, r61
        IADD_IMM.i32 r5, 0x0, #0x6
        IMUL.i32 r4, r4, r5
        IADD.u32 r4, r4, r60
        SHADDX.u64 r2, u0, r4.w0, shift:0x2
        // local x, local y, local z, and the workgroup, in a byte each
        IADD.u32 r0, r55.h0, 0x0
        LSHIFT_OR.i32 r6, r55.h1, 0x0B0A0908.b00, 0x0
        LSHIFT_OR.i32 r0, r0, 0x0.b00, r6
        LSHIFT_OR.i32 r0, r56, 0x13121110.b00, r0
        LSHIFT_OR.i32 r6, r59, 0x03020100.b11, r58
        LSHIFT_OR.i32 r6, r6, 0x03020100.b22, r57
        LSHIFT_OR.i32 r0, r6, 0x1B1A1918.b00, r0
        STORE.i32.slot0.end @r0, r2, offset:0";
    let launch = Launch { groups: [2, 2, 2], local_size: [3, 2, 1], ..launch(1, text) };
    let (_, values) = run(&launch, 48).unwrap();
    for (index, value) in values.into_iter().enumerate() {
        let [x, y, z] = [index % 6, index / 6 % 4, index / 24];
        let expected = (x % 3) | ((y % 2) << 8) | (((z * 2 + y / 2) * 4 + x / 3) << 24);
        assert_eq!(value, expected as u32, "{x} {y} {z}");
    }
}

#[test]
fn a_warp_that_waits_for_another_gets_its_turn_later() {
    // Warp 0 spins until warp 1 has written.
    let text = "
            BRANCHZ.reconverge warp_id.w0, offset:write
        again:
            LOAD.i32.unsigned.slot0.wait0 @r4, u0, offset:0
            BRANCHZ.eq.reconverge r4, offset:again
            STORE.i32.slot0.end @r4, u0, offset:4
        write:
            IADD_IMM.i32 r4, 0x0, #0x63
            STORE.i32.slot0.end @r4, u0, offset:0";
    let (_, values) = run(&launch(32, text), 2).unwrap();
    assert_eq!(values, [0x63, 0x63]);
}
