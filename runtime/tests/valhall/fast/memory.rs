//! Accesses to memory, in patterns and without.

use super::*;

#[test]
fn memory_is_reached_in_every_pattern() {
    let mut random = Random(seed(3));
    // Loads into a part of a register keep the rest, and an extended value may take another register.
    for (kind, lane, count) in [
        ("i8", "", 1),
        ("i8", ".b2", 1),
        ("i8", ".h0", 1),
        ("i8", ".h1", 1),
        ("i8", ".w0", 1),
        ("i8", ".d0", 2),
        ("i16", "", 1),
        ("i16", ".h1", 1),
        ("i16", ".w0", 1),
        ("i16", ".d0", 2),
        ("i24", "", 1),
        ("i32", "", 1),
        ("i32", ".d0", 2),
        ("i48", "", 2),
        ("i64", "", 2),
        ("i96", "", 3),
        ("i128", "", 4),
    ] {
        let registers = ["@r8", "@r8:r9", "@r8:r9:r10", "@r8:r9:r10:r11"][count - 1];
        let sign = if lane.is_empty() || kind == "i8" && lane == ".h0" { ".unsigned" } else { "" };
        // Strides between threads: the same address, contiguous, overlapping, apart, beyond the end for some threads.
        for stride in [0u32, 1, 2, 3, 4, 6, 8, 12, 16, 7, 64, 300] {
            // A stored value is loaded again if no other thread stores to it; otherwise unchanging memory is loaded.
            let shared = ("workgroup_local_pointer.w0", "workgroup_local_pointer.w0", 4);
            for (stored, loaded, offset) in [("u8", "u0", 8), shared] {
                if stride < 16 && stored == loaded {
                    continue;
                }
                let body = assemble(&format!(
                    "IADD_IMM.i32 r4, 0x0, #{stride:#x}
                    IADD_IMM.i32 r5, 0x0, #0x10
                    IMUL.i32 r5, warp_id.w0, r5
                    IADD.u32 r5, lane_id.w0, r5
                    IMUL.i32 r4, r4, r5
                    BRANCHZ r17.h0, offset:4
                    SHADDX.u64 r6, {stored}, r4.w0, shift:0x0
                    STORE.{kind}.slot0 {registers}, r6, offset:4
                    SHADDX.u64 r6, {loaded}, r4.w0, shift:0x0
                    LOAD.{kind}{lane}{sign}.slot0 {registers}, r6, offset:{offset}"
                ));
                let together =
                    body.iter().copied().enumerate().filter(|(i, _)| *i != 5).map(|(_, word)| word).collect();
                for (body, threads) in [(body.clone(), 128), (together, 128), (body, 24)] {
                    let mut launch = launch(threads, &body);
                    launch.shared_bytes = 4096;
                    agree(&launch, &memory(threads, &mut random));
                }
            }
        }
    }
}

#[test]
fn lanes_load_what_others_of_their_warp_have_stored() {
    let mut random = Random(seed(11));
    // Loads from the same address, the next one, those of the second half of the warp, and those that lanes of the
    // first half store next.
    for (load, store) in [(0, 0), (4, 0), (32, 32), (28, 64), (32, 4), (60, 32)] {
        let body = assemble(&format!(
            "IADD_IMM.i32 r4, 0x0, #0x100
            IMUL.i32 r4, warp_id.w0, r4
            SHADDX.u64 r6, u8, r4.w0, shift:0x0
            SHADDX.u64 r6, r6, lane_id.w0, shift:0x2
            STORE.i32.slot0.wait0 @r8, r6, offset:0
            LOAD.i32.unsigned.slot0.wait0 @r9, r6, offset:{load}
            IADD.u32 r9, r9, r8
            STORE.i32.slot0.wait0 @r9, r6, offset:{store}
            LOAD.i32.unsigned.slot0.wait0 @r10, r6, offset:{load}
            IADD.u32 r11, r10, r9"
        ));
        assert!(agree(&launch(128, &body), &memory(128, &mut random)), "{load} {store}");
    }
}

