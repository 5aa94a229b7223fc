//! The fast path against the reference: the same memory, the same counts, the same errors, at every level.

use isaforge_core::sample::{Random, sample};
use isaforge_runtime::valhall::fast::{self, Level};
use isaforge_runtime::valhall::reference;
use isaforge_runtime::{Launch, Memory, Outcome, RunError};
use isaforge_valhall::{ISA, Opcode, decode};

use super::{OUT, assemble, to_bytes};

/// Where the registers of threads come from.
const IN: u64 = 0x10_0000;
/// Bytes that a thread has for its registers.
const THREAD: u32 = 256;

/// Loads all registers of each thread but the last ones, which hold the address.
fn prologue() -> String {
    let mut text = "
        IADD_IMM.i32 r56, 0x0, #0x100
        IMUL.i32 r60, r60, r56
        SHADDX.u64 r62, u0, r60.w0, shift:0x0
    "
    .to_owned();
    for register in (0..60).step_by(4) {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| register + i);
        text += &format!("LOAD.i128.unsigned.slot0 @r{a}:r{b}:r{c}:r{d}, r62, offset:{:#x}\n", 4 * register);
    }
    text + "LOAD.i128.unsigned.slot0 @r60:r61:r62:r63, r62, offset:0xf0\n"
}

/// Stores all registers but r60 and those after it, which are lost.
fn epilogue() -> String {
    let mut text = "
        IADD_IMM.i32 r63, 0x0, #0x100
        IMUL.i32 r61, lane_id.w0, r63
        IADD_IMM.i32 r63, 0x0, #0x1000
        IMUL.i32 r60, warp_id.w0, r63
        IADD.u32 r60, r60, r61
        SHADDX.u64 r62, u2, r60.w0, shift:0x0
    "
    .to_owned();
    for register in (0..60).step_by(4) {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| register + i);
        let end = if register == 56 { ".end" } else { "" };
        text += &format!("STORE.i128.slot0{end} @r{a}:r{b}:r{c}:r{d}, r62, offset:{:#x}\n", 4 * register);
    }
    text
}

/// A word that is a number, an edge of one, or anything.
fn value(random: &mut Random) -> u32 {
    const SINGLE: [u32; 24] = [
        0,
        0x3f80_0000,
        0x3f00_0000,
        0x4000_0000,
        0x7f80_0000,
        0x7fc0_0000,
        0x7f80_0001,
        0x7fff_ffff,
        1,
        0x0080_0000,
        0x007f_ffff,
        0x7f7f_ffff,
        0x3f7f_ffff,
        0x3f80_0001,
        0x4b00_0001,
        0x4eff_ffff,
        0x4f00_0000,
        0x4f7f_ffff,
        0x3880_0000,
        0x3300_0000,
        0x3300_0001,
        0x477f_e000,
        0x477f_efff,
        0x477f_f000,
    ];
    const HALF: [u32; 16] = [
        0, 0x3c00, 0x3800, 0x4000, 0x7c00, 0x7e00, 0x7c01, 0x7fff, 1, 0x0400, 0x03ff, 0x7bff, 0x3bff, 0x3c01, 0x6401,
        0x1400,
    ];
    let bits = random.next();
    let sign = |bits: u64| (bits as u32 & 1) << 31;
    match bits % 8 {
        0 | 1 => SINGLE[(bits >> 8) as usize % SINGLE.len()] | sign(bits >> 32),
        2 => {
            let half = |bits: u64| HALF[(bits >> 8) as usize % HALF.len()] | sign(bits) >> 16;
            half(bits >> 8) | half(bits >> 32) << 16
        }
        // Near one another, so that sums cancel.
        3 => 0x3f80_0000 | (bits >> 32) as u32 & 0x80ff_0007,
        4 => (bits >> 32) as u32 & 0x83ff_83ff | 0x3c00_3c00,
        5 => (bits >> 32) as u32 & 0x21,
        _ => (bits >> 32) as u32,
    }
}

/// What a run leaves behind.
type Result = std::result::Result<(Outcome, Vec<u8>), RunError>;

