//! Operations on columns agree with the evaluator for a set of several lanes: divergence, predicates, registers of 16 to
//! 64 bits, states, floats, atomics, barriers, values of other lanes, and loops that access memory.

mod seed;

isaforge::isa!("tests/data/warp.yaml");

use isaforge_core::machine::{Host, Machine, Reason, Register, Stop, Trap};
use isaforge_runtime::Level;
use isaforge_runtime::exec::Executor;
use isaforge_runtime::exec::lanes::engine::WarpEngine;

const LANES: usize = 32;
const CODE: u64 = 0x1000;
const DATA: u64 = 0x8000;
const SIZE: u64 = 1 << 10;
/// Memory after the data that is not writable, and other memory.
const FIXED: u64 = DATA + SIZE;
const OTHER: u64 = 0x1_0000;
/// Memory in which the high word of addresses changes.
const HIGH: u64 = 0x1_ffff_ff80;
/// The opcodes of instructions that compute, with those between them that do not exist.
const COMPUTES: u64 = 0x41;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, most: u64) -> u64 {
        (self.next() >> 11) % most
    }

    /// Numbers at which instructions behave differently.
    fn value(&mut self) -> u64 {
        let sign = 1u64 << [7, 15, 31, 63][self.below(4) as usize];
        match self.below(6) {
            0 => sign.wrapping_sub(self.below(2)),
            1 => self.below(70).wrapping_sub(3),
            2 => self.next() & 0xffff_ffff,
            3 => u64::from((self.below(2000) as f32 / 16.0 - 60.0).to_bits()),
            4 => [0x7f80_0000, 0xffc0_0001, 0x7fa0_0000, 1][self.below(4) as usize],
            _ => self.next(),
        }
    }
}

fn exists(opcode: u64) -> bool {
    isaforge_core::decode::decode(warp::ISA, opcode).is_ok()
}

/// A random program. Register 6 holds addresses of data, 7 those of code. Without memory, loops only compute.
fn program(random: &mut Random, length: u64, memory: bool) -> Vec<u8> {
    let word = |random: &mut Random, at: u64| {
        let bits = random.next() as u32 & 0x00ff_ff00;
        let near = (random.below(16) as u32 * 4) << 16;
        let data = ((random.below(6) as u32) << 8) | (6 << 11);
        let to = (((random.below(length) as i64 - at as i64) * 4) as u32) << 12;
        match random.below(40) {
            25..34 if memory => match random.below(9) {
                0..4 => (0x50 + random.below(4) as u32) | data | near,
                4..7 => [0x54, 0x55, 0x57, 0x58][random.below(4) as usize] | data | near,
                7 => 0x56 | data | (random.below(3) as u32 * 4) << 16,
                _ => 0x59 | (random.below(4) as u32) << 8 | 6 << 11 | near & !(4 << 16),
            },
            0..34 => loop {
                let opcode = random.below(COMPUTES);
                if exists(opcode) {
                    return opcode as u32 | bits;
                }
            },
            34 => 0x41 | (random.below(6) as u32) << 8 | (random.value() as u32) << 12,
            35..37 => (0x60 + random.below(2) as u32) | ((random.below(4) as u32) << 8) | to,
            37 if memory => [0x62 | 7 << 11, 0x63, 0x64 | bits & 0x300, 0x63][random.below(4) as usize],
            38 if memory => [0x65 | bits & !0x8_0000, 0x66 | bits, 0x67 | bits][random.below(3) as usize],
            _ => 0x68 | bits,
        }
    };
    (0..length).flat_map(|at| word(random, at).to_le_bytes()).collect()
}

/// An observer, for which lanes access memory one by one.
struct Observer;

impl Host<LANES> for Observer {
    fn looks_on(&self) -> bool {
        true
    }
}

/// The initial content of a machine.
struct Start {
    code: Vec<u8>,
    /// Whether programs may write it.
    writable: bool,
    data: Vec<u8>,
    registers: Vec<(Register, [u64; LANES])>,
    live: u64,
}

impl Start {
    fn random(random: &mut Random) -> Self {
        let memory = random.below(2) == 0;
        let length = if memory { 4 + random.below(40) } else { 2 + random.below(6) };
        let code = program(random, length, memory);
        let data = (0..SIZE).map(|_| random.next() as u8).collect();
        let mut registers = Vec::new();
        // Lanes that are alike stay together.
        let uniform = random.below(if memory { 2 } else { 5 }) > 0;
        for (bank, count) in [8u32, 4, 4, 4, 4].into_iter().enumerate() {
            for index in 0..count {
                let value = random.value();
                let column = std::array::from_fn(|_| match (bank, index) {
                    (0, 6) => DATA + 8 * random.below(SIZE / 8 - 16),
                    (0, 7) => CODE + 4 * random.below(length),
                    _ if uniform => value,
                    _ => random.value(),
                });
                registers.push((Register { bank: bank as u16, index }, column));
            }
        }
        let live = if random.below(3) == 0 { random.next() } else { u64::MAX };
        Start { code, writable: false, data, registers, live }
    }

