//! Loops, and lanes that part and meet.

use super::*;

#[test]
fn what_a_loop_computes_is_written_in_the_lanes_that_are_there() {
    // Values stay in processor registers from turn to turn, and divergent lanes keep theirs, whatever the component
    // size of the instruction.
    let mut random = Random(seed(6));
    let mut finished = 0;
    for _ in 0..240 * ROUNDS {
        let jump = |random: &mut Random| format!("BRANCHZ r{}.h0, offset:1", random.below(16));
        let lines = [
            "IADD_IMM.i32 r59, 0x0, #0x3".to_owned(),
            format!("again: {}", jump(&mut random)),
            computing(&mut random),
            jump(&mut random),
            computing(&mut random),
            "IADD_IMM.i32 r59, r59, #0xffffffff".to_owned(),
            "BRANCHZ.reconverge r59, offset:again".to_owned(),
        ];
        let threads = [16, 40, 128][random.below(3) as usize];
        finished += u64::from(agree(&launch(threads, &assemble(&lines.join("\n"))), &memory(threads, &mut random)));
    }
    assert!(finished > 200 * ROUNDS, "{finished} programs came to their end");
}

#[test]
fn lanes_and_warps_that_part_meet_where_they_do_in_the_reference() {
    let mut random = Random(seed(2));
    until_ended(4 * ROUNDS, |round| {
        // Forward branches on any register, a few backward branches, and barriers where all lanes are together.
        let mut lines = vec!["IADD_IMM.i32 r59, 0x0, #0x3".to_owned()];
        for line in 1..30u64 {
            let [a, b, c] = [0; 3].map(|_| random.below(16));
            let line = match random.below(8) {
                0 | 1 => {
                    let offset = random.below(30 - line).min(8);
                    let half = [".h0", ".h1", "", ".and", ".lowbits"][random.below(5) as usize];
                    let sense = ["", ".eq"][random.below(2) as usize];
                    format!("BRANCHZ{sense} r{a}{half}, offset:{offset}")
                }
                2 => {
                    let back = random.below(line);
                    // One branch of a pair; the counter is decremented before it.
                    lines.push("ISUB.u32.saturate r59, r59, 0x01000000.b3".to_owned());
                    format!("BRANCHZ r59, offset:{}", -(back as i64) - 1)
                }
                3 => format!("FMA.f32 r{a}, r{b}, r{c}, r{a}"),
                4 => format!("ICMP.u32.lt.i1 r{a}, r{b}, r{c}, 0x0"),
                5 => format!("CLPER.i32.subgroup16.xor r{a}, r{b}, r{c}"),
                6 => format!("IADD.u32 r{a}, r{b}, r{c}"),
                _ => format!("LSHIFT_XOR.i32 r{a}, r{b}, r{c}.b00, r{a}"),
            };
            lines.push(line);
        }
        let body = assemble(&lines.join("\n"));
        let threads = [128, 40, 16, 200][round as usize % 4];
        let mut launch = launch(threads, &body);
        // Some programs exhaust the budget. A single warp does so at the same place.
        launch.budget = if threads == 16 { 3_000 } else { 1 << 21 | 1 << 19 };
        let memory = memory(threads, &mut random);
        let ended = reference::run(&launch, &mut memory.clone());
        (threads == 16 || !matches!(ended, Err(RunError::Budget { .. }))) && agree(&launch, &memory)
    });
}

#[test]
fn lanes_that_leave_a_loop_in_its_middle_have_what_was_computed_so_far() {
    // Registers are exchanged and overwritten before, between and after the branches by which lanes leave.
    let mut random = Random(seed(21));
    until_ended(8 * ROUNDS, |round| {
        let registers = [2, 4, 7, 11][round as usize % 4];
        let mut lines = vec![
            "IADD_IMM.i32 r58, 0x0, #0x3f".to_owned(),
            "LSHIFT_AND.i32 r59, r0, 0x0.b00, r58".to_owned(),
            "IADD_IMM.i32 r59, r59, #0x80".to_owned(),
            "again: IADD_IMM.i32 r59, r59, #0xffffffff".to_owned(),
        ];
        for _ in 0..4 + random.below(10) {
            let [a, b, c] = [0; 3].map(|_| random.below(registers));
            lines.push(match random.below(8) {
                0 => format!("BRANCHZ r{a}.h0, offset:{}", ["near", "far"][random.below(2) as usize]),
                1 => format!("ICMP.u32.eq.i1 r57, r{a}, r59, 0x0\nBRANCHZ.eq r57, offset:far"),
                2 => format!("MOV.i32 r57, r{a}\nMOV.i32 r{a}, r{b}\nMOV.i32 r{b}, r57"),
                3 => format!("MOV.i32 r{a}, r{b}"),
                4 => format!("FADD.f32 r{a}, r{b}, r{c}"),
                5 => format!("FMA.f32 r{a}, r{b}, r{c}, r{a}"),
                6 => format!("IADD.u32 r{a}, r{b}, r59"),
                _ => format!("LSHIFT_XOR.i32 r{a}, r{b}, 0x03020100.b11, r{c}"),
            });
        }
        lines.push("BRANCHZ.reconverge r59, offset:again".to_owned());
        lines.push(format!("near: MOV.i32 r{}, r{}", random.below(registers), random.below(registers)));
        lines.push("far: NOP".to_owned());
        let launch = launch([40, 128][(round / 4) as usize % 2], &assemble(&lines.join("\n")));
        agree(&launch, &memory([40, 128][(round / 4) as usize % 2], &mut random))
    });
}

