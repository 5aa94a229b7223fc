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

pub(super) fn memory(threads: u32, random: &mut Random) -> Memory {
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
pub(super) fn agree(launch: &Launch, memory: &Memory) -> bool {
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
            let &Accesses { warp, group, pc, kind, size, lanes, addresses, thread } = accesses;
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

pub(super) fn launch(threads: u32, body: &[u64]) -> Launch {
    let program = [assemble(&prologue()), body.to_vec(), assemble(&epilogue())].concat();
    let uniforms = vec![IN as u32, 0, OUT as u32, 0, 0x3f80_0000, 0x7fc0_1234, 0x3c00_b555, 7, SCRATCH as u32, 0];
    Launch { program, local_size: [threads, 1, 1], uniforms, shared_bytes: 64, budget: 1 << 24, ..Launch::default() }
}

/// The number of programs compared for each instruction.
pub(super) const ROUNDS: u64 = if cfg!(debug_assertions) { 3 } else { 60 };

/// Generates and compares programs until `wanted` of them have run to their end, since many programs with random jumps
/// fail or exhaust the budget.
pub(super) fn until_ended(wanted: u64, mut compare: impl FnMut(u64) -> bool) {
    let (mut made, mut ended) = (0, 0);
    while ended < wanted {
        assert!(made < 16 * wanted, "{ended} of {made} programs came to their end");
        ended += u64::from(compare(made));
        made += 1;
    }
}

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