    /// A random loop that accesses memory at the addresses in registers 5 to 7. Register 4 is a stride.
    fn looping(random: &mut Random) -> Self {
        let mut start = Start::random(random);
        let length = 1 + random.below(6);
        let mut word = |at: u64| {
            let address = 5 + random.below(3) as u32;
            let offset = [0, 0, 0, 4, -4, 64, 2][random.below(7) as usize] as u32;
            let access = (random.below(5) as u32) << 8 | address << 11 | offset << 16;
            let back = (((-(at as i32)) * 4) as u32) << 12 | (random.below(4) as u32) << 8;
            let elsewhere = access & !(7 << 11) | (random.below(4) as u32) << 11;
            match random.below(10) {
                _ if at >= length => 0x61 | back,
                0 | 1 => 0x52 | access,
                2 => 0x53 | access,
                3 | 4 => 0x55 | access,
                5 => 0x56 | access & 0xffff | [4, 128, 0, 0xfffc][random.below(4) as usize] << 16,
                6 => address << 8 | address << 11 | 4 << 14,
                7 => (0x5a + random.below(2) as u32) | elsewhere,
                8 => (0x5c + random.below(2) as u32) | elsewhere,
                _ => loop {
                    let opcode = random.below(COMPUTES);
                    if exists(opcode) {
                        break opcode as u32 | random.next() as u32 & 0x00ff_f000 | (random.below(4) as u32) << 8;
                    }
                },
            }
        };
        // The last branch goes on until the budget ends.
        start.code = (0..length + 2).flat_map(|at| word(at).to_le_bytes()).collect();
        start.writable = random.below(4) == 0;
        let stride = [0, 4, 8, 128, -4i32 as u32][random.below(5) as usize].into();
        for (register, column) in &mut start.registers {
            match (register.bank, register.index) {
                (0, 4) => *column = [stride; LANES],
                (0, 5..8) => *column = addresses(random, &[DATA, DATA, DATA, OTHER, OTHER, FIXED, CODE]),
                (1, ..3) => *column = addresses(random, &[0, 0, 0, 256, 400]),
                (2, _) => *column = addresses(random, &[DATA, DATA, OTHER, HIGH, HIGH - 32, CODE]),
                _ => {}
            }
        }
        if random.below(4) > 0 {
            start.live = u64::MAX;
        }
        start
    }

    /// A loop of instructions that goes on until the budget ends, with addresses in registers 5 and 6.
    fn repeating(random: &mut Random, words: &[u32], addresses: [[u64; LANES]; 2]) -> Self {
        let mut start = Start::random(random);
        let back = |at: usize| 0x61 | ((-4 * at as i32) as u32) << 12;
        let branches = [back(words.len()), back(words.len() + 1)];
        start.code = words.iter().chain(&branches).flat_map(|word| word.to_le_bytes()).collect();
        start.live = u64::MAX;
        for (register, column) in &mut start.registers {
            match (register.bank, register.index) {
                (0, at @ 5..7) => *column = addresses[at as usize - 5],
                (4, _) => *column = [0; LANES],
                _ => {}
            }
        }
        start
    }

    fn machine(&self) -> warp::Machine {
        let mut machine = warp::Machine::new();
        machine.memory.map(CODE, self.code.clone(), self.writable).unwrap();
        machine.memory.map(DATA, self.data.clone(), true).unwrap();
        machine.memory.map(FIXED, self.data[..128].to_vec(), false).unwrap();
        machine.memory.map(OTHER, self.data[..512].to_vec(), true).unwrap();
        machine.memory.map(HIGH, self.data[..384].to_vec(), true).unwrap();
        machine.space("shared").unwrap().map(0, self.data[..512].to_vec(), true).unwrap();
        for (register, column) in &self.registers {
            (0..LANES).for_each(|lane| machine.write(*register, lane, column[lane]).unwrap());
        }
        machine.set_pc(CODE);
        machine.set_lanes(self.live, 0);
        machine
    }
}

