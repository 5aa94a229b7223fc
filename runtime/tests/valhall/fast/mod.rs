//! The fast path compared with the reference: the same memory, counts and errors at every level.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

use isaforge_core::sample::{Random, sample};
use isaforge_runtime::machine::{AccessObserver, Accesses, Machine};
use isaforge_runtime::valhall::compare::compare;
use isaforge_runtime::valhall::fast::{self};
use isaforge_runtime::valhall::host::Resources;
use isaforge_runtime::valhall::reference;
use isaforge_runtime::valhall::watched::Watched;
use isaforge_runtime::{Deadline, Execution, Launch, Level, Memory, Outcome, RunError};
use isaforge_valhall::{ISA, Opcode, decode};

use super::execution::computing;
use super::seed::seed;
use super::{assemble, to_bytes};

mod atomics;
mod counted;
mod edges;
mod instructions;
mod listing;
mod loops;
mod memory;
mod workgroups;

/// The address from which threads load their registers.
const IN: u64 = 0x10_0000;
/// Out of reach of the offsets of accesses whose base is 0, from a missing uniform: such a store to the results of
/// another warp would be a race.
const OUT: u64 = 0x4_0000;
/// The address of memory to which threads may write freely.
const SCRATCH: u64 = 0x20_0000;
/// The bytes of a thread's registers.
const THREAD: u32 = 256;

/// Loads all registers of each thread except the last ones, which hold the address.
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

/// Stores all registers except r60 and later ones, which are lost.
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

/// A random word: a number, a boundary value, or any bits.
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
        // Numbers near each other, so that sums cancel.
        3 => 0x3f80_0000 | (bits >> 32) as u32 & 0x80ff_0007,
        4 => (bits >> 32) as u32 & 0x83ff_83ff | 0x3c00_3c00,
        5 => (bits >> 32) as u32 & 0x21,
        _ => (bits >> 32) as u32,
    }
}

/// The results of a run.
type Result = std::result::Result<(Outcome, Vec<u8>), RunError>;

fn memory(threads: u32, random: &mut Random) -> Memory {
    let words: Vec<u32> = (0..threads * THREAD / 4).map(|_| value(random)).collect();
    let mut memory = Memory::new();
    memory.map(IN, to_bytes(&words)).unwrap();
    memory.map(OUT, vec![0; (threads * THREAD) as usize]).unwrap();
    memory.map(SCRATCH, vec![0; (threads * THREAD) as usize]).unwrap();
    memory
}

fn outcome(run: impl FnOnce(&mut Memory) -> std::result::Result<Outcome, RunError>, memory: &Memory) -> Result {
    let mut memory = memory.clone();
    let outcome = run(&mut memory)?;
    Ok((outcome, [IN, OUT, SCRATCH].map(|base| memory.region(base).unwrap()).concat()))
}

/// A level that compiles at once; each call returns the next one.
fn next_eager() -> Level {
    static TURN: AtomicUsize = AtomicUsize::new(0);
    let levels: Vec<_> = Level::available().into_iter().filter(|level| level.compiles()).collect();
    let turn = TURN.fetch_add(1, Ordering::Relaxed);
    levels.get(turn % levels.len().max(1)).copied().unwrap_or(Level::best()).eager()
}

/// Runs a launch in both ways, and returns whether it ran to its end.
fn agree(launch: &Launch, memory: &Memory) -> bool {
    let expected = outcome(|memory| reference::run(launch, memory), memory);
    for level in Level::available().into_iter().chain([next_eager()]) {
        let found = outcome(|memory| fast::run(launch, memory, level), memory);
        if found != expected {
            let text: String =
                launch.program.iter().map(|&w| decode(w).map_or(format!("{w:#x}\n"), |i| format!("{i}\n"))).collect();
            match (&found, &expected) {
                (Ok((a, x)), Ok((b, y))) => {
                    assert_eq!(a, b, "{}\n{text}", level.name());
                    let at = x.chunks(4).zip(y.chunks(4)).position(|(x, y)| x != y).unwrap();
                    let word = |bytes: &[u8]| u32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().unwrap());
                    // There are three regions with the same number of words.
                    let (thread, register) = (at % (x.len() / 12) / 64, at % 64);
                    let given = memory.region(IN).unwrap();
                    let mut registers = String::new();
                    for (r, bytes) in given.chunks(4).skip(64 * thread).take(64).enumerate() {
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
    // Programs that fail may have made more accesses or fewer before, and all of the long ones would take minutes.
    static TURN: AtomicUsize = AtomicUsize::new(0);
    let most = if TURN.fetch_add(1, Ordering::Relaxed).is_multiple_of(16) { 1_000_000 } else { 100_000 };
    if expected.as_ref().is_ok_and(|(outcome, _)| outcome.thread_instructions < most) {
        let execution = Execution::best().eager();
        let expected = accesses(launch, memory, Execution::reference());
        assert_eq!(accesses(launch, memory, execution), expected, "{execution}");
    }
    expected.is_ok()
}

/// The number of bytes that a launch accesses, and a sum that depends on which thread accesses which bytes with which
/// instruction, but not on the order.
fn accesses(launch: &Launch, memory: &Memory, execution: Execution) -> (u64, u64) {
    #[derive(Default)]
    struct Sum(u64, u64);

    impl AccessObserver for Sum {
        fn accesses(&mut self, accesses: &Accesses<'_>) {
            let &Accesses { warp, group, pc, kind, size, space: _, lanes, addresses, thread } = accesses;
            for lane in (0..addresses.len()).filter(|lane| lanes >> lane & 1 != 0) {
                for byte in addresses[lane]..addresses[lane] + u64::from(size) {
                    self.0 += 1;
                    let access = (warp, group, pc, kind as u8, byte, lane, thread(lane));
                    let mut hasher = DefaultHasher::new();
                    access.hash(&mut hasher);
                    self.1 = self.1.wrapping_add(hasher.finish());
                }
            }
        }

        fn barrier(&mut self, _: u64) {}
    }

    let machine = Watched::launch(launch.clone(), memory.clone(), Resources::default());
    let mut sum = Sum::default();
    machine.run_accesses(&mut sum, execution, Deadline::NONE).expect("it ran before");
    (sum.0, sum.1)
}

fn launch(threads: u32, body: &[u64]) -> Launch {
    let program = [assemble(&prologue()), body.to_vec(), assemble(&epilogue())].concat();
    let uniforms = vec![IN as u32, 0, OUT as u32, 0, 0x3f80_0000, 0x7fc0_1234, 0x3c00_b555, 7, SCRATCH as u32, 0];
    Launch { program, local_size: [threads, 1, 1], uniforms, shared_bytes: 64, budget: 1 << 24, ..Launch::default() }
}

/// The number of programs compared for each instruction.
const ROUNDS: u64 = if cfg!(debug_assertions) { 3 } else { 60 };

/// Generates and compares programs until `wanted` of them have run to their end, since many programs with random jumps
/// fail or exhaust the budget.
fn until_ended(wanted: u64, mut compare: impl FnMut(u64) -> bool) {
    let (mut made, mut ended) = (0, 0);
    while ended < wanted {
        assert!(made < 16 * wanted, "{ended} of {made} programs came to their end");
        ended += u64::from(compare(made));
        made += 1;
    }
}