#[test]
fn loops_stop_where_turns_and_budgets_end() {
    // Lanes iterate at different times and in different ways, in two loops, for longer than a turn or until the budget
    // is exhausted. The more registers they use, the fewer warps execute side by side.
    let mut random = Random(seed(9));
    until_ended(5 * ROUNDS, |round| {
        let registers = [3, 5, 9, 16][round as usize % 4];
        let operation = |random: &mut Random| {
            let [a, b, c] = [0; 3].map(|_| random.below(registers));
            match random.below(9) {
                8 => format!("MOV.i32 r57, r{a}\nMOV.i32 r{a}, r{b}\nMOV.i32 r{b}, r57"),
                5 => format!("MOV.i32 r{a}, r{b}"),
                6 => format!("FCMP.f32.gt.m1 r{a}, u4, u4, 0x0"),
                7 => format!("FADD.f32 r{a}, u{}, u4", 4 + random.below(2)),
                0 => format!("FMA.f32 r{a}, r{b}, r{c}, r{a}"),
                1 => format!("ICMP.u32.lt.i1 r{a}, r{b}, r{c}, 0x0"),
                2 => format!("IADD.u32 r{a}, r{b}, r{c}"),
                3 => format!("IMUL.i32 r{a}, r{b}, r{c}"),
                _ => format!("LSHIFT_XOR.i32 r{a}, r{b}, 0x03020100.b{0}{0}, r{a}", random.below(4)),
            }
        };
        let branch = |random: &mut Random, over: u64| {
            let half = [".h0", ".h1", "", ".and", ".lowbits"][random.below(5) as usize];
            let sense = ["", ".eq"][random.below(2) as usize];
            format!("BRANCHZ{sense} r{}{half}, offset:{over}", random.below(registers))
        };
        let count = |to: u8, from: u64, bits: u32, least: u32| {
            [
                format!("IADD_IMM.i32 r57, 0x0, #{bits:#x}"),
                format!("LSHIFT_AND.i32 r{to}, r{from}, 0x0.b00, r57"),
                format!("IADD_IMM.i32 r{to}, r{to}, #{least:#x}"),
            ]
        };
        let less = |counter: u8| format!("IADD_IMM.i32 r{counter}, r{counter}, #0xffffffff");
        // Branches back while the register is not zero, tested directly or by its comparison with zero.
        let back = |test: u8, label: &str| match (round / 4) % 2 {
            0 => format!("BRANCHZ.reconverge r{test}, offset:{label}"),
            _ => format!("ICMP.u32.eq.i1 r55, r{test}, 0x0, 0x0\nBRANCHZ.eq.reconverge r55, offset:{label}"),
        };
        let mut lines = count(59, random.below(registers), 0x7f, 0x200).to_vec();
        lines.extend(["outer:".to_owned(), less(59)]);
        let length = 3 + random.below(6);
        for line in 0..length {
            let over = random.below(length - line).min(2);
            lines.push(if random.below(3) == 0 { branch(&mut random, over) } else { operation(&mut random) });
        }
        lines.extend(count(58, random.below(registers), 3, 1));
        // Some lanes branch back from here, while others continue.
        lines.push(format!("LSHIFT_AND.i32 r56, r59, 0x0.b00, r{}", random.below(registers)));
        lines.extend([back(56, "outer"), "inner:".to_owned(), less(58)]);
        lines.push(operation(&mut random));
        // Some lanes leave both loops at once.
        let over = if random.below(4) == 0 { 10 } else { 1 };
        lines.push(branch(&mut random, over));
        lines.extend([0; 2].map(|_| operation(&mut random)));
        lines.push(back(58, "inner"));
        lines.extend([0; 2].map(|_| operation(&mut random)));
        // If all of them fail after the loops, the warp whose turn comes first must be reported.
        let last = if round % 8 == 7 { "STORE.i32.slot0 @r0, r2, offset:0" } else { "NOP" };
        lines.extend([back(59, "outer"), "NOP".to_owned(), last.to_owned()]);
        let threads = [40, 128][(round / 8) as usize % 2];
        let mut launch = launch(threads, &assemble(&lines.join("\n")));
        if round % 8 < 4 {
            launch.budget = 2_000 + random.below(1 << 20);
        }
        agree(&launch, &memory(threads, &mut random))
    });
}
