//! The loops of the USC benchmarks, with sixteen chains, so that neither side waits for results.

use isaforge_core::group::listing::assemble_program;
use isaforge_runtime::Level;
use isaforge_runtime::usc::{LANES, Machine, Program, Software, Task};

/// The number of rounds of a loop.
pub const ROUNDS: u32 = 2000;
/// The number of chains.
pub const CHAINS: usize = 16;
/// The number of operations of a chain in a round.
pub const TIMES: usize = 4;

fn program(body: &str) -> Program {
    let text = format!(
        "mov ft0, c0\nmov r20, ft0\n0 : (ignorepe)\n cndst 0, r21, c0, 1\nround:\n{body}\
         1 : umadd32 ft0, r20, c1, c1, _\n tstl.u32 ftt, p0, ft0, sh0\n mov r20, ft0\n2 : if(p0)\n br round\n3 : nop.end"
    );
    Program::load(&assemble_program(isaforge_usc::ISA, &text).expect("it is a program")).expect("it loads")
}

/// Multiplies r0 to r15 by r16 and adds r17, two registers in a group.
///
/// # Panics
/// When the text does not assemble.
pub fn multiply_adds() -> Program {
    let pair = |n: usize| {
        let m = n + 1;
        format!("1 : fmad ft0, r{n}, r16, r17\n fmad ft1, r{m}, r16, r17\n mov r{n}, ft0\n mov r{m}, ft1\n")
    };
    program(&(0..TIMES).flat_map(|_| (0..CHAINS).step_by(2)).map(pair).collect::<String>())
}

/// Multiplies r0 to r15 by r16 and adds r17, then computes the exclusive or with r18.
///
/// # Panics
/// When the text does not assemble.
pub fn integers() -> Program {
    let one = |n: usize| {
        format!(
            "1 : umadd32 ft0, r{n}, r16, r17, _\n mov r{n}, ft0\n\
             1 : byp ft0, ft1, c0, c0\n byp ft2, r{n}\n byp ft3, c0\n xor ft4, _, ft2, _, r18\n mov r{n}, ft4\n"
        )
    };
    let text: String = (0..TIMES / 2).flat_map(|_| 0..CHAINS).map(one).collect();
    program(&text.replace("byp ft3, c0", "cbs ft3, ft2"))
}

/// Creates a machine that is set to the number of rounds of the benchmark.
///
/// # Panics
/// Never, since the register exists.
pub fn machine(level: Level) -> Machine<Software> {
    let mut machine = Machine::new(Software::default()).at_level(level);
    machine.set("sh0".parse().expect("a register"), ROUNDS).expect("it can be set");
    machine
}

/// Creates tasks of 32 instances.
///
/// # Panics
/// Never, since a task can have 32 instances.
pub fn tasks(count: usize) -> Vec<Task> {
    vec![Task::new(LANES).expect("32 instances"); count]
}
