//! Random programs full of NaNs and parts of registers, on every engine at every level.

use isaforge_core::sample::Random;
use isaforge_runtime::valhall::compare::compare;
use isaforge_runtime::{Execution, Launch, Memory};
use isaforge_valhall::decode;

use super::fast::computing;
use super::seed::{rounds, seed};
use super::{assemble, to_bytes};

const IN: u64 = 0x10_0000;
const OUT: u64 = 0x20_0000;
const THREADS: u64 = 128;

/// Programs without more rounds.
const PROGRAMS: u64 = if cfg!(debug_assertions) { 24 } else { 1_000 };

/// A word of floats or halves, of which half are NaNs: quiet and signalling, of both signs, with and without payload.
fn word(random: &mut Random) -> u32 {
    let bits = random.next();
    let payload = (bits >> 32) as u32;
    let half = |bits: u32| match bits % 4 {
        0 => 0x7c00 | bits >> 4 & 0x81ff,
        1 => 0x7e00 | bits >> 4 & 0x81ff,
        2 => bits >> 4 & 0xffff,
        _ => [0, 0x8000, 0x7c00, 0xfc00, 0x3c00, 1, 0x83ff, 0x7bff][bits as usize >> 4 & 7],
    };
    match bits % 4 {
        0 => 0x7f80_0000 | payload & 0x807f_ffff,
        1 => half(payload) & 0xffff | half(payload.rotate_left(13)) << 16,
        2 => [0, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x3f80_0000, 1, 0x807f_ffff][payload as usize & 7],
        _ => payload,
    }
}

/// A loop of instructions that only compute, with jumps in it, on registers from r16 to r55.
fn program(random: &mut Random) -> Vec<u64> {
    let mut lines = vec!["SHADDX.u64 r62, u0, r60.w0, shift:0x6".to_owned()];
    lines.extend(
        [0, 4, 8, 12].map(|r| {
            format!("LOAD.i128.unsigned.slot0 @r{r}:r{}:r{}:r{}, r62, offset:{:#x}", r + 1, r + 2, r + 3, 4 * r)
        }),
    );
    lines.extend((16..56).map(|r| format!("MOV.i32 r{r}, r{}", r % 16)));
    // More often than it takes to become machine code, or not.
    lines.push(format!("IADD_IMM.i32 r59, 0x0, #{:#x}", [2, 3, 200][random.below(3) as usize]));
    let length = 3 + random.below(14);
    for line in 0..length {
        let (offset, register) = (random.below(length - line).min(3), 16 + random.below(40));
        let jumps = random.below(6) == 0;
        lines.push(if jumps { format!("BRANCHZ r{register}.h0, offset:{offset}") } else { computing(random) });
    }
    lines.push("IADD_IMM.i32 r59, r59, #0xffffffff".to_owned());
    lines.push(format!("BRANCHZ.reconverge r59, offset:{}", -(length as i64) - 2));
    lines.push("SHADDX.u64 r62, u2, r60.w0, shift:0x6".to_owned());
    for r in [0, 4, 8, 12] {
        lines.extend((r..r + 4).map(|r| format!("MOV.i32 r{r}, r{}", 16 + random.below(40))));
        let end = if r == 12 { ".end" } else { "" };
        lines.push(format!("STORE.i128.slot0{end} @r{r}:r{}:r{}:r{}, r62, offset:{:#x}", r + 1, r + 2, r + 3, 4 * r));
    }
    assemble(&lines.join("\n"))
}

#[test]
fn engines_agree_on_random_programs() {
    let mut random = Random(seed(20));
    let executions = Execution::available();
    for number in 0..PROGRAMS * rounds() {
        let program = program(&mut random);
        let words: Vec<u32> = (0..16 * THREADS).map(|_| word(&mut random)).collect();
        let mut memory = Memory::new();
        memory.map(IN, to_bytes(&words)).unwrap();
        memory.map(OUT, vec![0; 64 * THREADS as usize]).unwrap();
        let threads = [THREADS as u32, 40][number as usize % 2];
        let uniforms = vec![IN as u32, 0, OUT as u32, 0, 0x7f80_0001, 0xffc0_1234, 0x7c01_fe55, 7];
        let launch = Launch { program, local_size: [threads, 1, 1], uniforms, budget: 1 << 24, ..Launch::default() };
        if let Err(difference) = compare(&launch, &memory, &executions) {
            let lines = launch.program.iter().map(|&word| decode(word).map_or(format!("{word:#x}"), |i| i.to_string()));
            panic!("program {number}: {difference}\n{}", lines.collect::<Vec<_>>().join("\n"));
        }
    }
}
