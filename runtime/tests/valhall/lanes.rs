//! Lanes that read values of other lanes.

use super::{OWN_WORD, launch, run};

fn lanes(threads: u32, body: &str) -> Vec<u32> {
    let text = format!("{OWN_WORD}\nMOV.i32 r10, lane_id.w0\n{body}\nSTORE.i32.slot0.end @r0, r2, offset:0\n");
    run(&launch(threads, &text), threads as usize).unwrap().1
}

#[test]
fn lanes_read_each_other_in_their_subgroup() {
    let own: Vec<u32> = (0..16).collect();
    assert_eq!(
        lanes(16, "CLPER.i32.subgroup4.xor r0, r10, 0x03020100.b1"),
        own.iter().map(|l| l ^ 1).collect::<Vec<_>>()
    );
    assert_eq!(
        lanes(16, "CLPER.i32.subgroup8 r0, r10, 0x03020100.b3"),
        own.iter().map(|l| l & 8 | 3).collect::<Vec<_>>()
    );
    assert_eq!(
        lanes(16, "CLPER.i32.umax.subgroup2.shift r0, r10, 0x03020100.b1"),
        own.iter().map(|l| if l & 1 == 0 { l + 1 } else { u32::MAX }).collect::<Vec<_>>()
    );
    // -1 as a byte reads the lane below; the first lane has none.
    assert_eq!(
        lanes(16, "CLPER.s32.i1.shift r0, r10, 0xFFFFFFFF.b0"),
        own.iter().map(|l| l.checked_sub(1).unwrap_or(1)).collect::<Vec<_>>()
    );
    // Lane 20 does not exist.
    assert_eq!(lanes(16, "CLPER.i32.f1 r0, r10, 0x17161514.b0"), [0x3f80_0000; 16]);
}

#[test]
fn components_can_come_from_different_lanes() {
    let values = lanes(
        4,
        "IADD_IMM.i32 r11, r10, #0x100\nMKVEC.v2i16 r11, r11.h00, r11.h00\nCLPER.v2u16 r0, r11, 0x03020100.b13",
    );
    assert_eq!(values, [0x0103_0101; 4]);
}

#[test]
fn both_words_of_a_pair_travel() {
    let values =
        lanes(16, "MOV.i32 r4, r10\nIADD_IMM.i32 r5, r10, #0x40\nCLPER.u64 r6, r4, 0x07060504.b1\nIADD.u32 r0, r6, r7");
    assert_eq!(values, [5 + 0x45; 16]);
}

#[test]
fn an_inactive_lane_gives_the_inactive_result() {
    let body = "
        IADD_IMM.i32 r0, 0x0, #0x7777
        ICMP.u32.lt.m1 r1, r10, 0x07060504.b2, 0x0
        BRANCHZ.eq.reconverge r1, offset:1
        CLPER.i32.v2i1 r0, r10, 0x07060504.b2
    ";
    let mut expected = vec![0x0001_0001; 6];
    expected.resize(16, 0x7777);
    assert_eq!(lanes(16, body), expected);
}

#[test]
fn a_ballot_counts_active_lanes_only() {
    assert_eq!(lanes(5, "WMASK r0, r10"), [0b11110; 5]);
    assert_eq!(lanes(16, "WMASK.subgroup8 r0, r10")[..9], [0xfe, 0xfe, 0xfe, 0xfe, 0xfe, 0xfe, 0xfe, 0xfe, 0xff]);
    let divergent = "
        ICMP.u32.gt.m1 r1, r10, 0x03020100.b3, 0x0
        BRANCHZ.reconverge r1, offset:1
        WMASK r0, 0xFFFFFFFF
    ";
    let mut expected = vec![0b1111; 4];
    expected.resize(8, 0);
    assert_eq!(lanes(8, divergent), expected);
}

#[test]
fn lanes_know_themselves() {
    assert_eq!(lanes(33, "MOV.i32 r0, lane_id.w0")[14..18], [14, 15, 0, 1]);
    assert_eq!(lanes(33, "MOV.i32 r0, warp_id.w0")[14..18], [0, 0, 1, 1]);
    assert_eq!(lanes(33, "MOV.i32 r0, warp_id.w1")[32], 2);
    assert_eq!(lanes(1, "MOV.i32 r0, core_id.w0"), [0]);
    assert_eq!(lanes(1, "MOV.i32 r0, program_counter.w0"), [4 * 8]);
    assert_eq!(lanes(1, "MOV.i32 r0, u9"), [0]);
}

#[test]
fn steps_of_an_accumulation_sum_up_a_subgroup() {
    for (subgroup, steps) in [("", 4), (".subgroup8", 3), (".subgroup4", 2), (".subgroup2", 1)] {
        // The constants 1, 2, 4 and 8 are bytes of the table.
        let step = |step: &str| format!("CLPER.i32{subgroup}.accumulate r1, r0, {step}\nIADD.u32 r0, r0, r1\n");
        let all = ["0x03020100.b1", "0x03020100.b2", "0x07060504.b0", "0x0B0A0908.b0"].map(step);
        let found = lanes(16, &format!("IADD_IMM.i32 r0, r10, #0x64\n{}", all[..steps].concat()));
        let size = 1 << steps;
        let expected: Vec<u32> = (0..16).map(|own| (own / size * size..=own).map(|lane| lane + 0x64).sum()).collect();
        assert_eq!(found, expected, "{subgroup}");
    }
}