/// The addresses of lanes from one of some bases on: contiguous, strided, equal, anywhere, or across the end of the data; some
/// misaligned or with another base.
fn addresses(random: &mut Random, bases: &[u64]) -> [u64; LANES] {
    let any = |random: &mut Random| bases[random.below(bases.len() as u64) as usize];
    let (base, lane) = (any(random) + 4 * random.below(20), random.below(LANES as u64) as usize);
    let mut column = match random.below(8) {
        0..3 => std::array::from_fn(|lane| base + 4 * lane as u64),
        3 => std::array::from_fn(|lane| base + 12 * lane as u64),
        4 => std::array::from_fn(|lane| base + 4 * (LANES - lane) as u64),
        5 => [base; LANES],
        6 => std::array::from_fn(|_| base + 4 * random.below(64)),
        _ => {
            let end = FIXED - 4 * random.below(40);
            std::array::from_fn(|lane| end + 4 * lane as u64)
        }
    };
    match random.below(20) {
        0 => column[lane] += 1 + random.below(3),
        1 => column[lane] = any(random),
        _ => {}
    }
    column
}

/// A level, with machine code at once, later, or never.
fn level(random: &mut Random) -> Level {
    let levels = Level::available();
    let level = levels[random.below(levels.len() as u64) as usize];
    match random.below(4) {
        0 => level.without_machine_code(),
        1 => level,
        _ => level.eager(),
    }
}

fn texts(machine: &Machine<LANES>, code: &[u8]) -> String {
    let lines = (0..code.len() as u64 / 4).map(|at| (CODE + 4 * at, machine.text(CODE + 4 * at).unwrap_or_default()));
    lines.map(|(pc, text)| format!("{pc:#x} {text}\n")).collect()
}

/// Executes a program with an engine, with the reference, and with the reference while it is observed. Returns the numbers of
/// instructions that were operations and machine code, and of all.
fn compare(start: &Start, random: &mut Random) -> [u64; 3] {
    let (mut reference, mut observed, mut fast) = (start.machine(), start.machine(), start.machine());
    let mut engine = WarpEngine::new(level(random));
    for _ in 0..3 {
        let budget = [1, 7, 50, 1000][random.below(4) as usize];
        let expected = reference.run(&mut (), budget);
        let found = engine.run(&mut fast, &mut (), budget);
        let listed = texts(&reference, &start.code) + &engine.listing(&fast);
        let listing = || &listed;
        assert_eq!(found, expected, "{}", listing());
        assert_eq!(observed.run(&mut Observer, budget), expected, "{}", listing());
        assert_eq!(fast.executed(), reference.executed(), "{}", listing());
        let places = |machine: &Machine<LANES>| {
            let pcs = (0..LANES).map(|lane| machine.pc_of(lane));
            (machine.live(), machine.waiting(), pcs.collect::<Vec<_>>())
        };
        assert_eq!(places(&fast), places(&reference), "{}", listing());
        let (ours, theirs) = (fast.parts().values.clone(), reference.parts().values.clone());
        for (at, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            assert_eq!(ours, theirs, "column {at}\n{}", listing());
        }
        assert_eq!(ours.len(), theirs.len());
        assert_eq!(&ours, observed.parts().values, "{}", listing());
        for (base, size) in [(CODE, start.code.len() as u64), (DATA, SIZE), (FIXED, 128), (OTHER, 512), (HIGH, 384)] {
            assert_eq!(fast.memory.bytes(base, size), reference.memory.bytes(base, size), "{}", listing());
            assert_eq!(observed.memory.bytes(base, size), reference.memory.bytes(base, size), "{}", listing());
        }
        let shared = |machine: &mut Machine<LANES>| machine.spaces[0].bytes(0, 512).map(<[u8]>::to_vec);
        assert_eq!(shared(&mut fast), shared(&mut reference), "{}", listing());
        assert_eq!(shared(&mut observed), shared(&mut reference), "{}", listing());
        if !matches!(found, Err(Trap { reason: Reason::Budget(_), .. })) {
            break;
        }
    }
    [engine.executed(), engine.compiled(), fast.executed()]
}

/// Compares random programs. If machine code can be generated, it must execute a part of at least one in `few` of them.
fn compare_all(stream: u64, next: impl Fn(&mut Random) -> Start, compiles: bool, few: u64) {
    let mut random = Random(seed::seed(stream));
    let (mut executed, mut all, mut with_code) = (0, 0, 0);
    let programs = 600 * seed::rounds();
    for _ in 0..programs {
        let start = next(&mut random);
        let counts = compare(&start, &mut random);
        executed += counts[0];
        with_code += u64::from(counts[1] > 0);
        all += counts[2];
    }
    assert!(executed * 10 > all * 7, "only {executed} of {all} instructions were operations");
    assert!(!compiles || with_code * few > programs, "only {with_code} of {programs} programs had machine code");
}

