//! GLSL's extended arithmetic (`uaddCarry`, `usubBorrow`, `umulExtended`, `imulExtended` and 64-bit sums) as groups of
//! 64-bit operations, compared with the arithmetic of the host, by the whole data path and by tasks that advance
//! together.

use isaforge_core::group::listing::assemble_program;
use isaforge_runtime::Level;
use isaforge_runtime::usc::{LANES, Machine, Program, Register, Software, Task};

use crate::seed::seed;
use crate::support::Random;

/// Words near carries and sign changes.
const EDGES: [u32; 12] =
    [0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff_fffe, 0xffff_ffff, 0xffff, 0x1_0000, 0x5555_5555, 3];

/// A program, and the final values of r8 and r9 for given values of r0 to r3 and P0.
struct Case {
    text: &'static str,
    expected: fn([u32; 4], bool) -> [u32; 2],
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn words(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

const CASES: [Case; 18] = [
    // uaddCarry: the high word of the sum is the carry.
    Case {
        text: "uadd6432 ft0, r0, c0, r1, _\nmov r8, ft0\nmov r9, fte",
        expected: |[a, b, ..], _| [a.wrapping_add(b), u32::from(a.checked_add(b).is_none())],
    },
    Case {
        text: "uadd6432 ft0, r0, c0, r1, p0\nmov r8, ft0\nmov r9, fte",
        expected: |[a, b, ..], carry| words(u64::from(a) + u64::from(b) + u64::from(carry)),
    },
    // usubBorrow: the high word of the difference is all ones with a borrow, and 0 without one.
    Case {
        text: "uadd6432 ft0, r0, c0, r1.neg, _\nmov r8, ft0\nmov r9, fte",
        expected: |[a, b, ..], _| [a.wrapping_sub(b), if a < b { u32::MAX } else { 0 }],
    },
    // A compiler selects 1 or 0 by it.
    Case {
        text: "uadd6432 ft0, r0, c0, r1.neg, _\ntstgz.u32 ftt, p0, fte\nmov r8, ft0\n1 : if(p0)\nmbyp ft0, c1\nmov r9, ft0",
        expected: |[a, b, ..], _| [a.wrapping_sub(b), u32::from(a < b)],
    },
    Case {
        text: "sadd6432 ft0, r0, c0, r1.neg, _\nmov r8, ft0\nmov r9, fte",
        expected: |[a, b, ..], _| words(u64::from(a).wrapping_sub(b as i32 as i64 as u64)),
    },
    // A 32-bit number subtracted from a 64-bit one, unsigned and signed, with and without a carry.
    Case {
        text: "uadd6432 ft0, r0, r1, r2.neg, _\nmov r8, ft0\nmov r9, fte",
        expected: |[a, b, c, _], _| words(pair(a, b).wrapping_sub(c.into())),
    },
    Case {
        text: "uadd6432 ft0, r0, r1, r2.neg, p0\nmov r8, ft0\nmov r9, fte",
        expected: |[a, b, c, _], carry| words(pair(a, b).wrapping_sub(c.into()).wrapping_add(carry.into())),
    },
    Case {
        text: "sadd6432 ft0, r0, r1, r2.neg, _\nmov r8, ft0\nmov r9, fte",
        expected: |[a, b, c, _], _| words(pair(a, b).wrapping_sub(c as i32 as i64 as u64)),
    },
    Case {
        text: "sadd6432 ft0, r0, r1, r2.abs, _\nmov r8, ft0\nmov r9, fte",
        expected: |[a, b, c, _], _| words(pair(a, b).wrapping_add((c as i32).unsigned_abs().into())),
    },
    Case {
        text: "sadd6432 ft0, r0, r1, r2.abs.neg, p0\nmov r8, ft0\nmov r9, fte",
        expected: |[a, b, c, _], carry| {
            words(pair(a, b).wrapping_sub((c as i32).unsigned_abs().into()).wrapping_add(carry.into()))
        },
    },
    // umulExtended and imulExtended: both words of the product.
    Case {
        text: "umadd64 ft0, r0, r1, c0, c0, _\nmov r8, ft0\nmov r9, fte",
        expected: |[a, b, ..], _| words(u64::from(a) * u64::from(b)),
    },
    Case {
        text: "smadd64 ft0, r0, r1, c0, c0, _\nmov r8, ft0\nmov r9, fte",
        expected: |[a, b, ..], _| words((i64::from(a as i32) * i64::from(b as i32)) as u64),
    },
    // The negated products: a full-range factor is negated, not its low word.
    Case {
        text: "umadd64 ft0, r0.neg, r1, c0, c0, _\nmov r8, ft0\nmov r9, fte",
        expected: |[a, b, ..], _| words((u64::from(a) * u64::from(b)).wrapping_neg()),
    },
    Case {
        text: "smadd64 ft0, r0, r1.neg, c0, c0, _\nmov r8, ft0\nmov r9, fte",
        expected: |[a, b, ..], _| words((i64::from(a as i32) * -i64::from(b as i32)) as u64),
    },
    Case {
        text: "smadd64 ft0, r0.neg, r1.neg, r2, r3, p0\nmov r8, ft0\nmov r9, fte",
        expected: |[a, b, c, d], carry| {
            let product = i64::from(a as i32) * i64::from(b as i32);
            words((product as u64).wrapping_add(pair(c, d)).wrapping_add(carry.into()))
        },
    },
    Case {
        text: "umadd64 ft0, r0, r1.neg, r2, r3, _\nmov r8, ft0\nmov r9, fte",
        expected: |[a, b, c, d], _| words(pair(c, d).wrapping_sub(u64::from(a) * u64::from(b))),
    },
    // 64-bit sums with a carry in.
    Case {
        text: "add64 ft0, r0, r1, r2, r3, p0\nmov r8, ft0\nmov r9, fte",
        expected: |[a, b, c, d], carry| words(pair(a, b).wrapping_add(pair(c, d)).wrapping_add(carry.into())),
    },
    Case {
        text: "smadd64 ft0, r0.abs, r1, r2, r3, _\nmov r8, ft0\nmov r9, fte",
        expected: |[a, b, c, d], _| {
            let product = i64::from((a as i32).unsigned_abs()) * i64::from(b as i32);
            words((product as u64).wrapping_add(pair(c, d)))
        },
    },
];

fn machines() -> Vec<Machine<Software>> {
    let machine = || Machine::new(Software::default());
    let mut all: Vec<_> = Level::available().into_iter().map(|level| machine().at_level(level)).collect();
    all.push(machine().without_fast_path());
    all
}

/// Runs a program for some instances, each with four words and P0, and returns their r8 and r9.
fn run(machine: &mut Machine<Software>, program: &Program, inputs: &[([u32; 4], bool)]) -> Vec<[u32; 2]> {
    let register = |number: u32| Register::temporary(number).expect("a temporary");
    let tasks = inputs.chunks(LANES).map(|inputs| {
        let mut task = Task::new(inputs.len()).expect("no more than there are");
        for (instance, (words, carry)) in inputs.iter().enumerate() {
            for (number, word) in words.iter().enumerate() {
                task.set(register(number as u32), instance, *word).expect("a register");
            }
            task.set(register(7), instance, u32::from(*carry)).expect("a register");
        }
        task
    });
    let mut tasks: Vec<_> = tasks.collect();
    machine.run(program, &mut tasks, 1000).unwrap_or_else(|error| panic!("{error}"));
    let get = |task: &Task, instance, number| task.get(register(number), instance).expect("a register");
    let both = |task: &Task, instance| [8, 9].map(|number| get(task, instance, number));
    tasks.iter().zip(inputs.chunks(LANES)).flat_map(|(task, i)| (0..i.len()).map(|n| both(task, n))).collect()
}

#[test]
fn extended_arithmetic_is_that_of_the_host() {
    let mut random = Random::new(seed(64));
    let mut inputs: Vec<([u32; 4], bool)> = Vec::new();
    for a in EDGES {
        for b in EDGES {
            let (c, d) = (EDGES[(a ^ b) as usize % EDGES.len()], EDGES[(a.wrapping_mul(7) ^ b) as usize % EDGES.len()]);
            inputs.extend([([a, b, c, d], false), ([c, a, b, d], true), ([d, c, a, b], true), ([a, c, d, b], false)]);
        }
    }
    inputs.extend((0..512).map(|_| ([(); 4].map(|()| random.word()), random.below(2) != 0)));
    for case in &CASES {
        let text = format!("1 : mbyp ft0, r7\n tstgz.u32 ftt, p0, ft0\n1 : {}\n1 : nop.end\n", case.text);
        let bytes = assemble_program(isaforge_usc::ISA, &text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        let program = Program::load(&bytes).unwrap_or_else(|error| panic!("{text}: {error}"));
        for machine in &mut machines() {
            for (input, found) in inputs.iter().zip(run(machine, &program, &inputs)) {
                let expected = (case.expected)(input.0, input.1);
                assert_eq!(found, expected, "{}: {:08x?}, carry {}", case.text, input.0, input.1);
            }
        }
    }
}
