//! Tasks of the USC that advance together, compared with tasks run one after another.

use std::collections::HashSet;

use isaforge_core::group::listing::assemble_program;
use isaforge_core::sample::Random;
use isaforge_runtime::Level;
use isaforge_runtime::usc::{LANES, Machine, Program, Register, Software, Task};

use crate::seed::{rounds, seed};

#[path = "../../../fuzz/src/execution/usc.rs"]
mod execution;

#[test]
fn tasks_side_by_side_do_what_they_do_one_after_another() {
    let mut random = Random(seed(0x1357_9bdf_0246_8ace));
    let pool = execution::pool();
    assert!(pool.len() > 1000, "{} groups", pool.len());
    let (mut ended, mut failed) = (0, HashSet::new());
    // Kinds of failures come by chance: where the programs have too few of them, there are more.
    let least = 180 * rounds();
    for number in 0..20 * least {
        if number >= least && failed.len() > 4 {
            break;
        }
        match execution::agree(&mut random, &pool) {
            Ok(_) => ended += 1,
            Err(error) => drop(failed.insert(std::mem::discriminant(&error.trap))),
        }
    }
    assert!(ended > 60 && failed.len() > 4, "{ended} end, {failed:?}");
}

/// The values of a round need more registers than hosts have: machine code spills them, or has shorter blocks.
#[test]
fn rounds_with_many_values_leave_what_the_reference_leaves() {
    const NUMBERS: std::ops::Range<u32> = 24..64;
    let mut random = Random(seed(0x0f1e_2d3c_4b5a_6978));
    let register = |n: u32| Register::temporary(n).expect("a temporary");
    for _ in 0..6 * rounds() {
        let mut number = || NUMBERS.start + random.below(NUMBERS.len() as u64) as u32;
        let group = |kind: u32| {
            let [a, b, c, to] = std::array::from_fn(|_| number());
            let (operation, carry) = if kind.is_multiple_of(3) { ("fmad", "") } else { ("umadd32", ", _") };
            format!("1 : {operation} ft0, r{a}, r{b}, r{c}{carry}\n mov r{to}, ft0\n")
        };
        let body: String = (0..56).map(group).collect();
        let text = format!(
            "mov ft0, c0\nmov r20, ft0\n0 : (ignorepe)\n cndst 0, r21, c0, 1\nround:\n{body}\
             1 : umadd32 ft0, r20, c1, c1, _\n tstl.u32 ftt, p0, ft0, sh0\n mov r20, ft0\n\
             2 : if(p0)\n br round\n3 : nop.end"
        );
        let program =
            Program::load(&assemble_program(isaforge_usc::ISA, &text).expect("it is a program")).expect("it loads");
        let mut task = Task::new(LANES).expect("32 instances");
        for (n, i) in NUMBERS.flat_map(|n| (0..LANES).map(move |i| (n, i))) {
            task.set(register(n), i, random.next() as u32).expect("it can be set");
        }
        let run = |machine: Machine<Software>| {
            let (mut machine, mut tasks) = (machine, vec![task.clone(); 2]);
            machine.set("sh0".parse().expect("a register"), 9).expect("it can be set");
            machine.run(&program, &mut tasks, u64::MAX).expect("it ends");
            let words = |task: &Task| NUMBERS.map(|n| [0, 9, 31].map(|i| task.get(register(n), i))).collect::<Vec<_>>();
            tasks.iter().map(words).collect::<Vec<_>>()
        };
        let machine = || Machine::new(Software::default());
        let wanted = run(machine().without_fast_path());
        for level in Level::available() {
            assert_eq!(run(machine().at_level(level.eager())), wanted, "{}\n{text}", level.name());
        }
    }
}

/// Machine code checks for NaNs once each round, and canonicalizes those that it finds out of line.
#[test]
fn floats_of_a_loop_leave_the_one_nan() {
    let text = "mov ft0, c0\nmov r20, ft0\n0 : (ignorepe)\n cndst 0, r21, c0, 1\nround:\n\
        1 : fmad ft0, r0, r1, r2\n fmad ft1, r3, r1, r2\n mov r0, ft0\n mov r3, ft1\n\
        1 : fmad ft0, r4, r1, r2\n mov r4, ft0\n\
        1 : umadd32 ft0, r20, c1, c1, _\n tstl.u32 ftt, p0, ft0, sh0\n mov r20, ft0\n\
        2 : if(p0)\n br round\n3 : nop.end";
    let program =
        Program::load(&assemble_program(isaforge_usc::ISA, text).expect("it is a program")).expect("it loads");
    const VALUES: [u32; 7] = [0x3f80_0000, 0x7f80_0000, 0xff80_0000, 0x7fa0_0001, 0xffc1_2345, 0, 0x0000_0001];
    let register = |n: u32| Register::temporary(n).expect("a temporary");
    let mut task = Task::new(LANES).expect("32 instances");
    for (n, i) in (0..5).flat_map(|n| (0..LANES).map(move |i| (n, i))) {
        // Instances from 16 on have ordinary numbers only.
        let value = if i < 16 { VALUES[(i * (n as usize + 1) + n as usize) % VALUES.len()] } else { 0x3f00_0000 };
        task.set(register(n), i, value).expect("it can be set");
    }
    let run = |machine: Machine<Software>| {
        let (mut machine, mut tasks) = (machine, vec![task.clone(); 2]);
        machine.set("sh0".parse().expect("a register"), 100).expect("it can be set");
        machine.run(&program, &mut tasks, u64::MAX).expect("it ends");
        [0, 3, 4].map(|n| (0..LANES).map(|i| tasks[1].get(register(n), i)).collect::<Vec<_>>())
    };
    let machine = || Machine::new(Software::default());
    let wanted = run(machine().without_fast_path());
    let is_nan = |word: &Option<u32>| word.is_some_and(|word| f32::from_bits(word).is_nan());
    let nans: Vec<_> = wanted.iter().flatten().filter(|word| is_nan(word)).collect();
    assert!(nans.len() > 10 && nans.iter().all(|word| **word == Some(0x7fc0_0000)), "{nans:x?}");
    for level in Level::available() {
        assert_eq!(run(machine().at_level(level.eager())), wanted, "{}", level.name());
    }
}
