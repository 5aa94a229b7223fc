//! Lanes that are not there, and addresses at the end of memory.

use super::*;

#[test]
fn some_lanes_access_in_patterns_what_the_others_do_not_have() {
    // The lanes selected by a condition load what other lanes of the workgroup have stored, before or after their own
    // words, where memory may not exist for all or some of the other lanes. They store at higher addresses.
    let mut random = Random(seed(23));
    let mut ended = [0; 2];
    let are_enough = |ended: &[usize; 2]| ended.iter().all(|&count| count > ROUNDS as usize / 3);
    for round in 0..60 * ROUNDS as u32 {
        // Few programs fail.
        if round >= 6 * ROUNDS as u32 && are_enough(&ended) {
            break;
        }
        let local = [128, 256, 128, 40][round as usize % 4];
        let behind = 4 * local + 1024;
        let mut step = |number: u32| {
            let mut near = |least: i32| 4 * (least + random.below(48) as i32) * [1, 1, 4][random.below(3) as usize];
            let [ahead, before] = [near(0), -near(0)];
            let offset = if random.below(2) == 0 { ahead } else { before };
            // Mostly lanes for which memory exists there.
            let (lanes, at) = match offset {
                _ if random.below(8) == 0 => {
                    (["lt", "ge", "eq", "ne"][random.below(4) as usize], random.below(local.into()) as i32)
                }
                0.. => ("lt", local as i32 - offset / 4),
                _ => ("ge", -offset / 4),
            };
            let fewer = if random.below(4) == 0 { "LSHIFT_AND.i32 r7, r7, 0x0.b00, r5" } else { "NOP" };
            let other = match random.below(4) {
                0 => format!("LOAD.i32.unsigned.slot0.wait0 @r2, r58, offset:{}", 4 * random.below(16)),
                1 => "LOAD.i64.unsigned.slot0.wait0 @r2:r3, r46, offset:0".to_owned(),
                _ => "MOV.i32 r2, r55".to_owned(),
            };
            let store = match random.below(4) {
                0 => format!("STORE.i32.slot0.wait0 @r5, r46, offset:{behind}\nIADD.u32 r6, r6, r5"),
                1 => "STORE.i32.slot0.wait0 @r5, r56, offset:0".to_owned(),
                _ => "NOP".to_owned(),
            };
            format!(
                "IADD_IMM.i32 r8, 0x0, #{at:#x}
                ICMP.u32.{lanes}.m1 r7, r55, r8, 0x0
                {fewer}
                BRANCHZ.eq.reconverge r7, offset:over{number}
                LOAD.i32.unsigned.slot0.wait0 @r1, r46, offset:{offset}
                {other}
                LSHIFT_XOR.i32 r5, r5, 0x07060504.b00, r1
                IADD.u32 r5, r5, r2
                {store}
                over{number}: BARRIER.slot7.wait
                STORE.i32.slot0.wait0 @r5, r46, offset:0
                LOAD.i32.unsigned.slot0.wait0 @r4, r46, offset:{behind}
                IADD.u32 r6, r6, r4
                BARRIER.slot7.wait"
            )
        };
        let steps = [0, 1, 2].map(&mut step).join("\n");
        let further = [0, 4, 64, 512, 0x1000][random.below(5) as usize];
        let text = format!(
            "SHADDX.u64 r46, workgroup_local_pointer.w0, r55.w0, shift:0x2
            SHADDX.u64 r58, u4, r60.w0, shift:0x2
            SHADDX.u64 r56, u6, r60.w0, shift:0x2
            SHADDX.u64 r62, u2, r60.w0, shift:0x2
            LOAD.i32.unsigned.slot0.wait0 @r5, r58, offset:0
            STORE.i32.slot0.wait0 @r5, r46, offset:0
            MOV.i32 r10, 0x0
            MOV.i32 r6, 0x0
            BARRIER.slot7.wait
            again: {steps}
            IADD.u64 r58, r58, u8.w0
            IADD_IMM.i32 r10, r10, #0x1
            ICMP.u32.lt.m1 r7, r10, u9, 0x0
            BRANCHZ.reconverge r7, offset:again
            IADD.u32 r5, r5, r6
            STORE.i32.slot0.end @r5, r62, offset:0"
        );
        // The low words of addresses may wrap around.
        let base = if random.below(4) == 0 { 0xffff_e000 } else { IN as u32 };
        let launch = Launch {
            program: assemble(&text),
            local_size: [local, 1, 1],
            groups: [1 + random.below(3) as u32, 1, 1],
            uniforms: vec![IN as u32, 0, OUT as u32, 0, base, 0, SCRATCH as u32, 0, further, 3],
            shared_bytes: if random.below(8) == 0 { behind } else { 2 * behind },
            // If several workgroups run together, the budget may be exhausted at another place.
            budget: if local > 40 && random.below(8) == 0 { 1000 + random.below(50_000) } else { 1 << 24 },
            ..Launch::default()
        };
        let mut memory = memory(local * launch.groups[0], &mut random);
        memory.map(0xffff_e000, (0..0x10000).map(|_| random.below(256) as u8).collect::<Vec<u8>>()).unwrap();
        ended[usize::from(agree(&launch, &memory))] += 1;
    }
    assert!(are_enough(&ended), "{ended:?} failed and came to their end");
}