fn memory(threads: u32, random: &mut Random) -> Memory {
    let words: Vec<u32> = (0..threads * THREAD / 4).map(|_| value(random)).collect();
    let mut memory = Memory::new();
    memory.map(IN, to_bytes(&words)).unwrap();
    memory.map(OUT, vec![0; (threads * THREAD) as usize]).unwrap();
    memory
}

fn outcome(run: impl FnOnce(&mut Memory) -> std::result::Result<Outcome, RunError>, memory: &Memory) -> Result {
    let mut memory = memory.clone();
    let outcome = run(&mut memory)?;
    Ok((outcome, [IN, OUT].map(|base| memory.region(base).unwrap()).concat()))
}

/// Runs a launch in both ways; true when it came to its end.
fn agree(launch: &Launch, memory: &Memory) -> bool {
    let expected = outcome(|memory| reference::run(launch, memory), memory);
    for level in Level::available() {
        let found = outcome(|memory| fast::run(launch, memory, level), memory);
        if found != expected {
            let text: String =
                launch.program.iter().map(|&w| decode(w).map_or(format!("{w:#x}\n"), |i| format!("{i}\n"))).collect();
            match (&found, &expected) {
                (Ok((a, x)), Ok((b, y))) => {
                    assert_eq!(a, b, "{}\n{text}", level.name());
                    let at = x.chunks(4).zip(y.chunks(4)).position(|(x, y)| x != y).unwrap();
                    let word = |bytes: &[u8]| u32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().unwrap());
                    let (thread, register) = (at as u32 % (x.len() as u32 / 8) / 64, at % 64);
                    let given = memory.region(IN).unwrap();
                    let mut registers = String::new();
                    for (r, bytes) in given.chunks(4).skip(64 * thread as usize).take(64).enumerate() {
                        registers += &format!("r{r}={:08x} ", u32::from_le_bytes(bytes.try_into().unwrap()));
                    }
                    panic!(
                        "{}: thread {thread}, r{register}: {:08x}, not {:08x}\n{text}\n{registers}",
                        level.name(),
                        word(x),
                        word(y)
                    );
                }
                _ => assert_eq!(
                    found.as_ref().map(|_| ()).map_err(ToString::to_string),
                    expected.as_ref().map(|_| ()).map_err(ToString::to_string),
                    "{}\n{text}",
                    level.name()
                ),
            }
        }
    }
    expected.is_ok()
}

fn launch(threads: u32, body: &[u64]) -> Launch {
    let program = [assemble(&prologue()), body.to_vec(), assemble(&epilogue())].concat();
    let uniforms = vec![IN as u32, 0, OUT as u32, 0, 0x3f80_0000, 0x7fc0_1234, 0x3c00_b555, 7];
    Launch { program, local_size: [threads, 1, 1], uniforms, shared_bytes: 64, budget: 1 << 24, ..Launch::default() }
}

/// How many programs of each instruction are compared.
const ROUNDS: u64 = if cfg!(debug_assertions) { 3 } else { 60 };

#[test]
fn every_instruction_does_what_the_reference_does() {
    let mut random = Random(1);
    let mut finished = 0;
    for opcode in 0..Opcode::COUNT as u16 {
        for round in 0..ROUNDS {
            let words: Vec<u64> = (0..6)
                .map(|_| {
                    let word = sample(ISA, opcode, &mut random);
                    // Mostly without a flow: threads that end are not seen again.
                    if random.below(16) == 0 { word } else { word & !(0xf << 59) }
                })
                .collect();
            // Eight warps, a few, or eight whose lanes are apart: some jump over the instructions.
            let threads = if round % 3 == 1 { 40 } else { 128 };
            let skip = assemble("BRANCHZ r17.h0, offset:6");
            let body = if round % 3 == 2 { [skip, words].concat() } else { words };
            let launch = launch(threads, &body);
            finished += u64::from(agree(&launch, &memory(threads, &mut random)));
        }
    }
    assert!(finished > ROUNDS * Opcode::COUNT as u64 / 2, "{finished} programs came to their end");
}
