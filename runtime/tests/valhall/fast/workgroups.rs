//! Workgroups and dispatches that run one after another or at once.

use super::*;

#[test]
fn registers_begin_anew_in_each_workgroup() {
    let mut random = Random(seed(6));
    for round in 0..40 * ROUNDS {
        // Registers are written below those that identify the thread. Some are read before they are written, as whole
        // words or halves, and some are written in a part of the threads only.
        let mut lines = Vec::new();
        for line in 0..20u64 {
            let [to, b, c] = [0; 3].map(|_| random.below(12));
            let given = 52 + random.below(11);
            lines.push(match random.below(8) {
                0 if line > 3 => format!("BRANCHZ r{b}.h0, offset:{}", random.below(20 - line)),
                0 | 1 => format!("MOV.i32 r{to}, r{given}"),
                2 => format!("IADD.u32 r{to}.{}, r{b}, r{c}", ["h0", "h1"][random.below(2) as usize]),
                3 => format!("LSHIFT_XOR.i32 r{to}, r{given}, 0x03020100.b11, r{b}"),
                4 => format!("IADD.u64 r{}, r{}, r{}.w0", to & !1, b & !1, c),
                5 => format!("CLPER.i32.subgroup16.xor.i1 r{to}, r{b}, r{c}"),
                6 => format!("LOAD.i64.unsigned.slot0 @r{}:r{}, u0, offset:{}", to & !1, to | 1, 4 * c),
                _ => format!("IADD.u32 r{to}, r{b}, r{c}"),
            });
        }
        let store = |first: u64| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| first + i);
            let end = if first == 8 { ".end" } else { "" };
            format!("STORE.i128.slot0{end} @r{a}:r{b}:r{c}:r{d}, r62, offset:{}\n", 4 * first)
        };
        let text = lines.join("\n") + "\nSHADDX.u64 r62, u2, r60.w0, shift:0x6\n" + &[0, 4, 8].map(store).concat();
        let local = [128, 16, 40, 5, 64, 200][round as usize % 6];
        let launch = Launch {
            program: assemble(&text),
            local_size: [local, 1, 1],
            groups: [512 / local, 1, 1],
            uniforms: vec![IN as u32, 0, OUT as u32, 0],
            ..Launch::default()
        };
        assert!(agree(&launch, &memory(128, &mut random)));
        // Another launch starts from the code of this one, with memory at other addresses.
        let mut other = memory(128, &mut random);
        other.map(0x1000, vec![0xff; 1 << 16]).unwrap();
        assert!(agree(&launch, &other));
    }
}

#[test]
fn several_workgroups_run_as_one_after_another() {
    let mut random = Random(seed(4));
    for local_size in [[1, 1, 1], [16, 1, 1], [5, 3, 2], [8, 8, 1], [100, 1, 1], [1, 1, 64]] {
        let text = "
            MOV.i32 r4, workgroup_local_pointer.w0
            MOV.i32 r5, workgroup_local_pointer.w1
            LSHIFT_AND.i32 r6, r55, 0x0.b00, 0x07060504.not
            SHADDX.u64 r6, r4, lane_id.w0, shift:0x2
            STORE.i32.slot0 @r60, r6, offset:0
            BARRIER.slot7.wait
            LOAD.i32.unsigned.slot0 @r8, r4, offset:0
            SHADDX.u64 r6, u2, r60.w0, shift:0x2
            STORE.i32.slot0 @r8, r6, offset:64
            SHADDX.u64 r6, thread_local_pointer.w0, 0x0.w0, shift:0x0
            STORE.i32.slot0 @r56, r6, offset:16
            LOAD.i32.unsigned.slot0 @r9, r6, offset:16
            IADD.u32 r8, r8, r9
            IADD.u32 r8, r8, warp_id.w0
            ATOM_RETURN.i32.aadd.slot0 @r8, @r8, u2, offset:0
            NOP.end";
        let counts = text.replace("ATOM_RETURN.i32.aadd.slot0 @r8, @r8,", "ATOM.i32.aadd.slot0 @r8,");
        // With an atomic that shows the order of workgroups, with one that does not, and without atomics.
        for (text, keep) in [(text, true), (&counts, true), (text, false)] {
            let mut program = assemble(text);
            if !keep {
                program.remove(14);
            }
            let launch = Launch {
                program,
                local_size,
                groups: [3, 2, 2],
                uniforms: vec![IN as u32, 0, OUT as u32, 0],
                shared_bytes: 256,
                ..Launch::default()
            };
            let memory = memory(128, &mut random);
            assert!(agree(&launch, &memory));
            let alone = outcome(|memory| reference::run(&launch, memory), &memory);
            for threads in [1, 2, 3, 50].map(|n| NonZero::new(n).unwrap()) {
                let run = |memory: &mut Memory| fast::run_parallel(&launch, memory, Level::best(), threads);
                assert!(outcome(run, &memory) == alone, "{threads} threads of the host");
            }
        }
    }
}