#[test]
fn random_programs_of_lanes_do_the_same_on_columns() {
    compare_all(1, Start::random, Level::best().compiles(), 300);
}

#[test]
fn random_loops_access_the_same_memory() {
    compare_all(3, Start::looping, Level::best().compiles(), 20);
}

/// Executes a program on a level and with the reference. Returns how it ended, and the number of instructions that were
/// machine code.
fn run_on(level: Level, start: &Start) -> (Result<Stop, Trap>, u64) {
    let (mut reference, mut fast) = (start.machine(), start.machine());
    let mut engine = WarpEngine::new(level.eager());
    let found = engine.run(&mut fast, &mut (), 1000);
    let listing = engine.listing(&fast);
    assert_eq!(found, reference.run(&mut (), 1000), "{listing}");
    assert_eq!(fast.parts().values, reference.parts().values, "{listing}");
    assert_eq!(fast.memory.bytes(DATA, SIZE), reference.memory.bytes(DATA, SIZE), "{listing}");
    (found, engine.compiled())
}

fn levels_with_code() -> impl Iterator<Item = Level> {
    Level::available().into_iter().filter(|level| level.compiles())
}

/// Lanes load and store words next to each other, apart, at one address, and in any order: all of them, or some.
#[test]
fn loads_and_stores_of_a_loop_are_machine_code() {
    let mut random = Random(seed::seed(4));
    let places: [fn(usize) -> usize; 4] = [|lane| 4 * lane, |lane| 8 * lane, |_| 0, |lane| 4 * (lane * 13 % LANES)];
    for (level, place) in levels_with_code().flat_map(|level| places.map(|place| (level, place))) {
        let [load, add, store] = [0x52 | 5 << 11, 1 << 8 | 1 << 11, 0x55 | 1 << 8 | 6 << 11];
        let addresses = [DATA, DATA + 512].map(|from| std::array::from_fn(|lane| from + place(lane) as u64));
        let mut start = Start::repeating(&mut random, &[load, add, store], addresses);
        for live in [u64::MAX, 0x5a5a_f00f] {
            start.live = live;
            let (_, compiled) = run_on(level, &start);
            assert!(compiled > 900, "{compiled} of 1000 on {}", level.name());
        }
    }
}

/// Each word says how far away the next one is.
#[test]
fn a_loop_traps_where_the_address_of_a_lane_becomes_misaligned() {
    let mut random = Random(seed::seed(5));
    for level in levels_with_code() {
        let [load, add] = [0x52 | 5 << 11, 5 << 8 | 5 << 11];
        let addresses = std::array::from_fn(|lane| DATA + 4 * lane as u64);
        let mut start = Start::repeating(&mut random, &[load, add], [addresses; 2]);
        start.data = (0..SIZE / 4).flat_map(|at| if at == 100 { [1, 0, 0, 0] } else { [4, 0, 0, 0] }).collect();
        let (ended, compiled) = run_on(level, &start);
        assert!(!matches!(ended, Err(Trap { reason: Reason::Budget(_), .. })), "{ended:?}");
        assert!(compiled > 150, "{compiled} on {}", level.name());
    }
}

/// Tests every operation with all classes of numbers, in a loop that is compiled if it can be.
#[test]
fn every_operation_does_the_same_on_columns() {
    let mut random = Random(seed::seed(2));
    let mut compiled = 0;
    for opcode in (0..COMPUTES).filter(|opcode| exists(*opcode)) {
        let mut loops = false;
        for _ in 0..10 * seed::rounds() {
            let mut start = Start::random(&mut random);
            let back = 0x61 | (-8i32 as u32) << 12;
            let words = [opcode as u32 | random.next() as u32 & 0xffff_ff00, opcode as u32 | 0x4_5300, back, 0x63];
            start.code = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let (mut reference, mut fast) = (start.machine(), start.machine());
            let expected: Result<Stop, Trap> = reference.run(&mut (), 40);
            let mut engine = WarpEngine::new(level(&mut random));
            assert_eq!(engine.run(&mut fast, &mut (), 40), expected);
            let listing = texts(&reference, &start.code) + &engine.listing(&fast);
            assert_eq!(fast.parts().values, reference.parts().values, "{listing}");
            loops |= engine.compiled() > 0;
        }
        compiled += u32::from(loops);
    }
    if Level::best().compiles() {
        assert!(compiled > 25, "only {compiled} operations were compiled");
    }
}
