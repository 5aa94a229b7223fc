//! Every opcode with every write mode and flag control, compared with a separately written scalar model.

use isaforge_core::sample::Random;
use isaforge_runtime::machine::Observer;
use isaforge_runtime::vpu::{Config, Machine, Registers, TileSize};

use crate::model::Model;
use crate::seed::seed;

const SYNC: u64 = 0x01 << 56;
const ALLOCATE: u64 = 0x04 << 56;
/// `And r0.____, r0.xxxx, r0.xxxx`.
const NOTHING: u64 = 0x30 << 56 | 0xaa << 42;
/// `Branch.x 2`: threads whose flag X is set stay active, if there are any.
const BRANCH_X: u64 = 0x80 << 56 | 1 << 52 | 2 << 32;

/// A number, often a special case of FP16 or of integers.
fn value(random: &mut Random) -> u16 {
    const SPECIAL: [u16; 12] = [0, 0x8000, 1, 0x7fff, 0xffff, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x03ff, 0x7bff];
    match random.below(4) {
        0 => SPECIAL[random.below(12) as usize],
        1 => 0x3800 + random.below(0x1800) as u16,
        _ => random.next() as u16,
    }
}

fn row(random: &mut Random) -> [u16; 4] {
    std::array::from_fn(|_| value(random))
}

fn start(random: &mut Random) -> Model {
    Model {
        local: std::array::from_fn(|_| std::array::from_fn(|_| row(random))),
        shared: std::array::from_fn(|_| row(random)),
        global: std::array::from_fn(|i| match i {
            // Addresses that are mostly within memory.
            0..8 => [random.below(70) as u16, 0, random.below(70) as u16, random.below(2) as u16],
            _ => row(random),
        }),
        spawned: [[0; 4]; 32],
        flags: std::array::from_fn(|_| std::array::from_fn(|_| random.below(2) == 1)),
        active: [true; 4],
        pending: [None; 4],
        x: random.below(64) as u16 * 4,
        y: random.below(64) as u16,
        width: 8,
        height: 4,
        tiles: (0..4).map(|_| (0..32).map(|_| row(random)).collect()).collect(),
        memory: (0..61).map(|_| random.next() as u8).collect(),
        palettes: std::array::from_fn(|_| std::array::from_fn(|_| row(random))),
    }
}

fn machine(model: &Model, words: &[u64], seed: u64) -> Machine {
    let size = TileSize::new(8, 4).expect("8 x 4 is possible");
    let config = Config { tile_size: size, memory: model.memory.len(), seed, ..Config::default() };
    let mut machine = Machine::new(&config).expect("the configuration is possible");
    machine.load(words).expect("the program fits");
    machine.memory().write(0, &model.memory);
    *machine.palettes_mut() = model.palettes;
    *machine.bank_mut(0, 0).expect("bank 0 exists") = model.global;
    for (n, tile) in model.tiles.iter().enumerate() {
        machine.set_tile(0, n, tile).expect("core 0 exists");
    }
    let flags = model.flags.map(|f| f.iter().enumerate().fold(0, |set, (c, f)| set | u8::from(*f) << c));
    let registers = Registers { local: model.local, shared: model.shared, flags };
    machine.start_group(0, 0, (model.x, model.y), 0, registers).expect("the queue is empty");
    machine
}

fn compare(model: &Model, machine: &mut Machine, words: &[u64]) {
    let text = || words.iter().map(|w| isaforge_runtime::vpu::text(*w)).collect::<Vec<_>>().join("\n");
    let [ended] = machine.ended(0) else { panic!("the group has not ended") };
    assert_eq!(ended.registers.local, model.local, "local registers after\n{}", text());
    assert_eq!(ended.registers.shared, model.shared, "shared registers after\n{}", text());
    let flags = ended.registers.flags.map(|f| [0, 1, 2, 3].map(|c| f >> c & 1 == 1));
    assert_eq!(flags, model.flags, "flags after\n{}", text());
    for (n, tile) in model.tiles.iter().enumerate() {
        assert_eq!(&machine.tiles(0).expect("core 0 exists")[n].data, tile, "tile {n} after\n{}", text());
    }
    assert_eq!(machine.memory().bytes(), model.memory, "memory after\n{}", text());
    // The host holds bank 0, so Allocate has taken bank 1.
    assert_eq!(
        *machine.bank_mut(0, 1).expect("it exists"),
        model.spawned,
        "the spawned group's bank after\n{}",
        text()
    );
    assert_eq!(*machine.bank_mut(0, 0).expect("it exists"), model.global, "the group's own bank after\n{}", text());
}

