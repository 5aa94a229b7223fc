//! Valhall programs on the reference, with handlers at each level, and as machine code.

use isaforge_core::program::assemble;
use isaforge_core::sample::{Random, sample};
use isaforge_runtime::valhall::compare::compare;
use isaforge_runtime::{Execution, Launch, Memory};
use isaforge_valhall::{ISA, Opcode, decode};

/// The address from which threads load their registers.
const IN: u64 = 0x10_0000;
/// The address to which threads store their registers.
const OUT: u64 = 0x20_0000;
/// The maximum number of threads of a launch.
const THREADS: u64 = 128;

/// Runs one program on every engine.
///
/// # Panics
/// When the results of an engine differ from those of the reference.
pub fn agree(random: &mut Random) {
    let program = program(random);
    let words = (0..16 * THREADS).flat_map(|_| word(random).to_le_bytes()).collect::<Vec<u8>>();
    let mut memory = Memory::new();
    let mapped = memory.map(IN, words).and_then(|()| memory.map(OUT, vec![0; 64 * THREADS as usize]));
    mapped.unwrap_or_else(|error| panic!("{error}"));
    let threads = [THREADS as u32, 40, 16][random.below(3) as usize];
    let uniforms = vec![IN as u32, 0, OUT as u32, 0, 0x7f80_0001, 0xffc0_1234, 0x7c01_fe55, 7];
    let launch = Launch { program, local_size: [threads, 1, 1], uniforms, budget: 1 << 24, ..Launch::default() };
    if let Err(difference) = compare(&launch, &memory, &Execution::available()) {
        let lines = launch.program.iter().map(|&word| decode(word).map_or(format!("{word:#x}"), |i| i.to_string()));
        panic!("{difference}\n{}", lines.collect::<Vec<_>>().join("\n"));
    }
}

/// A word with floats or halves, half of them NaNs: quiet and signalling, of both signs, with and without payload.
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

/// A loop of instructions without side effects, with jumps, on registers from r16 to r55.
fn program(random: &mut Random) -> Vec<u64> {
    let mut lines = vec!["SHADDX.u64 r62, u0, r60.w0, shift:0x6".to_owned()];
    lines.extend(
        [0, 4, 8, 12].map(|r| {
            format!("LOAD.i128.unsigned.slot0 @r{r}:r{}:r{}:r{}, r62, offset:{:#x}", r + 1, r + 2, r + 3, 4 * r)
        }),
    );
    lines.extend((16..56).map(|r| format!("MOV.i32 r{r}, r{}", r % 16)));
    // In some cases often enough for the loop to be compiled.
    let rounds = if random.below(8) == 0 { 200 } else { 2 + random.below(2) };
    lines.push(format!("IADD_IMM.i32 r59, 0x0, #{rounds:#x}"));
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
    let text = lines.join("\n");
    assemble(ISA, &text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

/// An instruction without side effects, on registers from r16 to r55. Half of them compute floats.
pub fn computing(random: &mut Random) -> String {
    let floats = random.below(2) == 0;
    loop {
        let word = sample(ISA, random.below(Opcode::COUNT as u64) as u16, random) & !(0xf << 59);
        let Ok(text) = decode(word).map(|instruction| instruction.to_string()) else { continue };
        let other = ["@", "slot", "BRANCH", "JUMP", "BARRIER", "_id", "pointer"].iter().any(|part| text.contains(part));
        if other || floats && !["FADD", "FMA."].iter().any(|name| text.starts_with(name)) {
            continue;
        }
        // Register pairs begin with an even register.
        let mut moved = String::new();
        for (index, part) in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()).enumerate() {
            let digits = part.strip_prefix(['r', 'R']).unwrap_or("").trim_end_matches(|c: char| !c.is_ascii_digit());
            match digits.parse::<u32>() {
                Ok(register) if index > 0 => moved += &part.replacen(digits, &(16 + register % 40).to_string(), 1),
                _ => moved += part,
            }
        }
        if assemble(ISA, &moved).is_ok() {
            return moved;
        }
    }
}
