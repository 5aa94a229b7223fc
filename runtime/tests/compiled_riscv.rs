//! Compiled code agrees with the evaluator on random programs of the RISC-V example, each run on two machines.
//!
//! On hosts other than x86-64 nothing is compiled, so the evaluator is compared with itself.

mod seed;

isaforge::isa!("../examples/riscv/isa.yaml");

use isaforge_core::machine::{Machine, Reason, Register, Stop, Trap};
use isaforge_runtime::exec::Executor;
use isaforge_runtime::exec::compare::compare;
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

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// Numbers at which instructions behave differently.
    fn value(&mut self) -> u32 {
        match self.below(4) {
            0 => self.pick(&[0, 1, 2, 31, 32, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff]),
            1 => self.below(64) as u32,
            _ => self.next() as u32,
        }
    }
}

const CODE: u64 = 0x1000;
const DATA: u64 = 0x8000;
const TABLE: u64 = 0x9000;
const MORE: u64 = 0xa000;

fn r(f7: u32, rs2: u32, rs1: u32, f3: u32, rd: u32) -> u32 {
    f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | 0x33
}

fn i(imm: i32, rs1: u32, f3: u32, rd: u32, op: u32) -> u32 {
    (imm as u32 & 0xfff) << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op
}

fn s(imm: i32, rs2: u32, rs1: u32, f3: u32) -> u32 {
    let imm = imm as u32;
    (imm >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (imm & 0x1f) << 7 | 0x23
}

fn b(to: i32, rs2: u32, rs1: u32, f3: u32) -> u32 {
    let to = to as u32;
    (to >> 12 & 1) << 31
        | (to >> 5 & 0x3f) << 25
        | rs2 << 20
        | rs1 << 15
        | f3 << 12
        | (to >> 1 & 0xf) << 8
        | (to >> 11 & 1) << 7
        | 0x63
}

fn jal(to: i32, rd: u32) -> u32 {
    let to = to as u32;
    (to >> 20 & 1) << 31 | (to >> 1 & 0x3ff) << 21 | (to >> 11 & 1) << 20 | (to >> 12 & 0xff) << 12 | rd << 7 | 0x6f
}

/// A random program. Its first registers hold numbers, and registers 8 to 11 hold addresses, which it rarely changes.
fn program(random: &mut Random, length: u32) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    while bytes.len() < length as usize * 4 {
        let at = bytes.len() as i32;
        let rd = match random.below(24) {
            0 => random.below(32) as u32,
            1..4 => 16 + random.below(16) as u32,
            4 => 0,
            _ => 1 + random.below(7) as u32,
        };
        let rs = |random: &mut Random| match random.below(8) {
            0 => random.below(32) as u32,
            _ => random.below(8) as u32,
        };
        let (a, c) = (rs(random), rs(random));
        let base = 8 + random.below(4) as u32;
        let near = |random: &mut Random| random.below(72) as i32 - 4;
        let to = |random: &mut Random| (random.below(length.into()) as i32 * 4 - at) & !1;
        let word = match random.below(40) {
            0..8 => r(random.pick(&[0, 0, 32]), c, a, random.pick(&[0, 5]), rd),
            8..13 => r(0, c, a, random.below(8) as u32, rd),
            13..17 => r(1, c, a, random.below(8) as u32, rd),
            17..22 => i(random.next() as i32 >> 20, a, random.pick(&[0, 2, 3, 4, 6, 7]), rd, 0x13),
            22 => i(random.below(32) as i32 | random.pick(&[0, 0x400]), a, 5, rd, 0x13),
            23 => i(random.below(32) as i32, a, 1, rd, 0x13),
            24..27 => i(near(random), base, random.pick(&[0, 1, 2, 4, 5]), rd, 3),
            27..30 => s(near(random), a, base, random.below(3) as u32),
            30..35 => b(to(random), c, a, random.pick(&[0, 1, 4, 5, 6, 7])),
            35 => jal(to(random), random.pick(&[0, 1, 5])),
            36 => random.value() & 0xffff_f000 | rd << 7 | random.pick(&[0x37, 0x17]),
            37 => match random.below(6) {
                // A jump to where another jump has left an address.
                0 => i(0, random.pick(&[1, 5, 12]), 0, rd, 0x67),
                1 => i(random.pick(&[0x340, 0x340, 0xc00]), a, random.pick(&[1, 2, 3, 5, 6, 7]), rd, 0x73),
                2 => 0x0ff0_000f,
                3 => i(random.below(8) as i32 - 4, base, 0, base, 0x13),
                _ => r(0, c, a, 0, rd),
            },
            _ => {
                // Two short instructions, or a short one and two bytes that may not decode.
                let short = |random: &mut Random| match random.below(5) {
                    0 => 0x8402 | (1 + random.below(7)) << 7 | (1 + random.below(7)) << 2 | 0x400 & random.next(),
                    1 => 0x4001 | (1 + random.below(7)) << 7 | random.below(32) << 2,
                    2 => 0x9002 | (1 + random.below(7)) << 7 | (1 + random.below(7)) << 2,
                    3 => 0x8c01 | random.below(8) << 7 | random.below(32) << 2,
                    _ => 0x4000 | random.below(8) << 2 | random.below(4) << 7 | random.below(4) << 10,
                };
                let pair = [short(random), short(random)];
                pair[0] as u32 & 0xffff | (pair[1] as u32 & 0xffff) << 16
            }
        };
        bytes.extend(word.to_le_bytes());
    }
    bytes
}

