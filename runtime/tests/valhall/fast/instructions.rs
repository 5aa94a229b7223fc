//! Single instructions: every modifier, and what nobody reads.

use super::*;

#[test]
fn every_instruction_does_what_the_reference_does() {
    let mut random = Random(seed(1));
    let mut finished = 0;
    for opcode in 0..Opcode::COUNT as u16 {
        for round in 0..ROUNDS {
            let words: Vec<u64> = (0..6)
                .map(|_| {
                    let word = sample(ISA, opcode, &mut random);
                    // Mostly without a flow modifier, since the state of ended threads is not stored.
                    if random.below(16) == 0 { word } else { word & !(0xf << 59) }
                })
                .collect();
            // Eight warps, a few warps, or eight divergent ones: some lanes jump over the instructions.
            let threads = if round % 3 == 1 { 40 } else { 128 };
            let skip = assemble("BRANCHZ r17.h0, offset:6");
            let body = if round % 3 == 2 { [skip, words].concat() } else { words };
            let launch = launch(threads, &body);
            finished += u64::from(agree(&launch, &memory(threads, &mut random)));
        }
    }
    assert!(finished > ROUNDS * Opcode::COUNT as u64 / 2, "{finished} programs came to their end");
}

/// Words of an instruction, one for each value of each of its modifiers except the flow.
fn modified(opcode: u16, random: &mut Random) -> Vec<u64> {
    let form = &ISA.forms[usize::from(opcode)];
    let modifiers = form.modifiers.iter().chain(form.operands.iter().flat_map(|operand| operand.suffixes));
    let mut words = Vec::new();
    for modifier in modifiers.filter(|modifier| modifier.name != "flow") {
        for value in 0..1 << modifier.bits.width().min(4) {
            let word = modifier.bits.set(sample(ISA, opcode, random) & !(0xf << 59), 0, value);
            if decode(word).is_ok_and(|found| found.opcode() as u16 == opcode) {
                words.push(word);
            }
        }
    }
    words
}

#[test]
fn every_value_of_every_modifier_does_what_the_reference_does() {
    let mut random = Random(seed(4));
    let mut finished = 0;
    for opcode in 0..Opcode::COUNT as u16 {
        for words in modified(opcode, &mut random).chunks(12) {
            finished += usize::from(agree(&launch(40, words), &memory(40, &mut random)));
        }
    }
    assert!(finished > Opcode::COUNT, "{finished} programs came to their end");
}

#[test]
fn what_nobody_reads_is_not_missed() {
    // Only four registers are stored, so most results are read by other instructions at most, and their NaNs are
    // unspecified. Branches connect runs of instructions.
    let mut random = Random(seed(6));
    until_ended(12 * ROUNDS, |round| {
        let mut lines = vec![
            "IADD_IMM.i32 r56, 0x0, #0x100".to_owned(),
            "IMUL.i32 r60, r60, r56".to_owned(),
            "SHADDX.u64 r62, u0, r60.w0, shift:0x0".to_owned(),
        ];
        lines.extend([0, 4, 8, 12].map(|r| {
            format!("LOAD.i128.unsigned.slot0 @r{r}:r{}:r{}:r{}, r62, offset:{:#x}", r + 1, r + 2, r + 3, 4 * r)
        }));
        lines.extend((16..56).map(|r| format!("MOV.i32 r{r}, r{}", r % 16)));
        lines.push("IADD_IMM.i32 r59, 0x0, #0x3".to_owned());
        let length = 4 + random.below(16);
        for line in 0..length {
            let jumps = random.below(5) == 0;
            let offset = random.below(length - line).min(4);
            let register = 16 + random.below(40);
            lines.push(if jumps { format!("BRANCHZ r{register}.h0, offset:{offset}") } else { computing(&mut random) });
        }
        lines.push("IADD_IMM.i32 r59, r59, #0xffffffff".to_owned());
        lines.push(format!("BRANCHZ r59, offset:{}", -(length as i64) - 2));
        lines.extend((0..4).map(|r| format!("MOV.i32 r{r}, r{}", 16 + random.below(40))));
        lines.push("SHADDX.u64 r62, u2, r60.w0, shift:0x0".to_owned());
        lines.push("STORE.i128.slot0.end @r0:r1:r2:r3, r62, offset:0x0".to_owned());
        let threads = [128, 40][round as usize % 2];
        let launch = Launch { program: assemble(&lines.join("\n")), ..launch(threads, &[]) };
        agree(&launch, &memory(threads, &mut random))
    });
}

/// A comparison of bytes passes through several masks before it becomes a number, which the next iteration reads.
#[test]
fn masks_of_masks_become_numbers() {
    let program = assemble(
        "
        SHADDX.u64 r62, u0, r60.w0, shift:0x6
        IADD_IMM.i32 r29, 0x0, #0x3c003c00
        IADD_IMM.i32 r59, 0x0, #0x2
        FMA.f32 r48, ^r29.abs.h1, r35.neg.h1, u15.neg.abs.h0
        ICMP.v4u8.ge.f1.seq r35, r20.b2233, blend_descriptor_6.w1, r23
        IADD_IMM.i32 r59, r59, #0xFFFFFFFF
        BRANCHZ.reconverge r59, offset:-4
        STORE.i32.slot0.end @r48, r62, offset:0
        ",
    );
    let mut memory = Memory::new();
    memory.map(OUT, vec![0; 64 * 16]).expect("there is room");
    let launch = Launch { program, local_size: [16, 1, 1], uniforms: vec![OUT as u32, 0], ..Launch::default() };
    let agreed = compare(&launch, &memory, &Execution::available());
    let outcome = agreed.unwrap_or_else(|difference| panic!("{difference}"));
    outcome.expect("it runs");
}
