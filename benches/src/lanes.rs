//! Loops of the example whose 32 lanes execute together, with the same loops in Rust, which the compiler vectorizes.

use std::hint::black_box;
use std::path::Path;

use isaforge_compiler::{Settings, compile};
use isaforge_core::Tables;
use isaforge_core::machine::{Encoding, Hardware, Stop};
use isaforge_core::semantics::Semantics;
use isaforge_runtime::exec::Executor;
pub use isaforge_runtime::exec::lanes::engine::WarpEngine;

use crate::native::dispatched;

/// The lanes of the example.
pub const LANES: usize = 32;
/// One word for each lane.
pub type Words = [u32; LANES];

/// A machine of the example.
pub type Machine = isaforge_core::machine::Machine<LANES>;

/// The address of programs.
const CODE: u64 = 0x1000;
/// The address of a word for each lane.
const DATA: u64 = 0x8000;

/// The example's tables.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    tables: Tables,
    semantics: &'static Semantics,
    hardware: &'static Hardware,
}

/// A loop that begins with its rounds in `r0` and the address of the lane's word in `r6`; in Rust it writes the final value
/// of `r1` in each lane.
pub type Loop = crate::Loop<fn(&mut Words, u32)>;

/// The loops that are measured.
pub const LOOPS: [Loop; 3] = [
    Loop { name: "own lanes, integers", text: INTEGERS, native: integers, rounds: 1 << 14 },
    Loop { name: "own lanes, diverging", text: DIVERGING, native: diverging, rounds: 1 << 13 },
    Loop { name: "own lanes, memory", text: MEMORY, native: memory, rounds: 1 << 13 },
];

const INTEGERS: &str = "
    lane r1
    mov r2, #77
again:
    add r1, r1, r2
    mul r2, r2, r1
    add r3, r2, #5
    mul r4, r3, r3
    add r2, r2, r3
    add r1, r1, r4
    add r0, r0, #-1
    bne r0, r5, again
    end
";

dispatched! {
    /// Mixes integers.
    integers(out: &mut Words, rounds: u32) = integers_lanes
}

#[inline(always)]
fn integers_lanes(out: &mut Words, rounds: u32) {
    let (mut x, mut y): (Words, Words) = (std::array::from_fn(|lane| lane as u32), [77; LANES]);
    for _ in 0..rounds {
        for (x, y) in x.iter_mut().zip(&mut y) {
            *x = x.wrapping_add(*y);
            *y = y.wrapping_mul(*x);
            let z = y.wrapping_add(5);
            *y = y.wrapping_add(z);
            *x = x.wrapping_add(z.wrapping_mul(z));
        }
    }
    *out = x;
}

const DIVERGING: &str = "
    lane r1
    add r0, r0, r1
    mov r2, #77
again:
    add r1, r1, r2
    mul r2, r2, r1
    bne r1, r2, other
    add r2, r2, #1
other:
    add r0, r0, #-1
    bne r0, r5, again
    end
";

dispatched! {
    /// Mixes integers, with another number of rounds in each lane.
    diverging(out: &mut Words, rounds: u32) = diverging_lanes
}

#[inline(always)]
fn diverging_lanes(out: &mut Words, rounds: u32) {
    let (mut x, mut y): (Words, Words) = (std::array::from_fn(|lane| lane as u32), [77; LANES]);
    for round in 0..rounds + LANES as u32 - 1 {
        for (lane, (x, y)) in x.iter_mut().zip(&mut y).enumerate() {
            let goes = round < rounds + lane as u32;
            let sum = x.wrapping_add(*y);
            let product = y.wrapping_mul(sum);
            let next = if sum == product { product.wrapping_add(1) } else { product };
            (*x, *y) = if goes { (sum, next) } else { (*x, *y) };
        }
    }
    *out = x;
}

const MEMORY: &str = "
    lane r1
again:
    load r2, [r6]
    add r1, r1, r2
    store [r6], r1
    add r0, r0, #-1
    bne r0, r5, again
    end
";

dispatched! {
    /// Adds to words of memory.
    memory(out: &mut Words, rounds: u32) = memory_lanes
}

#[inline(always)]
fn memory_lanes(out: &mut Words, rounds: u32) {
    let (mut x, mut words): (Words, Words) = (std::array::from_fn(|lane| lane as u32), [0; LANES]);
    for _ in 0..rounds {
        for (x, word) in x.iter_mut().zip(black_box(&mut words)) {
            *x = x.wrapping_add(*word);
            *word = *x;
        }
    }
    *out = x;
}

impl Example {
    /// Compiles the example's specification.
    ///
    /// # Panics
    /// When the specification has errors.
    pub fn open() -> Example {
        let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/lanes/isa.yaml");
        let compiled = compile(&Settings::new(spec)).unwrap_or_else(|failure| panic!("{failure}"));
        Example {
            tables: Tables::Words(compiled.lowered.words().expect("it has words").isa),
            semantics: compiled.semantics.expect("it says what instructions do"),
            hardware: compiled.hardware.expect("it has a machine"),
        }
    }

    /// Creates a machine with the program of a loop.
    ///
    /// # Panics
    /// When the loop does not assemble.
    pub fn machine(&self, of: &Loop) -> Machine {
        let mut machine = Machine::new(Encoding::from(self.tables), self.semantics, self.hardware);
        let code = self.tables.assemble(of.text);
        assert!(code.errors.is_empty(), "{}: {:?}", of.name, code.errors);
        machine.memory.map(CODE, code.bytes, false).expect("there is room");
        machine.memory.map(DATA, vec![0; 4 * LANES], true).expect("there is room");
        machine
    }

    /// Restarts a machine with a number of rounds.
    pub fn start(&self, machine: &mut Machine, rounds: u32) {
        for lane in 0..LANES {
            machine.memory.write(DATA + 4 * lane as u64, 4, 0).expect("it is mapped");
            for (name, value) in [("r0", rounds), ("r6", DATA as u32 + 4 * lane as u32)] {
                let register = machine.register(name).expect("the example has it");
                machine.write(register, lane, value.into()).expect("there are as many lanes");
            }
        }
        machine.set_lanes(u64::MAX, 0);
        machine.set_pc(CODE);
    }

    /// Returns the values of `r1`.
    pub fn result(&self, machine: &Machine) -> Words {
        let register = machine.register("r1").expect("the example has it");
        std::array::from_fn(|lane| machine.read(register, lane).expect("there are as many lanes") as u32)
    }
}

/// Runs a machine until its program ends.
///
/// # Panics
/// When the program does not end.
pub fn run(engine: &mut impl Executor<LANES>, machine: &mut Machine) {
    let stop = engine.run(machine, &mut (), u64::MAX).expect("loops end");
    assert_eq!(stop, Stop::Ended);
}