#[test]
fn dispatches_that_run_at_once_do_what_they_do_one_after_another() {
    let mut random = Random(seed(15));
    let mut ended = 0;
    for round in 0..300 {
        // Threads of a dispatch do not access each other's data: rows of them have memory of their own.
        let is_flat = random.below(2) == 0;
        let sizes =
            if is_flat { [[128, 1, 1], [64, 1, 1], [100, 1, 1]] } else { [[32, 4, 1], [16, 2, 1], [256, 1, 1]] };
        let local_size = sizes[random.below(3) as usize];
        let more = if is_flat { 1 } else { 3 };
        let groups = [1 + random.below(40) as u32, 1 + random.below(more) as u32, 1];
        let width = local_size[0] * groups[0];
        let threads = width * local_size[1] * groups[1];
        // Some thread indices wrap around in the computation of an address.
        let index = match random.below(5) {
            0 if is_flat => "MOV.i32 r4, r60".to_owned(),
            1 if is_flat => "IMUL.i32 r4, r57, u4\nIADD.u32 r4, r4, r55.h0".to_owned(),
            2 if is_flat => {
                format!("IADD_IMM.i32 r4, r60, #{:#x}", 0u32.wrapping_sub(1 + random.below(width.into()) as u32))
            }
            _ => "IMUL.i32 r4, r61, u5\nIADD.u32 r4, r4, r60".to_owned(),
        };
        // Loads may read what earlier threads have written, and results may be thread indices.
        let base = ["u0", "u2"][random.below(2) as usize];
        let near = if is_flat || base == "u0" { 512 * (random.below(5) as i32 - 2) } else { 0 };
        let body = match random.below(5) {
            0 => "IADD.u32 r0, r0, r60".to_owned(),
            1 => "IADD.u32 r0, r0, r58\nMOV.i32 r58, r0".to_owned(),
            2 if is_flat => "LOAD.i32.unsigned.slot0.wait0 @r1, r4, offset:0
                STORE.i32.slot0.wait0 @r0, r4, offset:0
                IADD.u32 r0, r0, r1"
                .to_owned(),
            _ => "IADD.u32 r0, r0, r1\nIADD.u32 r2, r0, u5\nFADD.f32 r0, r0, r2".to_owned(),
        };
        let place =
            if body.contains("r4,") { "SHADDX.u64 r4, workgroup_local_pointer.w0, r55.w0, shift:0x2" } else { "" };
        let end = ["STORE.i32.slot0.end @r0, r62, offset:0", "STORE.i32.slot0 @r1, r8, offset:0\nNOP.end"];
        let text = format!(
            "{index}
            SHADDX.u64 r58, {base}, r4.w0, shift:0x2
            SHADDX.u64 r62, u2, r4.w0, shift:0x2
            SHADDX.u64 r6, u0, 0x0.w0, shift:0x0
            SHADDX.u64 r8, u6, 0x0.w0, shift:0x0
            {place}
            LOAD.i32.unsigned.slot0.wait0 @r0, r58, offset:{near}
            LOAD.i32.unsigned.slot0.wait0 @r1, r6, offset:4
            {body}
            STORE.i32.slot0 @r0, r62, offset:0
            {}",
            end[usize::from(random.below(4) == 0)]
        );
        let whole = u64::from(threads) * 14;
        let launch = Launch {
            program: assemble(&text),
            local_size,
            groups,
            uniforms: vec![IN as u32, 0, OUT as u32 + 1024, 0, local_size[0], width, SCRATCH as u32, 0],
            shared_bytes: 4 * local_size[0],
            budget: if random.below(4) == 0 { random.below(whole) } else { u64::MAX },
            ..Launch::default()
        };
        // In some rounds memory ends before all threads have theirs.
        let words =
            |threads: u32, random: &mut Random| to_bytes(&(0..threads).map(|_| value(random)).collect::<Vec<_>>());
        let all = if random.below(4) == 0 { random.below(threads.into()) as u32 } else { threads };
        let mut memory = Memory::new();
        memory.map(IN - 1024, words(threads + 512, &mut random)).unwrap();
        memory.map(OUT, words(all + 512, &mut random)).unwrap();
        memory.map(SCRATCH, vec![0; 4]).unwrap();
        let both = |run: &dyn Fn(&mut Memory) -> std::result::Result<Outcome, RunError>| {
            let mut memory = memory.clone();
            let outcome = run(&mut memory).map_err(|error| error.to_string());
            (outcome, [OUT, SCRATCH].map(|base| memory.region(base).unwrap().to_vec()))
        };
        let expected = both(&|memory| reference::run(&launch, memory));
        ended += usize::from(expected.0.is_ok());
        let levels = Level::available().into_iter().filter(|level| level.compiles()).map(Level::eager);
        for level in levels.chain(Level::available()) {
            let found = both(&|memory| fast::run(&launch, memory, level));
            assert!(
                found == expected,
                "{round}, {}: {:?}\n{:?}\n{launch:?}\n{text}",
                level.name(),
                found.0,
                expected.0
            );
        }
    }
    assert!(ended > 100, "{ended}");
}