/// The destination of results: the n-th instruction of a program writes the n-th register of one space.
#[derive(Clone, Copy)]
enum Into {
    Local,
    Shared,
    Spawned,
}

/// An observer for which runs are counted in cycles and use the reference.
struct Quiet;

impl Observer for Quiet {}

fn check(instructions: &[u64], seed: u64, random: &mut Random) {
    let mut model = start(random);
    let mut words = vec![ALLOCATE, BRANCH_X];
    words.extend(instructions);
    words.push(SYNC);
    let before = model.clone();
    if model.flags.iter().any(|f| f[0]) {
        model.active = model.flags.map(|f| f[0]);
    }
    instructions.iter().for_each(|word| model.execute(*word));
    let mut fast = machine(&before, &words, seed);
    fast.run().expect("the program ends");
    compare(&model, &mut fast, &words);
    let mut slow = machine(&before, &words, seed);
    slow.run_observed(&mut Quiet).expect("the program ends");
    compare(&model, &mut slow, &words);
}

fn word(opcode: u64, modes: u64, control: u64, destination: u64, random: &mut Random) -> u64 {
    let mut word = opcode << 56 | destination << 50 | modes << 42 | control << 12 | random.next() & 0x3ff_ffff << 14;
    if opcode >= 0x70 {
        // Addresses come from the global registers that hold addresses.
        word = word & !(0x3fff << 28) | (32 + random.below(8)) << 36 | (random.below(256)) << 28;
    }
    word
}

/// Tests all write modes and flag controls of one opcode, with `before` and `after` around each instruction.
fn all_modes(opcode: u64, into: Into, before: Option<u64>, after: Option<u64>, random: &mut Random) {
    let all: Vec<(u64, u64)> = (0..256).flat_map(|modes| (0..4).map(move |control| (modes, control))).collect();
    for (seed, some) in all.chunks(16).enumerate() {
        let mut program = Vec::new();
        for (n, (modes, control)) in some.iter().enumerate() {
            program.extend(before.map(|op| word(op, random.below(256), 0, 0, random)));
            let destination = match into {
                Into::Local => n as u64,
                Into::Shared => 16 + n as u64,
                Into::Spawned => 32 + n as u64 * 2,
            };
            program.push(word(opcode, *modes, *control, destination, random));
            program.extend(after.map(|op| word(op, 255, 0, n as u64, random)));
        }
        check(&program, seed as u64, random);
    }
}

const RESULTS: [u64; 15] = [0x07, 0x10, 0x11, 0x15, 0x16, 0x20, 0x21, 0x22, 0x28, 0x2a, 0x2c, 0x2e, 0x30, 0x31, 0x32];

#[test]
fn results_of_arithmetic_in_all_modes() {
    let mut random = Random(seed(1));
    for opcode in RESULTS.into_iter().chain([0x33]) {
        for into in [Into::Local, Into::Shared, Into::Spawned] {
            all_modes(opcode, into, None, None, &mut random);
        }
    }
}

#[test]
fn tile_reads_and_writes_in_all_modes() {
    let mut random = Random(seed(2));
    // Reads without and with locks; each lock is released at once at the same address.
    for opcode in (0x40..0x48).chain(0x50..0x60) {
        all_modes(opcode, Into::Local, None, None, &mut random);
        all_modes(opcode, Into::Spawned, None, None, &mut random);
    }
    for opcode in 0x48..0x4c {
        all_modes(opcode, Into::Shared, None, Some(opcode | 0x10), &mut random);
    }
}

#[test]
fn locking_reads_at_addresses_in_all_modes() {
    let mut random = Random(seed(3));
    for opcode in 0x4c..0x50u64 {
        let all: Vec<(u64, u64)> = (0..256).flat_map(|modes| (0..4).map(move |control| (modes, control))).collect();
        for some in all.chunks(12) {
            let mut program = Vec::new();
            for (n, (modes, control)) in some.iter().enumerate() {
                // The address comes from a global register, so that the unlock uses the same one.
                let address = (32 + random.below(32)) << 22 | random.below(256) << 14;
                program.push(opcode << 56 | (n as u64) << 50 | modes << 42 | control << 12 | address);
                let data = random.next() & 0x3fff << 28;
                program.push((opcode | 0x10) << 56 | random.below(256) << 42 | data | address);
            }
            check(&program, 0, &mut random);
        }
    }
}