struct Start {
    code: Vec<u8>,
    writable: bool,
    registers: [u32; 32],
    data: Vec<u8>,
}

fn machine(start: &Start) -> riscv::Machine {
    let mut machine = riscv::Machine::new();
    machine.memory.map(CODE, start.code.clone(), start.writable).unwrap();
    machine.memory.map(DATA, start.data.clone(), true).unwrap();
    machine.memory.map(TABLE, start.data[..32].to_vec(), false).unwrap();
    machine.memory.map(MORE, start.data[..40].to_vec(), true).unwrap();
    for (index, value) in start.registers.iter().enumerate() {
        machine.write(Register { bank: 0, index: index as u32 }, 0, (*value).into()).unwrap();
    }
    machine.set_pc(CODE);
    machine
}

fn registers(machine: &Machine<1>) -> Vec<u64> {
    (0..32).map(|index| machine.read(Register { bank: 0, index }, 0).unwrap()).collect()
}

type Ended = Result<Stop, Trap>;

/// Runs in several steps, each with a budget.
fn run(steps: &[u64], mut run: impl FnMut(u64) -> Ended) -> (usize, Ended) {
    for (at, budget) in steps.iter().enumerate() {
        match run(*budget) {
            Err(Trap { reason: Reason::Budget(_), .. }) if at + 1 < steps.len() => {}
            ended => return (at, ended),
        }
    }
    (0, Ok(Stop::Ended))
}

fn agree(random: &mut Random, start: &Start, breakpoint: Option<u64>, features: Features) -> u64 {
    let (mut reference, mut compiled) = (machine(start), machine(start));
    reference.breakpoints.extend(breakpoint);
    compiled.breakpoints.extend(breakpoint);
    let steps: Vec<u64> = (0..4).map(|_| random.pick(&[1, 3, 17, 100, 1000])).collect();
    let mut compiler = Compiler::new(features).eager();
    let expected = run(&steps, |budget| reference.run(&mut (), budget));
    let found = run(&steps, |budget| compiler.run(&mut compiled, &mut (), budget));
    let csr = |machine: &mut riscv::Machine| {
        [0x340, 0xc00, 0].map(|element| {
            let slot = machine.state_slot(2, element).unwrap();
            machine.parts().values[slot]
        })
    };
    let csr = [csr(&mut compiled), csr(&mut reference)];
    let told = || {
        let mut text = format!("{steps:?}, breakpoint {breakpoint:x?}\n{}", compiler.listing(&compiled));
        let mut pc = CODE;
        while let Some(line) = reference.text(pc) {
            text += &format!("{pc:#x}: {line}\n");
            pc += 2;
        }
        text
    };
    assert_eq!(found, expected, "{}", told());
    assert_eq!(registers(&compiled), registers(&reference), "{}", told());
    assert_eq!((compiled.pc(), compiled.executed()), (reference.pc(), reference.executed()), "{}", told());
    for (base, size) in [(CODE, start.code.len()), (DATA, start.data.len()), (TABLE, 32), (MORE, 40)] {
        let bytes = |machine: &Machine<1>| machine.memory.bytes(base, size as u64).unwrap().to_vec();
        assert_eq!(bytes(&compiled), bytes(&reference), "memory at {base:#x}\n{}", told());
    }
    assert_eq!(csr[0], csr[1], "{}", told());
    assert_eq!(compiler.refused(), None, "{}", told());
    compiler.executed()
}

fn start(random: &mut Random) -> Start {
    let length = 4 + random.below(40) as u32;
    let mut registers: [u32; 32] = std::array::from_fn(|_| random.value());
    for register in &mut registers[8..12] {
        *register = random.pick(&[DATA, DATA + 64, DATA + 200, TABLE, MORE, CODE]) as u32 + random.below(9) as u32;
    }
    for register in [1, 5, 12] {
        registers[register] = CODE as u32 + random.below(length.into()) as u32 * 4;
    }
    let data = (0..256).map(|_| random.next() as u8).collect();
    Start { code: program(random, length), writable: random.below(3) == 0, registers, data }
}

