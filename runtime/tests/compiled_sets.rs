//! Compiled code agrees with the evaluator for a set of other widths: 64-bit registers, flags in states, integers of 8
//! to 64 bits, vectors, atomics, faults, accesses that must be aligned.

mod seed;

isaforge::isa!("tests/data/wide.yaml");

use isaforge_core::machine::{Machine, Reason, Register, Stop, Trap};
use isaforge_runtime::exec::Executor;
use isaforge_runtime::exec::jit::engine::Compiler;
use isaforge_runtime::exec::jit::feature::Features;

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
        match self.below(4) {
            0 => sign.wrapping_sub(self.below(2)),
            1 => self.below(70).wrapping_sub(3),
            2 => self.next() & 0xffff_ffff,
            _ => self.next(),
        }
    }
}

/// These addresses need more than 32 bits.
const CODE: u64 = 0x12_0000_1000;
const DATA: u64 = 0x7fff_ffff_8000;
const OPCODES: u64 = 37;

/// A random program. Registers 8 and 9 hold addresses of data, 10 an address of code.
fn program(random: &mut Random, length: u64) -> Vec<u8> {
    let word = |random: &mut Random, at: u64| {
        let (d, a, b) = (random.below(8), random.below(8), random.below(8));
        let base = 8 + random.below(2);
        let near = random.below(12) * 8;
        let to = (random.below(length) as i64 - at as i64) * 4;
        let branch = |d: u64, op: u64| op | d << 8 | (to as u64 & 0xf_ffff) << 12;
        match random.below(32) {
            0..16 => random.below(OPCODES) | d << 8 | a << 12 | b << 16,
            16 => 0x41 | d << 8 | (random.value() & 0xf_ffff) << 12,
            17..19 => 0x40 | a << 12 | b << 16,
            19..22 => (0x50 + random.below(5)) | d << 8 | base << 12 | near << 16,
            22..25 => (0x58 + random.below(4)) | d << 8 | base << 12 | near << 16,
            25 => [0x5c, 0x5d, 0x5e][random.below(3) as usize] | d << 8 | base << 12 | (random.below(3) * 8) << 16,
            26 => branch(0, 0x60 + random.below(2)),
            27 => branch(d, 0x62),
            28 => branch(d, 0x63),
            29 => 0x64 | [10, 10, d][random.below(3) as usize] << 12,
            30 => 0x65 | d << 8 | random.below(5) << 16,
            _ => [0x66 | d << 8 | a << 12, 0x67 | a << 12 | b << 16][random.below(2) as usize],
        }
    };
    (0..length).flat_map(|at| (word(random, at) as u32).to_le_bytes()).collect()
}

fn machine(code: &[u8], registers: &[u64; 16], data: &[u8]) -> wide::Machine {
    let mut machine = wide::Machine::new();
    machine.memory.map(CODE, code.to_vec(), false).unwrap();
    machine.memory.map(DATA, data.to_vec(), true).unwrap();
    for (index, value) in registers.iter().enumerate() {
        machine.write(Register { bank: 0, index: index as u32 }, 0, *value).unwrap();
    }
    machine.set_pc(CODE);
    machine
}

#[test]
fn random_programs_of_other_widths_do_the_same_compiled() {
    let mut random = Random(seed::seed(1));
    let mut executed = 0;
    for _ in 0..600 * seed::rounds() {
        let length = 4 + random.below(40);
        let code = program(&mut random, length);
        let mut registers: [u64; 16] = std::array::from_fn(|_| random.value());
        (registers[8], registers[9]) = (DATA + 8 * random.below(4), DATA + 8 * random.below(8));
        registers[10] = CODE + 4 * random.below(length);
        let data: Vec<u8> = (0..128).map(|_| random.next() as u8).collect();
        let (mut reference, mut compiled) = (machine(&code, &registers, &data), machine(&code, &registers, &data));
        let features = if random.below(2) == 0 { Features::NONE } else { Features::detect() };
        let mut compiler = Compiler::new(features).eager();
        for _ in 0..3 {
            let budget = [1, 7, 50, 1000][random.below(4) as usize];
            let expected = reference.run(&mut (), budget);
            let found = compiler.run(&mut compiled, &mut (), budget);
            let listing = compiler.listing(&compiled);
            assert_eq!(found, expected, "{listing}");
            let place = |machine: &Machine<1>| (machine.pc(), machine.executed());
            assert_eq!(place(&compiled), place(&reference), "{listing}");
            assert_eq!(compiled.parts().values, reference.parts().values, "{listing}");
            assert_eq!(compiled.memory.bytes(DATA, 128), reference.memory.bytes(DATA, 128), "{listing}");
            assert_eq!(compiler.refused(), None, "{listing}");
            if !matches!(found, Err(Trap { reason: Reason::Budget(_), .. })) {
                break;
            }
        }
        executed += compiler.executed();
    }
    if cfg!(target_arch = "x86_64") {
        assert!(executed > 10_000, "{executed} instructions were compiled");
    }
}

/// Tests every operation with all classes of numbers, in a loop, so that branches go both ways.
#[test]
fn every_operation_does_the_same_compiled() {
    let mut random = Random(seed::seed(2));
    for opcode in 0..OPCODES {
        for _ in 0..40 * seed::rounds() {
            let words =
                [opcode | 1 << 8 | 2 << 12 | 3 << 16, 0x40 | 1 << 12 | 2 << 16, opcode | 4 << 8 | 1 << 12 | 2 << 16];
            let code: Vec<u8> = words.iter().flat_map(|word| (*word as u32).to_le_bytes()).collect();
            let registers: [u64; 16] = std::array::from_fn(|_| random.value());
            let (mut reference, mut compiled) =
                (machine(&code, &registers, &[0; 8]), machine(&code, &registers, &[0; 8]));
            let features = if random.below(2) == 0 { Features::NONE } else { Features::detect() };
            let mut compiler = Compiler::new(features).eager();
            let expected: Result<Stop, Trap> = reference.run(&mut (), 9);
            assert_eq!(compiler.run(&mut compiled, &mut (), 9), expected);
            let listing = compiler.listing(&compiled);
            assert_eq!(compiled.parts().values, reference.parts().values, "{registers:x?}\n{listing}");
        }
    }
}
