//! Loops of the RISC-V example, with the same loops in Rust.

use std::hint::black_box;
use std::path::Path;

use isaforge_compiler::{Settings, compile};
use isaforge_core::machine::{Encoding, Hardware, Machine, Stop};
use isaforge_core::semantics::Semantics;
use isaforge_core::stream::Engine;
use isaforge_core::stream::program::assemble;
use isaforge_runtime::exec::Executor as _;
use isaforge_runtime::exec::jit::engine::Compiler;

/// The address of programs.
const CODE: u64 = 0x1000;
/// The address of the sieve's flags.
const FLAGS: u64 = 0x20000;
/// The number of integers that are sieved.
pub const NUMBERS: usize = 1 << 16;

/// The example's tables.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    engine: Engine,
    semantics: &'static Semantics,
    hardware: &'static Hardware,
}

/// A loop that begins with its rounds in `a0`; in Rust it returns the final value of `a1`.
pub type Loop = crate::Loop<fn(u32) -> u32>;

/// The loops that are measured.
pub const LOOPS: [Loop; 2] = [
    Loop { name: "riscv integer loop", text: INTEGERS, native: integers, rounds: 1 << 21 },
    Loop { name: "riscv sieve", text: SIEVE, native: sieve, rounds: 8 },
];

const INTEGERS: &str = "
    lui a2, 0x12345
again:
    add a1, a1, a2
    xor a2, a2, a1
    slli a3, a1, 5
    srli a4, a2, 3
    add a2, a2, a3
    xor a1, a1, a4
    addi a0, a0, -1
    bne a0, zero, again
    addi a7, zero, 93
    ecall
";

fn integers(rounds: u32) -> u32 {
    let (mut x, mut y) = (0u32, 0x1234_5000u32);
    for _ in 0..black_box(rounds) {
        x = x.wrapping_add(y);
        y ^= x;
        let (high, low) = (x << 5, y >> 3);
        y = y.wrapping_add(high);
        x ^= low;
    }
    x
}

const SIEVE: &str = "
    lui s0, 0x10
    lui s1, 0x20
    add s2, s1, s0
round:
    addi t0, s1, 0
clear:
    sb zero, 0(t0)
    addi t0, t0, 1
    bltu t0, s2, clear
    addi t0, zero, 2
number:
    mul t1, t0, t0
    bgeu t1, s0, count
    add t2, s1, t0
    lbu t3, 0(t2)
    bne t3, zero, next
    add t2, s1, t1
strike:
    sb t0, 0(t2)
    add t2, t2, t0
    bltu t2, s2, strike
next:
    addi t0, t0, 1
    jal zero, number
count:
    addi t0, s1, 2
primes:
    lbu t3, 0(t0)
    sltiu t3, t3, 1
    add a1, a1, t3
    addi t0, t0, 1
    bltu t0, s2, primes
    addi a0, a0, -1
    bne a0, zero, round
    addi a7, zero, 93
    ecall
";

fn sieve(rounds: u32) -> u32 {
    let mut flags = vec![0u8; NUMBERS];
    let mut primes = 0;
    for _ in 0..black_box(rounds) {
        flags.fill(0);
        let mut number = 2;
        while number * number < NUMBERS {
            if flags[number] == 0 {
                flags[number * number..].iter_mut().step_by(number).for_each(|flag| *flag = number as u8);
            }
            number += 1;
        }
        primes += black_box(&flags)[2..].iter().filter(|flag| **flag == 0).count() as u32;
    }
    primes
}

impl Example {
    /// Compiles the example's specification.
    ///
    /// # Panics
    /// When the specification has errors.
    pub fn open() -> Example {
        let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/riscv/isa.yaml");
        let compiled = compile(&Settings::new(spec)).unwrap_or_else(|failure| panic!("{failure}"));
        let stream = compiled.lowered.stream().expect("it is a stream");
        Example {
            engine: Engine { stream, generation: stream.generations.1 },
            semantics: compiled.semantics.expect("it says what instructions do"),
            hardware: compiled.hardware.expect("it has a machine"),
        }
    }

    /// Creates a machine at the start of a loop.
    ///
    /// # Panics
    /// When the loop does not assemble.
    pub fn machine(&self, of: &Loop) -> Machine {
        let mut machine = Machine::new(Encoding::from(self.engine), self.semantics, self.hardware);
        let code = assemble(self.engine, of.text).unwrap_or_else(|mistakes| panic!("{}: {mistakes:?}", of.name));
        machine.memory.map(CODE, code, false).expect("there is room");
        machine.memory.map(FLAGS, vec![0; NUMBERS], true).expect("there is room");
        self.start(&mut machine, of.rounds);
        machine
    }

    /// Restarts a machine.
    pub fn start(&self, machine: &mut Machine, rounds: u32) {
        for (name, value) in [("a0", rounds), ("a1", 0)] {
            let register = machine.register(name).expect("the example names it");
            machine.write(register, 0, value.into()).expect("there is one lane");
        }
        machine.set_pc(CODE);
    }

    /// Returns the value of `a1`.
    pub fn result(&self, machine: &Machine) -> u32 {
        let register = machine.register("a1").expect("the example names it");
        machine.read(register, 0).expect("there is one lane") as u32
    }
}

/// Runs a machine as machine code until its program ends.
///
/// # Panics
/// When the program does not end.
pub fn run(compiler: &mut Compiler, machine: &mut Machine) {
    let stop = compiler.run(machine, &mut (), u64::MAX).expect("loops end");
    assert!(matches!(stop, Stop::Exit(_)), "{stop:?}");
}

/// Runs a machine by the evaluator until its program ends.
///
/// # Panics
/// When the program does not end.
pub fn evaluate(machine: &mut Machine) {
    let stop = machine.run(&mut (), u64::MAX).expect("loops end");
    assert!(matches!(stop, Stop::Exit(_)), "{stop:?}");
}