#[test]
fn dispatches_that_run_at_once_end_where_the_budget_does() {
    let text = "
        SHADDX.u64 r62, u0, r60.w0, shift:0x2
        LOAD.i32.unsigned.slot0.wait0 @r0, r62, offset:0
        IADD_IMM.i32 r0, r0, #0x1
        STORE.i32.slot0.end @r0, r62, offset:0";
    // A bundle may execute 2^21 thread instructions in a turn. The budget ends soon after that.
    let launch = Launch {
        program: assemble(text),
        local_size: [128, 1, 1],
        groups: [6000, 1, 1],
        uniforms: vec![IN as u32, 0],
        budget: (1 << 21) + 400_001,
        ..Launch::default()
    };
    let run = |run: &dyn Fn(&mut Memory) -> std::result::Result<Outcome, RunError>| {
        let mut memory = Memory::new();
        memory.map(IN, vec![0; 4 * 128 * 6000]).unwrap();
        (run(&mut memory).unwrap_err().to_string(), memory.region(IN).unwrap().to_vec())
    };
    let expected = run(&|memory| reference::run(&launch, memory));
    for level in Level::available() {
        let found = run(&|memory| fast::run(&launch, memory, level));
        assert!(found == expected, "{}: {}, not {}", level.name(), found.0, expected.0);
    }
}

#[test]
fn what_all_warps_load_from_one_place_is_loaded_once() {
    let text = |then: &str| {
        format!(
            "SHADDX.u64 r58, u0, r60.w0, shift:0x2
            SHADDX.u64 r48, u0, 0x0.w0, shift:0x0
            SHADDX.u64 r62, u2, r60.w0, shift:0x2
            BARRIER.slot7.wait
            LOAD.i32.unsigned.slot0.wait0 @r1, r48, offset:4
            LOAD.i32.unsigned.slot0.wait0 @r2, r58, offset:0
            IADD.u32 r0, r1, r2
            {then}
            BARRIER.slot7.wait
            STORE.i32.slot0.end @r0, r62, offset:0"
        )
    };
    let loads = |text: &str, level: Level| {
        let launch = Launch {
            program: assemble(text),
            local_size: [128, 1, 1],
            uniforms: vec![IN as u32, 0, OUT as u32, 0],
            ..Launch::default()
        };
        let mut memory = memory(128, &mut Random(seed(24)));
        let (_, listing) = fast::run_listed(&launch, &mut memory, &mut Resources::default(), level.eager()).unwrap();
        listing.lines().filter(|line| line.contains("vpbroadcastd zmm") && line.contains(",[r")).count()
    };
    for level in Level::available().into_iter().filter(|level| level.name().starts_with("avx512")) {
        assert_eq!(loads(&text("NOP"), level), 1, "{}", level.name());
        // With a store that may have changed the word, each of the two warps that execute side by side loads it.
        assert_eq!(loads(&text("STORE.i32.slot0.wait0 @r0, r58, offset:0"), level), 2, "{}", level.name());
    }
}
