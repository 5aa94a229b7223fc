//! Atomics, and the order that they may show.

use super::*;

#[test]
fn atomics_leave_what_the_reference_leaves_whether_or_not_they_show_an_order() {
    let mut random = Random(seed(14));
    let kinds = ["aadd", "asmin", "asmax", "aumin", "aumax", "aand", "aor", "axor", "axchg"];
    let one = |random: &mut Random| {
        let kind = kinds[random.next() as usize % kinds.len()];
        let (offset, lane) = (8 * (random.next() % 3), random.next().is_multiple_of(2));
        let place = if lane { "r4" } else { "u2" };
        match random.next() % 6 {
            0 => format!("ATOM.i64.slot0.{kind} @r0:r1, {place}, offset:{offset}\n"),
            1 => format!("ATOM_RETURN.i32.slot0.{kind} @r8, @r0, {place}, offset:{offset}\n"),
            2 => format!("ATOM_RETURN.i32.slot0.compare.axchg @r8, @r0:r1, {place}, offset:{offset}\n"),
            _ => format!("ATOM.i32.slot0.{kind} @r0, {place}, offset:{offset}\n"),
        }
    };
    for round in 0..200 {
        // Mostly a single kind, whose order is not visible; several kinds show it.
        let atomics = match round % 4 {
            0 => one(&mut random) + &one(&mut random),
            _ => one(&mut random),
        };
        // A few addresses for all threads, rarely unmapped ones; not all lanes of all warps.
        let (places, few) = (1 + random.next() % 24, random.next() % 60);
        let text = format!(
            "SHADDX.u64 r62, u0, r60.w0, shift:0x3
            LOAD.i64.unsigned.slot0 @r0:r1, r62, offset:0
            MOV.i32 r8, 0x0
            LSHIFT_AND.i32 r4, r0, 0x0.b00, u4
            SHADDX.u64 r4, u2, r4.w0, shift:0x3
            ICMP.u32.lt.m1 r7, r55, u5, 0x0
            BRANCHZ.reconverge r7, offset:beyond
            {atomics}beyond: BARRIER.slot7.wait
            IADD.u32 r0, r8, r7
            STORE.i32.slot0.end @r0, r62, offset:4"
        );
        let wild = if round % 16 == 0 { 0x7fff } else { 0 };
        // Atomics on overlapping words would show their order.
        let between = if round % 8 == 1 { random.next() as u32 % 4 } else { 0 };
        let launch = Launch {
            program: assemble(&text),
            local_size: [1 + random.next() as u32 % 150, 1, 1],
            groups: [1 + random.next() as u32 % 5, 1, 1],
            uniforms: vec![IN as u32, 0, OUT as u32 + between, 0, places as u32 | wild, few as u32],
            ..Launch::default()
        };
        let mut memory = Memory::new();
        let threads = (launch.local_size[0] * launch.groups[0]) as usize;
        memory.map(IN, to_bytes(&(0..2 * threads).map(|_| value(&mut random)).collect::<Vec<_>>())).unwrap();
        memory.map(OUT, to_bytes(&(0..96).map(|_| value(&mut random)).collect::<Vec<_>>())).unwrap();
        memory.map(SCRATCH, vec![0; 4]).unwrap();
        assert!(agree(&launch, &memory) || wild > 0, "{text}");
        let alone = outcome(|memory| reference::run(&launch, memory), &memory);
        let run = |memory: &mut Memory| fast::run_parallel(&launch, memory, Level::best(), NonZero::new(2).unwrap());
        assert!(outcome(run, &memory) == alone, "{text}");
    }
}

#[test]
fn atomics_tell_addresses_apart_that_differ_in_their_high_words() {
    // Memory crosses 2^32, and nothing is mapped below its beginning. The second thread adds a step to the low word
    // only.
    let base = 0xffff_e000;
    let mut memory = Memory::new();
    memory.map(base, vec![0; 0x8000]).unwrap();
    let cases = [
        (0xffff_f000u32, 0x100, 0, true),
        (0xffff_f000, 0x1100, 0, false),
        (0xffff_ff80, 0x40, 240, true),
        (0xffff_ff80, 0x100, 240, false),
    ];
    for (first, step, offset, ends) in cases {
        let text = format!(
            "IMUL.i32 r4, r55, u1
            IADD.u32 r4, r4, u0
            MOV.i32 r5, 0x0
            IADD_IMM.i32 r0, r55, #0x1
            ATOM.i32.slot0.aadd.wait0 @r0, r4, offset:{offset}
            NOP.end"
        );
        let launch = Launch {
            program: assemble(&text),
            local_size: [2, 1, 1],
            uniforms: vec![first, step],
            ..Launch::default()
        };
        let run = |run: &dyn Fn(&mut Memory) -> std::result::Result<Outcome, RunError>| {
            let mut memory = memory.clone();
            let outcome = run(&mut memory).map_err(|error| error.to_string());
            (outcome, memory.region(base).map(<[u8]>::to_vec))
        };
        let expected = run(&|memory| reference::run(&launch, memory));
        assert_eq!(expected.0.is_ok(), ends, "{text}");
        for level in Level::available().into_iter().chain([next_eager()]) {
            assert_eq!(run(&|memory| fast::run(&launch, memory, level)), expected, "{}\n{text}", level.name());
        }
    }
}