#[test]
fn loads_and_fetches_in_all_modes() {
    let mut random = Random(seed(4));
    for issue in [0x70, 0x71, 0x72, 0x73, 0x78, 0x79, 0x7a, 0x7b, 0x7c] {
        // All modes of Finish after an issue, then all modes of the issue, which ignores them, before a plain Finish.
        all_modes(0x74, Into::Local, Some(issue), None, &mut random);
        all_modes(0x74, Into::Shared, Some(issue), None, &mut random);
        all_modes(issue, Into::Local, None, Some(0x74), &mut random);
    }
    all_modes(0x7f, Into::Local, None, None, &mut random);
    all_modes(0x74, Into::Local, None, None, &mut random);
}

#[test]
fn flag_operations_ignore_everything_else() {
    let mut random = Random(seed(5));
    for opcode in 0x08..=0x0c {
        // Each is preceded by an instruction that sets flags.
        all_modes(opcode, Into::Local, Some(0x21), None, &mut random);
        for _ in 0..200 {
            let mut program = vec![word(0x30, 255, 1 + random.below(3), 3, &mut random)];
            program.push(word(opcode, random.below(256), random.below(4), random.below(64), &mut random));
            check(&program, 0, &mut random);
        }
    }
}

#[test]
fn random_programs_without_branches() {
    let mut random = Random(seed(6));
    let opcodes: Vec<u64> = RESULTS
        .into_iter()
        .chain([0x33])
        .chain(0x08..=0x0c)
        .chain(0x40..0x48)
        .chain(0x50..0x58)
        .chain(0x70..=0x74)
        .chain(0x78..=0x7c)
        .chain([0x7f])
        .collect();
    for seed in 0..300 {
        let length = 1 + random.below(60);
        let mut program = Vec::new();
        for _ in 0..length {
            let opcode = opcodes[random.below(opcodes.len() as u64) as usize];
            program.push(word(opcode, random.below(256), random.below(4), random.below(64), &mut random));
        }
        check(&program, seed, &mut random);
    }
}

#[test]
fn random_programs_with_branches() {
    let mut random = Random(seed(7));
    let opcodes: Vec<u64> = RESULTS
        .into_iter()
        .chain(0x08..=0x0c)
        .chain(0x40..0x48)
        .chain(0x50..0x58)
        .chain(0x70..=0x74)
        .chain([0x7f])
        .collect();
    let (mut ended, mut endless, mut diverged) = (0, 0, 0u32);
    let rounds = if cfg!(debug_assertions) { 500 } else { 3000 };
    for seed in 0..rounds {
        let length = 4 + random.below(28);
        let mut words = vec![ALLOCATE];
        for _ in 0..length {
            words.push(match random.below(8) {
                0 | 1 => 0x80 << 56 | random.below(16) << 52 | (1 + random.below(length + 1)) << 32,
                2 => SYNC,
                // Exit is 0. It is rare, so that threads end one at a time.
                3 if random.below(3) == 0 => 0,
                _ => word(
                    opcodes[random.below(opcodes.len() as u64) as usize],
                    random.below(256),
                    random.below(4),
                    random.below(64),
                    &mut random,
                ),
            });
        }
        let before = start(&mut random);
        let mut model = before.clone();
        // The model does not implement Allocate; an instruction that writes no register replaces it.
        let steps =
            model.run(&words.iter().map(|w| if *w == ALLOCATE { NOTHING } else { *w }).collect::<Vec<_>>(), 2000);
        diverged += u32::from(words.contains(&SYNC));
        for run in [Machine::run, Machine::run_cycles] {
            let mut machine = machine(&before, &words, seed);
            machine.set_budget(2000);
            match steps {
                Some(steps) => {
                    assert_eq!(run(&mut machine).map(|r| r.steps), Ok(steps));
                    compare(&model, &mut machine, &words);
                    ended += 1;
                }
                None => {
                    run(&mut machine).expect_err("it has not ended after as many steps in the model");
                    endless += 1;
                }
            }
        }
    }
    assert!(
        ended > rounds / 2 && endless > 0 && u64::from(diverged) > rounds / 3,
        "{ended} ended, {endless} did not, {diverged} have a Sync"
    );
}