#[test]
fn loops_over_memory_see_what_they_have_stored() {
    let mut random = Random(seed(7));
    let mut ended = [0; 2];
    for round in 0..128u32 {
        let threads = [128, 40, 256][round as usize % 3];
        let row = 4 * threads;
        // The second address is the same, the next one, in other memory, or interleaved with other lanes; and memory
        // may end while the loop runs.
        let rows = random.below(4) as u32;
        let (second, stride) =
            [(IN as u32 + rows * row, 2), (SCRATCH as u32, 2), (SCRATCH as u32, 3)][round as usize % 3];
        // The low words may wrap around.
        let second = if random.below(4) == 0 { 0xffff_e000 } else { second };
        let mut offset = || row * random.below(3) as u32;
        let [a, b, c] = [offset(), offset(), offset()];
        // Addresses advance by equal steps or stay the same, and lanes leave together or some before the others.
        let further = row * [1, 1, 0, 2][random.below(4) as usize];
        let first = ["0x0", "u10", "lane_id.w0", "r60"][random.below(4) as usize];
        // If all of them fail after the loop, the warp whose turn comes first must be reported.
        let last = if random.below(4) == 0 { "STORE.i32.slot0 @r5, r0, offset:0" } else { "NOP" };
        let (until, sense) = [("lt", ""), ("ge", ".eq")][random.below(2) as usize];
        // Some steps are unequal, and some loops read the register that counts them.
        let also = ["NOP", "NOP", "IADD.u64 r58, r58, u7.w0", "IADD.u32 r5, r5, r62", "IADD.u32 r5, r5, r10"];
        let also = also[random.below(5) as usize];
        // The counter goes up by one or more, before or after the comparison with a constant or a register.
        let count = ["IADD_IMM.i32 r10, r10, #0x1", "IADD_IMM.i32 r10, r10, #0x3", "IADD.u32 r10, r10, u9"];
        let count = count[random.below(3) as usize];
        let [sooner, later] = if random.below(2) == 0 { [count, "NOP"] } else { ["NOP", count] };
        let (ty, bound) = (["u32", "s32"][random.below(2) as usize], ["u8", "r6"][random.below(2) as usize]);
        let text = format!(
            "SHADDX.u64 r62, u0, r60.w0, shift:0x2
            SHADDX.u64 r58, u4, r60.w0, shift:{stride:#x}
            MOV.i32 r10, {first}
            MOV.i32 r5, r60
            MOV.i32 r6, u8
            again: LOAD.i32.unsigned.slot0 @r0, r62, offset:{a}
            LOAD.i32.unsigned.slot0 @r1, r58, offset:{b}
            FMA.f32 r2, r1, u6, r0
            STORE.i32.slot0 @r2, r62, offset:{a}
            LOAD.i32.unsigned.slot0 @r3, r58, offset:{b}
            IADD.u32 r5, r5, r3
            STORE.i32.slot0 @r5, r58, offset:{c}
            LOAD.i32.unsigned.slot0 @r4, r62, offset:{a}
            LSHIFT_XOR.i32 r5, r5, 0x0.b00, r4
            IADD.u64 r62, r62, u7.w0
            IADD.u64 r58, r58, u7.w0
            {also}
            {sooner}
            ICMP.{ty}.{until}.m1 r7, r10, {bound}, 0x0
            {later}
            BRANCHZ{sense}.reconverge r7, offset:again
            {last}
            LSHIFT_XOR.i32 r5, r5, 0x03020100.b00, r62
            LSHIFT_XOR.i32 r5, r5, 0x03020100.b11, r63
            LSHIFT_XOR.i32 r5, r5, 0x03020100.b22, r58
            LSHIFT_XOR.i32 r5, r5, 0x03020100.b33, r59
            SHADDX.u64 r62, u2, r60.w0, shift:0x2
            STORE.i32.slot0.end @r5, r62, offset:0"
        );
        // If addresses stay the same, the loop may last longer than a turn.
        let steps = 4 + random.below(if further == 0 && round % 3 == 0 { 1_600 } else { 100 }) as u32;
        let launch = Launch {
            program: assemble(&text),
            local_size: [threads, 1, 1],
            uniforms: vec![IN as u32, 0, OUT as u32, 0, second, 0, 0x3fc0_0000, further, steps, 5, -7i32 as u32],
            budget: if random.below(4) == 0 { 10_000 + random.below(200_000) } else { 1 << 26 },
            ..Launch::default()
        };
        let mut memory = memory(threads, &mut random);
        memory.map(0xffff_e000, vec![round as u8; 0x10000]).unwrap();
        ended[usize::from(agree(&launch, &memory))] += 1;
    }
    assert!(ended.iter().all(|&count| count > 8), "{ended:?} failed and came to their end");
}

#[test]
fn what_is_read_in_patterns_is_what_the_reference_reads() {
    // Lanes are contiguous or at the same address, warps at any address with equal distances, in mapped or workgroup
    // memory. Loads may be near others, and patterns may change while the loop runs.
    let mut random = Random(seed(22));
    let mut ended = [0; 2];
    for round in 0..64u32 {
        let threads = [128, 256, 40, 512][round as usize % 4];
        let lane = [0, 0, 4, 4, 4, 8, 16][random.below(7) as usize];
        let warp = [0, 0, 4, 64, 64, 64, 256, 512, 100, 1 << 17][random.below(10) as usize];
        let far = if random.below(4) == 0 { 0x3000 } else { 0x200 };
        let mut offset = || 4 * random.below(far / 4) as u32;
        let [a, b, c, d] = [offset(), offset(), offset(), offset()];
        let further = [0, 4, 64, 1024, 12][random.below(5) as usize];
        let own = random.below(3) == 0;
        let base = if own { "workgroup_local_pointer.w0" } else { "u4" };
        let turns = if random.below(4) == 0 { "r57" } else { "r10" };
        let text = format!(
            "SHADDX.u64 r46, workgroup_local_pointer.w0, r55.w0, shift:0x2
            LSHIFT_XOR.i32 r5, r60, 0x07060504.b00, r60
            STORE.i32.slot0.wait0 @r5, r46, offset:0
            BARRIER.slot7.wait
            RSHIFT_OR.i32 r40, r55, u6.b00, 0x0
            LSHIFT_AND.i32 r41, r55, 0x0.b00, u7
            IMUL.i32 r40, r40, u8
            IMUL.i32 r41, r41, u9
            IADD.u32 r40, r40, r41
            SHADDX.u64 r62, {base}, r40.w0, shift:0x0
            SHADDX.u64 r58, u2, r60.w0, shift:0x2
            MOV.i32 r10, 0x0
            MOV.i32 r5, r60
            again: LOAD.i32.unsigned.slot0.wait0 @r0, r62, offset:{a}
            LOAD.i32.unsigned.slot0.wait0 @r1, r62, offset:{b}
            LOAD.i64.unsigned.slot0.wait0 @r20:r21, r62, offset:{c}
            LOAD.i96.slot0.wait0 @r24:r25:r26, r62, offset:{d}
            LOAD.i128.unsigned.slot0.wait0 @r28:r29:r30:r31, r62, offset:{a}
            IADD.u32 r5, r5, r0
            LSHIFT_XOR.i32 r5, r5, 0x07060504.b00, r1
            IADD.u32 r5, r5, r20
            LSHIFT_XOR.i32 r5, r5, 0x07060504.b11, r21
            IADD.u32 r5, r5, r24
            LSHIFT_XOR.i32 r5, r26, 0x07060504.b00, r5
            IADD.u32 r5, r5, r28
            LSHIFT_XOR.i32 r5, r31, 0x07060504.b22, r5
            STORE.i32.slot0.wait0 @r5, r58, offset:0
            IADD.u64 r62, r62, u10.w0
            IADD_IMM.i32 r10, r10, #0x1
            ICMP.u32.lt.m1 r7, {turns}, u11, 0x0
            ICMP.u32.lt.m1 r8, r10, u11, 0x0
            LSHIFT_AND.i32 r7, r7, 0x0.b00, r8
            BRANCHZ.reconverge r7, offset:again
            STORE.i32.slot0.end @r5, r58, offset:0"
        );
        let launch = Launch {
            program: assemble(&text),
            local_size: [threads, 1, 1],
            groups: [2, 1, 1],
            uniforms: vec![IN as u32, 0, OUT as u32, 0, 0x60_0000, 0, 4, 15, warp, lane, further, 40],
            shared_bytes: 0x8000,
            ..Launch::default()
        };
        let mut memory = memory(2 * threads, &mut random);
        memory.map(0x60_0000, (0..1 << 16).map(|_| random.below(256) as u8).collect::<Vec<u8>>()).unwrap();
        ended[usize::from(agree(&launch, &memory))] += 1;
    }
    assert!(ended[1] > 16, "{ended:?} failed and came to their end");
}

#[test]
fn some_lanes_load_in_machine_code() {
    let text = "SHADDX.u64 r58, u0, r60.w0, shift:0x2
        SHADDX.u64 r62, u2, r60.w0, shift:0x2
        MOV.i32 r0, 0x0
        ICMP.u32.lt.m1 r7, r55, u4, 0x0
        BRANCHZ.eq.reconverge r7, offset:over
        LOAD.i32.unsigned.slot0.wait0 @r1, r58, offset:0
        IADD.u32 r0, r1, r1
        over: STORE.i32.slot0.end @r0, r62, offset:0";
    let launch = Launch {
        program: assemble(text),
        local_size: [128, 1, 1],
        uniforms: vec![IN as u32, 0, OUT as u32, 0, 50],
        shared_bytes: 512,
        ..Launch::default()
    };
    for level in Level::available().into_iter().filter(|level| level.compiles()) {
        let mut memory = memory(128, &mut Random(seed(26)));
        let (_, listing) = fast::run_listed(&launch, &mut memory, &mut Resources::default(), level.eager()).unwrap();
        assert!(listing.contains("LOAD.i32"), "{}: {listing}", level.name());
    }
}