#[test]
fn lanes_behind_one_another_may_cross_what_memory_has() {
    let mut random = Random(seed(5));
    // Addresses where low words wrap around, where one region follows another, where one ends, and of workgroup memory.
    let (wrap, seam, end, own) = (0xffff_ff00, 0x40_0000, 0x50_0000, 0);
    for (base, local, kind, registers, shift) in [wrap, seam, end, own].into_iter().flat_map(|base| {
        let kinds = [
            ("i8", "@r8", 0),
            ("i16", "@r8", 1),
            ("i32", "@r8", 2),
            ("i64", "@r8:r9", 3),
            ("i128", "@r8:r9:r10:r11", 4),
        ];
        let locals = [128, 16, 40].into_iter();
        locals.flat_map(move |local| kinds.map(|(kind, registers, shift)| (base, local, kind, registers, shift)))
    }) {
        // Narrow accesses begin further on, to cross the boundary as well.
        let behind = match base {
            _ if shift >= 2 => 0,
            _ if base == wrap || base == end => 0x100 - (64 << shift),
            _ if base == seam => 0x200 - (64 << shift),
            _ => 0,
        };
        // The words of other threads are checked only for other workgroups, whose memory must not be visible.
        let (pointer, other) = if base == own { ("r4", "r4") } else { ("u4", "u0") };
        // With all or some of the threads, with or without a carry into the high word.
        for (logic, mask, offset, carry) in
            [("OR", 1, 0, true), ("OR", 1, 1, true), ("AND", 2, 0, true), ("OR", 1, 0, false), ("AND", 2, 0, false)]
        {
            let add = if carry || base == own {
                format!("SHADDX.u64 r6, {pointer}, r60.w0, shift:{shift}")
            } else {
                "MOV.i32 r7, u5\nIMUL.i32 r6, r60, u10\nIADD.u32 r6, r6, u4".to_owned()
            };
            let text = format!(
                "MOV.i32 r4, workgroup_local_pointer.w0
                MOV.i32 r5, workgroup_local_pointer.w1
                LSHIFT_{logic}.i32 r12, r60, 0x0.b00, u6
                IADD_IMM.i32 r13, r60, #0x10
                LSHIFT_AND.i32 r13, r13, 0x0.b00, u7
                {add}
                BRANCHZ.eq r12, offset:4
                LOAD.{kind}.unsigned.slot0 {registers}, r6, offset:{offset}
                IADD.u32 r8, r8, r60
                IADD.u32 r9, r9, r60
                STORE.{kind}.slot0 {registers}, r6, offset:{offset}
                SHADDX.u64 r6, u2, r60.w0, shift:{shift}
                STORE.{kind}.slot0 {registers}, r6, offset:0
                BARRIER.slot7.wait
                SHADDX.u64 r6, {other}, r13.w0, shift:{shift}
                LOAD.{kind}.unsigned.slot0 {registers}, r6, offset:{offset}
                SHADDX.u64 r6, u8, r60.w0, shift:{shift}
                STORE.{kind}.slot0.end {registers}, r6, offset:0"
            );
            let launch = Launch {
                program: assemble(&text),
                local_size: [local, 1, 1],
                groups: [128u32.div_ceil(local), 1, 1],
                uniforms: vec![
                    IN as u32,
                    0,
                    OUT as u32,
                    0,
                    base as u32 + behind,
                    0,
                    mask,
                    127,
                    SCRATCH as u32,
                    0,
                    1 << shift,
                ],
                shared_bytes: 4096,
                ..Launch::default()
            };
            let mut memory = memory(128, &mut random);
            memory.map(wrap, vec![1; 0x1000]).unwrap();
            memory.map(0, vec![5; 0x1000]).unwrap();
            memory.map(seam, vec![2; 0x200]).unwrap();
            memory.map(seam + 0x200, vec![3; 0x1000]).unwrap();
            memory.map(end, vec![4; 0x100]).unwrap();
            let ended = agree(&launch, &memory);
            // A byte is in one region or the other.
            assert_eq!(ended, base != end && (base != seam || offset == 0 || shift == 0), "{base:#x} {kind} {offset}");
        }
    }
}