#[test]
fn random_programs_do_the_same_compiled() {
    let mut random = Random(seed::seed(1));
    let mut executed = 0;
    for _ in 0..600 * seed::rounds() {
        let start = start(&mut random);
        let breakpoint = (random.below(4) == 0).then(|| CODE + 2 * random.below(start.code.len() as u64 / 2));
        let features = random.pick(&[Features::NONE, Features::detect()]);
        executed += agree(&mut random, &start, breakpoint, features);
    }
    if cfg!(target_arch = "x86_64") {
        assert!(executed > 10_000, "{executed} instructions were compiled");
    }
}

/// In a loop that sums words, values stay in registers, and addresses are compared with the only window.
#[test]
#[cfg(target_arch = "x86_64")]
fn a_loop_becomes_the_code_that_is_expected() {
    let words = [i(0, 10, 2, 11, 3), r(0, 11, 12, 0, 12), i(4, 10, 0, 10, 0x13), b(-12, 13, 10, 1)];
    let code = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut registers = [0; 32];
    (registers[10], registers[13]) = (DATA as u32, DATA as u32 + 256);
    let start = Start { code, writable: false, registers, data: vec![1; 256] };
    let mut machine = machine(&start);
    let mut compiler = Compiler::new(Features::NONE).eager();
    let ended = compiler.run(&mut machine, &mut (), 256);
    assert_eq!(ended, Err(Trap { pc: CODE + 16, reason: Reason::Budget(256) }));
    assert_eq!(compiler.listing(&machine), include_str!("data/loop.listing"));
}

#[test]
#[cfg(target_arch = "x86_64")]
fn code_that_is_not_executed_is_not_compiled() {
    // A loop of 100 rounds, and another one after it.
    let round = [i(-1, 10, 0, 10, 0x13), b(-4, 0, 10, 1)];
    let words = [&round[..], &[i(100, 0, 0, 10, 0x13)], &round].concat();
    let code = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut registers = [0; 32];
    registers[10] = 100;
    let mut machine = machine(&Start { code, writable: false, registers, data: vec![1; 256] });
    let mut compiler = Compiler::new(Features::NONE);
    compiler.run(&mut machine, &mut (), 401).expect_err("nothing is mapped after the code");
    let listing = compiler.listing(&machine);
    let regions: Vec<_> = listing.lines().filter(|line| line.starts_with("region")).collect();
    assert_eq!(regions.len(), 2, "{listing}");
    assert!(regions[0].contains(": 2 instructions"), "{listing}");
}

#[test]
fn where_machine_code_begins_to_differ_is_found() {
    // A loop of 100,000 rounds, followed by one instruction.
    let words = [i(-1, 10, 0, 10, 0x13), r(0, 13, 12, 0, 12), b(-8, 0, 10, 1), i(1, 0, 0, 14, 0x13)];
    let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut registers = [0; 32];
    registers[10] = 100_000;
    let start = Start { code, writable: false, registers, data: vec![1; 256] };
    // The first machine is for the reference, the second for machine code.
    let found = |change: fn(&mut Machine<1>)| {
        let mut is_reference = false;
        let machine = || {
            let start = machine(&start);
            let mut machine = Machine::<1>::new(start.encoding(), start.semantics(), start.hardware());
            machine.memory = start.memory.clone();
            registers.iter().zip(0..).for_each(|(value, index)| {
                machine.write(Register { bank: 0, index }, 0, (*value).into()).expect("it exists");
            });
            machine.set_pc(CODE);
            is_reference = !is_reference;
            if is_reference {
                change(&mut machine);
            }
            machine
        };
        compare(machine, || Compiler::default().eager(), 300_001, || true)
    };
    let (ended, executed) = found(|_| {}).expect("they are the same");
    assert_eq!((ended, executed), (Err(Trap { pc: CODE + 16, reason: Reason::Budget(300_001) }), 300_001));
    let differs = found(|reference| _ = reference.breakpoints.insert(CODE + 12)).expect_err("one of them stops");
    assert_eq!(
        differs.to_string(),
        "differs after instruction 300000, at 0x1008: bnez a0, -8: at 0x100c after 300000 \
         instructions, in the reference Breakpoint(4108) at 0x100c after 300000 instructions"
    );
    let other = |reference: &mut Machine<1>| reference.write(Register { bank: 0, index: 15 }, 0, 7).expect("it exists");
    assert_eq!(
        found(other).expect_err("a register differs").to_string(),
        "differs after instruction 1, at 0x1000: add a0, a0, -1: a5 is 0x0, in the reference 0x7"
    );
}
