//! VPU programs by the reference and by operations on rows at each level.

use isaforge_core::sample::{Random, sample};
use isaforge_runtime::Execution;
use isaforge_runtime::vpu::{
    Bank, Config, Ended, Machine, Rectangle, Registers, Report, RunError, TILE_BUFFERS, Tile, TileSize, Warning,
    disassemble,
};

/// A number, often a special case of FP16 or of integers.
fn number(random: &mut Random) -> u16 {
    const SPECIAL: [u16; 12] = [0, 0x8000, 1, 0x7fff, 0xffff, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x03ff, 0x7bff];
    match random.below(4) {
        0 => SPECIAL[random.below(12) as usize],
        1 => random.below(70) as u16,
        _ => random.next() as u16,
    }
}

/// A register with four such numbers.
pub fn register(random: &mut Random) -> [u16; 4] {
    std::array::from_fn(|_| number(random))
}

/// The registers of a group.
pub fn registers(random: &mut Random) -> Registers {
    Registers {
        local: std::array::from_fn(|_| std::array::from_fn(|_| register(random))),
        shared: std::array::from_fn(|_| register(random)),
        flags: std::array::from_fn(|_| random.below(16) as u8),
    }
}

/// The results of a run.
#[derive(Debug, PartialEq)]
struct Left {
    result: Result<Report, RunError>,
    memory: Vec<u8>,
    warnings: Vec<Warning>,
    ended: Vec<Ended>,
    tiles: [Tile; TILE_BUFFERS],
}

/// Runs one program of usable opcodes, by many groups at the same time, over a rectangle and as queued by the host.
///
/// # Panics
/// When the results of an engine differ from those of the reference.
pub fn agree(random: &mut Random, usable: impl Fn(u64) -> bool) {
    let length = 1 + random.below(40);
    let mut words: Vec<u64> = Vec::new();
    while (words.len() as u64) < length {
        let word = sample(isaforge_vpu::ISA, random.below(isaforge_vpu::ISA.forms.len() as u64) as u16, random);
        if usable(word >> 56) || random.below(400) == 0 {
            let near = word & !(0x3ff << 32) | random.below(length + 2) << 32;
            words.push(if word >> 56 == 0x80 { near } else { word });
        }
    }
    let (tile_width, tile_height) = if random.below(2) == 0 { (8, 4) } else { (64, 64) };
    let tile_size = TileSize::new(tile_width, tile_height).expect("both are possible");
    let seed = if random.below(5) == 0 { random.next() } else { 0 };
    let host = registers(random);
    // Machine code only runs if all threads of the groups are alive.
    let (x, width) = if random.below(2) == 0 { (4, 20) } else { (2, 21) };
    let bank: Bank = std::array::from_fn(|_| register(random));
    let memory: Vec<u8> = (0..300).map(|_| random.next() as u8).collect();
    let run = |execution: Execution, cycles: bool| {
        // Cycle by cycle, instructions are executed one at a time, which takes a fuzzer long for programs without an end.
        let budget = if cycles { 2_000 } else { 20_000 };
        let config = Config { tile_size, memory: 300, budget, seed, ..Config::default() };
        let mut machine = Machine::new(&config).expect("it is possible");
        machine.set_execution(execution);
        machine.load(&words).expect("it fits");
        machine.memory().write(0, &memory);
        *machine.bank_mut(0, 3).expect("there is one") = bank;
        for n in 0..3 {
            machine.start_group(0, 0, (4 * n, n), 3, host.clone()).expect("there is room");
        }
        let rectangle = Rectangle { x, y: 1, width, height: 5 };
        machine.start_rectangle(0, rectangle, 0, 3).expect("it fits");
        let result = if cycles { machine.run_cycles() } else { machine.run() };
        Left {
            result,
            memory: machine.memory().bytes(),
            warnings: machine.warnings(),
            ended: machine.ended(0).to_vec(),
            tiles: machine.tiles(0).expect("there is a core").clone(),
        }
    };
    for cycles in [false, true] {
        let expected = run(Execution::reference(), cycles);
        for execution in Execution::available().into_iter().map(Execution::eager) {
            let found = run(execution, cycles);
            assert_eq!(found, expected, "{execution}, cycles {cycles}: {:#?}", disassemble(&words));
        }
    }
}
